"""The part ``throttling``: its situations in each round, and its findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from manynode import tables
from manynode.errors import InputError
from manynode.report.figure import Figure
from manynode.report.wording import duration
from phase3_sst.point.contract import LINK_SERIES_SCHEMA
from phase3_sst.studies.congestion.contract import Findings, Machine
from phase3_sst.studies.congestion.delay import delay_findings as delay_findings
from phase3_sst.studies.congestion.delay import delay_settings as delay_study
from phase3_sst.studies.congestion.delay.latency import LatencyModel, terms
from phase3_sst.studies.congestion.delay.passages import Routes
from phase3_sst.studies.congestion.delay.stalls import Waiting, simulated_stalls
from phase3_sst.studies.congestion.situation import Situation
from phase3_sst.studies.congestion.throttling.throttling_settings import (
    AWARE,
    CONTROLLERS,
    DCQCN,
    Case,
    ThrottlingSection,
    alone,
    cases,
    chosen,
    congestor_alone,
    delay_settings,
    makespans_s,
    sample,
    to_measure,
    together,
)
from phase3_sst.studies.congestion.throttling.throttling_tables import (
    RUN_COLUMNS,
    network_table,
    over_static,
    summary,
    with_increases,
    wrong_sensitivities,
)

RUNS_SCHEMA = "throttling-runs/1"
SUMMARY_SCHEMA = "throttling-summary/1"
NETWORK_SCHEMA = "throttling-network/1"
ERRORS_SCHEMA = "throttling-errors/1"
SENSITIVITIES_SCHEMA = "throttling-sensitivities/1"

# A controller, the application's sensitivity given to it, and the error of that.
Choice = tuple[str, float, float]


def situations(machine: Machine, settings: ThrottlingSection, round_number: int) -> list[Situation]:
    """Return the situations of a round, each once."""
    wanted: list[Situation] = []
    if round_number == 0:
        wanted += [one.situation for one in delay_study.round_trips(machine, settings.delay)]
        if to_measure(machine, settings):
            runs = delay_study.application_runs(machine, delay_settings(machine, settings))
            wanted += [one.situation for one in runs]
        for case in cases(machine, settings):
            wanted += [alone(case), sample(case)]
    elif round_number == 1:
        wanted += [congestor_alone(machine, settings, case) for case in _ready(machine, settings)]
    elif round_number == 2:
        told = sensitivities(machine, settings)
        for case in _ready(machine, settings):
            for controller, sensitivity, _ in choices(settings, told, case.application):
                wanted.append(together(machine, settings, case, controller, sensitivity))
    return list({situation.name: situation for situation in wanted}.values())


def sensitivities(machine: Machine, settings: ThrottlingSection) -> dict[str, float]:
    """Return the sensitivity of each application: given, or measured (a negative one counts as 0)."""
    missing = to_measure(machine, settings)
    told = {name: settings.sensitivities[name] for name in chosen(machine, settings) if name not in missing}
    if missing:
        measured = delay_findings.measure(machine, delay_settings(machine, settings))
        told.update({name: max(0.0, measured.relative(name)) for name in missing})
    return told


def choices(settings: ThrottlingSection, told: Mapping[str, float], application: str) -> Iterator[Choice]:
    """Yield the trials of an application: the controllers, and wrong sensitivities for the most sensitive one."""
    for controller in CONTROLLERS:
        yield controller, told[application], 0.0
    if application == most_sensitive(told):
        for error in settings.errors:
            yield AWARE, told[application] * (1 + error), error


def most_sensitive(told: Mapping[str, float]) -> str:
    """Return the application with the greatest sensitivity, the first of several."""
    return max(told, key=lambda name: told[name])


def conclude(machine: Machine, settings: ThrottlingSection) -> Findings:
    """Return sentences, tables and figures."""
    told = sensitivities(machine, settings)
    model, _ = delay_findings.fit_latency(machine, settings.delay)
    routes, rows, intervals, missing = Routes(machine.network), [], [], 0
    for case in cases(machine, settings):
        for controller, sensitivity, error in choices(settings, told, case.application):
            row = _row(machine, settings, case, controller, sensitivity, error)
            if row is None:
                missing += 1
                continue
            rows.append(row)
            if error == 0:
                situation = together(machine, settings, case, controller, sensitivity)
                one = _intervals(machine, model, routes, settings, situation, row["run_time_s"])
                intervals.append(one.assign(controller=controller))
    if not rows:
        raise InputError("no run under a controller has a result", where="throttling")
    runs = with_increases(pd.DataFrame(rows, columns=list(RUN_COLUMNS)))
    table = summary(runs, machine.seed, machine.confidence)
    network, worst = network_table(pd.concat(intervals, ignore_index=True)), most_sensitive(told)
    errors = wrong_sensitivities(runs, worst)
    given = pd.DataFrame(
        [{"application": name, "sensitivity": value, "given": name in settings.sensitivities}
         for name, value in told.items()]
    )  # fmt: skip
    return Findings(
        [*_sentences(table, network, errors, worst, told), *_about_missing(missing)],
        {
            "throttling-runs": (RUNS_SCHEMA, runs),
            "throttling-summary": (SUMMARY_SCHEMA, table),
            "throttling-network": (NETWORK_SCHEMA, network),
            "throttling-errors": (ERRORS_SCHEMA, errors),
            "throttling-sensitivities": (SENSITIVITIES_SCHEMA, given),
        },
        [_bars(table, "increase_tail", "run-time"), _bars(table, "node_seconds_tail", "node-seconds"), _line(errors)],
    )


def _ready(machine: Machine, settings: ThrottlingSection) -> Iterator[Case]:
    for case in cases(machine, settings):
        if machine.failed(alone(case)) is None and machine.failed(sample(case)) is None:
            yield case


def _row(
    machine: Machine, settings: ThrottlingSection, case: Case, controller: str, sensitivity: float, error: float
) -> dict[str, Any] | None:
    """Return a row of ``throttling-runs/1``; None if one of its situations has no result."""
    if any(machine.failed(one) is not None for one in (alone(case), sample(case))):
        return None
    apart, both = congestor_alone(machine, settings, case), together(machine, settings, case, controller, sensitivity)
    if any(machine.failed(one) is not None for one in (apart, both)):
        return None
    run_time_s, congestor_s = makespans_s(machine, both)
    return {
        "application": case.application,
        "controller": controller,
        "error": error,
        "draw": case.index,
        "congestor": case.congestor_name,
        "nodes": len(case.member.hosts),
        "congestor_nodes": len(case.congestor.hosts),
        "run_time_s": run_time_s,
        "alone_s": makespans_s(machine, alone(case))[0],
        "congestor_s": congestor_s,
        "congestor_alone_s": makespans_s(machine, apart)[0],
    }


def _intervals(
    machine: Machine,
    model: LatencyModel,
    routes: Routes,
    settings: ThrottlingSection,
    situation: Situation,
    end_s: float,
) -> pd.DataFrame:
    """Return latency between the application's nodes and the nodes' traffic, by interval of the application's run."""
    folder = machine.result(situation).folder
    waiting = Waiting.of(simulated_stalls(folder, situation.name))
    passages = routes.among(situation.members[0].hosts)
    series = tables.read_table(
        folder / "series.parquet", LINK_SERIES_SCHEMA, ["replica", "start_s", "end_s", "class", "bytes"]
    )
    injected = series[series["class"] == "host-up"].groupby("start_s")["bytes"].sum()
    rows = []
    for start_s, stop_s, units in zip(waiting.start_s, waiting.end_s, waiting.units.to_dict("records"), strict=True):
        if start_s >= end_s:
            continue
        flits = float(injected.get(start_s, 0)) / settings.flit
        factors = terms(routes, passages, {str(link): float(value) for link, value in units.items()})
        rows.append(
            {
                "latency_s": model.delay_s(factors),
                "flits_per_s": flits / (stop_s - start_s),
            }
        )
    return pd.DataFrame(rows, columns=["latency_s", "flits_per_s"])


