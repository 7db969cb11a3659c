"""Finds in gem5's output why it could not run a guest: text in, one sentence and a remedy out.

If gem5 only warns about an instruction, the results are wrong; a run with such a warning has failed too. The messages
are those of gem5 24.0: src/arch/x86/isa/formats/unimp.isa, src/arch/x86/faults.cc, src/sim/faults.cc and
src/sim/syscall_emul.cc.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_BUILD = "build the guest with -march=x86-64 and without options such as -mavx or -march=native"


@dataclass(frozen=True)
class Refusal:
    """What the simulator could not do, and the remedy."""

    found: str
    remedy: str


_PATTERNS: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (
        # Without a prefetch a program is slower, not wrong: OpenBLAS has some.
        re.compile(r"warn: instruction '((?!prefetch)[^']+)' unimplemented"),
        "gem5 does not have the instruction {0} and went on without it: every result is wrong",
        _BUILD,
    ),
    (
        re.compile(r"panic: attempt to execute unimplemented instruction '([^']+)'"),
        "gem5 does not have the instruction {0}",
        _BUILD,
    ),
    (
        re.compile(r"panic: Unrecognized/invalid instruction executed:\s*(.+)"),
        "gem5 does not know an instruction of the guest: {0}",
        _BUILD + "; AVX is the usual cause",
    ),
    (
        re.compile(r"fatal: syscall (\w+) \(#(\d+)\) unimplemented"),
        "the guest made the system call {0}, which gem5 does not emulate",
        "leave the call out of the guest; calls that sleep, wait for files or make processes are the usual cause",
    ),
    (
        re.compile(r"panic: Tried to (\w+) unmapped address (0x[0-9a-f]+|0)\b"),
        "the guest crashed: it tried to {0} the unmapped address {1}",
        "run the guest natively through the bridge first; if it crashes there as well, mend the application",
    ),
)


def refusal(output: str) -> Refusal | None:
    """Return the first operation of the guest that gem5's ``output`` reports as failed, or None."""
    first: tuple[int, Refusal] | None = None
    for pattern, found, remedy in _PATTERNS:
        match = pattern.search(output)
        if match and (first is None or match.start() < first[0]):
            first = (match.start(), Refusal(found.format(*(part.strip() for part in match.groups())), remedy))
    return first[1] if first else None
