"""Reads an experiment's results folder into one :class:`Inputs`; whatever is missing is None.

Only ``experiment.json`` must be there. An unusable file is an :class:`InputError`: the report does
not pass over damaged results in silence.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from manynode import artefacts
from manynode.config.application import DERIVED
from manynode.config.own_times import OwnTimesSection
from manynode.config.quantities import RESOLVED
from manynode.config.resolved import resolve_json
from manynode.config.studies import studies
from manynode.errors import InputError
from manynode.known_errors.records import read_records, shipped
from manynode.rank_classes import read_rank_classes
from manynode.report.documents import (
    Confirmation,
    Document,
    Draws,
    Experiment,
    ExperimentFile,
    FlowControl,
    ProvenanceFile,
    RankClasses,
    SkeletonVerdicts,
    read_document,
)
from manynode.report.phase_labels import PhaseLabels, phase_labels
from manynode.run_record import Run, recorded_runs
from manynode.steps import CONTROL, Steps
from manynode.tables import read_json, read_table
from manynode.timing_profile import TimingProfile, read_timing_profile

# Most complete first: the order of the mean errors in Table 2 of Eyerman et al.
BY_COMPLETENESS = ("ext-var", "ext-const", "no-ext-var", "no-ext-const")
MODES = ("ext", "no-ext")

T = TypeVar("T")
D = TypeVar("D", bound=Document)


@dataclass(frozen=True)
class Inputs:
    """Everything the report shows.

    ``segments`` and ``profiles`` are by mode (``ext``, ``no-ext``), ``studies`` has every table of a study by the
    name of its file, ``records`` the known validations. ``control`` has the segments of the node that was
    simulated again without sharing.
    """

    digest: str
    projection_digest: str
    experiment: Experiment
    resolved: dict[str, Any]
    classes: RankClasses | None
    counters: pd.DataFrame | None
    segments: dict[str, pd.DataFrame]
    control: pd.DataFrame | None
    profiles: dict[str, TimingProfile]
    draws: dict[str, Draws]
    verdicts: SkeletonVerdicts | None
    records: pd.DataFrame
    flow_control: FlowControl | None
    flow_control_studies: FlowControl | None
    projection: pd.DataFrame | None
    interval_parts: pd.DataFrame | None
    makespans: pd.DataFrame | None
    iterations: pd.DataFrame | None
    breakdown: pd.DataFrame | None
    jobs: pd.DataFrame | None
    links: pd.DataFrame | None
    link_jobs: pd.DataFrame | None
    series: pd.DataFrame | None
    sensitivity: pd.DataFrame | None
    sensitivity_knees: pd.DataFrame | None
    sensitivity_indices: pd.DataFrame | None
    losses: pd.DataFrame | None
    validation: pd.DataFrame | None
    validation_summary: pd.DataFrame | None
    validation_region: pd.DataFrame | None
    validation_breakdown: pd.DataFrame | None
    validation_collectives: pd.DataFrame | None
    confirmation: pd.DataFrame | None
    confirmation_summary: Confirmation | None
    studies: Mapping[str, pd.DataFrame | None]
    provenance: ProvenanceFile | None
    runs: Sequence[Run]

    @property
    def mode(self) -> str | None:
        """Return the mode whose timings are shown: with external ranks if they were measured."""
        return next((mode for mode in MODES if mode in self.profiles or mode in self.segments), None)

    @property
    def technique(self) -> str | None:
        """Return the most complete technique that was projected."""
        if self.projection is None:
            return None
        present = set(self.projection["technique"])
        return next((name for name in BY_COMPLETENESS if name in present), None)

    @functools.cached_property
    def own_times(self) -> OwnTimesSection | None:
        """Return the user's own compute times; None where times were measured."""
        given = self.resolved.get("own_times")
        return None if given is None else OwnTimesSection.model_validate(given, context=RESOLVED)

    @functools.cached_property
    def phase_labels(self) -> PhaseLabels:
        """Return what the phases of the shown mode are called."""
        found = phase_labels(self.segments.get(self.mode or ""), self.profiles.get(self.mode or ""))
        # How often a rank executes a phase is known of measured times only.
        return found if self.own_times is None else replace(found, set_up=frozenset())

    def rank_class(self, rank: int) -> str:
        """Return the name of the class of ``rank``, an empty text when it is not known."""
        return self.classes.class_of(rank) if self.classes else ""


