"""Finds QEMU's user mode for x86-64, its version, and whether it takes plugins."""

from __future__ import annotations

import functools
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from manynode import process
from manynode.errors import EngineMissingError, ManynodeError
from manynode.paths import native_library

NAME = "qemu-x86_64"
GUIDE = (
    "install the package qemu-user (Debian 12: apt-get install --no-install-recommends qemu-user), or build QEMU as "
    "qemu.org says (--enable-plugins, target x86_64-linux-user), and put qemu-x86_64 on PATH or name it under nodesim: "
    "qemu: executable"
)


@dataclass(frozen=True)
class Installation:
    """A QEMU that can run the node model: its program, version, and the plugin for its interface."""

    program: Path
    version: str
    plugin: Path


def find_qemu(executable: str | None = None) -> Installation:
    """Return the QEMU named ``executable`` or on PATH; if it is none, or takes no plugins, this is an
    :class:`EngineMissingError`."""
    path = shutil.which(executable or NAME)
    if path is None:
        raise EngineMissingError(
            "QEMU's user mode was not found",
            where="nodesim: qemu: executable" if executable else "PATH",
            found=f"no program {executable or NAME!r}",
            remedy=GUIDE,
        )
    program = Path(path).resolve()
    version = _version(program)
    return Installation(program, version, native_library(f"libmanynode_node_v{interface_version(version)}.so"))


def interface_version(version: str) -> int:
    """Return the version of the plugin interface that this QEMU loads (``plugin/version_N.cpp``)."""
    major, minor = (int(part) for part in version.split(".")[:2])
    if (major, minor) >= (9, 1):
        return 3
    return 2 if major == 9 else 1


def probed_version(said: str, helped: str, program: str) -> str:
    """Return the version in QEMU's answer to ``--version``; ``helped`` is its answer to ``-help``.

    What is not QEMU's user mode for x86-64, or takes no plugins, is an :class:`EngineMissingError`.
    """
    match = re.search(r"^qemu-x86_64 version (\d+\.\d+(\.\d+)?)", said, re.MULTILINE)
    if match is None:
        raise EngineMissingError(
            "a program with QEMU's name is not its user mode for x86-64",
            where=program,
            found=" ".join(said.split())[:200] or "it prints nothing",
            remedy=GUIDE,
        )
    if not re.search(r"^-plugin\b", helped, re.MULTILINE):
        raise EngineMissingError(
            "this QEMU takes no plugins",
            where=program,
            found=f"version {match[1]} without the option -plugin (built statically, or without --enable-plugins)",
            remedy=f"the engine valgrind needs none; or {GUIDE}",
        )
    # Before, neither AVX nor AVX2 was emulated; 6.0 was the first with today's plugins.
    if tuple(map(int, match[1].split(".")[:2])) < (7, 2):
        raise EngineMissingError(
            "this QEMU is too old", where=program, found=f"version {match[1]}", allowed="7.2 or later", remedy=GUIDE
        )
    return match[1]


@functools.cache
def _version(program: Path) -> str:
    said = []
    for option in ("--version", "-help"):
        try:
            said.append(process.run([program, option], what="qemu-x86_64", check=False, timeout_s=20).output)
        except ManynodeError as error:
            raise EngineMissingError(
                "QEMU does not start", where=str(program), found=error.found, remedy=GUIDE
            ) from None
    return probed_version(said[0], said[1], str(program))
