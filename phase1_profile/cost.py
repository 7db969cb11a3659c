"""Expected cost of an experiment's profiled runs, which depends on the source of the counters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from manynode.measured_runs import MeasuredRun
from phase1_profile.sources.interface import SOURCES, choose_source


def profiled_runs(content: Mapping[str, Any]) -> list[MeasuredRun]:
    """Return the runs of a resolved experiment; no usable source is an :class:`EngineMissingError`."""
    wanted = content["profile"]["source"]
    source, reason = choose_source(wanted)
    reason = reason if wanted == "auto" else ""
    return [
        profiled_run(content, source, reason, nodes, repetition)
        for nodes in content["profile"]["nodes"]
        for repetition in range(content["profile"]["repetitions"])
    ]


def profiled_run(content: Mapping[str, Any], source: str, reason: str, nodes: int, repetition: int) -> MeasuredRun:
    """Return one run; ``reason`` says why ``source`` was chosen."""
    ranks = nodes * content["ranks_per_node"]
    return MeasuredRun(
        rule="phase1_profile_ranks",
        wildcards={"nodes": str(nodes), "repetition": str(repetition)},
        output=f"profile/nodes-{nodes}-rep-{repetition}/counters.parquet",
        step=f"phase 1, profile of {nodes} node{'' if nodes == 1 else 's'}",
        tool=source,
        ranks=ranks,
        slowed=ranks,
        threads=content["application"]["threads"],
        slow_down=SOURCES.get(source)().slow_down,
        reason=reason,
    )
