"""The share of time that links stall, by interval: the only congestion input of the delay models.

In: a simulated point with counters per link, or a table of measurements. Out: a table ``stalled-links/1``: run (text;
rows of one run share a clock), start_s, end_s, source, target (ends of the link as the network names them) and
stalled_share (0 to 1; the paper's percent time stalled is a hundred times that). Links without a row do not stall.

A unit of data arrives at a link that is stalled with probability p in every unit of time. Its expected waiting is the
number of stalled units before the first free one, p / (1 - p), by the paper's geometric distribution. The paper's
equations (8) and (11) give 1 / (1 - p), which also counts the unit in which the data leaves and is not zero without
stalls. The two differ by one for each link, which the models include as the time of an idle link.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from manynode import tables
from manynode.errors import InputError
from phase3_sst.point.contract import LINK_SERIES_SCHEMA, LINKS_SCHEMA
from phase3_sst.studies.congestion.routes import link_name

STALLS_SCHEMA = "stalled-links/1"
STALL_COLUMNS = ("run", "start_s", "end_s", "source", "target", "stalled_share")
# A link stalled for a whole interval would wait for ever. Above this share, simulated round trips stop growing: buffers
# are finite, and their content leaves at the rate of the jam.
MOST_SHARE = 0.9
# Columns that count as stalls, the best first: the paper's is data ready to leave without a credit; for engines without
# credits, all waiting of all chunks.
COUNTERS = ("credit_stall_s", "stall_s")


def simulated_stalls(folder: Path, run: str) -> pd.DataFrame:
    """Return ``stalled-links/1`` of a point's folder; a point without counters per link is an :class:`InputError`."""
    path = folder / "series.parquet"
    if not path.is_file():
        raise InputError(
            "the result has no counters over time", where=str(folder), remedy="simulate it with counters: per: link"
        )
    series = tables.read_table(path, LINK_SERIES_SCHEMA, ["replica", "start_s", "end_s", "link"])
    links = tables.read_table(folder / "links.parquet", LINKS_SCHEMA, ["replica", "link", "source", "target"])
    first = links["replica"].min()
    series, links = series[series["replica"] == first], links[links["replica"] == first]
    if len(series) and series["link"].isna().any():
        raise InputError(
            "the counters are per class of links", where=str(path), remedy="simulate it with counters: per: link"
        )
    counter = next(name for name in COUNTERS if name in series and series[name].notna().all())
    rows = series.merge(links[["link", "source", "target"]], on="link", how="left")
    rows = rows.assign(stalled_share=rows[counter] / (rows["end_s"] - rows["start_s"]))
    # Parallel cables have the same ends: take the mean over those with traffic, since a message may use any.
    cables = links.groupby(["source", "target"]).size().rename("cables")
    rows["stalled_share"] = rows["stalled_share"].clip(0.0, 1.0)
    keys = ["start_s", "end_s", "source", "target"]
    sums = rows.groupby(keys, sort=True)["stalled_share"].sum().reset_index().join(cables, on=["source", "target"])
    sums["stalled_share"] /= sums["cables"]
    return sums.assign(run=run)[list(STALL_COLUMNS)]


def expected_waiting(stalled_share: np.ndarray) -> np.ndarray:
    """Return p / (1 - p), the stalled units before a free one, for shares limited to :data:`MOST_SHARE`."""
    share = np.minimum(stalled_share, MOST_SHARE)
    return np.asarray(share / (1.0 - share))


@dataclass(frozen=True)
class Waiting:
    """Expected waiting by interval (rows) and link (columns, by name), of one run."""

    start_s: np.ndarray
    end_s: np.ndarray
    units: pd.DataFrame

    @classmethod
    def of(cls, stalls: pd.DataFrame) -> Waiting:
        """Return the waiting of one run's rows of ``stalled-links/1``."""
        names = [link_name(a, b) for a, b in zip(stalls["source"], stalls["target"], strict=True)]
        rows = pd.DataFrame(
            {
                "start_s": stalls["start_s"].to_numpy(dtype=float),
                "end_s": stalls["end_s"].to_numpy(dtype=float),
                "link": names,
                "units": expected_waiting(stalls["stalled_share"].to_numpy(dtype=float)),
            }
        )
        units = rows.pivot_table(index=["start_s", "end_s"], columns="link", values="units", aggfunc="mean")
        units = units.fillna(0.0)
        start_s = units.index.get_level_values("start_s").to_numpy(dtype=float)
        end_s = units.index.get_level_values("end_s").to_numpy(dtype=float)
        return cls(start_s, end_s, units.reset_index(drop=True))

    def mean(self, start_s: float, end_s: float) -> Mapping[str, float]:
        """Return link -> mean waiting over a span of time; intervals are weighted by their overlap with it.

        Time without rows counts as free of stalls.
        """
        overlap = np.minimum(self.end_s, end_s) - np.maximum(self.start_s, start_s)
        weights = np.maximum(overlap, 0.0) / (end_s - start_s)
        means = weights @ self.units.to_numpy(dtype=float)
        return dict(zip(self.units.columns, map(float, means), strict=True))
