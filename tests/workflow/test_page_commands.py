"""The commands of each page of the documentation, in the order of the page, in a fresh folder.

``make bench NAME=documentation`` also runs the blocks that take long, in a fresh clone.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from page_blocks import ROOT, blocks, pages, script, surroundings

COPIED, LINKED = ("configs", "docs", "validation"), ("phase2_nodesim", "skeletons", "tests")
SCRIPTS = {str(page.relative_to(ROOT)): text for page in pages() if (text := script(page, long=False))}


@pytest.mark.parametrize("page", SCRIPTS)
def test_what_a_page_says_works(page: str, tmp_path: Path, build_dir: Path) -> None:
    for name in COPIED:  # commands may write there
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in LINKED:
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "build").symlink_to(build_dir)
    done = subprocess.run(
        ["bash", "-s"],
        input=SCRIPTS[page],
        cwd=tmp_path,
        env=surroundings(tmp_path / "bin", Path(sys.executable).parent),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"


def test_what_no_test_runs_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    left = [(block.place, word, block.notes[word]) for page in pages() for block in blocks(page)
            for word in ("not run", "long") if word in block.notes]  # fmt: skip
    with capsys.disabled():
        print()
        for place, word, reason in left:
            print(f"  {place}: {word}: {reason}")
    # A page of which every block is left out would need a better example.
    assert len([word for _, word, _ in left if word == "not run"]) < 20
