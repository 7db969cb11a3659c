"""Checks that two engines load the same links: correlation of the bytes, link by link.

In: the tables of links of a point (``link-load/3``), one of each engine. Links are matched by source, target and their
number among parallel links (from the id). A link without a row carried 0 bytes in that engine; one without a row in
both is ignored. Bytes are means over the replicas.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from manynode import units
from manynode.errors import InputError

ALL = "all"
SINGLE, TOGETHER = "single links", "parallel links together"
_KEY = ["link", "class", "source", "target"]
# Tolerance for means of the same whole numbers added in another order.
_SAME = 1e-12


def matched(links: pd.DataFrame, references: pd.DataFrame, replicas: int) -> pd.DataFrame:
    """Return link, class, source, target, bytes, reference_bytes of every link with traffic in either.

    One id for different links is an :class:`InputError`.
    """
    joined = pd.merge(
        _mean(links, replicas, "bytes"), _mean(references, replicas, "reference_bytes"), on=_KEY, how="outer"
    ).fillna({"bytes": 0.0, "reference_bytes": 0.0})
    twice = joined[joined["link"].duplicated(keep=False)]
    if len(twice):
        first, second = twice.sort_values("link").head(2).to_dict("records")
        raise InputError(
            "the engines number the links differently",
            where=f"link {first['link']}",
            found=" and ".join(f"{row['class']} {row['source']} -> {row['target']}" for row in (first, second)),
            remedy="run 'make build': engines of one version give a link the same number",
        )
    return joined.sort_values("link", ignore_index=True)


def _mean(links: pd.DataFrame, replicas: int, name: str) -> pd.DataFrame:
    return (links.groupby(_KEY)["bytes"].sum() / replicas).rename(name).reset_index()


def correlations(loads: pd.DataFrame, names: tuple[str, str]) -> pd.DataFrame:
    """Return the correlation per class and over all classes, of single links and of parallel ones taken together.

    Columns: level, class, links, bytes, reference_bytes (of all links), pearson, spearman, remark. Equal loads have no
    correlation; ``remark`` then describes them with the engines' ``names``.
    """
    levels = {SINGLE: loads}
    bundles = loads.groupby(["class", "source", "target"], as_index=False)[["bytes", "reference_bytes"]].sum()
    if len(bundles) < len(loads):
        levels[TOGETHER] = bundles
    rows = []
    for level, frame in levels.items():
        groups = [(str(name), group) for name, group in frame.groupby("class", sort=True)]
        for name, group in [*groups, (ALL, frame)] if len(groups) > 1 else groups:
            a, b = group["bytes"].to_numpy(float), group["reference_bytes"].to_numpy(float)
            found = correlation(a, b, names)
            rows.append(
                {
                    **{"level": level, "class": name, "links": len(group)},
                    **{"bytes": float(a.sum()), "reference_bytes": float(b.sum())},
                    **{"pearson": found.pearson, "spearman": found.spearman, "remark": found.remark},
                }
            )
    columns = ["level", "class", "links", "bytes", "reference_bytes", "pearson", "spearman", "remark"]
    return pd.DataFrame(rows, columns=columns)


@dataclass(frozen=True)
class Correlation:
    """Pearson's and Spearman's coefficient; NaN with a ``remark`` if loads do not vary."""

    pearson: float
    spearman: float
    remark: str


def correlation(a: np.ndarray, b: np.ndarray, names: tuple[str, str]) -> Correlation:
    """Return the correlation of the loads ``a`` and ``b`` [B] of the same links."""
    if len(a) < 2:
        return Correlation(math.nan, math.nan, "one link only")
    flat = [name for name, loads in zip(names, (a, b), strict=True) if _all_equal(loads)]
    if flat:
        means = ", ".join(
            f"{_size(loads[0])} ({name})" for name, loads in zip(names, (a, b), strict=True) if name in flat
        )
        where = "in both" if len(flat) == 2 else f"with {flat[0]}"
        return Correlation(math.nan, math.nan, f"all links carry the same {where}: {means}")
    from scipy.stats import pearsonr, spearmanr

    return Correlation(float(pearsonr(a, b).statistic), float(spearmanr(a, b).statistic), "")


def _all_equal(loads: np.ndarray) -> bool:
    return bool(np.ptp(loads) <= _SAME * np.abs(loads).max())


def _size(value: float) -> str:
    return units.render(float(value), "size")


def distinct(loads: pd.DataFrame) -> pd.DataFrame:
    """Return class, bytes, reference_bytes and the number of links with exactly these values, for a scatter plot."""
    groups = loads.groupby(["class", "reference_bytes", "bytes"], sort=True)
    return groups.size().rename("links").reset_index()
