"""Compare the fast engine's speed with a derived skeleton of HPCG and with the one in C++, on 1,024 nodes of 4 ranks.

Both make the same calls (tests/workflow/test_derived_agreement.py), 20 iterations with contention and without compute
times. Speed is processor time (user and system) of the engine, the least of three runs each, in turns; memory is the
most at once. The makespans must be equal. A second pair has the index of the main loop in a size that does not depend
on it in the end: the engine must then ask for the calls of every iteration, which shows what their interpretation
costs.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from _figure import figure
from fast_messages import run_file, simulate

from manynode.derived import skeleton_file
from manynode.paths import ROOT

NODES, RANKS_PER_NODE, ITERATIONS, RUNS = 1024, 4, 20, 3
SPEED_TARGET, EVERY_ITERATION_TARGET, MEMORY_TARGET = 0.9, 0.6, 1.1
FILE = ROOT / "tests" / "data" / "derived" / "hpcg.yaml"


def derived(text: str, folder: Path, name: str) -> dict[str, Any]:
    """Return the application of a run file, for the skeleton with this text."""
    source, compiled = folder / f"{name}.yaml", folder / f"{name}.json"
    source.write_text(text, encoding="utf-8")
    digest = skeleton_file.write_compiled(compiled, skeleton_file.read(source))
    values = f'{{"iterations": {ITERATIONS}}}'
    return {"name": "derived", "parameters": {"file": str(compiled), "digest": digest, "values": values}}


def figures() -> list[dict[str, Any]]:
    """Return the speed relative to the skeleton in C++, and the difference of the makespans."""
    text = FILE.read_text(encoding="utf-8")
    indexed = text.replace("  - repeat: iterations\n", "  - repeat: iterations\n    index: i\n")
    indexed = indexed.replace(
        "bytes: 8}\n      - {compute: direction}", "bytes: 8 + i * 0}\n      - {compute: direction}"
    )
    assert "index: i\n" in indexed and "i * 0" in indexed
    with tempfile.TemporaryDirectory() as folder:
        applications = {
            "in C++": {"name": "hpcg", "parameters": {"iterations": ITERATIONS}},
            "derived": derived(text, Path(folder), "hpcg"),
            "every iteration": derived(indexed, Path(folder), "indexed"),
        }
        seconds: dict[str, float] = {}
        makespans: dict[str, float] = {}
        memory: dict[str, int] = {}
        for _ in range(RUNS):
            for name, application in applications.items():
                found = simulate(run_file(application, NODES, RANKS_PER_NODE))
                seconds[name] = min(found.seconds, seconds.get(name, found.seconds))
                makespans[name] = found.replica["makespan_s"]
                memory[name] = found.bytes
    what = f"HPCG {NODES:,} x {RANKS_PER_NODE}"
    off = max(abs(makespan / makespans["in C++"] - 1) for makespan in makespans.values())
    return [
        figure(f"derived: speed of {what}", seconds["in C++"] / seconds["derived"], "", SPEED_TARGET, ">="),
        figure(
            "derived: the same, calls of every iteration interpreted",
            seconds["in C++"] / seconds["every iteration"],
            "",
            EVERY_ITERATION_TARGET,
            ">=",
        ),
        figure("derived: memory of the same", memory["derived"] / memory["in C++"], "", MEMORY_TARGET, "<="),
        figure("derived: difference of makespans", off, "", 0.0, "<="),
        figure("derived: the engine's time with the skeleton in C++", seconds["in C++"], "s", None, None),
    ]
