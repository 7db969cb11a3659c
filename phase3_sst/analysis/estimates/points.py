"""Estimates processor time and memory of every point of an experiment and its studies, before the launch.

In: a resolved experiment. Out: a :class:`PointCost` for each. For the engine fast, the first iterations are timed on
this host, up to a number of nodes that takes seconds; more nodes are extrapolated. For sst, the estimate is that of
:mod:`phase3_sst.engines.sst.run.sst_estimate`; for simgrid, there is none. Points share a trial if they differ only in
settings that do not change the number of messages (technique, bandwidth, latency).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
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
    known: dict[tuple[str, int], tuple[float, float, float] | None] = {}
    tried_before: dict[str, list[tuple[int, Trial]]] = {}
    # Few nodes first: a trial's memory is that of the largest process so far.
    for _, nodes, _, changed in sorted(wanted, key=lambda point: point[1]):
        key = _key(changed)
        if (key, nodes) not in known:
            known[key, nodes] = _cost(changed, nodes, tried_before.setdefault(key, []))
    found = []
    for technique, nodes, variant, changed in wanted:
        cost = known[_key(changed), nodes]
        least, most, memory = (None, None, None) if cost is None else cost
        found.append(PointCost(technique, nodes, variant, most, least, memory))
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


def _cost(
    experiment: PointExperiment, nodes: int, tried_before: list[tuple[int, Trial]]
) -> tuple[float, float, float] | None:
    """Return minimum and maximum processor time [s] and the memory [B] of a point; None if unknown.

    ``tried_before`` are trials with fewer nodes, and gets a new one.
    """
    simulate = experiment.simulate
    replicas = simulate.replicas
    per_replica: Callable[[float], float]
    try:
        engine = engine_of(simulate)
        if engine.capabilities.is_timed_here:
            if len(tried_before) > 1 and tried_before[-1][1].first_s > LONG_S:  # more nodes take minutes
                trial = extrapolated(tried_before[-2], tried_before[-1], nodes)
            else:
                trial = tried(experiment, nodes, _TRIAL_LIMIT_S)
                tried_before.append((nodes, trial))
            per_replica, memory = trial.seconds, trial.memory_bytes
        else:
            estimate = engine.expected_cost(bare_run(experiment, nodes))
            if estimate is None:
                return None
            _, total = iterations(experiment)
            seconds, memory = estimate.seconds, estimate.memory_bytes
            per_replica = lambda count: seconds * count / total  # noqa: E731
    except ManynodeError:
        return None  # the point's own run reports what is missing
    _, total = iterations(experiment)
    most = START_S + replicas * per_replica(total)
    converge = simulate.converge
    if converge is None or total < 2 * converge.first:
        return most, most, memory
    # Half of the iterations are simulated once more, for the slope.
    least = START_S + replicas * (per_replica(converge.first) + per_replica(converge.first / 2))
    # The attempts before the last one have as many iterations together as half of all, and half of that for the first.
    return least, most + replicas * per_replica(total / 2), memory
