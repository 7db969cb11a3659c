"""Runs of a campaign on the fast engine: their counters, from the simulation to the row of the table."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest
from described_tables import check_columns, described

from manynode import tables
from manynode.config.network import Network
from manynode.config.simulate import SimulateSection
from manynode.config.skeleton import resolve_skeleton
from phase3_sst.point.contract import LINK_SERIES_SCHEMA
from phase3_sst.studies.congestion.contract import Workload
from phase3_sst.studies.congestion.counters.counter_features import NAMES
from phase3_sst.studies.congestion.counters.counter_table import Counters, write
from phase3_sst.studies.congestion.counters.metrics import stall_flit_ratio
from phase3_sst.studies.congestion.counters.simulated import all_links, simulated, simulated_series
from phase3_sst.studies.congestion.situation import Member, Situation
from phase3_sst.studies.congestion.situation_runs import Runs
from phase3_sst.studies.congestion.variability import drawn_runs
from phase3_sst.studies.congestion.variability.runs_table import check
from phase3_sst.studies.congestion.variability.variability_settings import VariabilitySection

NETWORK: dict[str, Any] = {
    "name": "small",
    "topology": {"kind": "dragonfly", "groups": 3, "routers_per_group": 2, "hosts_per_router": 4, "global_links": 2},
    "link": {"bandwidth": "100 Gbit/s", "latency": "90 ns"},
    "switch_latency": "110 ns",
    "chunk": "8 KiB",
    "flow_control": "credits",
    "output_buffer": "16 KiB",
    "host": {
        "overhead_send": "350 ns", "overhead_recv": "350 ns", "gap": "10 ns", "eager_limit": "8 KiB",
        "nic_bandwidth": "100 Gbit/s", "nic_latency": "150 ns", "reduce_bandwidth": "5 GB/s",
    },
    "intranode": {"latency": "300 ns", "bandwidth": "8 GB/s"},
}  # fmt: skip
SETTINGS = VariabilitySection.model_validate(
    {
        "nodes": [8],
        "runs": 4,
        "background": {
            "congestors": [{"name": "patterns", "parameters": {"pattern": "transpose", "iterations": 10}}],
            "nodes": [2, 8],
            "bytes": ["2 KiB", "32 KiB"],
        },
    }
)


def workload(name: str, skeleton: str, **parameters: Any) -> Workload:
    return Workload(name, skeleton, resolve_skeleton(skeleton, parameters, name), 1, None)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    network = Network.model_validate(NETWORK)
    ring = workload("ring", "patterns", pattern="random-ring", bytes=16384, iterations=20)
    simulate = SimulateSection().model_dump(mode="json")
    folder = tmp_path_factory.mktemp("campaign")
    return Runs(network, network.model_dump(mode="json"), simulate, 1, 0.95, {"ring": ring}, folder)


def simulated_rows(machine: Runs) -> pd.DataFrame:
    rows = []
    for run in drawn_runs.situations(machine.workloads, SETTINGS, machine.network.room(), 1):
        for missing in machine.missing([run]):
            machine.run(missing)
        assert machine.failed(run) is None, machine.failed(run)
        rows.append(drawn_runs.row(run, machine.result(run), machine.network_content, SETTINGS.flit))
    return pd.DataFrame(rows)


def test_every_run_becomes_a_row_that_can_be_trained_on(machine: Runs) -> None:
    rows = check(simulated_rows(machine), "campaign")
    assert len(rows) == 4 and rows["run_time_s"].nunique() > 1
    assert all(math.isfinite(value) for name in NAMES for value in rows[name])
    pd.testing.assert_frame_equal(rows, simulated_rows(machine))


def test_what_the_nics_sent_came_into_the_routers(machine: Runs) -> None:
    run = drawn_runs.situations(machine.workloads, SETTINGS, machine.network.room(), 1)[0]
    machine.run(run)
    result = machine.result(run)
    links, makespan = result.links(), float(result.document["replicas"][0]["makespan_s"])
    table = simulated(links, makespan, 8, topology=machine.network_content["topology"])
    assert len(table) == len(all_links(machine.network_content["topology"]))
    incoming = table[(table["port_class"] == "host") & (table["direction"] == "in")]
    assert incoming["flits"].sum() * 8 == links.loc[links["class"] == "host-up", "bytes"].sum()
    assert table["stalled_pct"].max() <= 100 and table["used_pct"].max() <= 100.000001


def situation(machine: Runs, name: str, *others: Member, **options: Any) -> Situation:
    return Situation(name, [machine.workloads["ring"].on(range(0, 16, 2)), *others], 1, **options)


def test_a_congestor_on_the_same_routers_raises_their_stalls(machine: Runs) -> None:
    press = workload("press", "patterns", pattern="transpose", bytes=65536, iterations=10)
    alone = situation(machine, "alone")
    beside = situation(machine, "beside", press.on(range(1, 17, 2), background=True))
    ratio, seconds = {}, {}
    for one in (alone, beside):
        machine.run(one)
        result = machine.result(one)
        seconds[one.name] = result.makespans_s[0]
        topology = machine.network_content["topology"]
        ratio[one.name] = stall_flit_ratio(
            simulated(result.links(), seconds[one.name], topology=topology), threshold=0.0
        )
    assert ratio["beside"] > ratio["alone"] and seconds["beside"] > seconds["alone"]


def test_counters_over_time_add_up_to_those_of_the_run(machine: Runs) -> None:
    one = situation(machine, "series", counters={"interval": 1e-5, "per": "link"})
    machine.run(one)
    result = machine.result(one)
    links = result.links()
    series = tables.read_table(result.folder / "series.parquet", LINK_SERIES_SCHEMA)
    check_columns("link-series/2", series.columns)
    write(result.folder / "counters.parquet", Counters(simulated(links, result.makespans_s[0])))
    assert "router-counters/1" in described(result.folder)
    whole = simulated(links, result.makespans_s[0]).set_index("port")["flits"]
    parts = simulated_series(series, links).groupby("port")["flits"].sum()
    pd.testing.assert_series_equal(parts.sort_index(), whole.sort_index(), check_names=False)
