"""The campaign of Chunduri et al.: every run of a workload has newly drawn nodes and background jobs.

In: workloads, sizes, and the settings of the background. Out: a situation per run, and from its result a row of the
table ``variability-runs/1``. All draws come from the study's seed and the run's own labels. A larger campaign therefore
starts with the runs of a smaller one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from manynode.config.network import nic_of
from manynode.config.skeleton import resolve_skeleton
from manynode.seeds import derive_seed, generator
from phase3_sst.point.point_result import PointResult
from phase3_sst.studies.congestion.contract import Workload
from phase3_sst.studies.congestion.counters.counter_features import NODES, features
from phase3_sst.studies.congestion.counters.simulated import router_of_host, simulated
from phase3_sst.studies.congestion.situation import Member, Situation
from phase3_sst.studies.congestion.variability.variability_settings import BackgroundSection, VariabilitySection

# Seeds of situations are read as signed numbers.
_SEED_BITS = 63
# Parameters that set a congestor's intensity.
_DRAWN = ("bytes", "pause_us")


@dataclass(frozen=True)
class Kind:
    """A kind of background job and its drawn parameters."""

    workload: Workload
    drawn: Sequence[str] = ()


def chosen(workloads: Mapping[str, Workload], settings: VariabilitySection) -> list[Workload]:
    """Return the workloads of the campaign."""
    return [workloads[name] for name in settings.workloads or workloads]


def situations(
    workloads: Mapping[str, Workload], settings: VariabilitySection, room: int, seed: int
) -> list[Situation]:
    """Return the situation of every run on a machine of ``room`` nodes."""
    kinds = background_kinds(settings.background, workloads)
    return [
        situation(workload, size, run, kinds, settings, room, seed)
        for workload in chosen(workloads, settings)
        for size in settings.nodes
        for run in range(settings.runs)
    ]


def background_kinds(settings: BackgroundSection, workloads: Mapping[str, Workload]) -> list[Kind]:
    """Return the skeletons of background jobs, congestors with all their parameters."""
    kinds = []
    for choice in settings.congestors:
        full = resolve_skeleton(choice.name, dict(choice.parameters), "variability: background: congestors")
        congestor = Workload(str(full.get("pattern", choice.name)), choice.name, full, 1, None)
        kinds.append(Kind(congestor, [key for key in _DRAWN if key in full and _takes(congestor, key)]))
    if isinstance(settings.workloads, list):
        return [*kinds, *(Kind(workloads[name]) for name in settings.workloads)]
    return [*kinds, *(map(Kind, workloads.values()) if settings.workloads else [])]


def _takes(congestor: Workload, key: str) -> bool:
    """Return whether the parameter has an effect: all patterns declare a pause, but only GPCNeT's congestors use it."""
    return key != "pause_us" or congestor.application != "patterns" or congestor.name.startswith("congestor-")


def situation(
    workload: Workload,
    size: int,
    run: int,
    kinds: Sequence[Kind],
    settings: VariabilitySection,
    room: int,
    seed: int,
) -> Situation:
    """Return run number ``run`` of a workload on ``size`` nodes, beside jobs of ``kinds``."""
    draw = generator(seed, "variability", workload.name, size, run)
    order = [int(node) for node in draw.permutation(room)]
    own, free = order[:size], order[size:]
    others = _background(settings.background, kinds, free, draw)
    times = seed if settings.draws == "same" else derive_seed(seed, "draws", workload.name, size, run)
    name = f"variability-{workload.name}-{size}-{run:04d}"
    return Situation(name, [workload.on(own), *others], times % 2**_SEED_BITS)


def _background(
    settings: BackgroundSection, kinds: Sequence[Kind], free: Sequence[int], draw: np.random.Generator
) -> list[Member]:
    """Return background jobs on a drawn share of the free nodes."""
    left = list(free[: int(draw.uniform(0, settings.most_share) * len(free))])
    least, most = settings.nodes
    members: list[Member] = []
    while len(left) >= least:
        nodes = min(_log_uniform(least, most, draw), len(left))
        taken, left = left[:nodes], left[nodes:]
        kind = kinds[int(draw.integers(len(kinds)))]
        # Drawn for every kind, to keep the following jobs independent of the kind.
        length, pause_s = _log_uniform(*settings.bytes, draw), float(draw.uniform(0, settings.most_pause))
        values = {"bytes": length, "pause_us": round(pause_s * 1e6, 3)}
        job = kind.workload.on(taken, background=True)
        parameters = {**job.parameters, **{key: values[key] for key in kind.drawn}}
        members.append(replace(job, name=f"background-{len(members)}-{job.name}", parameters=parameters))
    return members


def _log_uniform(least: float, most: float, draw: np.random.Generator) -> int:
    return round(2 ** draw.uniform(math.log2(least), math.log2(most)))


def row(situation: Situation, result: PointResult, network: Mapping[str, Any], flit_bytes: float) -> dict[str, Any]:
    """Return a run on a resolved network as a row of the table ``variability-runs/1``."""
    job, topology = situation.members[0], network["topology"]
    attached, rails = router_of_host(topology), int(network["host"].get("rails", 1))
    routers = sorted({attached[nic_of(network["host"], node, rail)] for node in job.hosts for rail in range(rails)})
    replica = result.document["replicas"][0]
    table = simulated(result.links(), float(replica["makespan_s"]), flit_bytes, topology=topology)
    return {
        "run": situation.name,
        "application": job.name,
        NODES: len(job.hosts),
        "run_time_s": float(replica["jobs"][0]["makespan_s"]),
        "background_jobs": len(situation.members) - 1,
        "background_nodes": sum(len(member.hosts) for member in situation.members[1:]),
        **features(table, routers, situation.name),
    }
