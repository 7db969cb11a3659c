"""The findings of the part ``delay``: quality of the delay estimates, and each application's delay sensitivity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import pandas as pd

from manynode.errors import InputError
from manynode.report.figure import TIME_LABEL, Figure
from manynode.seeds import generator
from phase3_sst.studies.congestion.contract import Findings, Machine
from phase3_sst.studies.congestion.delay.delay_settings import (
    PING_PONG,
    DelaySection,
    Drawn,
    application_runs,
    chosen,
    round_trip_table,
    round_trips,
    run_table,
)
from phase3_sst.studies.congestion.delay.fitting import ping_pong
from phase3_sst.studies.congestion.delay.latency import LatencyModel, estimated_round_trips, fit
from phase3_sst.studies.congestion.delay.run_time_model import (
    Sensitivity,
    convergence,
    correlation,
    delivery_s,
    extremes_first,
    fit_sensitivity,
    relative,
    scaled,
)

ROUND_TRIPS_SCHEMA = "delay-round-trips/1"
ERRORS_SCHEMA = "delay-errors/1"
TERMS_SCHEMA = "delay-terms/1"
RUNS_SCHEMA = "delay-runs/1"
SENSITIVITIES_SCHEMA = "delay-sensitivities/1"
CONVERGENCE_SCHEMA = "delay-convergence/1"
QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.99)
# Number of drawn orders of the runs for the convergence; their median is shown.
ORDERS = 200
# The paper's measure of convergence.
NEAR = 0.1


@dataclass(frozen=True)
class Measured:
    """What was fitted: the latency model, round trips with estimates, runs with delays, sensitivities by name."""

    model: LatencyModel
    round_trips: pd.DataFrame
    runs: pd.DataFrame
    sensitivities: Mapping[str, Sensitivity]
    missing: int

    def relative(self, name: str) -> float:
        """Return the sensitivity of an application on the scale where the ping-pong has one."""
        return relative(self.sensitivities[name], self.sensitivities[PING_PONG])


def fit_latency(machine: Machine, settings: DelaySection) -> tuple[LatencyModel, pd.DataFrame]:
    """Return the latency model, and the round trips with estimates and errors."""
    trips, snapshots = round_trip_table(machine, _finished(machine, round_trips(machine, settings)))
    rows = snapshots.of_round_trips(trips)
    train = (~trips["held_out"]).to_numpy()
    kept = [row for row, taken in zip(rows, train, strict=True) if taken]
    model = fit(kept, trips.loc[train, "round_trip_s"].tolist(), machine.network.name)
    trips = trips.assign(estimated_s=estimated_round_trips(model, rows))
    return model, trips.assign(error=trips["estimated_s"] / trips["round_trip_s"] - 1)


def measure(machine: Machine, settings: DelaySection) -> Measured:
    """Fit the models to the results of the part's situations; those that failed are left out."""
    model, trips = fit_latency(machine, settings)
    wanted = application_runs(machine, settings)
    runs, snapshots = run_table(machine, _finished(machine, wanted))
    runs = runs.assign(run_time_s=runs["end_s"] - runs["start_s"], delivery_s=delivery_s(model, snapshots, runs))
    estimated, measured = (trips[column].to_numpy(dtype=float) for column in ("estimated_s", "round_trip_s"))
    sensitivities = {PING_PONG: ping_pong(estimated, measured, machine.seed, machine.confidence)}
    for name in chosen(machine, settings):
        own = runs[runs["application"] == name]
        times, delays = own["run_time_s"].to_numpy(dtype=float), own["delivery_s"].to_numpy(dtype=float)
        try:
            sensitivities[name] = fit_sensitivity(delays, times, machine.seed, machine.confidence)
        except InputError as error:
            raise error.named(name) from None
        runs.loc[own.index, "estimated_s"] = sensitivities[name].estimate_s(delays)
    missing = len(wanted) - len(runs) + settings.round_trips.situations - trips["run"].nunique()
    return Measured(model, trips, runs, sensitivities, missing)


def _finished(machine: Machine, wanted: Sequence[Drawn]) -> list[Drawn]:
    """Return those of the situations that have a result; none is an :class:`InputError`."""
    found = [one for one in wanted if machine.failed(one.situation) is None]
    if not found:
        first = wanted[0].situation
        raise InputError("no situation has a result", where=first.name, found=machine.failed(first))
    return found


