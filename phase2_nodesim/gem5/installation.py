"""Finds gem5: a program on PATH or the experiment's, its version, and whether it has x86 cores."""

from __future__ import annotations

import functools
import json
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from manynode import process
from manynode.errors import EngineMissingError, ManynodeError

NAMES = ("gem5.opt", "gem5.fast", "gem5")
_PROBE = Path(__file__).parent / "board" / "probe.py"
GUIDE = (
    "build gem5 for X86 as its guide on gem5.org says and put gem5.opt on PATH, or name it under nodesim: gem5: "
    "executable"
)


@dataclass(frozen=True)
class Installation:
    """A gem5 that can run the board."""

    program: Path
    version: str


def find_gem5(executable: str | None = None) -> Installation:
    """Return the gem5 named ``executable`` or on PATH; if none works, this is an :class:`EngineMissingError`."""
    candidates = [executable] if executable else list(NAMES)
    for name in candidates:
        if path := shutil.which(name):
            return _checked(Path(path).resolve())
    raise EngineMissingError(
        "gem5 was not found",
        where="nodesim: gem5: executable" if executable else "PATH",
        found=f"no program {executable!r}" if executable else f"none of {', '.join(NAMES)}",
        remedy=GUIDE,
    )


@functools.cache
def _checked(program: Path) -> Installation:
    with tempfile.TemporaryDirectory(prefix="manynode-gem5.") as folder:
        command: list[str | Path] = [program, "--quiet", f"--outdir={folder}", _PROBE]
        try:
            said = process.run(command, what="gem5", check=False, timeout_s=120).output
        except ManynodeError as error:
            raise EngineMissingError(
                "gem5 does not start", where=str(program), found=error.found, remedy=GUIDE
            ) from None
    return Installation(program, probed_version(said, str(program)))


def probed_version(said: str, program: str) -> str:
    """Return the version that gem5 printed running ``board/probe.py``.

    What is not gem5, or a gem5 that cannot run the board, is an :class:`EngineMissingError`.
    """
    match = re.search(r"^manynode probe: (\{.*\})$", said, re.MULTILINE)
    if match is None:
        raise EngineMissingError(
            "a program with gem5's name is not gem5, or is incomplete",
            where=program,
            found=" ".join(said.split())[:200] or "it prints nothing",
            remedy=GUIDE,
        )
    facts = json.loads(match[1])
    if facts["missing"]:
        raise EngineMissingError(
            "this gem5 cannot run the board",
            where=program,
            found=f"it was built without {', '.join(facts['missing'])} (no X86 instruction set?)",
            remedy=GUIDE,
        )
    return str(facts["version"])
