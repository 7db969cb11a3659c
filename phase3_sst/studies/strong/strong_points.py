"""Measure at each size, interpolate, simulate every node count: the steps of a strong scaling study.

Finished work is kept. A measured size is an experiment with its own results. A point's folder name has the digest of
everything that the point depends on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from manynode import seeds
from manynode.config.changes import changed
from manynode.config.experiment import mode_of
from manynode.config.loader import resolve
from manynode.config.resolved import Resolved
from manynode.config.studies import without_studies
from manynode.errors import ManynodeError, UsageError
from manynode.rank_classes import assign_classes, read_rank_classes, single_class
from manynode.seeds import derive_seed
from manynode.snakemake_run import StepFailedError
from manynode.timing_profile import read_timing_profile, write_timing_profile
from phase3_sst.analysis.projection_tables import bootstrap_interval
from phase3_sst.campaign import campaign
from phase3_sst.campaign.experiments import PlannedExperiment
from phase3_sst.campaign.planned_point import PlannedPoint, failed, failure_lines
from phase3_sst.point.contract import Point
from phase3_sst.point.point_experiment import PointExperiment
from phase3_sst.point.point_result import PointResult
from phase3_sst.studies.strong.interpolate import Times, at_work, errors
from phase3_sst.studies.strong.strong_file import Size, Strong, changes, whole_problem, words, work

STRONG_SCHEMA = "strong/1"
_PROFILE = "nodesim/timing-profile-{mode}.json"
# Points per workflow step; a study has few, and each may take long.
_BATCH = 1


@dataclass(frozen=True)
class Measured:
    """A size at which compute times are measured, and its experiment."""

    size: Size
    experiment: PlannedExperiment

    @property
    def results(self) -> Path:
        """Return its results folder."""
        return self.experiment.results

    def times(self, mode: str) -> Times:
        """Return the times of ``mode`` (ext, no-ext); the ranks of a node that runs alone are of one class.

        So are those of jobs that differ in their ranks.
        """
        one = mode != "ext" or whole_problem(self.size)
        return Times(read_timing_profile(self.profile_path(mode)), single_class(1, 1) if one else self.classes())

    def classes(self) -> dict[str, Any]:
        """Return the rank classes of its profiled job."""
        return read_rank_classes(self.results / "profile/rank-classes.json")

    def profile_path(self, mode: str) -> Path:
        """Return the file of the timing profile of ``mode``."""
        return self.results / _PROFILE.format(mode=mode)


def experiments(study: Strong, path: Path, output: Path) -> tuple[list[Measured], dict[int, Resolved]]:
    """Return the measured sizes (the held-out one last) and the experiment of each node count, all checked."""
    base = path.resolve().parent / study.experiment

    def checked(size: Size, nodes: list[int] | None, what: str) -> tuple[dict[str, Any], Resolved]:
        try:
            content = changed(base, {} if nodes and whole_problem(size) else changes(size))
            content |= {"techniques": list(study.techniques)}
            content = without_studies(content)
            content["nodes"] = nodes or [content.get("nodesim", {}).get("nodes", 2)]
            resolved = resolve(content, where=str(path), base=base.parent)
            _check_measured(resolved, base)
            return content, resolved
        except ManynodeError as error:
            raise error.named(what) from None

    sizes = [*study.measured, *([study.held_out] if study.held_out else [])]
    measured = []
    for size in sizes:
        content, resolved = checked(size, None, f"size {words(size)}")
        name, folder = f"compute times at {words(size)}", output / "measured" / words(size)
        only = tuple(_PROFILE.format(mode=mode) for mode in modes(study))
        measured.append(Measured(size, PlannedExperiment(name, content, resolved, folder, only)))
    points = {nodes: checked(size, [nodes], f"{nodes} nodes")[1] for nodes, size in study.nodes.items()}
    return measured, points


def _check_measured(resolved: Resolved, base: Path) -> None:
    if resolved.own_times is not None:
        raise UsageError(
            "a strong scaling study measures compute times at several sizes",
            where=f"{base}: own_times",
            found="times of one size, whatever the parameters are",
            allowed="an experiment without own_times",
            remedy="make an experiment with own_times for each size, and run them together: manynode run A.yaml B.yaml",
        )


@dataclass(frozen=True)
class StrongPoint:
    """A technique at a node count: its experiment, the size of a rank's part, whether its times are measured there."""

    technique: str
    nodes: int
    size: Size
    interpolated: bool
    extrapolated: bool
    experiment: dict[str, Any]
    planned: PlannedPoint


def plan(study: Strong, sizes: Sequence[Measured], points: Mapping[int, Resolved], output: Path) -> list[StrongPoint]:
    """Return every point; its timing profile is written into its folder below ``output``."""
    used = [size for size in sizes if size.size != study.held_out]
    known = {work(size.size) for size in used}
    found = []
    for technique in study.techniques:
        times = {work(size.size): size.times(mode_of(technique)) for size in used}
        for nodes, resolved in sorted(points.items()):
            load = work(study.nodes[nodes])
            planned = _planned(at_work(times, load), resolved, technique, nodes, output)
            beyond = not min(known) <= load <= max(known)
            inside = not beyond and load not in known
            found.append(StrongPoint(technique, nodes, study.nodes[nodes], inside, beyond, resolved.content, planned))
    return found


