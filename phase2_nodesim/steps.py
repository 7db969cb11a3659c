"""The two steps of phase 2's analysis for the command line: markers -> segments -> timing profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from manynode.config.experiment import NodesimSection
from manynode.config.machine import Machine
from manynode.errors import InputError
from manynode.markers import read_marker_directory
from manynode.rank_classes import read_rank_classes
from manynode.tables import read_provenance, read_table, write_table
from manynode.timing_profile import TimingProfile, write_timing_profile
from phase2_nodesim.engines._interface import ENGINES, NodeRun
from phase2_nodesim.parameters import FitParameters, NodeParameters
from phase2_nodesim.profile import fit_classes, skipped_seconds, without_warmup
from phase2_nodesim.segments import COLUMNS, SCHEMA, check_complete
from phase2_nodesim.waits import waiting_of

# What the runs behind one timing profile must have in common.
_COMMON = ("engine", "engine_version", "machine", "external", "nodes", "ranks", "ranks_per_node", "application")


def make_segments(
    marker_directory: Path,
    output: Path,
    engine: str,
    machine: Machine,
    *,
    nodes: int,
    ranks_per_node: int,
    external: bool,
    application: Mapping[str, Any],
    simulated_ranks: Sequence[int] | None = None,
    parameters: NodeParameters | None = None,
    settings: NodesimSection | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """Write and return the segments of the simulated ranks of one job.

    ``marker_directory`` holds the marker files and the engine's output; without ``simulated_ranks`` all ranks that left
    markers count as simulated. ``settings`` is the section ``nodesim``.
    A simulated rank without markers is an :class:`InputError`.
    """
    chosen = ENGINES.get(engine)
    run = NodeRun(
        machine,
        ranks_per_node,
        marker_directory,
        parameters=parameters or NodeParameters(),
        settings=settings or NodesimSection(),
    )
    files = read_marker_directory(marker_directory, complete=False)
    if simulated_ranks is not None:
        wanted = set(simulated_ranks)
        files = [file for file in files if file.metadata["rank"] in wanted]
        missing = wanted - {int(file.metadata["rank"]) for file in files}
        if missing:
            raise InputError(
                "simulated ranks left no markers",
                where=str(marker_directory),
                found=f"no file for rank {', '.join(map(str, sorted(missing)[:20]))}",
                remedy="see the job's log: the rank did not reach MPI_Finalize, or the markers were not preloaded",
            )
    frame = chosen.segments(run, files)
    if frame.empty:
        raise InputError(
            "the simulated ranks have no compute phase",
            where=str(marker_directory),
            found="no MPI call after MPI_Init",
            remedy="run a program that calls MPI",
        )
    write_table(
        output,
        SCHEMA,
        frame,
        {
            **(provenance or {}),
            "engine": engine,
            "engine_version": chosen.probe(run.settings).version,
            "machine": machine.name,
            "external": external,
            "nodes": nodes,
            "ranks": nodes * ranks_per_node,
            "ranks_per_node": ranks_per_node,
            "simulated_ranks": sorted(map(int, frame["rank"].unique())),
            "application": dict(application),
            "engine_detail": dict(chosen.describe(run, frame)),
            "truncated_ranks": [int(file.metadata["rank"]) for file in files if file.metadata.get("truncated")],
        },
    )
    return frame


def read_segments(paths: Sequence[Path]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the segments of several simulated nodes as one table, and the common facts of their runs.

    Runs of different engines, machines, sizes or applications, and a rank in two files, are an :class:`InputError`.
    """
    if not paths:
        raise InputError("no segments were given", remedy="simulate at least one node")
    frames, first = [], read_provenance_of(paths[0])
    owner: dict[int, Path] = {}
    for path in paths:
        frame, origin = read_table(path, SCHEMA, COLUMNS), read_provenance_of(path)
        check_complete(frame, str(path), origin.get("simulated_ranks"))
        for key in _COMMON:
            if origin[key] != first[key]:
                raise InputError(
                    "a timing profile cannot combine segments of different runs",
                    where=f"{path}: {key}",
                    found=origin[key],
                    allowed=f"{first[key]} (as in {paths[0]})",
                    remedy="simulate all nodes with the same experiment",
                )
        for rank in frame["rank"].unique().tolist():
            if rank in owner:
                raise InputError(
                    "a rank is in two segments tables",
                    where=f"{path}: rank {rank}",
                    found=f"it is in {owner[rank]} as well",
                    remedy="give each simulated node once",
                )
            owner[rank] = path
        frames.append(frame)
    return pd.concat(frames, ignore_index=True), first


def read_provenance_of(path: Path) -> dict[str, Any]:
    """Return the provenance of a segments table; missing entries for the profile are an :class:`InputError`."""
    origin = read_provenance(path, SCHEMA)
    missing = [key for key in _COMMON if key not in origin]
    if missing:
        raise InputError(
            "a segments table lacks its provenance",
            where=str(path),
            found=f"no {', '.join(missing)} in its provenance",
            remedy="make it again with 'manynode nodesim run'",
        )
    return origin


def fit_profile(
    segments_paths: Sequence[Path],
    rank_classes_path: Path,
    output: Path,
    parameters: FitParameters | None = None,
    *,
    table: Path | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> TimingProfile:
    """Write and return the timing profile of the simulated nodes; ``table`` receives all segments in one file.

    Each class of ``rank_classes_path`` needs a simulated rank; in a node that ran alone (no external ranks), a class
    that it does not hold borrows the times of all its ranks.
    """
    parameters = parameters or FitParameters()
    segments, common = read_segments(segments_paths)
    rank_classes = read_rank_classes(rank_classes_path)
    segments = segments.sort_values(["rank", "sequence"], kind="stable", ignore_index=True)
    kept = without_warmup(segments, parameters.warmup)
    classes = fit_classes(
        kept,
        rank_classes,
        parameters,
        ranks=common["ranks"],
        ranks_per_node=common["ranks_per_node"],
        borrow=not common["external"],
    )
    details = [read_provenance(path, SCHEMA).get("engine_detail", {}) for path in segments_paths]
    profile = TimingProfile(
        application=common["application"],
        engine=common["engine"],
        engine_version=common["engine_version"],
        machine=common["machine"],
        external=common["external"],
        nodes=common["nodes"],
        ranks=common["ranks"],
        simulated_ranks=sorted(int(rank) for rank in segments["rank"].unique()),
        compute_s=float(segments["compute_s"].sum()),
        skipped_s=skipped_seconds(segments, kept),
        waiting=waiting_of(kept, counted=details[0].get("clock") != "processor"),
        classes=classes,
        provenance={**(provenance or {}), "fit": parameters.model_dump(mode="json"), "engine_detail": details[0]},
    )
    if table is not None:
        origin = {**common, "simulated_ranks": profile.simulated_ranks, **(provenance or {})}
        write_table(table, SCHEMA, segments, origin)
    # Last: it stands for all files of this step.
    write_timing_profile(output, profile)
    return profile
