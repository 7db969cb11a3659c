"""Tables of runs under three controllers: run-time tail, node-seconds, network, and the cost of wrong sensitivities.

In: a table ``throttling-runs/1``, a row per application, controller and draw: application, controller, error (of the
sensitivity given to the controller; 0 if it uses none), draw, congestor, nodes, congestor_nodes, run_time_s and alone_s
of the application, congestor_s and congestor_alone_s of the other job. Out: tidy tables.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from manynode.seeds import generator
from phase3_sst.studies.congestion.throttling.throttling_settings import AWARE, CONTROLLERS, STATIC

RUN_COLUMNS = (
    *("application", "controller", "error", "draw", "congestor", "nodes", "congestor_nodes"),
    *("run_time_s", "alone_s", "congestor_s", "congestor_alone_s"),
)
TAIL = 0.99
RESAMPLES = 1000


def with_increases(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs with ``increase`` and ``node_seconds_increase``: shares by which both exceed the jobs alone.

    Node-seconds are those of both jobs, each until its own end (section 6.2).
    """
    used = runs["nodes"] * runs["run_time_s"] + runs["congestor_nodes"] * runs["congestor_s"]
    alone = runs["nodes"] * runs["alone_s"] + runs["congestor_nodes"] * runs["congestor_alone_s"]
    return runs.assign(increase=runs["run_time_s"] / runs["alone_s"] - 1, node_seconds_increase=used / alone - 1)


def summary(runs: pd.DataFrame, seed: int, confidence: float) -> pd.DataFrame:
    """Return per application and controller: median and tail of both increases (Figures 5 and 6).

    ``increase_tail_low`` and ``_high`` bound the tail by a bootstrap over the draws.
    """
    rows = []
    own = runs[runs["error"] == 0]
    for (application, controller), group in own.groupby(["application", "controller"], sort=True):
        increase = group["increase"].to_numpy(dtype=float)
        rng = generator(seed, "throttling", "bootstrap", application, controller)
        draws = rng.choice(increase, size=(RESAMPLES, len(increase)))
        tails = np.quantile(draws, TAIL, axis=1)
        low, high = np.quantile(tails, [(1 - confidence) / 2, (1 + confidence) / 2])
        rows.append(
            {
                "application": application,
                "controller": controller,
                "runs": len(group),
                "increase_median": float(np.median(increase)),
                "increase_tail": float(np.quantile(increase, TAIL)),
                "increase_tail_low": float(low),
                "increase_tail_high": float(high),
                "node_seconds_median": float(group["node_seconds_increase"].median()),
                "node_seconds_tail": float(group["node_seconds_increase"].quantile(TAIL)),
            }
        )
    frame = pd.DataFrame(rows)
    frame["controller"] = pd.Categorical(frame["controller"], CONTROLLERS)
    return frame.sort_values(["application", "controller"]).astype({"controller": str}).reset_index(drop=True)


def wrong_sensitivities(runs: pd.DataFrame, application: str) -> pd.DataFrame:
    """Return per error of the sensitivity: median and tail of the increase of an application (Figure 7)."""
    own = runs[(runs["application"] == application) & (runs["controller"] == AWARE)]
    groups = own.groupby("error", sort=True)["increase"]
    frame = pd.DataFrame(
        {"runs": groups.size(), "increase_median": groups.median(), "increase_tail": groups.quantile(TAIL)}
    )
    return frame.reset_index().assign(application=application)


def over_static(table: pd.DataFrame, application: str) -> dict[str, float]:
    """Return the aware controller's tail of the increase, and its median node-seconds, over static control's."""
    own = table[table["application"] == application].set_index("controller")
    aware, static = own.loc[AWARE], own.loc[STATIC]
    tail = aware["increase_tail"] / static["increase_tail"] if static["increase_tail"] > 0 else float("inf")
    return {
        "increase_tail": float(tail),
        "node_seconds": float((1 + aware["node_seconds_median"]) / (1 + static["node_seconds_median"])),
    }


def network_table(intervals: pd.DataFrame) -> pd.DataFrame:
    """Return per controller the median and the 90th percentile of latency [s] and traffic [flits/s] (Table 4).

    ``intervals`` has a row per run and interval: controller, latency_s, flits_per_s.
    """
    rows = []
    for controller in CONTROLLERS:
        own = intervals[intervals["controller"] == controller]
        if own.empty:
            continue
        rows.append(
            {
                "controller": controller,
                "intervals": len(own),
                "latency_median_s": float(own["latency_s"].median()),
                "latency_p90_s": float(own["latency_s"].quantile(0.9)),
                "flits_per_s_median": float(own["flits_per_s"].median()),
                "flits_per_s_p90": float(own["flits_per_s"].quantile(0.9)),
            }
        )
    return pd.DataFrame(rows)
