"""Checks that a program can be a simulator's guest: static, at a fixed address, linked with the bridge, without AVX.

In: the program's file and, if binutils are installed, its disassembly. Out: nothing, or an :class:`InputError` that
shows how to build the program.
"""

from __future__ import annotations

import functools
import hashlib
import re
import shutil
import struct
from pathlib import Path

from manynode import process
from manynode.errors import InputError

_REMEDY = (
    "build it with the bridge's mpi.h and library: g++ -static -no-pie -fno-pie -march=x86-64 "
    "-I phase2_nodesim/bridge/include SOURCES build/lib/libmanynode_bridge.a"
)
_MACHINES = {62: "x86-64", 183: "AArch64", 243: "RISC-V"}
_SUPPORTED = 62
_PT_INTERP, _ET_EXEC, _ET_DYN = 3, 2, 3
# What the shim asks the environment for: it is in every program that is linked with the library.
_MARK = b"MANYNODE_BRIDGE_DIR"
_AVX = re.compile(r"%[yz]mm\d|\tv[a-z]\w+\s.*%xmm\d|%k[0-7]\b")
_FUNCTION = re.compile(r"[0-9a-f]+ <(.+)>:$")
# The C library chooses among variants of its functions by what the processor can do; under gem5 it takes none of these.
_CHOSEN_AT_RUN_TIME = re.compile(r"_.*_(avx|avx2|avx512|evex|fma|fma4)\w*$")


def check_guest_program(path: Path | str) -> None:
    """Raise :class:`InputError` when the program at ``path`` cannot run as a guest."""
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError("the guest program cannot be read", where=str(path), found=error.strerror) from None
    problem = elf_problem(data)
    if problem is None and _MARK not in data:
        problem = "it is not linked with the bridge library"
    if problem is None and (objdump := shutil.which("objdump")) is not None:
        if functions := _avx_functions_of(objdump, path, hashlib.sha256(data).digest()):
            shown = ", ".join(functions[:5]) + (f" and {len(functions) - 5} more" if len(functions) > 5 else "")
            problem = f"AVX instructions, which gem5 does not have, in {shown}"
    if problem is not None:
        raise InputError(
            "this program cannot run as the guest of a simulator",
            where=str(path),
            found=problem,
            allowed="a static x86-64 program at a fixed address, without AVX, linked with libmanynode_bridge.a",
            remedy=_REMEDY,
        )


@functools.lru_cache(maxsize=32)
def _avx_functions_of(objdump: str, path: Path, _digest: bytes) -> list[str]:
    """Return the functions of a program that use AVX; it is read again only when its content has changed."""
    command = [objdump, "-d", "--no-show-raw-insn", str(path)]
    return avx_functions(process.run(command, what="reading the program's instructions", timeout_s=300).output)


def elf_problem(data: bytes) -> str | None:
    """Return what is wrong with the headers of an executable, or None."""
    if data[:4] != b"\x7fELF" or len(data) < 64:
        return "it is no ELF executable (a script?)"
    if data[4] != 2 or data[5] != 1:
        return "it is no 64-bit little-endian executable"
    kind, machine = struct.unpack_from("<HH", data, 16)
    if machine != _SUPPORTED:
        return f"it is for {_MACHINES.get(machine, f'machine {machine}')}"
    offset, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    for index in range(count):
        at = offset + index * size
        if at + 4 > len(data):
            return "it is cut off"
        if struct.unpack_from("<I", data, at)[0] == _PT_INTERP:
            return "it is dynamically linked"
    if kind == _ET_DYN:
        return "it is position-independent (static-pie)"
    if kind != _ET_EXEC:
        return "it is no executable"
    return None


def avx_functions(listing: str) -> list[str]:
    """Return the functions of a disassembly (``objdump -d``) that use AVX, without the C library's variants."""
    found: dict[str, None] = {}
    function = "?"
    for line in listing.splitlines():
        if header := _FUNCTION.match(line):
            function = header[1]
        elif _AVX.search(line) and not _CHOSEN_AT_RUN_TIME.match(function):
            found[function] = None
    return list(found)
