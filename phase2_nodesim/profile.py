"""Segments -> timing profile: warm-up, classes and their ranks; :mod:`phase2_nodesim.phases` has the later steps.

In: the segments of all simulated ranks and the class of each. Out: the ``classes`` of a timing profile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from manynode.errors import InputError
from manynode.timing_profile import ClassTimes
from phase2_nodesim.parameters import FitParameters
from phase2_nodesim.phases import PhaseSeries, common_of, described, labelled


def without_warmup(segments: pd.DataFrame, warmup: int) -> pd.DataFrame:
    """Return the segments without warm-up.

    That is what the application marks (``MPI_Pcontrol(1, "warm-up")``), and of the rest the first ``warmup``
    executions of each phase on each rank. A phase that a rank executes no more often than that keeps all its
    executions there: it must not vanish.
    """
    segments = segments[~segments["warm_up"]]
    if warmup == 0 or segments.empty:
        return segments
    groups = segments.groupby(["rank", "phase"], sort=False)["sequence"]
    return segments[(groups.cumcount() >= warmup) | (groups.transform("size") <= warmup)]


def skipped_seconds(segments: pd.DataFrame, kept: pd.DataFrame) -> float:
    """Return the time [s] that no skeleton replays: warm-up, and unlabelled phases where phases are labelled."""
    skipped = segments["compute_s"].sum() - kept["compute_s"].sum()
    if kept["labelled"].any():
        skipped += kept.loc[~kept["labelled"], "compute_s"].sum()
    return max(0.0, float(skipped))


def class_of_ranks(rank_classes: Mapping[str, Any], simulated: Sequence[int], ranks: int) -> dict[int, str]:
    """Return the class of each simulated rank of a job with ``ranks`` ranks.

    A job of the profiled size has the profiled classes. In another one, a rank with a fixed place (the first, the last)
    has that place's class, and any other the class of the profiled rank of its number; one beyond the profiled ranks
    has a class only when all ranks without fixed place share one. Else it is an :class:`InputError`.
    """
    profiled: Mapping[str, str] = rank_classes["rank_class"]
    fixed: Mapping[str, str] = rank_classes.get("assignment", {}).get("fixed", {})
    shares: Mapping[str, float] = rank_classes.get("assignment", {}).get("shares", {})
    floating = [name for name, share in shares.items() if share > 0]
    found = {}
    for rank in simulated:
        if len(profiled) == ranks:
            name = profiled[str(rank)]
        else:
            name = (
                fixed.get(str(rank))
                or fixed.get(str(rank - ranks))
                or profiled.get(str(rank))
                or (floating[0] if len(floating) == 1 else "")
            )
        if not name:
            raise InputError(
                "a simulated rank has no class",
                where=f"rank {rank} of {ranks}",
                found=f"{len(profiled)} ranks were profiled, in more than one class",
                remedy="profile a job of at least the size that phase 2 runs (profile: nodes)",
            )
        found[rank] = name
    return found


def missing_class_error(name: str, rank_classes: Mapping[str, Any], ranks_per_node: int) -> InputError:
    """Return the error for a class without a simulated rank; it names the nodes with such ranks."""
    ranks = sorted(int(rank) for rank, entry in rank_classes["rank_class"].items() if entry == name)
    nodes = sorted({rank // ranks_per_node for rank in ranks})
    return InputError(
        f"no rank of class {name!r} was simulated",
        where="rank classes against segments",
        found=f"the class has {len(ranks)} profiled ranks, such as {', '.join(map(str, ranks[:5]))}",
        remedy=f"simulate one of the nodes {', '.join(map(str, nodes[:10]))} as well",
    )


def class_series(segments: pd.DataFrame, parameters: FitParameters) -> list[PhaseSeries]:
    """Return the phases of one class with their clusters; ``segments`` are sorted by rank and sequence."""
    return [labelled(str(phase), rows, parameters) for phase, rows in segments.groupby("phase", sort=True)]


def fit_class(
    name: str, share: float, series: Sequence[PhaseSeries], parameters: FitParameters, *, borrowed: bool = False
) -> ClassTimes:
    """Return one class from the phases of its simulated ranks."""
    phases = [described(phase, parameters) for phase in series]
    return ClassTimes(
        name=name,
        share=share,
        simulated_ranks=sorted({int(rank) for phase in series for rank in np.unique(phase.ranks)}),
        borrowed=borrowed,
        common=common_of(series, phases),
        phases=phases,
    )


@dataclass(frozen=True)
class ClassSeries:
    """The phases of one class, before they become distributions."""

    name: str
    share: float
    borrowed: bool
    phases: list[PhaseSeries]


def classes_series(
    segments: pd.DataFrame,
    rank_classes: Mapping[str, Any],
    parameters: FitParameters,
    *,
    ranks: int,
    ranks_per_node: int,
    borrow: bool = False,
) -> list[ClassSeries]:
    """Return all classes of ``rank_classes`` with their phases; ``segments`` are without warm-up.

    A class without simulated rank is an :class:`InputError`, or, with ``borrow`` (a node that runs alone cannot hold
    every class), takes the times of all simulated ranks.
    """
    simulated = sorted(int(rank) for rank in segments["rank"].unique())
    classes = class_of_ranks(rank_classes, simulated, ranks)
    ordered = segments.sort_values(["rank", "sequence"], kind="stable")
    of_row = ordered["rank"].map(classes)
    found = []
    for entry in rank_classes["classes"]:
        name, share = str(entry["name"]), float(entry["share"])
        rows = ordered[of_row == name]
        if rows.empty and not borrow:
            raise missing_class_error(name, rank_classes, ranks_per_node)
        series = class_series(ordered if rows.empty else rows, parameters)
        found.append(ClassSeries(name, share, rows.empty, series))
    return found


def fit_classes(
    segments: pd.DataFrame,
    rank_classes: Mapping[str, Any],
    parameters: FitParameters,
    *,
    ranks: int,
    ranks_per_node: int,
    borrow: bool = False,
) -> list[ClassTimes]:
    """Return all classes of ``rank_classes`` as distributions, as :func:`classes_series` finds them."""
    series = classes_series(
        segments, rank_classes, parameters, ranks=ranks, ranks_per_node=ranks_per_node, borrow=borrow
    )
    return [fit_class(one.name, one.share, one.phases, parameters, borrowed=one.borrowed) for one in series]