def conclude(machine: Machine, settings: DelaySection) -> Findings:
    """Return sentences, tables and figures."""
    found = measure(machine, settings)
    errors, table, steps = error_table(found.round_trips), sensitivity_table(found), convergence_table(machine, found)
    terms = pd.DataFrame(
        [
            {"term": term.partition(":")[0], "class": term.partition(":")[2], "seconds": seconds}
            for term, seconds in found.model.coefficients.items()
        ]
    )
    runs = found.runs.drop(columns=["nodes", "start_s", "end_s"])
    return Findings(
        [*_about_latency(errors), *_about_sensitivity(table, steps), *_about_missing(found.missing)],
        {
            "delay-round-trips": (ROUND_TRIPS_SCHEMA, found.round_trips),
            "delay-errors": (ERRORS_SCHEMA, errors),
            "delay-terms": (TERMS_SCHEMA, terms),
            "delay-runs": (RUNS_SCHEMA, runs),
            "delay-sensitivities": (SENSITIVITIES_SCHEMA, table),
            "delay-convergence": (CONVERGENCE_SCHEMA, steps),
        },
        [_round_trip_figure(found.round_trips), _run_figure(runs), _convergence_figure(steps)],
    )


def error_table(trips: pd.DataFrame) -> pd.DataFrame:
    """Return for the fitted and the held-out round trips: count, correlation, quantiles of the error."""
    rows = []
    for held_out, own in trips.groupby("held_out", sort=True):
        error = own["error"].abs()
        rows.append(
            {
                "held_out": bool(held_out),
                "round_trips": len(own),
                "correlation": correlation(own["estimated_s"].to_numpy(), own["round_trip_s"].to_numpy()),
                **{f"error_p{100 * quantile:g}": float(error.quantile(quantile)) for quantile in QUANTILES},
            }
        )
    return pd.DataFrame(rows)


def sensitivity_table(found: Measured) -> pd.DataFrame:
    """Return a row per application; ``sensitivity`` with its interval is on the ping-pong's scale."""
    rows = []
    unit = found.sensitivities[PING_PONG]
    for name, own in found.sensitivities.items():
        further = {"variation": own.variation, "idle_s": own.idle_s, "correlation_left_out": own.left_out}
        rows.append({"application": name, **scaled(own, unit), **further})
    columns = [
        *("application", "runs", "varies", "variation", "gradient", "sensitivity", "low", "high", "idle_s"),
        *("correlation", "correlation_left_out"),
    ]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.astype({"correlation": float, "correlation_left_out": float})


def convergence_table(machine: Machine, found: Measured) -> pd.DataFrame:
    """Return application, order (random: the median over orders; extremes first), runs, error of the sensitivity."""
    rows = []
    for name, own in found.sensitivities.items():
        if not own.varies or name == PING_PONG:
            continue
        runs = found.runs[found.runs["application"] == name]
        delays, times = runs["delivery_s"].to_numpy(dtype=float), runs["run_time_s"].to_numpy(dtype=float)
        rng = generator(machine.seed, "delay", "convergence", name)
        random = [convergence(delays, times, rng.permutation(len(times)).tolist()) for _ in range(ORDERS)]
        extreme = convergence(delays, times, extremes_first(delays))
        for order, errors in (("random", np.median(random, axis=0)), ("extremes first", extreme)):
            for step, error in enumerate(errors, start=2):
                rows.append({"application": name, "order": order, "runs": step, "error": float(error)})
    return pd.DataFrame(rows, columns=["application", "order", "runs", "error"])


def runs_needed(steps: pd.DataFrame, name: str, order: str) -> int | None:
    """Return the number of runs from which the error stays below a tenth; None if only at the last run or never."""
    own = steps[(steps["application"] == name) & (steps["order"] == order)]
    if own.empty:
        return None
    above = own[own["error"] > NEAR]["runs"]
    needed = int(own["runs"].min() if above.empty else above.max() + 1)
    return needed if needed < int(own["runs"].max()) else None


def _about_latency(errors: pd.DataFrame) -> list[str]:
    sentences = []
    for row in errors.itertuples(index=False):
        which = "held-out round trips" if row.held_out else "round trips of the fit"
        sentences.append(
            f"For {row.round_trips} {which}, the correlation of estimated and simulated times is "
            f"{row.correlation:.2f}; three quarters of the estimates are within {row.error_p75:.0%}."
        )
    return sentences


