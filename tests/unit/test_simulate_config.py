"""Phase 3's sections of an experiment: further jobs, counters, limits, the pre-flight check's parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from manynode.config.loader import resolve
from manynode.config.resolved import Resolved, read_yaml
from manynode.config.variation import with_value
from manynode.errors import UsageError
from manynode.paths import ROOT
from manynode.workflow import Plan
from phase3_sst.experiment_check import check


def job(**changes: Any) -> dict[str, Any]:
    return {"name": "noise", "application": {"name": "hpcg"}, "nodes": 3, **changes}


def resolved(demo: dict[str, Any], **simulate: Any) -> Resolved:
    demo["simulate"].update(simulate)
    return resolve(demo, where="experiment", base=Path.cwd())


def test_without_more_words_there_is_one_job_and_no_series(demo: dict[str, Any]) -> None:
    simulate = resolved(demo).content["simulate"]
    assert simulate["jobs"] == [] and simulate["counters"] is None and simulate["time_limit"] is None
    assert simulate["preflight"] == {"enabled": True, "vary": {}}
    assert simulate["collectives"]["rules"] == "mpich"


def test_a_further_job_has_all_parameters_of_its_skeleton(demo: dict[str, Any]) -> None:
    (entry,) = resolved(demo, jobs=[job(start="2 ms")]).content["simulate"]["jobs"]
    assert entry["application"]["parameters"]["nx"] == 16
    assert (entry["start"], entry["background"], entry["ranks_per_node"]) == (0.002, True, 1)


def test_a_job_is_held_back_as_its_section_says(demo: dict[str, Any]) -> None:
    demo["network"] = read_yaml(ROOT / "configs" / "networks" / "opa100-fat-tree.yaml", "the network")
    demo["network"]["flow_control"] = "credits"
    jobs = [job(injection={"kind": "static", "share": 0.25}), job(name="free")]
    simulate = resolved(demo, jobs=jobs, injection={"kind": "aimd", "window": "20 us"}).content["simulate"]
    assert [entry["injection"] for entry in simulate["jobs"]] == [{"kind": "static", "share": 0.25}, None]
    assert simulate["injection"]["window"] == pytest.approx(2e-5) and simulate["injection"]["sensitivity"] == 0.0


def test_a_timing_profile_is_found_beside_the_experiment(demo: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "profile.json").write_text("{}")
    demo["simulate"]["jobs"] = [job(timing_profile="profile.json")]
    content = resolve(demo, where="experiment", base=tmp_path).content
    assert content["simulate"]["jobs"][0]["timing_profile"] == str(tmp_path / "profile.json")


@pytest.mark.parametrize(
    ("simulate", "words"),
    [
        ({"jobs": [job(name="main")]}, ["'main' belongs to the application under study"]),
        ({"jobs": [job(), job()]}, ["'noise' is given twice"]),
        ({"jobs": [job(nodes=2241)]}, ["64 nodes and 2241 of simulate: jobs", "room for 2304"]),
        ({"jobs": [job(application={"name": "hpgc"})]}, ["jobs: 0: application: name", "did you mean 'hpcg'?"]),
        (
            {"jobs": [job(application={"name": "hpcg", "parameters": {"nxx": 1}})]},
            ["jobs: 0: application: parameters: nxx", "did you mean 'nx'?"],
        ),
        ({"jobs": [job(nods=1)]}, ["jobs: 0: nods", "did you mean 'nodes'?"]),
        ({"jobs": [job(timing_profile="none.json")]}, ["jobs: 0: timing_profile", "none.json"]),
        ({"counters": {"intervall": "1 ms"}}, ["counters: intervall", "did you mean 'interval'?"]),
        ({"counters": {"interval": "0 s"}}, ["counters: interval"]),
        ({"placement": {"nodes": "linear", "stride": 2}}, ["placement", "stride has no effect"]),
        ({"time_limit": 60}, ["time_limit"]),
        ({"injection": {"kind": "static", "share": 2}}, ["simulate: injection: share"]),
        ({"injection": {"kind": "statik"}}, ["simulate: injection", "static"]),
        ({"jobs": [job(injection={"kind": "aimd", "gian": 1})]}, ["injection: gian", "did you mean 'gain'?"]),
        ({"injection": {"kind": "aimd"}}, ["aimd of the job 'main'", "flow_control: credits"]),
        ({"tail": True}, ["simulate: tail: needs tails to draw from", "nodesim"]),
        ({"profile_bootstrap": 1}, ["one resample has no spread"]),
        ({"preflight": {"vary": {"network.link.bandwidth": ["1 GB/s"]}}}, ["at least two different values"]),
        (
            {"preflight": {"vary": {"network.link.bandwith": ["1 GB/s", "2 GB/s"]}}},
            ["network.link.bandwith", "did you mean 'bandwidth'?"],
        ),
        ({"preflight": {"vary": {"network.link.bandwidth": ["1 GB/s", "2 ns"]}}}, ["network: link: bandwidth", "2 ns"]),
        ({"preflight": {"vary": {"nodes": [1, 2], "network.link": ["1", "2"]}}}, ["nodes"]),
        ({"sst": {"thread": 2}}, ["sst: thread", "did you mean 'threads'?"]),
        ({"sst": {"threads": 0}}, ["sst: threads", "greater than or equal to 1"]),
        ({"sst": {"partitioner": "metis"}}, ["'metis' is not a partitioner", "sst.linear"]),
        ({"sst": {"partitioner": "sst.single"}}, ["sst.single puts everything on one thread"]),
        ({"sst": {"launcher": ["srun"]}}, ["launcher: has no effect with 'processes: 1'"]),
        ({"sst": {"hang_limit": 600}}, ["sst: hang_limit", "'90 ns'"]),
        ({"sst": {"input_buffer": "4 B"}}, ["input_buffer: 4 B is less than one flit of 8 B"]),
        (
            {"engine": "sst", "sst": {"collectives": "sst"}, "collectives": {"allreduce": "ring"}},
            ["allreduce: has no effect with 'sst: collectives: sst'"],
        ),
    ],
)
def test_a_mistake_is_named_with_its_place(demo: dict[str, Any], simulate: dict[str, Any], words: list[str]) -> None:
    demo["network"] = {**read_yaml(ROOT / "configs" / "networks" / "opa100-fat-tree.yaml", "n"), "flow_control": "none"}
    with pytest.raises(UsageError) as caught:
        resolved(demo, **simulate)
    for word in words:
        assert word in caught.value.render()


@pytest.mark.parametrize("engine", ["sst", "simgrid"])
def test_injection_control_needs_an_engine_that_has_it(demo: dict[str, Any], engine: str) -> None:
    held = resolved(demo, engine=engine, jobs=[job(injection={"kind": "static", "share": 0.5})])
    with pytest.raises(UsageError, match=f"the engine {engine} has no injection control \\(job 'noise'\\)") as caught:
        check(held)
    assert caught.value.where == "simulate: injection" and "fast" in str(caught.value.remedy)


def test_one_value_changes_and_the_rest_stays(demo: dict[str, Any]) -> None:
    experiment = resolved(demo)
    content = experiment.content
    changed = with_value(experiment, "network.link.bandwidth", "200 Gbit/s", "here").content
    assert changed["network"]["link"]["bandwidth"] == pytest.approx(25e9)
    changed["network"]["link"]["bandwidth"] = content["network"]["link"]["bandwidth"]
    assert changed == content


def test_a_parameter_of_the_application_is_checked_as_in_the_file(demo: dict[str, Any]) -> None:
    experiment = resolved(demo)
    assert with_value(experiment, "application.parameters.nx", 48, "here").application.parameters["nx"] == 48
    with pytest.raises(UsageError, match="at least 1"):
        with_value(experiment, "application.parameters.nx", 0, "here")


def test_what_only_judges_does_not_repeat_a_point(demo: dict[str, Any]) -> None:
    before = Plan(demo, [])
    demo["simulate"] |= {"time_limit": "1 h", "preflight": {"enabled": False}}
    after = Plan(demo, [])
    assert before.digest("simulate") == after.digest("simulate")
    assert before.digest("preflight") != after.digest("preflight")
    demo["nodes"] = [1, 2]
    assert Plan(demo, []).digest("preflight") == after.digest("preflight")
    demo["simulate"]["counters"] = {"interval": "1 ms"}
    assert Plan(demo, []).digest("simulate") != before.digest("simulate")


@pytest.mark.parametrize(
    ("nodes", "techniques", "cores", "expected"),
    [
        ([64], ["ext-var"], 4, [4]),
        ([1, 63], ["ext-var"], 8, [1, 8]),
        ([1, 2, 4], ["ext-var", "ext-const"], 2, [1, 1, 1]),
    ],
)
def test_a_point_has_the_share_of_the_cores_that_it_has_of_the_work(
    demo: dict[str, Any], nodes: list[int], techniques: list[str], cores: int, expected: list[int]
) -> None:
    plan = Plan({**demo, "nodes": nodes, "techniques": techniques}, [])
    assert [plan.processes(count, cores) for count in nodes] == expected
    assert all(plan.processes(count, 1000) == 10 for count in nodes[-1:])


def test_how_sst_is_run_repeats_a_point_of_sst_only_where_it_may_change_it(demo: dict[str, Any]) -> None:
    before = Plan(demo, [])
    demo["simulate"]["sst"] = {"threads": 2, "flit": "16 B"}
    assert Plan(demo, []).digest("simulate") == before.digest("simulate")
    demo["simulate"]["engine"] = "sst"
    after = Plan(demo, [])
    demo["simulate"]["sst"] |= {"hang_limit": "1 min", "memory": "4 GiB"}
    assert Plan(demo, []).digest("simulate") == after.digest("simulate")
    assert Plan(demo, []).digest("preflight") == after.digest("preflight")
    demo["simulate"]["sst"]["flit"] = "8 B"
    assert Plan(demo, []).digest("simulate") != after.digest("simulate")
    assert Plan(demo, []).digest("preflight") != after.digest("preflight")


def test_a_point_of_sst_has_cores_for_whole_simulations(demo: dict[str, Any]) -> None:
    demo["simulate"] |= {"engine": "sst", "sst": {"threads": 2, "processes": 2, "launcher": ["srun"]}}
    plan = Plan({**demo, "nodes": [64], "techniques": ["ext-var"]}, [])
    assert [plan.processes(64, cores) for cores in (1, 8, 10, 1000)] == [4, 8, 8, 40]
