"""Expected cost of an experiment's profiled runs, which depends on the source of the counters."""

from __future__ import annotations

from manynode.config.resolved import Resolved
from manynode.measured_runs import MeasuredRun
from phase1_profile.sources.interface import SOURCES, choose_source


def profiled_runs(experiment: Resolved) -> list[MeasuredRun]:
    """Return the runs of a resolved experiment; no usable source is an :class:`EngineMissingError`."""
    wanted = experiment.profile.source
    source, reason = choose_source(wanted, experiment.application)
    reason = reason if wanted == "auto" else ""
    return [
        profiled_run(experiment, source, reason, nodes, repetition)
        for nodes in experiment.profile.nodes
        for repetition in range(experiment.profile.repetitions)
    ]


def profiled_run(experiment: Resolved, source: str, reason: str, nodes: int, repetition: int) -> MeasuredRun:
    """Return one run; ``reason`` says why ``source`` was chosen."""
    ranks = nodes * experiment.ranks_per_node
    return MeasuredRun(
        rule="phase1_profile_ranks",
        wildcards={"nodes": str(nodes), "repetition": str(repetition)},
        output=f"profile/nodes-{nodes}-rep-{repetition}/counters.parquet",
        step=f"phase 1, profile of {nodes} node{'' if nodes == 1 else 's'}",
        tool=source,
        ranks=ranks,
        slowed=ranks,
        threads=experiment.application.threads,
        slow_down=SOURCES.get(source)().slow_down,
        reason=reason,
    )
