"""Extrapolated iterations against all of them, with real engines: ten cases, and cases designed to break it."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import converge_cases
import numpy as np
import pandas as pd
import pipeline
import pytest
import yaml
from converge_cases import APPLICATIONS, makespans, point, simulated

from manynode import tables
from manynode.errors import CheckFailedError
from manynode.rank_classes import SCHEMA as CLASSES_SCHEMA
from manynode.rank_classes import single_class
from phase3_sst.analysis.projection_tables import analyse
from phase3_sst.point.contract import LINKS_SCHEMA, RANKS_SCHEMA, Point, engines
from phase3_sst.point.point_experiment import PointExperiment

ITERATIONS = 400
PLACES = {"fat tree": ("opa100-fat-tree", 4), "torus": ("paper-torus", 8)}


def trusting(point: Point, folder: Path, iterations: int) -> float:
    """The mean makespan [s] that one would have without the checks: the slope from 8 to 16 iterations, to the end."""
    from manynode.config.application import read_application

    counter = read_application(point.experiment.application.name).iterations
    found = {}
    for count in (8, 16):
        content = point.experiment.model_dump(mode="json")
        content["application"]["parameters"][counter] = count
        content["simulate"]["converge"] = None
        found[count] = makespans(
            simulated(replace(point, experiment=PointExperiment.read(content)), folder / str(count))
        ).mean()
    return float(found[16] + (iterations - 16) * (found[16] - found[8]) / 8)


@pytest.mark.long
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("application", APPLICATIONS)
def test_extrapolation_is_within_one_per_cent_of_the_whole(application: str, place: str, tmp_path: Path) -> None:
    network, nodes = PLACES[place]
    iterations = ITERATIONS // 2 if application == "snap" else ITERATIONS  # its iterations take longest to simulate
    case: dict[str, Any] = {"nodes": nodes, "network": network}
    whole = simulated(point(tmp_path, application, iterations, **case), tmp_path / "whole")
    some = simulated(point(tmp_path, application, iterations, **case, converge={}), tmp_path / "some")
    note = some["iterations"]
    assert "iterations" not in whole
    assert note["extrapolated"] and note["of"] == iterations and note["simulated"] <= iterations // 2
    difference = makespans(some) / makespans(whole) - 1
    print(f"{application}, {place}: {note['simulated']} of {iterations} iterations, {difference.mean():+.3%}")
    assert abs(difference.mean()) <= 0.01
    assert abs(difference).max() <= 0.02
    _tables_agree(tmp_path, makespans(some))


def _tables_agree(folder: Path, ends_s: np.ndarray) -> None:
    """Counts are exact, times are near, and the seconds of the ranks add up to the makespan."""
    keys = ["replica", "job", "rank", "operation"]
    whole, some = (tables.read_table(folder / name / "ranks.parquet", RANKS_SCHEMA) for name in ("whole", "some"))
    both = whole.merge(some, on=keys, how="outer", suffixes=("", "_some"))
    assert len(both) == len(whole) == len(some)
    assert (both["calls"] == both["calls_some"]).all() and (both["bytes"] == both["bytes_some"]).all()
    latest = some.groupby(["replica", "rank"])["seconds"].sum().groupby("replica").max()
    assert latest.to_numpy() == pytest.approx(ends_s, rel=1e-9)
    spent = both.groupby("operation")[["seconds", "seconds_some"]].sum()
    off = (spent["seconds_some"] - spent["seconds"]).abs() / spent["seconds"].sum()
    assert off.max() <= 0.01
    whole, some = (tables.read_table(folder / name / "links.parquet", LINKS_SCHEMA) for name in ("whole", "some"))
    pd.testing.assert_frame_equal(whole[["replica", "link", "bytes"]], some[["replica", "link", "bytes"]])
    assert some["busy_s"].to_numpy() == pytest.approx(whole["busy_s"].to_numpy(), rel=1e-9)


def test_a_job_that_starts_late_is_refused_and_the_whole_is_simulated(tmp_path: Path) -> None:
    """The other job floods the links after a tenth of the run; the first iterations do not show it."""
    flood = {
        "name": "flood", "nodes": 4, "ranks_per_node": 2, "start": "12 ms", "background": True,
        "application": {"name": "patterns", "parameters": {"pattern": "transpose", "bytes": 4_000_000}},
        "placement": {"nodes": "strided", "stride": 2, "offset": 1},
    }  # fmt: skip
    case: dict[str, Any] = {"nodes": 4, "jobs": [flood], "placement": {"nodes": "strided", "stride": 2}}
    case["network"] = str(_line(tmp_path))
    whole = makespans(simulated(point(tmp_path, "fft2d", 200, **case), tmp_path / "whole")).mean()
    found = simulated(point(tmp_path, "fft2d", 200, **case, converge={}), tmp_path / "some")
    assert not found["iterations"]["extrapolated"]
    assert "other jobs share the machine (flood)" in found["iterations"]["reasons"]
    assert makespans(found).mean() == whole
    trusted = trusting(point(tmp_path, "fft2d", 200, **case), tmp_path / "trusting", 200)
    print(f"late job: trusting the first 16 iterations would be {trusted / whole - 1:+.1%} off")
    assert abs(trusted / whole - 1) > 0.05


def _line(folder: Path) -> Path:
    """A network file: the paper's torus reduced to four switches in a line with one cable between neighbours."""
    content = yaml.safe_load((pipeline.ROOT / "configs" / "networks" / "paper-torus.yaml").read_text())
    content["topology"] = {"kind": "torus", "shape": [4], "hosts_per_switch": 2, "links_per_direction": 1}
    return pipeline.write(folder, content, "line.yaml")


