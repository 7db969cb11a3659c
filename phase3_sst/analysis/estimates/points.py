"""Estimates processor time and memory of every point of an experiment and its studies, before the launch.

In: a resolved experiment. Out: a :class:`PointCost` for each. For the engine fast, the first iterations are timed on
this host, up to a number of nodes that takes seconds; more nodes are extrapolated. For sst, the estimate is that of
:mod:`phase3_sst.engines.sst.run.sst_estimate`; for simgrid, there is none. Points share a trial if they differ only in
settings that do not change the number of messages (technique, bandwidth, latency).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from manynode import tables
from manynode.config.resolved import Resolved
from manynode.config.studies import all_points
from manynode.errors import ManynodeError
from phase3_sst.analysis.estimates.trial import LONG_S, Trial, bare_run, extrapolated, iterations, tried
from phase3_sst.point.contract import engine_of
from phase3_sst.point.point_experiment import PointExperiment

ESTIMATE_SCHEMA = "cost-estimate/1"

# Processor time to start Python and to read and write the point's files, on the machine of docs/validation.md.
START_S = 1.3
_TRIAL_LIMIT_S = 60.0
# Where many nodes may take minutes, fewer are tried first: from these on, four times as many each.
_FEWEST = 64


@dataclass(frozen=True)
class PointCost:
    """A point's processor time [s] for all replicas together, and memory [B] of one replica.

    ``least_s`` applies if its iterations converge at once, ``processor_s`` if all are simulated; None is unknown.
    ``variant`` is empty for the points of the experiment itself.
    """

    technique: str
    nodes: int
    variant: str
    processor_s: float | None
    least_s: float | None
    memory_bytes: float | None


def point_costs(experiment: Resolved) -> list[PointCost]:
    """Return the cost of every point, first those of the experiment, then those of its study."""
    wanted = list(_points(experiment))
    known: dict[tuple[str, int], Trial | None] = {}
    tried_before: dict[str, list[tuple[int, Trial]]] = {}
    # Few nodes first: a trial's memory is that of the largest process so far.
    for _, nodes, _, changed in sorted(wanted, key=lambda point: point[1]):
        key = _key(changed)
        if (key, nodes) not in known:
            known[key, nodes] = _trial(changed, nodes, tried_before.setdefault(key, []))
    found = []
    for technique, nodes, variant, changed in wanted:
        trial = known[_key(changed), nodes]
        if trial is None:
            found.append(PointCost(technique, nodes, variant, None, None, None))
        else:
            least, most = _span_s(changed, trial, _simulated_replicas(changed, technique))
            found.append(PointCost(technique, nodes, variant, most, least, trial.memory_bytes))
    return found


def write(path: Path, digest: str, costs: list[PointCost]) -> None:
    """Write the estimate for the progress display of a run."""
    tables.write_json(path, ESTIMATE_SCHEMA, {"digest": digest, "points": [asdict(cost) for cost in costs]})


def _points(experiment: Resolved) -> Iterator[tuple[str, int, str, PointExperiment]]:
    """Yield technique, nodes, variant and resolved experiment of every point."""
    own = PointExperiment.of(experiment)
    for technique in experiment.techniques:
        for nodes in experiment.nodes:
            yield technique, nodes, "", own
    changed: dict[tuple[str, str], PointExperiment] = {}
    for point in all_points(experiment):
        key = point.study, point.variant.name
        if key not in changed:
            changed[key] = PointExperiment.of(point.variant.applied(experiment))
        yield point.technique, point.nodes, point.variant.name, changed[key]


def _key(experiment: PointExperiment) -> str:
    """Return a key of everything but the nodes that determines the number of messages and chunks of a point."""
    network = experiment.network.model_dump(mode="json")
    parts = [network[key] for key in ("topology", "chunk", "flow_control", "contention")]
    host = {key: network["host"][key] for key in ("eager_limit", "rails", "rail_stride", "rail_choice", "receive")}
    return json.dumps([*parts, host, experiment.simulate.collectives.model_dump(mode="json")], sort_keys=True)


def _trial(experiment: PointExperiment, nodes: int, tried_before: list[tuple[int, Trial]]) -> Trial | None:
    """Return what a replica on ``nodes`` nodes takes; None if unknown.

    ``tried_before`` are trials with fewer nodes, and gets a new one.
    """
    try:
        engine = engine_of(experiment.simulate)
        if engine.capabilities.is_timed_here:
            return _timed_here(experiment, nodes, tried_before)
        estimate = engine.expected_cost(bare_run(experiment, nodes))
    except ManynodeError:
        return None  # the point's own run reports what is missing
    if estimate is None:
        return None
    _, total = iterations(experiment)
    return Trial(estimate.seconds / total, estimate.seconds / total, estimate.memory_bytes)


def _timed_here(experiment: PointExperiment, nodes: int, tried_before: list[tuple[int, Trial]]) -> Trial:
    while True:
        if len(tried_before) > 1 and tried_before[-1][1].first_s > LONG_S:  # more nodes take minutes
            return extrapolated(tried_before[-2], tried_before[-1], nodes)
        next_nodes = nodes
        if not tried_before:
            next_nodes = min(nodes, _FEWEST)
        elif tried_before[-1][1].first_s * nodes / tried_before[-1][0] > LONG_S:
            next_nodes = min(nodes, 4 * tried_before[-1][0])
        trial = tried(experiment, next_nodes, _TRIAL_LIMIT_S)
        tried_before.append((next_nodes, trial))
        if next_nodes == nodes:
            return trial


def _simulated_replicas(experiment: PointExperiment, technique: str) -> int:
    """Return how many replicas of a point are simulated: native engines simulate one where all are equal."""
    drawn = technique.endswith("var") or experiment.network.topology.draws_routes()
    native = engine_of(experiment.simulate).capabilities.is_timed_here
    return 1 if native and not drawn else experiment.simulate.replicas


def _span_s(experiment: PointExperiment, trial: Trial, replicas: int) -> tuple[float, float]:
    """Return minimum and maximum processor time [s] of a point's ``replicas``."""
    _, total = iterations(experiment)
    most = START_S + replicas * trial.seconds(total)
    converge = experiment.simulate.converge
    if converge is None or total < 2 * converge.first:
        return most, most
    # Half of the iterations are simulated once more, for the slope.
    least = START_S + replicas * (trial.seconds(converge.first) + trial.seconds(converge.first / 2))
    # The attempts before the last one have as many iterations together as half of all, and half of that for the first.
    return least, most + replicas * trial.seconds(total / 2)
