"""The parts delay and throttling on a small dragonfly, simulated."""

from __future__ import annotations

from pathlib import Path

import pytest
from described_tables import check_findings

from manynode.config.network import Network
from manynode.config.simulate import SimulateSection
from manynode.errors import InputError, UsageError
from manynode.reference import schemas
from phase3_sst.studies.congestion.contract import Findings, Workload, parts
from phase3_sst.studies.congestion.delay import tables_in
from phase3_sst.studies.congestion.delay.background import resolved
from phase3_sst.studies.congestion.delay.delay_settings import DelaySection
from phase3_sst.studies.congestion.delay.stalls import simulated_stalls
from phase3_sst.studies.congestion.situation_runs import Runs
from phase3_sst.studies.congestion.throttling.throttling_settings import ThrottlingSection

FLYER = {
    **{"kind": "dragonfly", "groups": 4, "routers_per_group": 4, "hosts_per_router": 4, "global_links": 2},
    "routing": "ugal",
}


def workload(name: str, **parameters: object) -> Workload:
    return Workload(name, "patterns", resolved("patterns", tuple(sorted(parameters.items()))), 1, None)


def machine(output: Path, engine: str = "fast") -> Runs:
    network = Network.model_validate(
        {
            **{"name": "flyer", "topology": FLYER, "flow_control": "credits"},
            **{"input_buffer": "32 KiB", "output_buffer": "4 KiB"},
        }
    )
    simulate = SimulateSection(engine=engine, replicas=1).model_dump(mode="json")
    steady = workload("steady", pattern="ping-pong", iterations=1, bytes=1 << 26, b=1)
    chatty = workload("chatty", pattern="collective", collective="allreduce", bytes=8, iterations=60)
    loads = {"chatty": chatty, "steady": steady}
    return Runs(network, network.model_dump(mode="json"), simulate, 1, 0.95, loads, output)


def whole(runs: Runs, name: str, settings: object) -> Findings:
    """Simulate all rounds of a part and return its findings."""
    part = parts.get(name)
    part.check(runs, settings)
    for number in range(10):
        situations = part.situations(runs, settings, number)
        if not situations:
            return part.conclude(runs, settings)
        for situation in runs.missing(situations):
            runs.run(situation)
            assert runs.failed(situation) is None, runs.failed(situation)
    raise AssertionError("the part asks for situations without end")


def feed_the_command(found: Findings, output: Path) -> None:
    """Read the simulated study as a user of ``manynode delay`` would: tables with the described columns, no others."""
    folder = next(path.parent for path in sorted(output.rglob("series.parquet")))
    runs = found.tables["delay-runs"][1]
    frames = {
        "stalled-links/1": (simulated_stalls(folder, "run"), tables_in.read_stalls),
        "round-trips/1": (found.tables["delay-round-trips"][1], tables_in.read_round_trips),
        "application-runs/1": (
            runs.assign(nodes="0 1 2", start_s=0.0, end_s=runs["run_time_s"]),
            tables_in.read_runs,
        ),
    }
    for schema, (frame, read) in frames.items():
        columns = list(schemas.registry()[schema].columns)
        path = output / f"{schema.partition('/')[0]}.csv"
        frame[columns].to_csv(path, index=False)
        assert list(read(path).columns) == columns and len(read(path)) == len(frame)
        for column in columns:
            frame[columns].drop(columns=column).to_csv(path, index=False)
            with pytest.raises(InputError, match="lacks a column"):
                read(path)


SMALL = {"round_trips": {"situations": 24, "pairs": 3, "exchanges": 30}, "runs": 20, "applications": ["chatty"]}


@pytest.mark.long
def test_delays_and_run_times_under_congestion_are_estimated(tmp_path: Path) -> None:
    settings = DelaySection.model_validate(SMALL)
    found = whole(machine(tmp_path), "delay", settings)
    check_findings(found.tables)
    feed_the_command(found, tmp_path)
    errors = found.tables["delay-errors"][1].set_index("held_out")
    assert errors.loc[False, "round_trips"] == 48 and errors.loc[True, "round_trips"] == 24
    assert errors["correlation"].min() > 0.6
    sensitivities = found.tables["delay-sensitivities"][1].set_index("application")
    assert sensitivities.loc["ping-pong", "sensitivity"] == pytest.approx(1)
    chatty = sensitivities.loc["chatty"]
    assert chatty["varies"] and chatty["sensitivity"] > 0 and chatty["correlation"] > 0.7
    assert [figure.name for figure in found.figures] == ["delay-round-trips", "delay-runs", "delay-convergence"]
    for figure in found.figures:
        assert figure.spec()["datasets"]["table"]
    again = parts.get("delay").conclude(machine(tmp_path), settings)
    assert list(again.sentences) == list(found.sentences)
    for name, (_, table) in found.tables.items():
        assert table.equals(again.tables[name][1]), name


@pytest.mark.long
def test_three_controllers_stand_beside_each_other(tmp_path: Path) -> None:
    settings = ThrottlingSection.model_validate(
        {
            **{"applications": ["chatty"], "sensitivities": {"chatty": 1.0}, "runs": 3, "errors": [-1.0]},
            "delay": {**SMALL, "round_trips": {**SMALL["round_trips"], "situations": 12}},
        }
    )
    found = whole(machine(tmp_path), "throttling", settings)
    check_findings(found.tables)
    runs = found.tables["throttling-runs"][1]
    assert runs.groupby(["controller", "error"]).size().to_dict() == {
        **{("aware", -1.0): 3, ("aware", 0.0): 3},
        **{("dcqcn", 0.0): 3, ("static", 0.0): 3},
    }
    # Told that nothing is sensitive, the aware controller is the DCQCN-like one.
    columns = ["draw", "run_time_s", "congestor_s"]
    wrong, dcqcn = (
        runs[(runs["controller"] == name) & (runs["error"] == error)][columns].reset_index(drop=True)
        for name, error in (("aware", -1.0), ("dcqcn", 0.0))
    )
    assert wrong.equals(dcqcn)
    # Static control at the line rate holds nothing back; the other job still slows the application.
    assert (runs["increase"] > -0.05).all() and runs["increase"].max() > 0
    adaptive = runs[runs["controller"] == "dcqcn"]["congestor_s"].to_numpy()
    assert (adaptive != runs[runs["controller"] == "static"]["congestor_s"].to_numpy()).any()
    network = found.tables["throttling-network"][1].set_index("controller")
    assert (network["latency_p90_s"] >= network["latency_median_s"]).all()
    assert (network["flits_per_s_p90"] > 0).all()


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("delay", DelaySection(applications=["chaty"]), "did you mean 'chatty'"),
        ("delay", DelaySection(nodes=63), "room"),
        ("throttling", ThrottlingSection(nodes=63), "room"),
        ("throttling", ThrottlingSection(sensitivities={"milc": 1.0}), "milc"),
    ],
)
def test_what_does_not_fit_the_machine_is_refused(name: str, settings: object, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        parts.get(name).check(machine(tmp_path), settings)


def test_an_engine_that_counts_no_stalls_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="simgrid"):
        parts.get("delay").check(machine(tmp_path, "simgrid"), DelaySection())