def _slow_later(phase_mean_s: float) -> dict[str, Any]:
    """A compute phase that takes half as long again from its 100th execution to its 200th, and so on."""
    clusters = [(phase_mean_s, 0.5), (1.5 * phase_mean_s, 0.5)]
    return converge_cases.phase("rows", clusters, 0.02, [0] * 100 + [1] * 100)


def test_a_pattern_that_is_longer_than_the_sample_is_refused(tmp_path: Path) -> None:
    profile = converge_cases.write_profile(tmp_path / "slow.json", "fft2d", rows=_slow_later(1e-3))
    whole = makespans(simulated(point(tmp_path, "fft2d", 200, profile=profile), tmp_path / "whole")).mean()
    found = simulated(point(tmp_path, "fft2d", 200, profile=profile, converge={}), tmp_path / "some")
    assert not found["iterations"]["extrapolated"]
    assert "phase 'rows' follow a pattern that takes 200 iterations" in found["iterations"]["reasons"]
    assert makespans(found).mean() == whole
    trusted = trusting(point(tmp_path, "fft2d", 200, profile=profile), tmp_path / "trusting", 200)
    print(f"long pattern: trusting the first 16 iterations would be {trusted / whole - 1:+.1%} off")
    assert abs(trusted / whole - 1) > 0.05


@pytest.mark.long
def test_a_rare_long_time_is_not_missed(tmp_path: Path) -> None:
    """One execution of 4,000 takes 200 times as long: once in 500 iterations of 8 ranks, and not in the first 16."""
    rare = converge_cases.phase("rows", [(1e-4, 0.99975), (2e-2, 0.00025)], 0.001, None)
    profile = converge_cases.write_profile(tmp_path / "rare.json", "fft2d", spread=0.001, rows=rare)
    case: dict[str, Any] = {"profile": profile, "replicas": 2}
    found = simulated(point(tmp_path, "fft2d", 2000, **case, converge={}), tmp_path / "some")
    whole = makespans(simulated(point(tmp_path, "fft2d", 2000, **case), tmp_path / "whole"))
    assert not found["iterations"]["extrapolated"] or found["iterations"]["simulated"] > 500
    assert abs(makespans(found).mean() / whole.mean() - 1) <= 0.01
    trusted = trusting(point(tmp_path, "fft2d", 2000, **case), tmp_path / "trusting", 2000)
    print(f"rare times: trusting the first 16 iterations would be {trusted / whole.mean() - 1:+.1%} off")
    assert abs(trusted / whole.mean() - 1) > 0.05


def test_counters_over_time_and_few_iterations_are_simulated_whole(tmp_path: Path) -> None:
    series = {"interval": "100 us", "per": "class"}
    found = simulated(point(tmp_path, "fft2d", 100, counters=series, converge={}), tmp_path / "series")
    assert "counters over time" in found["iterations"]["reasons"]
    assert (tmp_path / "series" / "series.parquet").is_file()
    found = simulated(point(tmp_path, "fft2d", 31, converge={}), tmp_path / "few")
    assert "31 iterations are fewer than two times 'first' (16)" in found["iterations"]["reasons"]


def test_a_point_can_be_made_to_fail_instead(tmp_path: Path) -> None:
    must = {"otherwise": "error"}
    with pytest.raises(CheckFailedError, match="31 iterations are fewer than"):
        simulated(point(tmp_path, "fft2d", 31, converge=must), tmp_path / "few")
    assert list((tmp_path / "few").glob("*")) == []


def test_constant_times_converge_at_once_and_the_start_is_no_part_of_them(tmp_path: Path) -> None:
    case: dict[str, Any] = {"technique": "ext-const", "network": "paper-torus", "nodes": 8}
    whole = makespans(simulated(point(tmp_path, "hpcg", 1000, **case), tmp_path / "whole")).mean()
    found = simulated(point(tmp_path, "hpcg", 1000, **case, converge={}), tmp_path / "some")
    assert found["iterations"]["simulated"] == 16
    assert makespans(found).mean() == pytest.approx(whole, rel=1e-4)


