"""The sentences of a strong scaling study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from manynode.report.wording import count, duration, listing, percent

# Below this efficiency, half of the nodes are wasted.
_WORTH = 0.5


def sentences(table: pd.DataFrame, errors: pd.DataFrame, classes: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the study in sentences: for each technique the fastest node count, then the error of the interpolation.

    ``classes`` has the class of every profiled rank by size.
    """
    said = [_of(str(technique), own) for technique, own in table.groupby("technique", sort=False)]
    inside = int(table["interpolated"].sum())
    if inside:
        said.append(
            f"The compute times of {inside} of {count(len(table), 'point')} are interpolated between measured sizes. "
            + _quality(errors[~errors["extrapolated"].astype(bool)])
        )
    if beyond := list(table.loc[table["extrapolated"], "nodes"].unique()):
        said.append(_extrapolated(beyond, errors[errors["extrapolated"].astype(bool)]))
    numbers = [len(set(of_rank)) for of_rank in classes.values()]
    if inside and any(technique.startswith("ext") for technique in table["technique"]) and _differ(classes):
        said.append(
            f"The classes of ranks differ between the measured sizes ({listing([str(n) for n in numbers])} classes). "
            "Between two sizes, a rank has times between those of its class at one and of its class at the other."
        )
    return said


def _differ(classes: Mapping[str, Sequence[str]]) -> bool:
    """Return whether ranks that are alike at one size differ at another."""
    ways = {tuple(names.index(name) for name in names) for names in map(list, classes.values())}
    return len(ways) > 1


def _of(technique: str, own: pd.DataFrame) -> str:
    best = own.loc[own["time_s"].idxmin()]
    first = own.iloc[0]
    worth = own[own["efficiency"] >= _WORTH]
    return (
        f"{technique}: the shortest time is {duration(best['time_s'])} on {count(int(best['nodes']), 'node')}, "
        f"{best['speedup']:.3g} times as fast as on {count(int(first['nodes']), 'node')}; the efficiency stays above "
        f"{percent(_WORTH)} up to {count(int(worth['nodes'].max()), 'node')}."
    )


def _extrapolated(nodes: Sequence[int], errors: pd.DataFrame) -> str:
    where = listing([str(number) for number in nodes])
    said = f"Beyond the measured jobs, at {where} nodes, compute times follow the power between the nearest ones. "
    if errors["error"].dropna().empty:
        return said + "Their error is not known: it needs a third measured size."
    return f"{said}So predicted from smaller jobs, the largest measured one{_off(errors)} Farther on it may be more."


def _quality(errors: pd.DataFrame) -> str:
    if errors["error"].dropna().empty:
        return "Their error is not known: no size was held out ('held_out')."
    return "At the held-out size the computation" + _off(errors)


def _off(errors: pd.DataFrame) -> str:
    known = errors.dropna(subset=["error"])
    # Error of the whole computation: phases' errors weighted with their time.
    whole = (known["share"] * known["error"]).groupby([known["mode"], known["rank_class"]]).sum()
    worst = known.loc[known["error"].abs().idxmax()]
    return (
        f" is off by {percent(float(whole.abs().max()))}, the worst "
        f"phase ({worst['phase']}, {percent(worst['share'])} of the computation) {percent(abs(worst['error']))}."
    )
