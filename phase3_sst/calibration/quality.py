"""The quality of a fit: relative error and spread, by range of sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phase3_sst.calibration.fit import Fit

if TYPE_CHECKING:
    import pandas as pd

_EDGES = [0, 64, 1024, 8192, 65536, 2**20, 2**24, 2**62]
_NAMES = [
    "below 64 B",
    "64 B to 1 KiB",
    "1 to 8 KiB",
    "8 to 64 KiB",
    "64 KiB to 1 MiB",
    "1 to 16 MiB",
    "above 16 MiB",
]
WITHIN = (0.05, 0.10, 0.20)


def residuals(table: pd.DataFrame, fitted: Fit) -> pd.DataFrame:
    """Return one row per measured half round trip: size_bytes, measured_s, model_s, error (model / measured - 1)."""
    rows = table[table["measure"] == "pingpong"].sort_values(["size_bytes", "time_s"], kind="stable")
    frame = rows[["size_bytes", "source"]].reset_index(drop=True)
    frame["measured_s"] = rows["time_s"].to_numpy()
    frame["model_s"] = fitted.half_round_trip(rows["size_bytes"].to_numpy(dtype=np.float64))
    frame["error"] = frame["model_s"] / frame["measured_s"] - 1
    return frame


def by_range(frame: pd.DataFrame) -> pd.DataFrame:
    """Return per range of sizes: points, median and largest |error|, and the spread of measured / model.

    ``low`` and ``high`` are the 5 and 95 % quantiles of that ratio. ``repeats_cv`` is the median coefficient of
    variation of repeated measurements of one size, NaN if each size was measured once. The deterministic model does not
    include this spread.
    """
    import pandas as pd

    rows = []
    for index, name in enumerate(_NAMES):
        inside = frame[(frame["size_bytes"] >= _EDGES[index]) & (frame["size_bytes"] < _EDGES[index + 1])]
        if inside.empty:
            continue
        ratio = inside["measured_s"] / inside["model_s"]
        repeated = inside.groupby("size_bytes")["measured_s"].agg(["mean", "std", "size"])
        repeated = repeated[repeated["size"] > 1]
        rows.append(
            {
                "range": name,
                "points": len(inside),
                "median": float(inside["error"].abs().median()),
                "largest": float(inside["error"].abs().max()),
                "low": float(ratio.quantile(0.05)),
                "high": float(ratio.quantile(0.95)),
                "repeats_cv": float((repeated["std"] / repeated["mean"]).median()) if len(repeated) else float("nan"),
            }
        )
    return pd.DataFrame(rows)


def shares_within(frame: pd.DataFrame) -> dict[float, float]:
    """Return the shares of measured points within 5, 10 and 20 % of the model."""
    return {bound: float((frame["error"].abs() <= bound).mean()) for bound in WITHIN}


def as_text(ranges: pd.DataFrame) -> str:
    """Return the table as text."""
    lines = [f"{'sizes':<18}{'points':>7}{'median':>9}{'largest':>9}   measured / model (5 to 95 %)"]
    for row in ranges.to_dict("records"):
        spread = f"{row['low']:.3f} to {row['high']:.3f}"
        repeats = "" if np.isnan(row["repeats_cv"]) else f"; repeats vary by {row['repeats_cv']:.1%}"
        lines.append(
            f"{row['range']:<18}{row['points']:>7}{row['median']:>9.1%}{row['largest']:>9.1%}   {spread}{repeats}"
        )
    return "\n".join(lines)
