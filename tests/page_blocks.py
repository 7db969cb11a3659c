"""The code blocks of the documentation's pages, and the script that does what a reader of a page does.

A block begins with its language, and with its file's name where it has one: ```` ```yaml title="my.yaml" ````.

- ``sh``: commands, run in the order of the page, all in one folder.
- A block with a title is written to that file. YAML with the title of a file that is there is added to it.
- ``python`` without a title is run. ``text`` is output or a drawing.

Comments that no reader sees stand on the lines before a block:

- ``<!-- not run: REASON -->``: no test can run it.
- ``<!-- long: REASON -->``: ``make bench NAME=documentation`` runs it, ``make test`` does not.
- ``<!-- part of: FILE -->``: its lines are in this file of the repository, which the build compiles.
- ``<!-- given: COMMANDS -->``: what a reader has at this place, such as a program; may stand anywhere.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
# A comment with one of the words, or a block. Drawings in comments of other kinds are none.
_ITEM = re.compile(
    r"^[ ]*<!-- (?P<word>not run|long|part of|given):\s(?P<said>.*?)\s-->\n"
    r"|^(?P<indent>[ ]*)```(?P<language>\w*)(?: title=\"(?P<title>[^\"]+)\")?[^\n]*\n(?P<text>.*?)^[ ]*```[ ]*$",
    re.M | re.S,
)


@dataclass(frozen=True)
class Block:
    """One block of a page; ``notes`` are its comments, word -> what follows. A ``given`` is a block of its own."""

    place: str
    language: str
    title: str | None
    text: str
    notes: dict[str, str]


def pages() -> list[Path]:
    """Return the pages that have blocks to check: the documentation, and what stands beside the code."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    folders = ("skeletons", "phase1_profile", "phase2_nodesim", "phase3_sst", "manynode")
    return sorted([*found, *(page for folder in folders for page in (ROOT / folder).rglob("README.md"))])


def blocks(page: Path) -> Iterator[Block]:
    """Yield the blocks of ``page`` in their order."""
    text, notes = page.read_text(encoding="utf-8"), {}
    for item in _ITEM.finditer(text):
        place = f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, item.start()) + 1}"
        if item["word"] == "given":
            yield Block(place, "sh", None, textwrap.dedent(item["said"]) + "\n", {"given": ""})
        elif item["word"]:
            notes[item["word"]] = " ".join(item["said"].split())
        else:
            yield Block(place, item["language"], item["title"], textwrap.dedent(item["text"]), notes)
            notes = {}


def script(page: Path, *, long: bool) -> str:
    """Return what a reader of ``page`` does, as a script of bash, with or without what takes ``long``.

    It ends with the first command that fails, and names the block. It is empty if the page has nothing to run.
    """
    done = [block for block in blocks(page) if "not run" not in block.notes and (long or "long" not in block.notes)]
    steps = ["\n".join(_steps(block)) for block in done]
    if not any(block.language in ("sh", "python") and not block.title and "given" not in block.notes for block in done):
        return ""
    head = ["set -euo pipefail", "trap 's=$?; [ $s = 0 ] || echo \"$at: exit code $s\" >&2' EXIT"]
    return "\n".join([*head, *steps]) + "\n"


def _steps(block: Block) -> Iterator[str]:
    yield f"at={shlex.quote(block.place)}"
    if block.title:
        yield f"{sys.executable} {__file__} {shlex.quote(block.title)} <<'MANYNODE'\n{block.text}MANYNODE"
    elif block.language == "sh":
        yield block.text
    elif block.language == "python":
        yield f"python - <<'MANYNODE'\n{block.text}MANYNODE"


def commands(block: Block) -> Iterator[list[str]]:
    """Yield the words of each command of ``manynode`` in ``block``."""
    for line in block.text.replace("\\\n", " ").splitlines():
        for part in re.split(r"\||&&|;|\$\(", line):
            words = shlex.split(part, comments=True) if part.count('"') % 2 == 0 and part.count("'") % 2 == 0 else []
            if words and words[0].rpartition("/")[2] == "manynode":
                yield words[1:]


def surroundings(programs: Path, commands: Path) -> dict[str, str]:
    """Return the variables of a reader's shell, with ``manynode`` in the folder ``commands``.

    Where a host has several MPIs, it has MPICH; ``programs`` is a new folder for that.
    """
    programs.mkdir(parents=True)
    for name in ("mpiexec", "mpicc", "mpicxx"):
        if found := shutil.which(f"{name}.mpich"):
            (programs / name).write_text(f'#!/bin/sh\nexec {found} "$@"\n')
            (programs / name).chmod(0o755)
    places = (programs, commands, os.environ["PATH"])
    return {**os.environ, "PATH": ":".join(map(str, places))}


def keep(file: Path, text: str) -> None:
    """Write ``text`` to ``file``; add YAML to a file that is there."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".yaml" and file.exists():
        text = yaml.safe_dump(added(yaml.safe_load(file.read_text()), yaml.safe_load(text)), sort_keys=False)
    file.write_text(text, encoding="utf-8")


def added(content: dict, section: dict) -> dict:
    """Return ``content`` with the keys of ``section``, at every depth."""
    both = {key: added(content[key], value) for key, value in section.items()
            if isinstance(value, dict) and isinstance(content.get(key), dict)}  # fmt: skip
    return {**content, **section, **both}


if __name__ == "__main__":
    keep(Path(sys.argv[1]), sys.stdin.read())
