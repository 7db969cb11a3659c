"""The findings of the part ``mapping``: run times and costs (``mapping-runs/1``), a summary, sentences, a figure.

In: the cases with their results. Out: :class:`Findings`. The share of congestion time recovered is Brandt et al.'s
Table II: the gain of the mapped run over the default run, divided by the default run's loss to traffic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from manynode.report.figure import COLOURS, Figure
from phase3_sst.studies.congestion.contract import Findings
from phase3_sst.studies.congestion.mapping.cases import CaseRuns
from phase3_sst.studies.congestion.mapping.plan import METHODS, Plan
from phase3_sst.studies.congestion.mapping.planning import plans_of
from phase3_sst.studies.congestion.situation import Situation

RUNS_SCHEMA = "mapping-runs/1"
SUMMARY_SCHEMA = "mapping-summary/1"
# A loss below this share of the undisturbed time does not count as recoverable congestion.
LEAST_LOSS = 0.05

RUN_COLUMNS = [
    *("case", "drawn", "method", "alone_s", "default_s", "run_s", "loss", "change", "recovered"),
    *("kept_default", "cost_total", "cost_largest", "seconds"),
]
SUMMARY_COLUMNS = [
    *("method", "cases", "congested", "recovered_median", "change_worst", "change_median", "change_worst_any"),
    *("kept_default", "seconds_median"),
]


def conclusion(cases: Sequence[CaseRuns]) -> Findings:
    """Return the findings of all cases; a case without a result is named and left out."""
    rows: list[dict[str, Any]] = []
    failures: list[str] = []
    for runs in cases:
        failed = _failure(runs, [runs.alone(), runs.default(), runs.snapshot()])
        if failed:
            failures.append(failed)
            continue
        for plan in plans_of(runs):
            failed = _failure(runs, [runs.mapped(plan)])
            if failed:
                failures.append(failed)
            else:
                rows.append(_row(runs, plan))
    table = pd.DataFrame(rows, columns=RUN_COLUMNS)
    summary = summarised(table)
    found = {"mapping-runs": (RUNS_SCHEMA, table), "mapping-summary": (SUMMARY_SCHEMA, summary)}
    return Findings([*sentences(table, summary), *failures], found, [figure(table)] if len(table) else [])


def _failure(runs: CaseRuns, situations: Sequence[Situation]) -> str | None:
    for situation in situations:
        reason = runs.machine.failed(situation)
        if reason is not None:
            return f"{situation.name} has no result and is left out: {reason.splitlines()[0]}"
    return None


def _row(runs: CaseRuns, plan: Plan) -> dict[str, Any]:
    alone, default, run = (
        runs.machine.result(situation).makespans_s[0] for situation in (runs.alone(), runs.default(), runs.mapped(plan))
    )
    lost = default - alone
    return {
        "case": runs.case.name,
        "drawn": runs.case.drawn,
        "method": plan.method,
        "alone_s": alone,
        "default_s": default,
        "run_s": run,
        "loss": lost / alone,
        "change": run / default - 1,
        "recovered": (default - run) / lost if lost > LEAST_LOSS * alone else math.nan,
        "kept_default": plan.kept_default,
        "cost_total": _relative(plan.cost_total, plan.default_cost_total),
        "cost_largest": _relative(plan.cost_largest, plan.default_cost_largest),
        "seconds": plan.seconds,
    }


def _relative(cost: float, default: float) -> float:
    """Return a cost as a share of the default mapping's; if that is zero, no cost can be lower."""
    return cost / default if default > 0 else 1.0


def summarised(table: pd.DataFrame) -> pd.DataFrame:
    """Return a row per method: its effect in the congested cases, and its worst change in any case."""
    rows = []
    for method in [name for name in METHODS if name in set(table["method"])]:
        of_method = table[table["method"] == method]
        congested = of_method[of_method["recovered"].notna()]
        rows.append(
            {
                "method": method,
                "cases": len(of_method),
                "congested": len(congested),
                "recovered_median": float(congested["recovered"].median()),
                "change_worst": float(congested["change"].max()),
                "change_median": float(congested["change"].median()),
                "change_worst_any": float(of_method["change"].max()),
                "kept_default": int(of_method["kept_default"].sum()),
                "seconds_median": float(of_method["seconds"].median()),
            }
        )
    return pd.DataFrame(rows, columns=SUMMARY_COLUMNS)


def sentences(table: pd.DataFrame, summary: pd.DataFrame) -> list[str]:
    """Return the sentences: each given case, then the drawn ones together."""
    told = []
    for name, case in table[~table["drawn"].astype(bool)].groupby("case", sort=False):
        loss = float(case["loss"].iloc[0])
        if case["recovered"].isna().all():
            told.append(f"{name}: the traffic costs the job {loss:.1%} of its time, too little to be recovered.")
            continue
        shares = ", ".join(f"{row['method']} {row['recovered']:.0%}" for row in case.to_dict("records"))
        told.append(f"{name}: the traffic costs the job {loss:.1%} of its time; of that, mapping recovers: {shares}.")
    drawn = table[table["drawn"].astype(bool)]
    for method, cases in drawn.groupby("method", sort=False):
        congested = cases[cases["recovered"].notna()]
        if len(congested):
            told.append(
                f"{method} in {len(congested)} drawn cases in which traffic costs {LEAST_LOSS:.0%} or more: median of "
                f"the loss recovered {congested['recovered'].median():.0%}; against the default mapping the run takes "
                f"{congested['change'].median():+.1%} (median), {congested['change'].max():+.1%} at worst."
            )
        if len(congested) < len(cases):
            others = cases[cases["recovered"].isna()]
            told.append(
                f"{method} in {len(others)} others, with nothing to recover: {others['change'].max():+.1%} at worst."
            )
    if len(summary):
        told.append(f"Finding a mapping takes {summary['seconds_median'].max():.2g} s or less (median).")
    return told


def figure(table: pd.DataFrame) -> Figure:
    """Return run times of mapped runs, relative to the default mapping's."""
    data = table[["case", "method", "run_s", "recovered", "cost_total"]].copy()
    data["relative"] = table["run_s"] / table["default_s"]
    data["undisturbed"] = table["alone_s"] / table["default_s"]
    methods = [name for name in METHODS if name in set(data["method"])]
    colours = COLOURS[: len(methods)]
    cases = list(dict.fromkeys(data["case"]))
    base = alt.Chart(alt.NamedData(name="table")).encode(y=alt.Y("case:N", title="case", sort=cases))
    points = base.mark_circle(size=70, opacity=0.9).encode(
        x=alt.X("relative:Q", title="time relative to the default mapping", scale=alt.Scale(zero=False)),
        color=alt.Color(
            "method:N", legend=alt.Legend(title=None), scale=alt.Scale(domain=methods, range=colours), sort=methods
        ),
        tooltip=[
            *(alt.Tooltip("case:N"), alt.Tooltip("method:N"), alt.Tooltip("relative:Q", format=".3f")),
            *(alt.Tooltip("recovered:Q", format=".1%"), alt.Tooltip("cost_total:Q", format=".2f")),
        ],
    )
    ideal = base.mark_tick(thickness=2, color="#555555").encode(x="undisturbed:Q")
    return Figure(
        "mapping",
        "Run time with mapped ranks",
        "Each point is a run beside the traffic, relative to the run with the default mapping; the dark ticks are the "
        "job without traffic, the best that mapping could reach.",
        (ideal + points).properties(height=max(120, 22 * len(cases))),
        data,
    )
