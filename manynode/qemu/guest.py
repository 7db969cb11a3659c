"""The program that runs under QEMU: what it must be, the command that starts it, and its environment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from manynode.config.resolved import ResolvedApplication
from manynode.errors import ManynodeError, UsageError
from manynode.launch import application_command
from manynode.qemu.installation import Installation

# All that QEMU emulates (it lacks AVX-512) but fast string operations: it executes them byte by byte, and the C library
# would choose them for every copy.
CPU = "max,-erms,-fsrm"
# Jobs under QEMU run on one host. The emulated kernel lacks process_vm_readv and the reading of network devices.
# UCX's handlers of fatal signals crash under emulation, and hide which signal it was. The last two are for Open MPI 4
# and 5.
MPI = {
    "UCX_TLS": "self,sm",
    "UCX_ERROR_SIGNALS": "",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_smsc": "^cma",
}
# Spinning threads would be counted and timed as if they computed.
THREADS = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0", "KMP_BLOCKTIME": "0"}
_X86_64 = 62
_INTERPRETER = 3
_HEADERS = 1 << 16
"""Bytes at the begin of a file that hold the ELF header and all program headers."""


def qemu_command(found: Installation) -> list[str]:
    """Return the words before the program."""
    return [str(found.program), "-cpu", CPU, "-plugin", str(found.plugin)]


def for_program(variables: Mapping[str, str]) -> list[str]:
    """Return QEMU's options that set ``variables`` for the program alone.

    A library named by LD_PRELOAD in QEMU's own environment would be loaded into QEMU as well.
    """
    return [word for name, value in variables.items() for word in ("-E", f"{name}={value}")]


def check_guest(application: ResolvedApplication) -> None:
    """Refuse, as a :class:`UsageError`, a program that QEMU cannot run with the markers library in it."""
    try:
        program = application_command(application)[0][0]
    except ManynodeError:
        return  # no program, or not one of MPI, which other checks say
    check_program(program)


def check_program(program: str | Path) -> None:
    """Refuse, as a :class:`UsageError`, a program that is not for x86-64, or linked statically.

    A script is accepted: it runs natively, and what it starts is known then (:func:`manynode.launch.followed`).
    """
    try:
        with open(program, "rb") as file:
            head = file.read(_HEADERS)
        if head.startswith(b"#!"):
            return
        machine, interpreted = elf_facts(head)
    except (OSError, ValueError) as error:
        raise UsageError(
            "QEMU cannot run the program",
            where=str(program),
            found=str(error),
            allowed="a dynamically linked program for x86-64, or a script that starts one",
            remedy="name the program itself under application: command",
        ) from None
    if machine != _X86_64:
        raise UsageError(
            "the program is not for x86-64",
            where=str(program),
            found=f"an ELF file for machine {machine}",
            allowed=f"x86-64 ({_X86_64})",
            remedy="build it for x86-64: no other processor is emulated",
        )
    if not interpreted:
        raise UsageError(
            "the program is linked statically",
            where=str(program),
            found="an ELF file without a dynamic linker",
            remedy="link it dynamically: the markers library must be loaded with it",
        )


def elf_facts(data: bytes) -> tuple[int, bool]:
    """Return the machine of an ELF file and whether a dynamic linker loads it; else raise a ``ValueError``."""
    if data[:6] != b"\x7fELF\x02\x01" or len(data) < 64:
        raise ValueError("no 64-bit little-endian ELF file")
    table = int.from_bytes(data[32:40], "little")
    machine, size, count = (int.from_bytes(data[at : at + 2], "little") for at in (18, 54, 56))
    headers = [data[table + index * size :][:4] for index in range(count)]
    if not all(len(header) == 4 for header in headers):
        raise ValueError("an ELF file that is cut off")
    return machine, any(int.from_bytes(header, "little") == _INTERPRETER for header in headers)
