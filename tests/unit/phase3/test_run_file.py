"""The run file that the native engines read: jobs, network, collectives, replicas."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from phase3_cases import demo_point

from manynode.config.network import BandwidthSegment, OverheadSegment
from manynode.errors import UsageError
from phase3_sst.engines.simgrid.engine import SimgridEngine
from phase3_sst.engines.sst.engine import SstEngine
from phase3_sst.point.run_file import network_description, run_description, run_text


def test_a_point_becomes_one_job_with_its_ranks_classes_and_profile() -> None:
    run = run_description(demo_point(nodes=4), [2, 3])
    (job,) = run["jobs"]
    assert run["schema"] == "network-run/2" and run["replicas"] == [2, 3] and run["seed"] == 7
    assert (job["nodes"], job["ranks_per_node"], len(job["class_of_rank"])) == (4, 2, 8)
    assert job["application"]["name"] == "hpcg" and job["application"]["parameters"]["nx"] == 24
    assert job["timing_profile"].startswith("/")


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan")])
def test_a_number_that_json_has_not_is_named_with_its_place(number: float) -> None:
    run = run_description(demo_point(nodes=4), [0])
    assert json.loads(run_text(run)) == run
    run["network"]["host"]["overhead_send"][0]["seconds"] = number
    with pytest.raises(UsageError, match="not finite") as caught:
        run_text(run)
    assert caught.value.where == "network.host.overhead_send[0].seconds"


LINEAR = {"nodes": "linear", "stride": 1, "offset": 0, "rank_order": "block"}


def job(**changes: object) -> dict[str, object]:
    """A further job in the form of a resolved experiment."""
    return {
        **{"name": "noise", "application": {"name": "hpcg", "parameters": {}}, "nodes": 3, "ranks_per_node": 2},
        **{"start": 1e-3, "background": True, "timing_profile": None, "placement": LINEAR},
        **changes,
    }


def test_further_jobs_take_the_nodes_behind_the_application_under_study() -> None:
    jobs = run_description(demo_point(nodes=4, jobs=[job(), job(name="other", nodes=1, background=False)]))["jobs"]
    assert [entry["name"] for entry in jobs] == ["main", "noise", "other"]
    assert [entry["hosts"] for entry in jobs] == [[0, 1, 2, 3], [4, 5, 6], [7]]
    assert (jobs[1]["start_s"], jobs[1]["background"], jobs[2]["background"]) == (1e-3, True, False)
    assert "background" not in jobs[0] and "timing_profile" not in jobs[1]


def test_without_contention_no_job_runs_in_the_background() -> None:
    further = [job(), job(name="other", nodes=1, background=False)]
    point = demo_point(nodes=4, jobs=further)
    network = point.experiment.network.model_copy(update={"contention": False})
    alone = dataclasses.replace(point, experiment=point.experiment.model_copy(update={"network": network}))
    jobs, meeting = (run_description(one)["jobs"] for one in (alone, point))
    # Others stay where they are.
    assert jobs == [meeting[0], meeting[2]] and jobs[1]["name"] == "other"


def test_jobs_keep_off_each_others_nodes_wherever_they_are_placed() -> None:
    random = {"nodes": "random", "stride": 1, "offset": 0, "rank_order": "cyclic"}
    jobs = run_description(
        demo_point(nodes=64, placement=random, jobs=[job(nodes=100, placement=random), job(name="other")])
    )["jobs"]
    used = [host for entry in jobs for host in entry["hosts"]]
    assert len(used) == len(set(used)) == 167 and max(used) < 2304
    assert jobs[0]["hosts"] != sorted(jobs[0]["hosts"])
    assert [entry["rank_order"] for entry in jobs] == ["cyclic", "cyclic", "block"]


def test_a_further_job_computes_by_its_own_profile() -> None:
    jobs = run_description(demo_point(technique="ext-const", jobs=[job(timing_profile="/other.json")]))["jobs"]
    assert jobs[1]["timing_profile"] == "/other.json" and jobs[1]["constant"] is True


AIMD = {
    **{"kind": "aimd", "window": 1e-5, "gain": 0.25, "sensitivity": 2.0},
    **{"threshold": 0.01, "increase": 0.05, "least": 0.1},
}


def test_jobs_are_held_back_each_in_its_own_way() -> None:
    held = demo_point(injection={"kind": "static", "share": 0.5}, jobs=[job(injection=AIMD), job(name="free")])
    main, noise, free = run_description(held)["jobs"]
    assert main["injection"] == {"kind": "static", "share": 0.5}
    assert noise["injection"]["window_s"] == 1e-5 and noise["injection"]["sensitivity"] == 2.0
    assert "window" not in noise["injection"] and "injection" not in free
    for nothing in (None, {"kind": "none"}):
        assert "injection" not in run_description(demo_point(injection=nothing))["jobs"][0]


@pytest.mark.parametrize(("engine", "name"), [(SstEngine(), "sst"), (SimgridEngine(), "simgrid")])
def test_engines_whose_nics_hold_nothing_back_refuse_such_a_job_by_name(
    engine: SstEngine | SimgridEngine, name: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=f"the engine {name} has no injection control") as caught:
        engine.simulate(demo_point(jobs=[job(injection=AIMD)]), tmp_path / "out")
    assert caught.value.where == "job noise: injection" and caught.value.found == "aimd"
    assert not (tmp_path / "out").exists()


def test_counters_over_time_are_asked_for_only_when_wanted() -> None:
    assert "counters" not in run_description(demo_point())
    run = run_description(demo_point(counters={"interval": 1e-4, "per": "link"}))
    assert run["counters"] == {"interval_s": 1e-4, "per": "link"}


def test_all_replicas_are_simulated_when_none_are_chosen() -> None:
    assert run_description(demo_point(replicas=3))["replicas"] == [0, 1, 2]


@pytest.mark.parametrize(
    ("technique", "missing", "constant"),
    [("no-ext-const", True, True), ("no-ext-var", True, False), ("ext-const", False, True), ("ext-var", False, False)],
)
def test_the_technique_decides_how_times_are_drawn(technique: str, missing: bool, constant: bool) -> None:
    (job,) = run_description(demo_point(technique=technique))["jobs"]
    assert (job["missing_is_zero"], job["constant"]) == (missing, constant)


def test_all_jobs_draw_as_the_experiment_says() -> None:
    for persistent, tail in ((True, False), (False, True)):
        jobs = run_description(demo_point(persistent=persistent, tail=tail, jobs=[job()]))["jobs"]
        assert [(entry["persistent"], entry["tail"]) for entry in jobs] == [(persistent, tail)] * 2


def test_a_point_may_ask_for_some_of_its_replicas() -> None:
    assert run_description(dataclasses.replace(demo_point(replicas=9), replicas=[7]))["replicas"] == [7]


def test_work_within_collectives_is_in_the_run_file_where_it_takes_time() -> None:
    free = run_description(demo_point())["network"]["host"]
    assert not {"copy_bandwidth_Bps", "fresh_bandwidth_Bps", "collective_call_s", "collective_step_s"} & set(free)
    experiment = demo_point().experiment
    rates = [BandwidthSegment.model_validate({"from": start, "bandwidth": "1 GB/s"}) for start in ("0 B", "1 MiB")]
    changes = {"copy_bandwidth": rates, "fresh_bandwidth": 3e9, "collective_call": 1e-6, "collective_step": 2e-7}
    host = network_description(
        experiment.network.model_copy(update={"host": experiment.network.host.model_copy(update=changes)})
    )["host"]
    assert [part["from_bytes"] for part in host["copy_bandwidth_Bps"]] == [0, 2**20]
    assert host["fresh_bandwidth_Bps"] == 3e9
    assert (host["collective_call_s"], host["collective_step_s"]) == (1e-6, 2e-7)


def test_the_latency_by_size_is_in_the_run_file_where_there_is_one() -> None:
    network = demo_point().experiment.network
    assert "message_latency" not in network_description(network)["host"]
    segments = [
        OverheadSegment.model_validate({"from": size, "time": time})
        for size, time in (("0 B", "0 ns"), ("64 B", "1 us"))
    ]
    for latency, expected in ((3e-7, [(0, 3e-7)]), (segments, [(0, 0.0), (64, 1e-6)]), (segments[:1], None)):
        host = network.host.model_copy(update={"message_latency": latency})
        found = network_description(network.model_copy(update={"host": host}))["host"].get("message_latency")
        assert (found and [(part["from_bytes"], part["seconds"]) for part in found]) == expected


def test_a_size_of_segments_is_in_the_run_file_where_it_is_given() -> None:
    assert "segment_bytes" not in run_description(demo_point())["collectives"]
    chosen = {"bcast": "pipeline", "segment": "8 KiB"}
    collectives = run_description(demo_point(collectives=chosen))["collectives"]
    assert collectives["segment_bytes"] == 8192 and collectives["bcast"] == "pipeline" and "segment" not in collectives
    with pytest.raises(UsageError, match="segment: has no effect if every algorithm is auto"):
        demo_point(collectives={"segment": "8 KiB"})


def test_the_network_is_in_si_units() -> None:
    network = run_description(demo_point())["network"]
    assert network["link"] == {"bandwidth_Bps": pytest.approx(12.5e9), "latency_s": pytest.approx(90e-9)}
    assert network["topology"]["kind"] == "fat-tree" and network["chunk_bytes"] == 2048
    (overhead,) = network["host"]["overhead_send"]
    assert overhead["from_bytes"] == 0
    assert (overhead["seconds"], overhead["seconds_per_byte"]) == pytest.approx((350e-9, 0.02e-9))
    assert network["host"]["eager_limit_bytes"] == 8192
