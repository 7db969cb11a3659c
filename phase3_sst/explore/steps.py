"""The steps of phase 3 for one question: the commands, in the folders and with the files of ``manynode run``.

In: a question. Out: :class:`Step` in an order in which they can run; each says what it makes and what it waits for.
They are the rules of ``rules.smk`` without Snakemake, which would take longer to start than a small point takes.
Commands run in the question's folder with relative paths, as Snakemake's do, because some files name what they were
made of.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass

from manynode import heartbeat, process
from manynode.config.application import DERIVED
from manynode.config.experiment import mode_of
from manynode.config.resolved import Resolved
from manynode.config.studies import studies
from manynode.errors import ManynodeError
from manynode.fork_server import owner
from manynode.snakemake_run import ERROR_FILE, StepFailedError, recorded_errors
from manynode.steps import ANALYSED
from phase3_sst.campaign.experiments import PlannedExperiment
from phase3_sst.point.flow_choice import is_chosen

PREFLIGHT = "simulate/preflight.json"
CHOICE = "simulate/flow-control.json"
CHOICE_OF_STUDIES = "simulate/flow-control-studies.json"
CLASSES = "profile/rank-classes.json"
VERDICTS = "nodesim/skeleton-verdicts.json"
_POINT = ("result.json", "ranks.parquet", "links.parquet", "link_jobs.parquet")
# Rank-replicas that take about as long as the other steps of a question together.
_OTHER_WORK = 2000.0
_SHARE = re.compile(r"simulated in ([0-9.]+) s, .*about ([0-9.]+) s left")
# As a step without progress of its own says that it runs (manynode/heartbeat.py).
_BEATS = ": running for "
_PROCESS = re.compile(r"process (\d+) of (\d+): ")


class CancelledStepError(ManynodeError):
    """A step that was ended because nobody waits for its question any more."""


@dataclass(frozen=True)
class Step:
    """One command: ``words`` after ``manynode``, the files that it makes and the steps that it waits for.

    ``replicas`` can be simulated side by side, by ``--processes`` (0: the command has no such option). ``work`` is in
    rank-replicas.
    """

    name: str
    words: tuple[str, ...]
    makes: tuple[str, ...]
    after: tuple[str, ...] = ()
    replicas: int = 0
    work: float = _OTHER_WORK


def steps_of(planned: PlannedExperiment, losses: bool) -> list[Step]:
    """Return the steps that answer a question, with the waterfall of its losses if wanted."""
    resolved = planned.resolved
    root = f"results/{resolved.name}"
    (technique,) = resolved.techniques
    profile = f"{root}/{_profile(technique)}"
    experiment = ("--experiment", f"{root}/experiment.json")
    found: list[Step] = []
    before: tuple[str, ...] = ()
    words: tuple[str, ...]
    if resolved.simulate.preflight.enabled:
        words = ("simulate", "preflight", *experiment, "--output", f"{root}/{PREFLIGHT}")
        found.append(Step("preflight", words, (PREFLIGHT,)))
        before = ("preflight",)
    choice: tuple[str, ...] = ()
    if is_chosen(resolved):
        classes = ("--classes", f"{root}/{CLASSES}")
        words = ("simulate", "flow-control", *experiment, *classes, "--output", f"{root}/{CHOICE}", profile)
        # Three iterations with each flow control and with finer chunks take about as long as two replicas.
        work = max(_OTHER_WORK, 2.0 * max(resolved.nodes) * resolved.ranks_per_node)
        found.append(Step("flow control", words, (CHOICE,), work=work))
        choice = ("--flow-control", f"{root}/{CHOICE}")
        before = (*before, "flow control")
    if resolved.application.name == DERIVED:
        words = ("nodesim", "judge", *experiment, "--output", f"{root}/{VERDICTS}")
        found.append(Step("verdict on the skeleton", words, (VERDICTS,)))
    inputs = ("--classes", f"{root}/{CLASSES}", "--profile", profile)
    points = []
    # The largest point takes longest.
    for nodes in sorted(resolved.nodes, reverse=True):
        place = f"simulate/{technique}/nodes-{nodes}"
        words = ("simulate", "run", *experiment, "--technique", technique, "--nodes", str(nodes), *inputs)
        words = (*words, "--progress", "--result", f"{root}/{place}/result.json", *choice)
        points.append(_point(f"{nodes} nodes", words, place, before, resolved, nodes))
        if resolved.simulate.profile_bootstrap:
            table = f"resamples/{technique}/nodes-{nodes}.parquet"
            samples = f"{root}/nodesim/resamples-{mode_of(technique)}.json"
            words = ("simulate", "resamples", *experiment, "--technique", technique, "--nodes", str(nodes), *inputs)
            words = (*words, "--resamples", samples, "--output", f"{root}/{table}", *choice)
            work = float(nodes * resolved.ranks_per_node * resolved.simulate.profile_bootstrap)
            points.append(Step(f"resamples, {nodes} nodes", words, (table,), before, 0, work))
    found += points
    results = [f"{root}/simulate/{technique}/nodes-{nodes}/result.json" for nodes in resolved.nodes]
    words = ("simulate", "analyse", *experiment, "--projection", f"{root}/projection.parquet", *results)
    # The projection is written last: it stands for the others.
    tables = (*(f"{name}.parquet" for name in ANALYSED), "provenance.json")
    found.append(Step("analysis", words, tables, tuple(step.name for step in points)))
    return [*found, *(_losses(planned, before, inputs) if losses else ())]


def _losses(planned: PlannedExperiment, before: tuple[str, ...], inputs: tuple[str, ...]) -> list[Step]:
    """Return the steps of the waterfall: a point for each counterfactual network, and the conclusion."""
    resolved = planned.resolved
    root = f"results/{resolved.name}"
    experiment = ("--experiment", f"{root}/experiment.json")
    (technique,) = resolved.techniques
    found: list[Step] = []
    choice: tuple[str, ...] = ()
    words: tuple[str, ...]
    if is_chosen(resolved):
        own = ("--classes", f"{root}/{CLASSES}", "--base", f"{root}/{CHOICE}")
        words = ("simulate", "flow-control", *experiment, *own, "--output", f"{root}/{CHOICE_OF_STUDIES}")
        words = (*words, f"{root}/{_profile(technique)}")
        found.append(Step("flow control of the waterfall", words, (CHOICE_OF_STUDIES,), before))
        choice = ("--flow-control", f"{root}/{CHOICE_OF_STUDIES}")
        before = (*before, "flow control of the waterfall")
    for study in studies():
        if not study.asked(resolved):
            continue
        names = [f"{nodes} nodes" for _, nodes in study.own_points(resolved)]
        for point in study.points(resolved):
            words = ("simulate", "run", *experiment, "--variant", f"{point.study}/{point.variant.name}")
            words = (*words, "--technique", point.technique, "--nodes", str(point.nodes), *inputs)
            words = (*words, "--progress", "--result", f"{root}/{point.folder}/result.json", *choice)
            changed = point.variant.applied(resolved)
            names.append(f"{point.variant.name}, {point.nodes} nodes")
            found.append(_point(names[-1], words, point.folder, before, changed, point.nodes))
        words = ("simulate", study.command, *experiment)
        found.append(Step(study.name, words, tuple(file.name for file in study.files), tuple(names)))
    return found


def _profile(technique: str) -> str:
    return f"nodesim/timing-profile-{mode_of(technique)}.json"


def _point(
    name: str, words: tuple[str, ...], place: str, before: tuple[str, ...], resolved: Resolved, nodes: int
) -> Step:
    replicas = resolved.simulate.replicas
    makes = tuple(f"{place}/{file}" for file in _POINT)
    work = float(nodes * resolved.ranks_per_node * replicas)
    return Step(name, words, makes, before, replicas, work)


def run_step(
    planned: PlannedExperiment,
    step: Step,
    processes: int,
    cancelled: threading.Event,
    follow: Callable[[float | None, str], None] | None = None,
) -> None:
    """Run a step to its end in a child of this process; raise its own error, with its exit code.

    ``cancelled`` ends it with :class:`CancelledStepError`. ``follow`` gets its share (None: not known)
    and its latest line of progress.
    """
    results = planned.results
    name = re.sub(r"[^A-Za-z0-9.-]+", "-", step.name)
    logs = results / "logs" / "explore"
    logs.mkdir(parents=True, exist_ok=True)
    errors = logs / f"{name}.errors.jsonl"
    errors.unlink(missing_ok=True)
    for place in step.makes:
        (results / place).parent.mkdir(parents=True, exist_ok=True)
    options = ["--processes", str(processes)] if step.replicas else []
    command = [sys.executable, "-m", "manynode", *step.words, *options]
    shares: dict[int, float] = {}

    def read(_index: int, line: str) -> None:
        if follow is None:
            return
        if (found := progress_of(line)) is not None:
            number, count, share = found
            shares[number] = share
            follow(sum(shares.values()) / count, line)
        elif _BEATS in line and not shares:
            follow(None, line)

    def check(_codes: object) -> None:
        if cancelled.is_set():
            raise CancelledStepError("the question was cancelled", where=planned.name)

    def failure(done: process.Completed) -> ManynodeError:
        told = recorded_errors(errors)
        if told:
            return StepFailedError(str(told[0]["message"]), int(told[0]["exit_code"]))
        lines = "\n".join(done.output.splitlines()[-process.LAST_LINES :])
        return StepFailedError(
            f"{step.name} failed with exit code {done.returncode}; its output is in {done.log}\n{lines}", 5
        )

    check(())
    process.run_together(
        [command],
        what=f"{planned.name}: {step.name}",
        failure=failure,
        follow=read,
        logs=[logs / f"{name}.log"],
        env={ERROR_FILE: str(errors), heartbeat.INTERVAL: "2", **owner.environment()},
        check=check,
        cwd=planned.folder,
    )


def progress_of(line: str) -> tuple[int, int, float] | None:
    """Return the process, the number of processes and the finished share of a line of an engine's progress."""
    if (match := _SHARE.search(line)) is None:
        return None
    elapsed, left = float(match[1]), float(match[2])
    label = _PROCESS.search(line)
    number, count = (int(label[1]), int(label[2])) if label else (1, 1)
    return number, count, elapsed / (elapsed + left) if elapsed + left > 0 else 0.0
