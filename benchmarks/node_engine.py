"""Measure the engine qemu on HPCG: its speed beside callgrind's, and its cache misses against callgrind's.

Both run one rank of the same problem with the same geometry of caches, without prefetchers, with caches and branches
simulated. The speed is that of the iterations: processor time and instructions of a long run minus those of a short
one, without the start of the MPI library. Runs alternate; the best of each counts. Prints one line per figure.
"""

from __future__ import annotations

import pandas as pd
from _figure import figure
from _mini_app import at_most
from _node_run import hpcg_node, need, shipped_machine

from manynode.config.experiment import NodesimSection, QemuSection

GRID, SHORT, LONG, ROUNDS = (24, 24, 24), 2, 32, 3
INSTRUCTIONS_PER_S, OVER_CALLGRIND, MISSES = 100e6, 2.5, 0.01


def segments(engine: str, iterations: int) -> tuple[pd.DataFrame, float]:
    """Return the segments of one rank of HPCG under ``engine``, and the processor time [s] of the job."""
    settings = NodesimSection(engine=engine, qemu=QemuSection(frames="virtual"))
    return hpcg_node(shipped_machine("generic"), settings, ranks=1, grid=GRID, iterations=iterations)


def speed(instructions: str, short: tuple[pd.DataFrame, float], long: tuple[pd.DataFrame, float]) -> float:
    """Return instructions per second of processor time; ``instructions`` is the column that counts them."""
    return float(long[0][instructions].sum() - short[0][instructions].sum()) / (long[1] - short[1])


def figures() -> list[dict[str, object]]:
    """Return speeds and ratios of misses."""
    need("qemu", "valgrind")
    rates: dict[str, list[float]] = {"qemu": [], "valgrind": []}
    counts = {}
    for _ in range(ROUNDS):
        for engine, column in (("qemu", "instructions"), ("valgrind", "Ir")):
            short, long = segments(engine, SHORT), segments(engine, LONG)
            rates[engine].append(speed(column, short, long))
            counts[engine] = long[0]
    model, peer = max(rates["qemu"]), max(rates["valgrind"])
    ours, theirs = counts["qemu"].sum(numeric_only=True), counts["valgrind"].sum(numeric_only=True)
    first = ours["l1d_misses"] / (theirs["D1mr"] + theirs["D1mw"]) - 1
    second = ours["l2_misses"] / (theirs["DLmr"] + theirs["DLmw"] + theirs["ILmr"]) - 1
    return [
        figure("engine qemu: instructions per processor second", model, "1/s", INSTRUCTIONS_PER_S, ">="),
        figure("callgrind: instructions per processor second", peer, "1/s", None, None),
        figure("engine qemu: speed over callgrind's", model / peer, "times", OVER_CALLGRIND, ">="),
        at_most("engine qemu: first-level data misses, difference to callgrind", abs(first), "share", MISSES),
        at_most("engine qemu: second-level misses, difference to callgrind", abs(second), "share", MISSES),
    ]


if __name__ == "__main__":
    for entry in figures():
        print(f"{entry['name']}: {entry['value']:.4g} {entry['unit']}")
