"""A batch of points as a file. A study's command writes it; one workflow step simulates it, on any machine.

The file (``campaign-batch/1``, JSON) describes its points completely. Timing profiles are absolute paths on a file
system that the machines share. A failed point leaves its error in its folder and does not stop the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from manynode import tables
from manynode.errors import ManynodeError
from phase3_sst.campaign.planned_point import FAILURE, FAILURE_SCHEMA, PlannedPoint, missing
from phase3_sst.point import folders
from phase3_sst.point.contract import Point, engine_of
from phase3_sst.point.convergence.converged_point import simulate_point
from phase3_sst.point.point_experiment import PointExperiment

BATCH_SCHEMA = "campaign-batch/1"


def write_batch(path: Path, points: Sequence[PlannedPoint]) -> None:
    """Write ``points`` to ``path``."""
    tables.write_json(path, BATCH_SCHEMA, {"points": [_described(one) for one in points]})


def read_batch(path: Path) -> list[PlannedPoint]:
    """Return the points of the batch at ``path``."""
    return [_point(entry) for entry in tables.read_json(path, BATCH_SCHEMA)["points"]]


def simulate_batch(path: Path, output: Path, processes: int = 1) -> None:
    """Simulate the points of the batch at ``path`` without a result below ``output``.

    ``processes`` is the number of replicas of a point that may run in parallel.
    """
    with folders.bound(output):
        for number, one in enumerate(missing(output, read_batch(path)), start=1):
            print(f"{number}: {one.name}", flush=True)
            simulate(one, output, processes)


def simulate(planned: PlannedPoint, output: Path, processes: int = 1) -> None:
    """Simulate one point into its folder below ``output``; a failure is recorded there."""
    folder = output / planned.folder
    point = replace(planned.point, processes=processes)
    try:
        simulate_point(engine_of(point.experiment.simulate), point, folder)
    except ManynodeError as error:
        tables.write_json(folder / FAILURE, FAILURE_SCHEMA, {"message": error.render()})


def _described(planned: PlannedPoint) -> dict[str, Any]:
    point = planned.point
    return {
        "name": planned.name,
        "folder": planned.folder,
        "experiment": point.experiment.model_dump(mode="json"),
        "nodes": int(point.nodes),
        "technique": point.technique,
        "timing_profile": None if point.timing_profile is None else str(point.timing_profile.resolve()),
        "class_of_rank": list(point.class_of_rank),
        "seed": int(point.seed),
        "variant": point.variant,
    }


def _point(entry: Mapping[str, Any]) -> PlannedPoint:
    members = {key: value for key, value in entry.items() if key not in ("name", "folder")}
    profile = members.pop("timing_profile")
    members["experiment"] = PointExperiment.read(members["experiment"])
    point = Point(**members, timing_profile=None if profile is None else Path(profile))
    return PlannedPoint(entry["name"], entry["folder"], point)