@pytest.mark.parametrize("engine", ["simgrid", "sst"])
def test_other_engines_extrapolate_as_well(engine: str, tmp_path: Path) -> None:
    if not engines.get(engine)().probe().available:
        pytest.skip(f"the engine {engine} is not installed")
    case: dict[str, Any] = {"nodes": 2, "engine": engine, "replicas": 2}
    whole = makespans(simulated(point(tmp_path, "milc", 64, **case), tmp_path / "whole")).mean()
    found = simulated(point(tmp_path, "milc", 64, **case, converge={"width": 0.01}), tmp_path / "some")
    assert found["iterations"]["extrapolated"], found["iterations"]
    assert makespans(found).mean() == pytest.approx(whole, rel=0.01)


def run(folder: Path, case: Point, *options: object) -> subprocess.CompletedProcess:
    """``manynode simulate run`` of the point."""
    ranks = case.ranks
    document = {"digest": "none", "experiment": converge_cases.whole(case)}
    tables.write_json(folder / "experiment.json", "experiment/1", document)
    tables.write_json(folder / "classes.json", CLASSES_SCHEMA, single_class(ranks, case.nodes))
    return pipeline.manynode(
        *("simulate", "run", "--experiment", folder / "experiment.json", "--technique", case.technique),
        *("--nodes", case.nodes, "--classes", folder / "classes.json", "--profile", case.timing_profile),
        *("--result", folder / "point" / "result.json", *options),
    )


def test_the_command_says_how_far_it_is_and_the_projection_what_it_is_of(tmp_path: Path) -> None:
    done = run(tmp_path, point(tmp_path, "fft2d", ITERATIONS, converge={}), "--progress", "--processes", 2)
    assert done.returncode == 0, done.stderr
    assert "16 of 400 iterations: " in done.stderr and "the others extrapolated" in done.stderr
    assert sorted(entry.name for entry in (tmp_path / "point").iterdir()) == [
        *("link_jobs.parquet", "links.parquet", "ranks.parquet", "result.json")
    ]
    found = analyse([("ext-var", 4, tmp_path / "point")], ranks_per_node=2, confidence=0.95, seed=1)
    (row,) = found.projection.to_dict("records")
    assert row["extrapolated"] and row["iterations"].endswith("of 400, the others extrapolated")
    assert row["extrapolation_s"] > 0
    assert (
        row["low_s"] <= row["time_s"] - row["extrapolation_s"] < row["time_s"] + row["extrapolation_s"] <= row["high_s"]
    )
    assert found.breakdown["seconds"].sum() == pytest.approx(row["time_s"], rel=1e-4)
    for frame in (found.makespans, found.breakdown, found.jobs, found.links, found.link_jobs):
        assert frame["extrapolated"].all()


def test_the_same_point_gives_the_same_bytes_for_any_number_of_processes(tmp_path: Path) -> None:
    for processes in (1, 3):
        folder = tmp_path / str(processes)
        folder.mkdir()
        case = point(folder, "hpcg", 100, converge={"width": 0.01})
        assert run(folder, case, "--processes", processes).returncode == 0
    for name in ("result.json", "ranks.parquet", "links.parquet", "link_jobs.parquet"):
        assert (tmp_path / "1/point" / name).read_bytes() == (tmp_path / "3/point" / name).read_bytes()


def test_a_point_that_may_not_be_simulated_whole_ends_with_its_reason(tmp_path: Path) -> None:
    done = run(tmp_path, point(tmp_path, "fft2d", 20, converge={"otherwise": "error"}))
    assert done.returncode == 6
    assert "20 iterations are fewer than two times 'first' (16)" in done.stderr and "Traceback" not in done.stderr


def test_the_time_limit_is_that_of_all_runs_together(tmp_path: Path) -> None:
    done = run(tmp_path, point(tmp_path, "snap", 4000, nodes=16, converge={}, time_limit="500 ms"))
    assert done.returncode == 5
    assert "did not end in time" in done.stderr and "Traceback" not in done.stderr


def test_the_estimate_tries_the_engine_on_every_node_count(tmp_path: Path) -> None:
    file = pipeline.write(tmp_path, pipeline.tiny(nodes=[1, 4], techniques=["ext-var"], simulate={"converge": {}}))
    done = pipeline.manynode("simulate", "estimate", "--experiment", file, "--output", tmp_path / "estimate.json")
    assert done.returncode == 0, done.stderr
    assert "4 nodes, 4 ranks: 1 point, each about" in done.stdout and "in all 2 points" in done.stdout
    points = tables.read_json(tmp_path / "estimate.json", "cost-estimate/1")["points"]
    assert [point["nodes"] for point in points] == [1, 4]
    assert all(0 < point["processor_s"] < 60 and point["memory_bytes"] > 1e6 for point in points)