@contextlib.contextmanager
def opened(directory: Path) -> Iterator[None]:
    """Open a results folder: files read and written there meanwhile must belong to its experiment."""
    path = directory / "experiment.json"
    if not path.is_file():
        raise InputError(
            "no experiment to report on",
            where=str(path),
            found="no such file",
            allowed="a result folder of 'manynode run', such as results/demo",
            remedy="run 'manynode run EXPERIMENT' first, or name its result folder",
        )
    with artefacts.bound(directory, Steps(_content(path)).identity_of):
        yield


def _content(path: Path) -> dict[str, Any]:
    """Return the resolved experiment, whose shape is checked first."""
    read_document(path, "experiment/1", ExperimentFile)
    return dict(read_json(path, "experiment/1")["experiment"])


def load(directory: Path) -> Inputs:
    """Return the inputs in ``directory``; within :func:`opened`, files of another experiment are refused."""
    path = directory / "experiment.json"
    experiment = read_document(path, "experiment/1", ExperimentFile)
    resolved = _content(path)
    # Files of an earlier experiment of that name are not read.
    modes = [mode for mode in MODES if any(_mode(name) == mode for name in experiment.experiment.techniques)]
    classes = _rank_classes(directory / "profile/rank-classes.json")
    return Inputs(
        digest=experiment.digest,
        projection_digest=experiment.projection_digest or experiment.digest,
        experiment=experiment.experiment,
        resolved=resolved,
        classes=classes,
        counters=_table(
            directory / "profile/counters.parquet", ["counters/1"], ["nodes", "repetition", "node", "rank", "phase"]
        ),
        segments=_by_mode({mode: _segments(directory / f"nodesim/{mode}/segments.parquet") for mode in modes}),
        control=_control(directory, modes[0], resolved, classes) if modes else None,
        profiles=_by_mode({mode: _profile(directory / f"nodesim/timing-profile-{mode}.json") for mode in modes}),
        draws=_by_mode(
            {mode: _document(directory / f"simulate/draws-{mode}.json", "draws/1", Draws) for mode in modes}
        ),
        verdicts=(
            _document(directory / "nodesim/skeleton-verdicts.json", "skeleton-verdicts/1", SkeletonVerdicts)
            if experiment.experiment.application.name == DERIVED
            else None
        ),
        records=read_records([*shipped(), *map(Path, resolved.get("known_errors", []))]),
        flow_control=_choice(directory / "simulate/flow-control.json", resolved),
        flow_control_studies=_choice(directory / "simulate/flow-control-studies.json", resolved),
        projection=_projection(directory / "projection.parquet"),
        interval_parts=_table(
            directory / "interval_parts.parquet",
            ["interval-parts/1"],
            ["technique", "nodes", "part", "low_s", "high_s", "error_s", "bias_s", "dof"],
        ),
        makespans=_table(directory / "makespans.parquet", ["makespans/1"], ["technique", "nodes", "makespan_s"]),
        iterations=_table(
            directory / "iterations.parquet",
            ["iterations/1"],
            [
                *("technique", "nodes", "iterations", "p05_s", "p25_s", "p50_s", "p75_s", "p95_s", "p99_s", "max_s"),
                *("compute_s", "slowest_compute_s"),
            ],
        ),
        breakdown=_table(
            directory / "breakdown.parquet", ["breakdown/1"], ["technique", "nodes", "operation", "seconds", "share"]
        ),
        jobs=_table(
            directory / "jobs.parquet",
            ["jobs/1"],
            ["technique", "nodes", "job", "background", "time_s", "low_s", "high_s", "iterations", "messages", "bytes"],
        ),
        links=_table(
            directory / "links.parquet",
            ["link-load-summary/2"],
            [
                *("technique", "nodes", "class", "links", "bytes", "busy_s", "busy_share_max", "stall_s"),
                *("queue_mean_chunks", "queue_max_bytes"),
            ],
        ),
        link_jobs=_table(
            directory / "link_jobs.parquet",
            ["link-job-summary/1"],
            ["technique", "nodes", "job", "class", "bytes", "busy_s", "stall_s", "queue_mean_chunks"],
        ),
        series=_table(
            directory / "series.parquet",
            ["link-series-summary/1"],
            ["technique", "nodes", "start_s", "end_s", "class", "busy_share", "stall_s", "queue_bytes"],
        ),
        **_studies(directory, resolved),
        confirmation_summary=(
            _document(directory / "confirmation.json", "confirmation-summary/1", Confirmation)
            if resolved.get("sensitivity")
            else None
        ),
        provenance=_document(directory / "provenance.json", "provenance/1", ProvenanceFile),
        runs=recorded_runs(directory),
    )


