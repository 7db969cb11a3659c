"""What is said of programs that cannot be guests, from their headers, their disassembly and gem5's output."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from manynode.errors import InputError
from phase2_nodesim.bridge.gem5_messages import refusal
from phase2_nodesim.bridge.guest_program import avx_functions, check_guest_program, elf_problem


def elf(*, kind: int = 2, machine: int = 62, segments: tuple[int, ...] = (1,), bits: int = 2) -> bytes:
    """The headers of an ELF file with program headers of the given types."""
    header = b"\x7fELF" + bytes([bits, 1, 1]) + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", kind, machine, 1, 0, 64, 0, 0, 64, 56, len(segments), 0, 0, 0)
    return header + b"".join(struct.pack("<I", segment) + bytes(52) for segment in segments)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (elf(), None),
        (elf(segments=(6, 3, 1)), "dynamically linked"),
        (elf(kind=3), "position-independent"),
        (elf(kind=1), "no executable"),
        (elf(machine=183), "AArch64"),
        (elf(machine=40), "machine 40"),
        (elf(bits=1), "64-bit"),
        (elf(segments=(1, 1))[:100], "cut off"),
        (b"#!/bin/sh\n", "script"),
        (b"", "no ELF"),
    ],
)
def test_headers_say_whether_a_program_can_be_a_guest(data: bytes, words: str | None) -> None:
    problem = elf_problem(data)
    assert problem is None if words is None else problem is not None and words in problem


def test_a_static_program_without_the_bridge_is_refused_with_the_way_to_build_it(tmp_path: Path) -> None:
    program = tmp_path / "app"
    program.write_bytes(elf())
    with pytest.raises(InputError, match="not linked with the bridge") as caught:
        check_guest_program(program)
    assert "libmanynode_bridge.a" in str(caught.value.remedy)


def test_a_missing_program_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        check_guest_program(tmp_path / "none")


LISTING = """
0000000000401000 <main>:
  401000:\tmovsd  0x10(%rsp),%xmm0
  401004:\tverr   %ax
0000000000402000 <stencil(double*)>:
  402000:\tvfmadd213pd (%rdi),%ymm1,%ymm0
  402008:\tret
0000000000403000 <kernel>:
  403000:\tvmovsd %xmm0,(%rax)
0000000000404000 <masked>:
  404000:\tkmovw  %k1,%eax
0000000000405000 <__memcpy_avx_unaligned_erms>:
  405000:\tvmovdqu (%rsi),%ymm0
0000000000406000 <__sin_fma>:
  406000:\tvmulsd %xmm0,%xmm0,%xmm1
"""


def test_avx_is_found_in_the_programs_own_functions() -> None:
    assert avx_functions(LISTING) == ["stencil(double*)", "kernel", "masked"]


@pytest.mark.parametrize(
    ("output", "found"),
    [
        ("build/X86/arch/x86/generated/exec-ns.cc.inc:27: warn: instruction 'pshufb_Vdq_Wdq' unimplemented", "pshufb"),
        ("panic: attempt to execute unimplemented instruction 'cmpxchg16b' 0x0", "cmpxchg16b"),
        ("src/arch/x86/faults.cc:131: panic: Unrecognized/invalid instruction executed:\n {\n\tleg = 0xc5,", "{"),
        ("src/sim/syscall_emul.cc:67: fatal: syscall epoll_create1 (#291) unimplemented.", "epoll_create1"),
        ("panic: Tried to write unmapped address 0x8.\nPC: 0x401136, Instr:", "unmapped address 0x8"),
        ("faults.cc:166: panic: Tried to write unmapped address 0.\nPC: 0x401136", "unmapped address 0"),
    ],
)
def test_gem5s_refusals_are_told_in_words(output: str, found: str) -> None:
    told = refusal("info: Entering event queue @ 0.\n" + output + "\nMemory Usage: 600000 KBytes")
    assert told is not None and found in told.found and told.remedy


def test_gem5s_first_refusal_counts_and_ordinary_warnings_do_not() -> None:
    warnings = "warn: ignoring syscall rseq(...)\nwarn: instruction 'prefetch_nta' unimplemented\n"
    assert refusal(warnings) is None
    told = refusal(warnings + "warn: instruction 'pabsb' unimplemented\nfatal: syscall fork (#57) unimplemented.")
    assert told is not None and "pabsb" in told.found
