"""Do what every page of the documentation says, in a fresh clone, with the blocks that ``make test`` leaves out.

It takes about half an hour on two cores; the variable ``PAGES`` chooses, such as ``PAGES='docs/how-to/*.md'``. Each
page starts in the clone as git has it; the build stays. Blocks that need root, another machine or a program that is not
installed are left out; ``tests/workflow/test_page_commands.py`` lists them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from _clone import ENVIRONMENT, fresh_clone, make
from _figure import figure
from _mini_app import ROOT, at_most

sys.path.insert(0, str(ROOT / "tests"))

from page_blocks import pages, script, surroundings


def figures() -> list[dict[str, Any]]:
    """Return the time of each page, and how many pages have a block that fails."""
    found, failed = [], 0
    with fresh_clone() as clone:
        make(clone, "setup", "build")
        around = surroundings(clone.parent / "bin", clone / ".venv" / "bin")
        shell = {name: value for name, value in around.items() if name in ENVIRONMENT}
        for page in pages():
            name = str(page.relative_to(ROOT))
            if not Path(name).match(os.environ.get("PAGES", "*")) or not (text := script(page, long=True)):
                continue
            start = time.monotonic()
            done = subprocess.run(
                ["bash", "-s"], input=text, cwd=clone, env=shell, capture_output=True, text=True, check=False
            )
            found.append(figure(f"documentation: {name}", time.monotonic() - start, "s", None, None))
            print(f"{name}: {found[-1]['value']:.0f} s, exit code {done.returncode}", flush=True)
            if done.returncode != 0:
                failed += 1
                print(f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}", flush=True)
            _clean(clone)
    return [*found, at_most("documentation: pages with a block that fails", failed, "", 0)]


def _clean(clone: Path) -> None:
    subprocess.run(["git", "checkout", "--quiet", "."], cwd=clone, check=True)
    subprocess.run(["git", "clean", "-fdxq", "-e", "build*", "-e", ".venv", "-e", "*.egg-info"], cwd=clone, check=True)