def _sentences(
    table: pd.DataFrame, network: pd.DataFrame, errors: pd.DataFrame, worst: str, told: Mapping[str, float]
) -> list[str]:
    own = table[table["application"] == worst].set_index("controller")
    ratio = over_static(table, worst)
    tails = ", ".join(f"{own.loc[name, 'increase_tail']:.1%} ({name})" for name in CONTROLLERS if name in own.index)
    latency = network.set_index("controller")["latency_median_s"]
    wrong = errors.set_index("error")["increase_tail"]
    return [
        f"{worst} is the most sensitive application ({told[worst]:.2f}). In the 99th percentile, the other job makes "
        f"it longer by {tails}: aware control has {ratio['increase_tail']:.2f} times what static control has.",
        f"Node-seconds of both jobs under aware control are {ratio['node_seconds']:.3f} times those under static "
        "control in the median.",
        "The median delay between the application's nodes is "
        + ", ".join(f"{duration(seconds)} ({name})" for name, seconds in latency.items())
        + ".",
        "With a sensitivity that is off by "
        + ", ".join(f"{error:+.0%}" for error in wrong.index if error != 0)
        + ", aware control has a 99th percentile of "
        + ", ".join(f"{wrong[error]:.1%}" for error in wrong.index if error != 0)
        + f" (with the right one {wrong[0.0]:.1%}, without any {own.loc[DCQCN, 'increase_tail']:.1%}).",
    ]


def _about_missing(missing: int) -> list[str]:
    return [f"{missing} runs have no result and are left out."] if missing else []


def _bars(table: pd.DataFrame, column: str, what: str) -> Figure:
    bars = (
        alt.Chart(alt.NamedData(name="table"))
        .mark_bar()
        .encode(
            x=alt.X("application:N", title="application"),
            xOffset=alt.XOffset("controller:N", sort=list(CONTROLLERS)),
            y=alt.Y(f"{column}:Q", title=f"{what} increase", axis=alt.Axis(format="+%")),
            color=alt.Color("controller:N", sort=list(CONTROLLERS), title="control of injection"),
            tooltip=["application:N", "controller:N", alt.Tooltip(f"{column}:Q", format="+.1%"), "runs:Q"],
        )
    )
    caption = f"99th percentile over the draws of the {what} increase over both jobs alone, under each controller."
    shown: Sequence[str] = ["application", "controller", "runs", column]
    return Figure(f"throttling-{column.replace('_', '-')}", f"Tail of the {what} increase", caption, bars, table[shown])


def _line(errors: pd.DataFrame) -> Figure:
    line = (
        alt.Chart(alt.NamedData(name="table"))
        .transform_fold(["increase_median", "increase_tail"], as_=["quantity", "increase"])
        .mark_line(point=True)
        .encode(
            x=alt.X("error:Q", title="error of the sensitivity", axis=alt.Axis(format="+%")),
            y=alt.Y("increase:Q", title="run-time increase", axis=alt.Axis(format="+%")),
            color=alt.Color("quantity:N", title=None),
        )
    )
    caption = "The most sensitive application under aware control with a wrong sensitivity."
    return Figure("throttling-errors", "Wrong sensitivities", caption, line, errors)
