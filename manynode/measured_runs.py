"""Estimates measured runs: tool, number of ranks, slow-down against native, and time.

In: the runs that a phase would start (its command ``cost`` writes them as ``measured-runs/1``) and one short native run
(:mod:`manynode.native_trial`). Out: the expected time of each run [s], and text. The estimate assumes weak scaling:
each rank has the same work at every job size. Waiting inside MPI counts as computing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from manynode.errors import ManynodeError
from manynode.native_trial import Trial
from manynode.tables import read_json, write_json

SCHEMA = "measured-runs/1"
# The rules whose jobs are measured runs.
RULES = ("phase1_profile_ranks", "phase2_simulate_node")


@dataclass(frozen=True)
class SlowDown:
    """Typical slow-down of a thread under a tool against native, from ``low`` to ``high``.

    With ``serial``, the threads of a rank run one after the other.
    """

    low: float
    high: float
    serial: bool = False

    def words(self) -> str:
        """Return ``50 to 100 times``, or ``none``."""
        if self.high <= 1:
            return "none"
        low, high = (f"{value:,.0f}" for value in (self.low, self.high))
        return f"{low} times" if low == high else f"{low} to {high} times"


NONE = SlowDown(1.0, 1.0)


@dataclass(frozen=True)
class MeasuredRun:
    """One run: the job of ``rule`` with ``wildcards``, which leaves ``output`` below the results.

    ``slowed`` of the job's ``ranks`` run under ``tool``, with ``threads`` each, on at most ``cores`` cores at a time
    (None: all of the host). ``expected_s`` is set if the tool itself gives an estimate. ``output`` is empty and the
    wildcard is missing if only phase 1 can tell the number of such runs.
    """

    rule: str
    wildcards: dict[str, str]
    output: str
    step: str
    tool: str
    ranks: int
    slowed: int
    threads: int
    slow_down: SlowDown
    cores: int | None = None
    expected_s: tuple[float, float] | None = None
    reason: str = ""

    def time_s(self, trial: Trial | None) -> tuple[float, float] | None:
        """Return the shortest and longest expected time [s]; None without a trial.

        Where more threads compute at a time than there are cores, they share them.
        """
        if self.expected_s is not None:
            return self.expected_s
        if trial is None:
            return None
        at_once, in_turn = (1, self.threads) if self.slow_down.serial else (self.threads, 1)
        shared = in_turn * max(1.0, self.slowed * at_once / min(trial.cores, self.cores or trial.cores))
        native = trial.seconds * shared / max(1.0, trial.ranks * self.threads / trial.cores)
        low, high = (trial.start_s + native * factor for factor in (self.slow_down.low, self.slow_down.high))
        return low, high

    def words(self, trial: Trial | None) -> str:
        """Return what runs, for the line at its start."""
        text = f"{self.tool}, {ranks_words(self)}"
        if self.slow_down.high > 1:
            text += f", typically {self.slow_down.words()} slower than native"
        expected = self.time_s(trial)
        return text if expected is None else f"{text}, {time_words(expected, trial)}"


@dataclass(frozen=True)
class KnownRuns:
    """The runs of an experiment and its native trial, to look up the expected time of a step.

    ``announced`` counts by rule the runs that were announced before the workflow began. It is None where all were taken
    over: until phase 1 has told which nodes are simulated, Snakemake plans runs that it will not start.
    """

    runs: Sequence[MeasuredRun] = ()
    trial: Trial | None = None
    announced: Mapping[str, int] | None = field(default_factory=dict)
    _by_rule: dict[str, list[MeasuredRun]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for run in self.runs:
            self._by_rule.setdefault(run.rule, []).append(run)

    def of(self, rule: str, wildcards: Mapping[str, str]) -> MeasuredRun | None:
        """Return the measured run of a workflow job, or None for any other job."""
        return next((run for run in self._by_rule.get(rule, []) if run.wildcards.items() <= wildcards.items()), None)


def ranks_words(run: MeasuredRun) -> str:
    """Return ``4 ranks`` or ``2 of 4 ranks``."""
    all_ranks = f"{run.ranks} rank{'' if run.ranks == 1 else 's'}"
    return all_ranks if run.slowed == run.ranks else f"{run.slowed} of {all_ranks}"


def time_words(expected_s: tuple[float, float], trial: Trial | None) -> str:
    """Return ``about 2 min``, ``2 min to 4 min``, or ``at least 2 min`` if the native trial was cut off."""
    low, high = expected_s
    if trial is not None and not trial.ended:
        return f"at least {duration(low)}"
    return f"about {duration(high)}" if high <= 1.2 * low else span_words(low, high)


def span_words(low: float, high: float) -> str:
    """Return ``2 to 4 min`` or ``40 s to 2 min``."""
    first, last = duration(low), duration(high)
    if first == last:
        return last
    return f"{first.rpartition(' ')[0] if first.split()[-1] == last.split()[-1] else first} to {last}"


def duration(seconds: float) -> str:
    """Return a rounded time: ``under 1 s``, ``40 s``, ``12 min``, ``3.5 h``, ``2.1 days``."""
    if seconds < 1:
        return "under 1 s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.1f} days"


def write_runs(path: Path, digest: str, runs: Sequence[MeasuredRun]) -> None:
    """Write the runs of the experiment with ``digest``."""
    write_json(path, SCHEMA, {"digest": digest, "runs": [asdict(run) for run in runs]})


def read_runs(path: Path, digest: str) -> list[MeasuredRun] | None:
    """Return the runs; None without a sound file of this experiment."""
    try:
        content = read_json(path, SCHEMA)
        return [_read(run) for run in content["runs"]] if content["digest"] == digest else None
    except (ManynodeError, KeyError, TypeError):
        return None


def _read(content: dict[str, Any]) -> MeasuredRun:
    expected = content["expected_s"]
    told = {"slow_down": SlowDown(**content["slow_down"]), "expected_s": tuple(expected) if expected else None}
    return MeasuredRun(**{**content, **told})
