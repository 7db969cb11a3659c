"""Estimates gem5's run time, before and during a run: instructions over gem5's rate.

Phase 1 counts the instructions of each rank on this host; the guest executes about as many, without those of the MPI
library.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from manynode.tables import read_table
from phase2_nodesim.engines._interface import NodeJob

# Instructions that gem5 simulates per second of the host, all cores of the board together (docs/how-to/gem5.md).
RATE = 0.2e6
_PROGRESS = re.compile(r"^manynode progress: (\{.*\})$")


def profiled_instructions(counters: Path, nodes: int, ranks: Sequence[int]) -> float | None:
    """Return the instructions of ``ranks`` in the profiled job of ``nodes`` nodes, or None without such a profile."""
    if not counters.is_file():
        return None
    table = read_table(counters, "counters/1", ("nodes", "repetition", "rank", "phase", "instructions"))
    chosen = (table["nodes"] == nodes) & (table["repetition"] == 0) & (table["phase"] == "")
    rows = table[chosen & table["rank"].isin(list(ranks))]
    total = float(rows["instructions"].sum())
    return total if len(rows) == len(ranks) and total > 0 else None


def estimate(job: NodeJob) -> str:
    """Return one line: gem5's work and its estimated time."""
    if job.instructions is None:
        return f"gem5: {len(job.simulated())} ranks to simulate; how many instructions is not known (no profile)"
    return (
        f"gem5: about {_millions(job.instructions)} million instructions on {len(job.simulated())} ranks, "
        f"{duration(job.instructions / RATE)} at {RATE / 1e6:g} million a second"
    )


class Teller:
    """Turns the board's lines of progress into lines for people."""

    def __init__(self, job: NodeJob) -> None:
        self._job = job

    def see(self, line: str) -> None:
        """Take one line of output."""
        facts = progress_facts(line)
        if facts is not None and self._job.tell is not None:
            self._job.tell(progress_words(facts, self._job.instructions))


def progress_facts(line: str) -> dict[str, Any] | None:
    """Return the content of a progress line, or None for any other line."""
    match = _PROGRESS.match(line)
    if match is None:
        return None
    facts: dict[str, Any] = json.loads(match[1])
    return facts


def progress_words(facts: dict[str, Any], expected: float | None) -> str:
    """Return one line for people; the time left follows from the rate so far, without the time slept."""
    busy = max(1e-9, facts["host_s"] - facts["slept_s"])
    rate = facts["instructions"] / busy
    done = f"{_millions(facts['instructions'])} million instructions"
    if expected is not None:
        done += f" of about {_millions(expected)}"
    states = facts["states"]
    words = (
        f"gem5: {done}, {facts['simulated_s'] * 1e3:.3f} ms simulated in {duration(facts['host_s'])}, "
        f"{rate / 1e6:.2f} million a second; {states.count(2)} of {len(states)} ranks compute"
    )
    left = (expected or 0.0) - facts["instructions"]
    return words if left <= 0 or rate <= 0 else f"{words}; about {duration(left / rate)} left"


def duration(seconds: float) -> str:
    """Return a rounded time as text."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _millions(count: float) -> str:
    return f"{count / 1e6:.3g}" if count < 1e9 else f"{count / 1e6:.0f}"
