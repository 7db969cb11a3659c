"""Estimates the cost of a campaign's points before they are simulated, with one trial for each kind of point.

Points of a kind differ only in their jobs' placement and draws. For the engine fast, the first iterations of the job
under study are timed on this host, beside the other jobs. For sst, the estimate is that of
:mod:`phase3_sst.engines.sst.run.sst_estimate`; for simgrid, there is none. Trials are kept in ``campaign-cost.json``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from manynode import tables
from manynode.errors import InputError, ManynodeError
from phase3_sst.analysis.estimates.estimate_sentences import duration
from phase3_sst.analysis.estimates.points import START_S
from phase3_sst.analysis.estimates.trial import bare_run, counted_iterations, tried_run
from phase3_sst.campaign.planned_point import PlannedPoint, missing
from phase3_sst.point.contract import Point, engine_of
from phase3_sst.point.run_file import run_description

COST_SCHEMA = "campaign-cost/1"
# A batch starts Python once.
_FILES_S = 0.1
_TRIAL_LIMIT_S = 60.0
_MOST_TRIALS = 24


@dataclass(frozen=True)
class Cost:
    """Processor time [s] of all replicas of a point, None if unknown; memory [B] of one replica."""

    processor_s: float | None
    memory_bytes: float = 0.0


def costs(output: Path, points: Sequence[PlannedPoint]) -> dict[str, Cost]:
    """Return folder -> cost of each point; runs a trial for each new kind, up to a limit.

    With more kinds than that, some are tried, from the smallest to the largest. The others get the cost of the nearest
    one.
    """
    path = output / "campaign-cost.json"
    known = _read(path)
    kinds = {one.folder: _kind(one.point) for one in points}
    # Small ones first: a trial's memory is that of the largest process so far.
    by_size = sorted(points, key=lambda one: _nodes(one.point))
    new = {kinds[one.folder]: one for one in reversed(by_size) if kinds[one.folder] not in known}
    wanted = list(reversed(new.items()))
    if wanted:
        places = np.unique(np.linspace(0, len(wanted) - 1, min(_MOST_TRIALS, len(wanted))).round().astype(int))
        tried = {int(place): _cost(wanted[place][1].point) for place in places}
        for place, (kind, _) in enumerate(wanted):
            known[kind] = tried[min(tried, key=lambda other: abs(other - place))]
        content = {kind: [cost.processor_s, cost.memory_bytes] for kind, cost in sorted(known.items())}
        tables.write_json(path, COST_SCHEMA, {"kinds": content})
    return {folder: known[kind] for folder, kind in kinds.items()}


def estimate(
    output: Path, by_part: Mapping[str, Sequence[PlannedPoint]], batch: int, cores: int, noun: str = "point"
) -> tuple[list[str], dict[str, Cost]]:
    """Return the estimate as text, a line for each part and one for everything still to simulate, and the costs."""
    everything = {one.folder: one for group in by_part.values() for one in group}
    undone = missing(output, everything.values())
    cost = costs(output, undone)
    said = []
    for part, group in by_part.items():
        own = {one.folder for one in group}
        said.append(f"{part}: {_number(len(own), noun)}, {_span([cost[name] for name in own if name in cost])}")
    steps = -(-len(undone) // batch)
    whole = _span(list(cost.values()))
    finished = len(everything) - len(undone)
    text = f"in all {_number(len(everything), noun)}, {finished} of them finished; {whole}"
    known = [one.processor_s for one in cost.values() if one.processor_s is not None]
    if known:
        wall = (sum(known) + steps * START_S) / cores
        text += f", about {duration(wall)} on {cores} core{'s' if cores > 1 else ''}"
    return [*said, text], cost


def _span(found: Sequence[Cost]) -> str:
    known = [one.processor_s for one in found if one.processor_s is not None]
    if not found:
        return "nothing left to simulate"
    if not known:
        return "what they take is not known"
    unknown = f" ({len(found) - len(known)} more are not known)" if len(known) < len(found) else ""
    return f"about {duration(sum(known))} of processor time{unknown}, the longest about {duration(max(known))}"


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _nodes(point: Point) -> int:
    """Return the number of nodes of all jobs."""
    return point.nodes + point.experiment.simulate.job_nodes()


def _kind(point: Point) -> str:
    """Return the digest of everything that determines the amount of simulation."""
    content = point.experiment.model_dump(mode="json")
    content.pop("seed")
    simulate = content["simulate"]
    for job in (simulate, *simulate["jobs"]):
        job["placement"] = None
        job["timing_profile"] = bool(job.get("timing_profile"))
    content["nodes"], content["times"] = point.nodes, point.timing_profile is not None
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def _cost(point: Point) -> Cost:
    simulate = point.experiment.simulate
    replicas = len(point.chosen_replicas)
    try:
        engine = engine_of(simulate)
        if not engine.capabilities.is_timed_here:
            expected = engine.expected_cost(bare_run(point.experiment, point.nodes))
            if expected is None:
                return Cost(None)
            return Cost(_FILES_S + replicas * expected.seconds, expected.memory_bytes)
        counter, total = counted_iterations(point.experiment.application)
        run = {**run_description(point), "replicas": [0]}
        trial = tried_run(run, counter, total, _TRIAL_LIMIT_S)
    except ManynodeError:
        return Cost(None)  # the point's own run reports what is missing
    return Cost(_FILES_S + replicas * trial.seconds(total), trial.memory_bytes)


def _read(path: Path) -> dict[str, Cost]:
    if not path.is_file():
        return {}
    try:
        kinds: dict[str, Any] = tables.read_json(path, COST_SCHEMA)["kinds"]
        return {kind: Cost(*entry) for kind, entry in kinds.items()}
    except (InputError, KeyError, TypeError):
        return {}  # estimated again
