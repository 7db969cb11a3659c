"""Which gem5 is here: a program on PATH or the one that the experiment names, its version, whether it has x86 cores."""

from __future__ import annotations

import functools
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from manynode import process
from manynode.errors import EngineMissingError, ManynodeError

NAMES = ("gem5.opt", "gem5.fast", "gem5")
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
    """Return the gem5 named ``executable`` or on PATH; none that can be used is an :class:`EngineMissingError`."""
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
    try:
        said = process.run([program, "--build-info"], what="gem5", check=False, timeout_s=120).output
    except ManynodeError as error:
        raise EngineMissingError("gem5 does not start", where=str(program), found=error.found, remedy=GUIDE) from None
    version = build_info_version(said)
    if version is None:
        raise EngineMissingError(
            "a program of gem5's name is not gem5",
            where=str(program),
            found=" ".join(said.split())[:200] or "it prints nothing",
            remedy=GUIDE,
        )
    if (problem := build_info_problem(said)) is not None:
        raise EngineMissingError("this gem5 cannot run the board", where=str(program), found=problem, remedy=GUIDE)
    return Installation(program, version)


def build_info_version(said: str) -> str | None:
    """Return the version in the output of ``gem5 --build-info``, or None."""
    match = re.search(r"gem5 version (\S+)", said)
    return match[1] if match else None


def build_info_problem(said: str) -> str | None:
    """Return what the build lacks by its ``--build-info``, or None."""
    match = re.search(r"USE_X86_ISA\s*=\s*(\S+)", said)
    if match is not None and match[1].strip("'\",").lower() not in ("true", "1", "y", "yes"):
        return "it was built without the X86 instruction set"
    return None
