"""Measured collectives in words, for the report and the terminal: the errors of a whole campaign of measurements.

A few series of sizes get a sentence each. A campaign gets its summary: median and 90th percentile of the absolute
error, the share of the points within limits, algorithms that are far off, and names that the library seems to have
ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from manynode.report.figure import rows_of
from manynode.report.load import Inputs
from manynode.report.wording import count, listing, percent, signed, size

# More series than this are told by their summary alone.
_MOST_SERIES = 6
# Algorithms with a larger median of the absolute error are listed.
_FAR = 0.20
_LIMITS = (5, 10, 20, 35)
_BY = {"algorithm": "by collective and algorithm", "size": "by size", "nodes": "by nodes"}


def campaign_sentences(inputs: Inputs) -> list[str]:
    """Return the comparison of collectives in words, the answer first."""
    points = inputs.validation_collectives
    if points is None:
        return []
    summary = inputs.studies.get("validation_collectives_summary")
    series = list(points.groupby(["collective", "nodes", "ranks_per_node", *_named(points)], sort=False))
    if summary is None or len(series) <= _MOST_SERIES:
        return [*(_series(own) for _, own in series), *_equal(inputs)]
    return [*_whole(summary), *_far(summary), *_equal(inputs)]


def summary_lines(summary: pd.DataFrame) -> list[str]:
    """Return the table ``validation-collectives-summary/1`` as lines of a terminal."""
    widest = max(len(str(group)) for group in summary["group"])
    limits = "".join(f"{f'<= {limit} %':>8}" for limit in _LIMITS)
    lines = [*_whole(summary)]
    for by, title in _BY.items():
        own = summary[summary["by"] == by]
        lines.append(f"{title:<{max(widest + 2, 29)}}{'points':>7}{'median':>9}{'90th':>9}{limits}")
        for row in own.itertuples():
            shares = "".join(f"{100 * getattr(row, f'within_{limit}'):>6.0f} %" for limit in _LIMITS)
            name = f"{row.group} nodes" if by == "nodes" else str(row.group)
            median, high = percent(row.median_absolute), percent(row.p90_absolute)
            lines.append(f"  {name:<{max(widest, 27)}}{row.points:>7}{median:>9}{high:>9}{shares}")
    return [*lines, *_far(summary)]


def summary_rows(inputs: Inputs) -> list[dict[str, Any]]:
    """Return the rows of the summary for the report's table; none without a campaign."""
    summary = inputs.studies.get("validation_collectives_summary")
    if summary is None or inputs.validation_collectives is None or len(summary) < 2:
        return []
    titles = {"all": "all", **_BY}
    return [{**row, "title": titles[str(row["by"])], "far": _is_far(row)} for row in rows_of(summary)]


def _named(points: pd.DataFrame) -> list[str]:
    """Return the columns that tell series apart, beside the collective and its ranks."""
    return [name for name in ("campaign", "algorithm", "placement") if points[name].nunique() > 1]


def _series(own: pd.DataFrame) -> str:
    first = own.iloc[0]
    absolute = own["error"].abs()
    worst = own.loc[absolute.idxmax()]
    at = f", at {size(worst['bytes'])}" if len(own) > 1 else ""
    name = " ".join(word for word in (str(first["collective"]), str(first["algorithm"])) if word)
    return (
        f"The network alone: {name} on {count(int(first['nodes']), 'node')} x "
        f"{count(int(first['ranks_per_node']), 'rank')}, {count(len(own), 'message size')}: off by "
        f"{percent(absolute.mean())} on average, the median {signed(own['error'].median())}, the worst "
        f"{signed(worst['error'])}{at}."
    )


def _whole(summary: pd.DataFrame) -> Iterator[str]:
    row = summary[summary["by"] == "all"].iloc[0]
    shares = listing([f"{percent(row[f'within_{limit}'])} within {limit} %" for limit in _LIMITS])
    yield (
        f"The network alone, {count(int(row['points']), 'measured collective')}: the median of the absolute error is "
        f"{percent(row['median_absolute'])}, its 90th percentile {percent(row['p90_absolute'])}; {shares}. The median "
        f"error is {signed(row['median_error'])}, the worst {signed(row['worst_error'])}."
    )
    if row["within_spread"] == row["within_spread"]:  # not NaN
        yield (
            f"{percent(row['within_spread'])} of the simulated times lie between the 10th and the 90th percentile of "
            "the measured ones."
        )


def _is_far(row: Any) -> bool:
    return bool(row["by"] == "algorithm" and row["median_absolute"] > _FAR)


def _far(summary: pd.DataFrame) -> Sequence[str]:
    far = sorted((row for row in rows_of(summary) if _is_far(row)), key=lambda row: -row["median_absolute"])
    if not (summary["by"] == "algorithm").any():
        return []
    if not far:
        return [f"No algorithm has a median of the absolute error above {percent(_FAR)}."]
    words = listing([f"{row['group']} ({percent(row['median_absolute'])})" for row in far])
    return [f"Algorithms with a median of the absolute error above {percent(_FAR)}: {words}."]


def _equal(inputs: Inputs) -> list[str]:
    frame = inputs.studies.get("validation_equal_names")
    return [] if frame is None else [_pair(row) for row in frame.itertuples()]


def _pair(row: Any) -> str:
    sizes = listing([size(int(word)) for word in str(row.bytes).split()])
    where = f" ({row.campaign})" if row.campaign else ""
    return (
        f"Measured under two names, with equal times: {row.collective} {row.first} and {row.second} on "
        f"{count(int(row.nodes), 'node')}{where}, at {sizes}. The library may have ignored one of the names."
    )
