"""``manynode simulate run``: any number of processes, progress, time limit, several jobs, counters over time."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pipeline
import pytest
from described_tables import described

from manynode import tables
from manynode.config.resolved import RESOLVED_SCHEMA
from phase3_sst.point.contract import LINK_JOBS_SCHEMA, LINK_SERIES_SCHEMA, LINKS_SCHEMA, RESULT_SCHEMA


def simulate(finished: Path, folder: Path, *options: object, **changes: Any) -> subprocess.CompletedProcess:
    """Simulate ext-var on 4 nodes into ``folder``, with changes to the resolved section ``simulate``."""
    document = tables.read_json(finished / "experiment.json", RESOLVED_SCHEMA)
    document["experiment"]["simulate"].update(changes)
    tables.write_json(folder / "experiment.json", document.pop("schema"), document)
    return pipeline.manynode(*point_of(finished, folder), *options)


def point_of(finished: Path, folder: Path) -> list[object]:
    """Return the words of the command for the experiment in ``folder``, with the measurements of the finished run."""
    return [
        *("simulate", "run", "--experiment", folder / "experiment.json", "--technique", "ext-var", "--nodes", 4),
        *("--classes", finished / "profile/rank-classes.json"),
        *("--profile", finished / "nodesim/timing-profile-ext.json"),
        *("--flow-control", finished / "simulate/flow-control.json"),
        *("--result", folder / "point" / "result.json"),
    ]


def ok(done: subprocess.CompletedProcess) -> None:
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_point_starts_without_the_slow_libraries(finished: Path, tmp_path: Path) -> None:
    """Studies start a process for each of many points, and pandas alone would be half of its start."""
    shutil.copy(finished / "experiment.json", tmp_path)
    code = "import sys; from manynode.__main__ import run_here\ntry: run_here()\nfinally: print(*sys.modules)"
    command = [sys.executable, "-c", code, *map(str, point_of(finished, tmp_path))]
    done = subprocess.run(command, cwd=pipeline.ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert (tmp_path / "point" / "result.json").is_file() and "pyarrow" in loaded
    assert loaded.isdisjoint({"pandas", "scipy", "sklearn", "altair"})


NOISE = {
    **{"name": "noise", "application": {"name": "hpcg", "parameters": {"nx": 16}}, "nodes": 4, "ranks_per_node": 2},
    **{"start": 0.0, "background": True, "timing_profile": None},
    "placement": {"nodes": "linear", "stride": 1, "offset": 0, "rank_order": "block"},
}


def test_the_bytes_are_the_same_for_any_number_of_processes(finished: Path, tmp_path: Path) -> None:
    folders = []
    for processes in (1, 2, 3):
        folder = tmp_path / str(processes)
        ok(simulate(finished, folder, "--processes", processes, counters={"interval": 1e-4, "per": "link"}))
        folders.append(folder / "point")
    names = sorted(path.name for path in folders[0].iterdir())
    assert names == ["link_jobs.parquet", "links.parquet", "ranks.parquet", "result.json", "series.parquet"]
    for folder in folders[1:]:
        assert sorted(path.name for path in folder.iterdir()) == names
        for name in names:
            assert (folder / name).read_bytes() == (folders[0] / name).read_bytes(), name
    whole = finished / "simulate/ext-var/nodes-4/result.json"
    assert tables.read_json(whole, RESULT_SCHEMA) == tables.read_json(folders[0] / "result.json", RESULT_SCHEMA)


def test_progress_comes_line_by_line_and_the_rule_keeps_it(finished: Path, tmp_path: Path) -> None:
    done = simulate(finished, tmp_path, "--processes", 2, "--progress")
    ok(done)
    assert "process 1 of 2: " in done.stderr and "process 2 of 2: " in done.stderr
    assert done.stdout == ""
    logs = list((finished / "logs" / "phase3_simulate_point").glob("*.log"))
    assert logs and all("replica" in log.read_text() for log in logs)


def test_a_simulation_beyond_its_time_limit_is_ended_and_named(finished: Path, tmp_path: Path) -> None:
    done = simulate(finished, tmp_path, time_limit=1e-3)
    assert done.returncode == 5
    assert "ext-var on 4 nodes" in done.stderr and "did not end in time" in done.stderr
    assert list((tmp_path / "point").iterdir()) == []


def test_a_job_beside_it_slows_the_application_down_and_has_its_part_of_the_links(
    finished: Path, tmp_path: Path
) -> None:
    ok(simulate(finished, tmp_path / "alone"))
    ok(simulate(finished, tmp_path / "beside", jobs=[NOISE]))
    alone, beside = (
        tables.read_json(tmp_path / name / "point" / "result.json", RESULT_SCHEMA)["replicas"][0]["jobs"]
        for name in ("alone", "beside")
    )
    assert [job["name"] for job in beside] == ["main", "noise"]
    assert [job["background"] for job in beside] == [False, True]
    assert beside[0]["messages"] == alone[0]["messages"]
    assert beside[0]["makespan_s"] >= alone[0]["makespan_s"]
    loads = tables.read_table(tmp_path / "beside" / "point" / "link_jobs.parquet", LINK_JOBS_SCHEMA)
    assert set(loads["job"]) == {0, 1} and (loads["bytes"] > 0).all()


def test_the_parts_of_the_jobs_and_the_intervals_add_up_to_the_links(finished: Path, tmp_path: Path) -> None:
    ok(simulate(finished, tmp_path, jobs=[NOISE], counters={"interval": 1e-4, "per": "class"}))
    point = tmp_path / "point"
    # Counters per class have no column of links.
    assert "link-series/2" in described(point, whole=False)
    whole = tables.read_table(point / "links.parquet", LINKS_SCHEMA).groupby(["replica", "class"])
    jobs = tables.read_table(point / "link_jobs.parquet", LINK_JOBS_SCHEMA).groupby(["replica", "class"])
    series = tables.read_table(point / "series.parquet", LINK_SERIES_SCHEMA).groupby(["replica", "class"])
    for parts in (jobs, series):
        pd.testing.assert_series_equal(parts["bytes"].sum(), whole["bytes"].sum())
        for column in ("busy_s", "stall_s"):
            assert (parts[column].sum() - whole[column].sum()).abs().max() == pytest.approx(0, abs=1e-9)