# Tables of studies that have a name of their own in the inputs, by the stem of their files.
_NAMED = {
    "scaling": "losses",
    **{
        stem: stem
        for stem in (
            *("sensitivity", "sensitivity_knees", "sensitivity_indices", "confirmation"),
            *("validation", "validation_summary", "validation_region", "validation_breakdown"),
            "validation_collectives",
        )
    },
}


def _studies(directory: Path, resolved: dict[str, Any]) -> dict[str, Any]:
    """Return the tables of the studies that the experiment has; those of an earlier experiment are not read."""
    experiment = resolve_json(resolved, str(directory / "experiment.json"))
    found = {
        file.stem: _table(directory / file.name, [file.schema], file.columns) if study.asked(experiment) else None
        for study in studies()
        for file in study.files
        if file.columns
    }
    for stem in ("sensitivity", "sensitivity_knees"):
        found[stem] = with_micro(found[stem])
    return {"studies": found, **{name: found[stem] for stem, name in _NAMED.items()}}


def with_micro(frame: pd.DataFrame | None) -> pd.DataFrame | None:
    """Return a table of values as experiments write them (``1 us``) with the unit as people read it (``1 µs``)."""
    return None if frame is None else frame.replace(r"(\d) ?us\b", r"\1 µs", regex=True)


def _projection(path: Path) -> pd.DataFrame | None:
    frame = _table(
        path,
        ["projection/1"],
        ["technique", "nodes", "ranks", "replicas", "time_s", "low_s", "high_s", "efficiency", "iteration_s"],
    )
    return None if frame is None else frame.sort_values(["technique", "nodes"], ignore_index=True)


def _rank_classes(path: Path) -> RankClasses | None:
    if not path.is_file():
        return None
    read_rank_classes(path)  # its own check is the stricter one
    return read_document(path, "rank-classes/1", RankClasses)


def _segments(path: Path) -> pd.DataFrame | None:
    return _table(path, ["segments/1"], ["rank", "sequence", "phase", "call_before", "call_after", "compute_s"])


def _control(
    directory: Path, mode: str, resolved: Mapping[str, Any], classes: RankClasses | None
) -> pd.DataFrame | None:
    """Return the segments of the node that was simulated again: the first representative one beside external ranks."""
    # Results of before there was a control do not have the key.
    if not resolved["nodesim"].get("qemu", {}).get("control"):
        return None
    node = classes.representative_nodes[0] if mode == "ext" and classes and classes.representative_nodes else 0
    return _segments(directory / f"nodesim/{mode}{CONTROL}/node-{node}/segments.parquet")


def _profile(path: Path) -> TimingProfile | None:
    return read_timing_profile(path) if path.is_file() else None


def _mode(technique: str) -> str:
    return "ext" if technique.startswith("ext") else "no-ext"


def _by_mode(found: dict[str, T | None]) -> dict[str, T]:
    return {mode: value for mode, value in found.items() if value is not None}


def _choice(path: Path, resolved: Mapping[str, Any]) -> FlowControl | None:
    """Return a choice of ``flow_control: auto``; one of before the network stated it is not read."""
    undecided = resolved["network"].get("flow_control") == "auto" and resolved["simulate"]["engine"] == "fast"
    return _document(path, "flow-control/1", FlowControl) if undecided else None


def _document(path: Path, schema: str, kind: type[D]) -> D | None:
    return read_document(path, schema, kind) if path.is_file() else None


def _table(path: Path, schemas: Sequence[str], columns: Sequence[str]) -> pd.DataFrame | None:
    """Return the table at ``path``; None if it is missing or has no rows."""
    if not path.is_file():
        return None
    failure: InputError | None = None
    for schema in schemas:
        try:
            frame = read_table(path, schema, columns)
        except InputError as error:
            failure = failure or error
        else:
            return frame if len(frame) else None
    assert failure is not None
    raise failure


def at_point(frame: pd.DataFrame, technique: str, nodes: int) -> pd.DataFrame:
    """Return the rows of one technique at one node count."""
    return frame[(frame["technique"] == technique) & (frame["nodes"] == nodes)]