def profiles(study: Strong, sizes: Sequence[Measured]) -> dict[str, Path]:
    """Return the measured timing profiles of the study, by size and mode in words."""
    return {f"{words(size.size)}, {mode}": size.profile_path(mode) for size in sizes for mode in modes(study)}


def modes(study: Strong) -> list[str]:
    """Return the modes in which the study measures: with external ranks (ext), without (no-ext)."""
    return sorted({mode_of(technique) for technique in study.techniques})


def classes_by_size(study: Strong, sizes: Sequence[Measured]) -> dict[str, list[str]]:
    """Return the class of every profiled rank by size in words, without the held-out size.

    There are none where the program divides the problem: the measured jobs have other ranks.
    """
    used = (size for size in sizes if size.size != study.held_out and not whole_problem(size.size))
    return {words(size.size): list(size.classes()["rank_class"].values()) for size in used}


def simulate(
    points: Sequence[StrongPoint], output: Path, *, cores: int, profile: str | None, say: Callable[[str], None]
) -> None:
    """Simulate the points without a result; raise :class:`StepFailedError` with the points that failed."""
    planned = [point.planned for point in points]
    campaign.run(output, {"points": planned}, campaign.How(_BATCH, cores, profile), say)
    failures = [(one.name, why) for one in planned if (why := failed(output / one.folder)) is not None]
    if failures:
        raise StepFailedError("\n".join(failure_lines(failures, len(planned), "point")), 5)


def conclude(points: Sequence[StrongPoint], output: Path) -> pd.DataFrame:
    """Return the table ``strong/1`` of the simulated points.

    technique, nodes, ranks, size (in words), interpolated and extrapolated (whether its compute times are), time_s,
    low_s, high_s, speedup (the time at the smallest node count over this one), efficiency (speedup over the growth of
    the nodes).
    """
    rows = []
    for point in points:
        content = point.experiment
        times = list(PointResult(output / point.planned.folder).makespans_s.values())
        low, high = bootstrap_interval(
            times,
            content["simulate"]["confidence"],
            seeds.generator(content["seed"], "bootstrap", "strong", point.technique, point.nodes),
        )
        rows.append(
            {
                "technique": point.technique,
                "nodes": point.nodes,
                "ranks": point.nodes * content["ranks_per_node"],
                "size": words(point.size),
                "interpolated": point.interpolated,
                "extrapolated": point.extrapolated,
                "time_s": float(np.mean(times)),
                "low_s": low,
                "high_s": high,
            }
        )
    frame = pd.DataFrame(rows)
    first = frame.groupby("technique")[["time_s", "nodes"]].transform("first")
    frame["speedup"] = first["time_s"] / frame["time_s"]
    frame["efficiency"] = frame["speedup"] * first["nodes"] / frame["nodes"]
    return frame


def interpolation_errors(study: Strong, sizes: Sequence[Measured]) -> pd.DataFrame:
    """Return the errors of what is not measured, by mode: of interpolated times at the held-out size, if there is one.

    Where the program divides the problem, the smallest share is predicted from the others as well (``extrapolated``).
    """
    held = next((size for size in sizes if size.size == study.held_out), None)
    least = min(sizes, key=lambda size: work(size.size))
    tried = [(held, False)] if held is not None else []
    if whole_problem(least.size) and len(sizes) > 2:
        tried.append((least, True))
    found = []
    for mode in modes(study):
        for one, extrapolated in tried:
            times = {work(size.size): size.times(mode) for size in sizes if size not in (one, held)}
            if len(times) > 1:
                table = errors(at_work(times, work(one.size)), one.times(mode))
                table.insert(0, "mode", mode)
                found.append(table.assign(extrapolated=extrapolated))
    columns = ["mode", "rank_class", "phase", "share", "measured_s", "interpolated_s", "error", "extrapolated"]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=columns)


def _planned(times: Times, resolved: Resolved, technique: str, nodes: int, output: Path) -> PlannedPoint:
    content = dict(resolved.content)
    ranks = nodes * content["ranks_per_node"]
    assigned = assign_classes(times.classes, ranks, content["seed"])
    key = json.dumps([content, technique, assigned, times.profile.model_dump(mode="json")], sort_keys=True)
    folder = f"points/{technique}/nodes-{nodes}-{hashlib.sha256(key.encode()).hexdigest()[:12]}"
    path = output / folder / "timing-profile.json"
    if not path.is_file():
        write_timing_profile(path, times.profile)
    point = Point(PointExperiment.of(resolved), nodes, technique, path, assigned, derive_seed(content["seed"], "draws"))
    return PlannedPoint(point.name, folder, point)