def _about_sensitivity(table: pd.DataFrame, steps: pd.DataFrame) -> list[str]:
    sentences = []
    for row in table[table["application"] != PING_PONG].itertuples(index=False):
        if not row.varies:
            sentences.append(
                f"{row.application} does not vary with congestion (standard deviation {row.variation:.2%} of the run "
                "time): its delay sensitivity is 0, and there is nothing to correlate."
            )
            continue
        needed = {order: runs_needed(steps, row.application, order) for order in ("random", "extremes first")}
        words = [f"{'more than all' if n is None else n} runs in {o} order" for o, n in needed.items()]
        sentences.append(
            f"{row.application} has the delay sensitivity {row.sensitivity:.2f} ({row.low:.2f} to {row.high:.2f}; the "
            f"ping-pong has 1); estimated and simulated run time correlate by {row.correlation:.2f}, by "
            f"{row.correlation_left_out:.2f} where the run itself is left out. Within a tenth after {', '.join(words)}."
        )
    return sentences


def _about_missing(missing: int) -> list[str]:
    return [f"{missing} situations have no result and are left out."] if missing else []


def _round_trip_figure(trips: pd.DataFrame) -> Figure:
    base = alt.Chart(alt.NamedData(name="table"))
    log = alt.Scale(type="log", nice=False, padding=12)
    points = base.mark_point(filled=True, size=35, opacity=0.7).encode(
        x=alt.X("round_trip_s:Q", title="simulated round trip", scale=log, axis=alt.Axis(labelExpr=TIME_LABEL)),
        y=alt.Y("estimated_s:Q", title="estimated", scale=log, axis=alt.Axis(labelExpr=TIME_LABEL)),
        color=alt.Color("congestor:N", title="congestor"),
        shape=alt.Shape("held_out:N", title="held out"),
        tooltip=["run:N", "congestor:N", alt.Tooltip("error:Q", format="+.1%")],
    )
    caption = "Round trips of ping-pongs under congestion, against the model of stalled links."
    data = trips[["run", "congestor", "held_out", "round_trip_s", "estimated_s", "error"]]
    shown = data.assign(congestor=data["congestor"].replace("", "none"))
    return Figure("delay-round-trips", "Estimated and simulated round trips", caption, points, shown)


def _run_figure(runs: pd.DataFrame) -> Figure:
    shown = runs.assign(congestor=runs["congestor"].replace("", "none"))
    for column in ("run_time_s", "estimated_s"):
        idle = shown.groupby("application")["run_time_s"].transform("min")
        shown[column.removesuffix("_s")] = shown[column] / idle
    points = (
        alt.Chart(alt.NamedData(name="table"))
        .mark_point(filled=True, size=35, opacity=0.7)
        .encode(
            x=alt.X("run_time:Q", title="simulated run time over the shortest", scale=alt.Scale(zero=False)),
            y=alt.Y("estimated:Q", title="estimated by delay sensitivity", scale=alt.Scale(zero=False)),
            color=alt.Color("application:N", title="application"),
            tooltip=["run:N", "congestor:N", "run_time:Q", "estimated:Q"],
        )
    )
    caption = "Run times of applications on drawn nodes under drawn congestion, against c M + k."
    columns = ["run", "application", "congestor", "run_time", "estimated"]
    return Figure("delay-runs", "Run times estimated by delay sensitivity", caption, points, shown[columns])


def _convergence_figure(steps: pd.DataFrame) -> Figure:
    lines = (
        alt.Chart(alt.NamedData(name="table"))
        .mark_line()
        .encode(
            x=alt.X("runs:Q", title="runs"),
            y=alt.Y("error:Q", title="error of the sensitivity", axis=alt.Axis(format="%")),
            color=alt.Color("application:N", title="application"),
            strokeDash=alt.StrokeDash("order:N", title="order of the runs"),
        )
    )
    caption = (
        "Difference of the sensitivity after some runs from that of all runs: median over random orders, and with "
    )
    caption += "the runs of least and greatest delay first."
    return Figure("delay-convergence", "Runs needed to estimate the sensitivity", caption, lines, steps)
