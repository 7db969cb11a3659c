"""Announces the measured runs before the first step: step, runs, ranks, slow-down, estimated time.

The phases' command ``cost`` lists an experiment's runs and the tool of each. Finished and reused runs are left out. One
short native run of the application gives the estimate. It is made when a run with something to measure begins, and its
result is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from manynode import native_trial
from manynode.config.resolved import Resolved
from manynode.config.studies import studies
from manynode.errors import ManynodeError
from manynode.measured_runs import KnownRuns, MeasuredRun, ranks_words, read_runs, time_words
from manynode.measurements import measures
from manynode.native_trial import Trial, read_trial, run_trial
from manynode.phase_commands import ask as ask_phase
from manynode.steps import CONTROL

_PHASES = ("profile", "nodesim")
_NOT_KNOWN = "not known"
# Rules of studies that work on no other step's results.
_MEASURING_NOTHING = {study.rule for study in studies() if not study.after}


def announce_measurements(
    experiment: Path,
    resolved: Resolved,
    results: Path,
    *,
    may_run: bool,
    until: str | None = None,
    taken_from: Path | None = None,
) -> KnownRuns:
    """Print the measured runs still to come, and return all runs for the lines at their start.

    With ``may_run``, a missing native trial is run. ``until`` is the last rule or file wanted. ``taken_from`` are the
    results whose measured runs are taken over: if none is missing there, none is to come.
    """
    if until in _MEASURING_NOTHING or not measures(resolved):
        return KnownRuns()
    if taken_from is not None and not to_measure(resolved, taken_from):
        return KnownRuns(announced=None)
    if not to_measure(resolved, results):
        return KnownRuns(_asked(experiment, resolved, results, ask=False), read_trial(results, _digest(resolved)))
    runs = _asked(experiment, resolved, results, ask=True)
    wanted = [run for run in runs if run.rule.startswith("phase1")] if _phase_1_alone(until) else runs
    coming = [run for run in wanted if not (run.output and (results / run.output).is_file())]
    if not coming:
        return KnownRuns(runs, read_trial(results, _digest(resolved)))
    trial = read_trial(results, _digest(resolved))
    if trial is None and may_run:
        nodes, ranks = native_trial.size(resolved)
        print(
            f"one native run of the application on {native_trial.job_words(nodes, ranks)} for estimates; "
            f"ended after {native_trial.LIMIT_S:g} s at the latest",
            flush=True,
        )
        trial = run_trial(resolved, results, _digest(resolved))
    for line in lines(coming, trial, may_run=may_run):
        print(line, flush=True)
    return KnownRuns(runs, trial, Counter(run.rule for run in coming))


def to_measure(resolved: Resolved, results: Path) -> bool:
    """Return whether the table of a measured run is missing, without asking the phases."""
    if not measures(resolved):
        return False
    profile = resolved.profile
    places = [
        f"profile/nodes-{nodes}-rep-{repetition}/counters.parquet"
        for nodes in profile.nodes
        for repetition in range(profile.repetitions)
    ]
    modes = {"ext" if name.startswith("ext") else "no-ext" for name in resolved.techniques}
    # Only phase 2 knows which nodes the classes need; if classes and timings exist, none is missing.
    places += [f"nodesim/timing-profile-{mode}.json" for mode in modes]
    if not all((results / place).is_file() for place in places):
        return True
    return resolved.nodesim.qemu.control and not any(results.glob(f"nodesim/*{CONTROL}/node-*/segments.parquet"))


def lines(runs: Sequence[MeasuredRun], trial: Trial | None, *, may_run: bool = True) -> list[str]:
    """Return the table of the runs, its sum, and the basis of the estimate."""
    head = ("step", "runs", "ranks", "tool", "slow-down", "estimated time")
    rows = [head]
    low = high = 0.0
    known = True
    for _, group in groupby(runs, key=lambda run: (run.step, run.ranks, run.tool)):
        alike = list(group)
        times = [run.time_s(trial) for run in alike]
        spans = [time for time in times if time is not None]
        span = (sum(time[0] for time in spans), sum(time[1] for time in spans))
        known = known and len(spans) == len(times)
        low, high = low + span[0], high + span[1]
        first = alike[0]
        count = f"{len(alike)}" if all(run.output for run in alike) else f"{len(alike)} or more"
        time = time_words(span, trial) if len(spans) == len(times) else _NOT_KNOWN
        rows.append((first.step, count, ranks_words(first), first.tool, first.slow_down.words(), time))
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    found = ["measured runs to come:"]
    found += [
        "  " + "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    if known and len(rows) > 2:
        found.append(f"  in all {time_words((low, high), trial)}, one run after the other")
    found += sorted({f"  {run.tool}: {run.reason}" for run in runs if run.reason and run.slow_down.high > 1})
    return found + _basis(trial, may_run)


def _basis(trial: Trial | None, may_run: bool) -> list[str]:
    if trial is None:
        return [
            "  no estimate: the native run of the application failed"
            if may_run
            else "  no estimate without running: a run begins with one short native run"
        ]
    text = f"  estimated from {trial.words()}; each rank is taken to have as much to do at every size"
    return [text if trial.ended else text.replace(";", ", so that all times are lower bounds;")]


def _phase_1_alone(until: str | None) -> bool:
    return until is not None and until.startswith(("phase1", "profile/"))


def _digest(resolved: Resolved) -> str:
    return resolved.digest("application", "ranks_per_node", "profile")


def _asked(experiment: Path, resolved: Resolved, results: Path, *, ask: bool) -> list[MeasuredRun]:
    """Return the experiment's runs from the phases; without ``ask``, their last answer.

    A phase whose tool is missing has no runs here; its first step names the missing tool.
    """
    runs: list[MeasuredRun] = []
    for phase in _PHASES:
        path = results / "logs" / f"{phase}-runs.json"
        if ask:
            where = ("--results", results) if phase == "nodesim" else ()
            try:
                ask_phase(phase, "cost", "--experiment", experiment.resolve(), *where, "--output", path)
            except ManynodeError:
                continue
        runs += read_runs(path, resolved.digest()) or []
    return runs
