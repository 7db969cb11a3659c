"""Jobs that are held back and links that stall, on the real engine: their tables, the same bytes on any processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from described_tables import described

from manynode import tables
from manynode.config.loader import load_experiment
from manynode.errors import UsageError
from manynode.paths import ROOT
from phase3_sst.engines.fast.engine import FastEngine
from phase3_sst.point.contract import INJECTION_SCHEMA, LINK_SERIES_SCHEMA, LINKS_SCHEMA, RESULT_SCHEMA, Point
from phase3_sst.point.point_experiment import PointExperiment

AIMD = {
    **{"kind": "aimd", "window": 5e-6, "gain": 0.25, "sensitivity": 0.0},
    **{"threshold": 0.01, "increase": 0.02, "least": 0.05},
}
RANKS = 16
BUFFERS = {"flow_control": "credits", "input_buffer": 16384.0, "output_buffer": 16384.0}
EXCHANGE = {"pattern": "collective", "collective": "alltoall", "bytes": 16384, "iterations": 20}


def exchange(name: str, injection: dict[str, Any] | None) -> dict[str, Any]:
    """A job that sends among all of its nodes endlessly: on a tapered machine, it loads the network fully."""
    return {
        "name": name,
        "application": {"name": "patterns", "parameters": EXCHANGE},
        **{"nodes": RANKS, "ranks_per_node": 1, "start": 0.0, "background": True, "timing_profile": None},
        "placement": {"nodes": "strided", "stride": 2, "offset": 1, "hosts": [], "rank_order": "block"},
        "injection": injection,
    }


def point(network: dict[str, Any] | None = None, processes: int = 1, **simulate: Any) -> Point:
    """HPCG and the other job on every second node each, with one uplink for the eight nodes of a leaf."""
    content: dict[str, Any] = load_experiment(ROOT / "configs" / "demo.yaml").content
    parameters = {**content["application"]["parameters"], "iterations": 10}
    topology = {"kind": "fat-tree", "children": [8, 4], "parents": [1, 1], "parallel_links": [1, 1]}
    placement = {"nodes": "strided", "stride": 2, "offset": 0, "hosts": [], "rank_order": "block"}
    content = {
        **content,
        "application": {**content["application"], "parameters": parameters},
        "ranks_per_node": 1,
        "network": {**content["network"], "topology": topology, **BUFFERS, **(network or {})},
        "simulate": {
            **content["simulate"],
            **{"replicas": 3, "placement": placement, "counters": {"interval": 2e-5, "per": "link"}},
            **simulate,
        },
    }
    return Point(PointExperiment.read(content), RANKS, "ext-var", None, ["0"] * RANKS, 7, processes=processes)


def makespan_s(folder: Path) -> float:
    return float(tables.read_json(folder / "result.json", RESULT_SCHEMA)["replicas"][0]["makespan_s"])


def test_the_bytes_are_the_same_for_any_number_of_processes(tmp_path: Path) -> None:
    for processes in (1, 2):
        jobs = [exchange("other", AIMD)]
        FastEngine().simulate(point(processes=processes, jobs=jobs), tmp_path / str(processes))
    names = sorted(path.name for path in (tmp_path / "1").iterdir())
    assert "injection.parquet" in names and "series.parquet" in names
    assert {"injection/1", "link-series/2", "link-load/3", "link-jobs/1"} <= described(tmp_path / "1")
    assert names == sorted(path.name for path in (tmp_path / "2").iterdir())
    for name in names:
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes(), name


def test_stalls_fit_the_time_of_the_run_and_their_intervals(tmp_path: Path) -> None:
    FastEngine().simulate(point(jobs=[exchange("other", None)]), tmp_path)
    links = tables.read_table(tmp_path / "links.parquet", LINKS_SCHEMA)
    series = tables.read_table(tmp_path / "series.parquet", LINK_SERIES_SCHEMA)
    end = series.groupby("replica")["end_s"].max()
    for column in ("credit_stall_s", "inq_stall_s"):
        assert (links[column] <= links["replica"].map(end) * (1 + 1e-12)).all()
        assert (series[column] <= (series["end_s"] - series["start_s"]) * (1 + 1e-12)).all()
        sums = series.groupby(["replica", "link"])[column].sum()
        whole = links.set_index(["replica", "link"])[column]
        assert (sums.reindex(whole.index).fillna(0.0) - whole).abs().max() == pytest.approx(0, abs=1e-12)
        assert whole.max() > 0
    assert not (tmp_path / "injection.parquet").exists()


def test_holding_the_other_job_back_helps_the_application_and_is_told_per_nic(tmp_path: Path) -> None:
    found = {}
    for name, control in {"free": None, "static": {"kind": "static", "share": 0.1}, "aimd": AIMD}.items():
        FastEngine().simulate(point(jobs=[exchange("other", control)], replicas=1), tmp_path / name)
        found[name] = makespan_s(tmp_path / name)
    assert found["static"] < found["free"] and found["aimd"] < found["free"]
    static, aimd = (
        tables.read_table(tmp_path / name / "injection.parquet", INJECTION_SCHEMA) for name in ("static", "aimd")
    )
    for table in (static, aimd):
        assert set(table["job"]) == {1} and sorted(table["nic"]) == list(range(1, 2 * RANKS, 2))
        assert (table["held_bytes"] <= table["bytes"]).all() and (table["held_s"] > 0).all()
    line_rate = point().experiment.network.host.nic_bandwidth
    pd.testing.assert_series_equal(
        static["rate_mean_Bps"], pd.Series(0.1 * line_rate, index=static.index), check_names=False
    )
    # A NIC that may send at a tenth of the line rate has not sent more, but for the chunk with which it began.
    assert (static["bytes"] <= 0.1 * line_rate * found["static"] + 16384).all()
    assert (aimd["rate_least_Bps"] >= 0.05 * line_rate * (1 - 1e-12)).all()
    assert (aimd["rate_mean_Bps"] < line_rate).all()


def test_control_by_stalls_without_flow_control_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no stalls for the control to follow") as caught:
        FastEngine().simulate(point({"flow_control": "none"}, jobs=[exchange("other", AIMD)]), tmp_path)
    assert caught.value.where == "jobs[1].injection" and "credits" in str(caught.value.remedy)
