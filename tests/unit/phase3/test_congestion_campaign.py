"""The machinery of a congestion study: batches, missing situations, progress, rounds, mistakes in the file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import congestion_cases as cases
import numpy as np
import pytest
import yaml

from manynode import tables
from manynode.config.quantities import Section
from manynode.errors import EngineMissingError, InputError, UsageError
from phase3_sst.campaign import batch as batches
from phase3_sst.campaign import campaign
from phase3_sst.campaign.batch import read_batch, simulate, simulate_batch, write_batch
from phase3_sst.campaign.campaign_progress import CampaignProgress
from phase3_sst.campaign.experiments import ExperimentRunner
from phase3_sst.campaign.planned_point import FAILURE_SCHEMA, forget_failures
from phase3_sst.point.run_file import run_description
from phase3_sst.studies.congestion import rounds
from phase3_sst.studies.congestion.contract import Findings, parts
from phase3_sst.studies.congestion.situation_runs import Runs
from phase3_sst.studies.congestion.study_file import read_study
from phase3_sst.studies.congestion.workloads import plan_workloads


def finish(runs: Runs, one: Any) -> None:
    """Write the file that a finished situation leaves first."""
    tables.write_json(runs.folder(one) / "result.json", "network-result/2", {"replicas": []})


def fail(runs: Runs, one: Any) -> None:
    tables.write_json(runs.folder(one) / "failure.json", FAILURE_SCHEMA, {"message": "no such thing"})


def test_a_batch_is_read_back_to_the_same_situations_and_folders(tmp_path: Path) -> None:
    runs = cases.runs(tmp_path)
    profile = tmp_path / "profile.json"
    profile.write_text("{}")
    given = [
        cases.situation("one", timing_profile=profile, injection={"kind": "static", "share": 0.5}),
        # What numpy gives is the same number.
        replace(cases.situation("two"), seed=np.int64(5), counters={"interval": np.float64(1e-4), "per": "link"}),
    ]
    write_batch(tmp_path / "batch.json", [runs.planned(one) for one in given])
    read = read_batch(tmp_path / "batch.json")
    assert [runs.output / one.folder for one in read] == [runs.folder(one) for one in given]
    assert [run_description(one.point) for one in read] == [run_description(runs.planned(one).point) for one in given]
    assert read[0].point.timing_profile == profile and read[0].point.experiment.simulate.jobs[0].background


def test_the_folder_changes_with_what_the_result_depends_on_and_with_nothing_else(tmp_path: Path) -> None:
    runs, one = cases.runs(tmp_path), cases.situation()
    folder = runs.folder(one)
    patient = cases.runs(tmp_path, simulate={"time_limit": "10 min", "confidence": 0.9})
    assert patient.folder(one) == folder
    assert runs.folder(cases.situation(hosts=(0, 2))) != folder
    assert runs.folder(cases.situation(seed=6)) != folder
    assert cases.runs(tmp_path, simulate={"persistent": False}).folder(one) != folder


def test_every_situation_is_in_one_batch_and_neighbours_are_apart() -> None:
    given = [cases.situation(f"s{number}") for number in range(11)]
    dealt = campaign.deal(given, 4, 2)
    assert [len(batch) for batch in dealt] == [4, 4, 3]
    assert sorted(one.name for batch in dealt for one in batch) == sorted(one.name for one in given)
    assert not any({"s0", "s1"} <= {one.name for one in batch} for batch in dealt)
    assert [len(batch) for batch in campaign.deal(given, 100, 2)] == [6, 5], "each core has something to do"
    assert campaign.deal([], 4, 2) == []


def test_what_has_a_result_is_not_simulated_and_a_failure_is_tried_again(tmp_path: Path, monkeypatch: Any) -> None:
    runs = cases.runs(tmp_path)
    done, failed, new = (cases.situation(name) for name in ("done", "failed", "new"))
    finish(runs, done)
    fail(runs, failed)
    assert runs.missing([done, failed, new]) == [new]
    planned = [runs.planned(one) for one in (done, failed, new)]
    forget_failures(runs.output, planned)
    assert runs.missing([done, failed, new]) == [failed, new]
    simulated: list[str] = []

    def note(one: Any, output: Path, processes: int) -> None:
        simulated.append(one.name)

    write_batch(tmp_path / "batch.json", planned)
    monkeypatch.setattr(batches, "simulate", note)
    simulate_batch(tmp_path / "batch.json", runs.output)
    assert simulated == ["failed", "new"]


def test_a_failure_is_kept_by_name_and_does_not_stop_the_next(tmp_path: Path, build_dir: Path) -> None:
    runs = cases.runs(tmp_path)
    wrong = cases.situation("wrong", hosts=(0, 60))
    simulate(runs.planned(wrong), runs.output)
    assert "not on the machine" in str(runs.failed(wrong))
    right = cases.situation("right")
    simulate(runs.planned(right), runs.output)
    assert runs.failed(right) is None and runs.result(right).makespans_s[0] > 0


def test_progress_counts_folders_and_weighs_by_the_estimate(tmp_path: Path) -> None:
    now = [0.0]
    folders = {tmp_path / "long": 30.0, tmp_path / "short": 10.0, tmp_path / "unknown": None}
    progress = CampaignProgress(folders, "situations", lambda: now[0])
    assert progress.words() == "0 of 3 situations"
    (tmp_path / "short").mkdir()
    (tmp_path / "short/failure.json").write_text("")
    now[0] = 20.0
    # The unknown one counts as 20 s: 50 s are left, 10 s of work took 20 s.
    assert progress.words() == "1 of 3 situations, about 1.7 min left"
    for name in ("long", "unknown"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "result.json").write_text("")
    assert progress.words().startswith("1 of 3"), "a shared file system is not asked all the time"
    now[0] = 30.0
    assert progress.words() == "3 of 3 situations"


class Twice:
    """Needs a situation, then another one that depends on its result; then nothing."""

    title, section = "Twice", Section

    def check(self, machine: Any, settings: Any) -> None:
        pass

    def situations(self, machine: Any, settings: Any, round_number: int) -> list[Any]:
        if round_number == 0:
            return [cases.situation("shared")]
        assert machine.failed(cases.situation("shared")) is None
        return [cases.situation("second")] if round_number == 1 else []

    def conclude(self, machine: Any, settings: Any) -> Findings:
        return Findings(["twice"])


class Once(Twice):
    """Needs the first situation of the other one, and cannot conclude."""

    def situations(self, machine: Any, settings: Any, round_number: int) -> list[Any]:
        assert round_number < 2, "a part that needs nothing more is not asked again"
        return [cases.situation("shared")] if round_number == 0 else []

    def conclude(self, machine: Any, settings: Any) -> Findings:
        raise InputError("too few runs", found=1, allowed=3)


def test_parts_share_situations_and_are_asked_until_they_need_no_more(tmp_path: Path, monkeypatch: Any) -> None:
    runs = cases.runs(tmp_path)
    known: dict[str, Any] = {"twice": Twice(), "once": Once()}
    monkeypatch.setattr(parts, "get", known.__getitem__)
    asked: list[tuple[int, list[str]]] = []

    def simulate(number: int, wanted: Any) -> None:
        asked.append((number, sorted(wanted)))
        for group in wanted.values():
            for one in group:
                finish(runs, one)

    settings: dict[str, Any] = {"twice": Section(), "once": Section()}
    everything = rounds.run_rounds(runs, settings, simulate)
    assert asked == [(0, ["once", "twice"]), (1, ["twice"])]
    assert [one.name for one in everything] == ["shared", "second"]
    first, second = rounds.conclude(runs, settings)
    assert first.findings.sentences == ["twice"] and first.failure == ""
    assert "too few runs" in second.failure and not second.findings.sentences


def test_an_engine_that_is_not_installed_is_named_before_anything_is_simulated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MANYNODE_BUILD_DIR", str(tmp_path))
    with pytest.raises(EngineMissingError, match="simgrid"):
        campaign.check_engine(cases.runs(tmp_path, simulate={"engine": "simgrid"}).simulate)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"simulate": {"replicas": 3}}, ["simulate: replicas", "has no effect in a congestion study"]),
        ({"simulate": {"jobs": []}}, ["simulate: jobs"]),
        ({"simulate": {"placement": {"nodes": "random"}}}, ["simulate: placement"]),
        ({"simulate": {"counters": {"interval": "1 ms"}}}, ["simulate: counters"]),
        ({"workloads": {}}, ["workloads"]),
        ({"workloads": {"a": {"experiment": "none.yaml"}}}, ["does not exist", "none.yaml"]),
        ({"workloads": {"a": {}}}, ["either an experiment", "or an application"]),
        ({"workloads": {"a": {"application": {"name": "hpgc"}}}}, ["unknown application", "hpcg"]),
        ({"workloads": {"a": {"application": {"name": "patterns"}, "timing_profile": "none.json"}}}, ["none.json"]),
        ({"batch": 0}, ["batch"]),
        ({"impcat": {}}, ["impcat", "did you mean 'impact'"]),
        ({"impact": {"nodes": 1}}, ["impact", "nodes"]),
        ({"impact": {"nodes": 17}}, ["impact", "51 nodes", "48"]),
        ({"impact": {"nodes": 4, "applications": ["rnig"]}}, ["rnig", "did you mean 'ring'"]),
        ({"impact": {"nodes": 4, "intensity": None, "congestor": {"pattern": "nope"}}}, ["unknown pattern", "nope"]),
        (
            {
                "impact": {
                    "nodes": 4,
                    "intensity": None,
                    "congestor": {"pattern": "incast", "parameters": {"distance": 3}},
                }
            },
            ["has no such parameter", "distance"],
        ),
        ({"impact": {"nodes": 4, "congestor": {"pattern": "incast"}, "intensity": {"nodes": [64]}}}, ["64 nodes"]),
        (
            {"impact": {"rotations": 10**12}},
            ["study.yaml: impact", "rotations: Input should be less than or equal to 100000"],
        ),
        ({"impact": {"first_node": 2**31}}, ["first_node: Input should be less than or equal to 2147483647"]),
        (
            {"delay": {"round_trips": {"situations": 10**6}}},
            ["round_trips: situations: Input should be less than or equal to 100000"],
        ),
        ({"variability": {"trees": 10**6}}, ["trees: Input should be less than or equal to 10000"]),
        ({"throttling": {"length": 1e9}}, ["length: Input should be less than or equal to 1000"]),
        (
            {"mapping": {"random_cases": 1, "nodes": 10**12}},
            ["study.yaml: mapping", "nodes: Input should be less than or equal to 2147483647"],
        ),
    ],
)
def test_a_mistake_in_the_study_is_refused_before_anything_runs(
    tmp_path: Path, changes: dict[str, Any], words: list[str], build_dir: Path
) -> None:
    with pytest.raises(UsageError) as caught:
        described = read_study(cases.write(tmp_path, **changes))
        planned = plan_workloads(described, tmp_path / "out")
        runs = replace(cases.runs(tmp_path), workloads={name: one.workload for name, one in planned.items()})
        rounds.check_parts(runs, rounds.chosen_parts(described, []))
    for word in words:
        assert word in caught.value.render()


def test_a_study_without_a_part_and_a_part_that_is_not_there_are_refused(tmp_path: Path) -> None:
    content = cases.content()
    del content["impact"]
    (tmp_path / "bare.yaml").write_text(yaml.safe_dump(content))
    with pytest.raises(UsageError, match="no part"):
        read_study(tmp_path / "bare.yaml")
    described = read_study(cases.write(tmp_path))
    assert list(rounds.chosen_parts(described, ["impact"])) == ["impact"]
    with pytest.raises(UsageError, match="did you mean 'impact'"):
        rounds.chosen_parts(described, ["impat"])


def test_an_experiment_runs_only_as_far_as_its_timing_profile(
    tmp_path: Path, demo: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    demo |= {"sensitivity": {"parameters": {"b": {"keys": ["network.link.bandwidth"], "values": ["1 GB/s", "2 GB/s"]}}}}
    demo["simulate"] = {"engine": "sst", "replicas": 2}
    (tmp_path / "demo.yaml").write_text(yaml.safe_dump(demo))
    described = read_study(cases.write(tmp_path, workloads={"cg": {"experiment": "demo.yaml"}}))
    planned = plan_workloads(described, tmp_path / "out")["cg"]
    assert planned.workload.application == "hpcg" and planned.workload.ranks_per_node == demo["ranks_per_node"]
    assert planned.workload.parameters["nx"] == demo["application"]["parameters"]["nx"]
    assert not planned.measured and planned.without_missing_times().timing_profile is None
    calls: list[dict[str, Any]] = []
    monkeypatch.setattr(
        "phase3_sst.campaign.experiments.run_experiment",
        lambda path, **options: calls.append({**options, "content": yaml.safe_load(path.read_text())}),
    )
    assert planned.experiment is not None
    ExperimentRunner(2, None, None, lambda text: None).run([planned.experiment])
    (call,) = calls
    assert call["only"] == ("nodesim/timing-profile-ext.json",)
    assert call["content"]["nodes"] == [demo["nodesim"]["nodes"]] and call["content"]["techniques"] == ["ext-var"]
    assert not {"sensitivity", "simulate"} & set(call["content"])


def test_an_experiment_without_a_skeleton_is_no_workload(tmp_path: Path, demo: dict[str, Any]) -> None:
    demo["application"] = {"command": ["/bin/true"]}
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(demo))
    described = read_study(cases.write(tmp_path, workloads={"own": {"experiment": "own.yaml"}}))
    with pytest.raises(UsageError, match="no skeleton"):
        plan_workloads(described, tmp_path / "out")


OWN = {**cases.NETWORK, "name": "own", "topology": {"kind": "torus", "shape": [4, 2], "hosts_per_switch": 2}}


def test_a_part_with_a_machine_of_its_own_asks_for_situations_on_it(tmp_path: Path, build_dir: Path) -> None:
    impact = {**cases.content()["impact"], "rotations": 1, "network": OWN}
    described = read_study(cases.write(tmp_path, impact=impact))
    runs = replace(cases.runs(tmp_path), networks=described.networks)
    settings = rounds.chosen_parts(described, [])
    rounds.check_parts(runs, settings)
    [one, *_] = rounds.needed(runs, settings, 0)["impact"]
    assert one.network is not None and one.network["name"] == "own"
    assert one.content(runs.network_content, runs.simulate)["network"]["topology"]["kind"] == "torus"
    # The part finds its results by itself; another machine's are not taken for them.
    bare = replace(one, network=None)
    assert runs.of("impact").folder(bare) == runs.folder(one) != runs.folder(bare)
    write_batch(tmp_path / "batch.json", [runs.planned(one)])
    [read] = read_batch(tmp_path / "batch.json")
    assert runs.output / read.folder == runs.folder(one)
    simulate(read, runs.output)
    links = runs.of("impact").result(bare).links()
    assert runs.failed(one) is None and links["class"].str.startswith("dim").any(), "simulated on the torus"


@pytest.mark.parametrize(
    ("network", "words"),
    [
        ("curie-gemni", ["impact: network", "did you mean 'curie-gemini'?"]),
        (None, ["impact", "network"]),
        ({"name": "x"}, ["impact", "topology: this key is missing"]),
        # 16 nodes for the list of the application and the congestor, on a machine of eight.
        ({**OWN, "topology": {"kind": "torus", "shape": [4], "hosts_per_switch": 2}}, ["impact", "8"]),
    ],
)
def test_a_wrong_machine_of_a_part_is_refused_before_anything_runs(
    tmp_path: Path, network: object, words: list[str], build_dir: Path
) -> None:
    impact = {**cases.content()["impact"], "network": network}
    with pytest.raises(UsageError) as caught:
        described = read_study(cases.write(tmp_path, impact=impact))
        runs = replace(cases.runs(tmp_path), networks=described.networks)
        rounds.check_parts(runs, rounds.chosen_parts(described, []))
    for word in words:
        assert word in caught.value.render()
