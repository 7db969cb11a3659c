"""Cost of situations: one trial for each kind, words, requests to executors, remaining work."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import congestion_cases as cases
import pytest

from manynode import tables
from manynode.errors import EngineFailedError, ManynodeError
from phase3_sst.analysis.estimates.trial import Trial
from phase3_sst.campaign import batch, campaign, cost
from phase3_sst.campaign.batch import simulate_batch
from phase3_sst.campaign.planned_point import PlannedPoint
from phase3_sst.studies.congestion.situation import Member, Situation
from phase3_sst.studies.congestion.situation_runs import Runs


@pytest.fixture
def trials(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The run files that were tried; each takes 1 s and a tenth of a second for each further iteration."""
    tried: list[dict[str, Any]] = []

    def trial(run: Any, counter: str | None, total: int, timeout_s: float) -> Trial:
        tried.append({**run, "counter": counter, "total": total})
        return Trial(1.0, 0.1, 2e8)

    monkeypatch.setattr(cost, "tried_run", trial)
    return tried


def halo(name: str, hosts: list[int]) -> Situation:
    parameters = {"pattern": "halo3d", "bytes": 64}
    return Situation(name, [Member("halo", "patterns", parameters, hosts)], 1)


def test_situations_that_differ_in_nodes_and_draws_share_a_trial(tmp_path: Path, trials: list[Any]) -> None:
    runs = cases.runs(tmp_path)
    given = [cases.situation("a"), cases.situation("b", hosts=(3, 6)), cases.situation("c", seed=9), halo("d", [0, 1])]
    found = cost.costs(runs.output, [runs.planned(one) for one in given])
    assert len(trials) == 2
    ring = next(run for run in trials if run["counter"] == "iterations")
    assert ring["total"] == cases.RING["iterations"] and [job["background"] for job in ring["jobs"][1:]] == [True]
    # Its ring has 8 iterations; a pattern without a given number is tried with its default.
    assert found[runs.planned(given[0]).folder].processor_s == pytest.approx(1.0 + 7 * 0.1, abs=0.2)
    assert found[runs.planned(given[3]).folder].processor_s == pytest.approx(1.0, abs=0.2)
    cost.costs(runs.output, [runs.planned(one) for one in given])
    assert len(trials) == 2, "they are kept"
    (runs.output / "campaign-cost.json").write_text("{")
    cost.costs(runs.output, [runs.planned(one) for one in given])
    assert len(trials) == 4, "a damaged file is estimated anew"


def test_of_many_kinds_some_are_tried_and_the_others_are_like_the_nearest(tmp_path: Path, trials: list[Any]) -> None:
    runs = cases.runs(tmp_path)
    given = [halo(f"h{count}", list(range(count))) for count in range(2, 48)]
    found = cost.costs(runs.output, [runs.planned(one) for one in given])
    assert len(found) == len(given) and len(trials) == 24
    sizes = [len(run["jobs"][0]["hosts"]) for run in trials]
    assert (sizes[0], sizes[-1]) == (2, 47) and sizes == sorted(sizes), "from the smallest to the largest"
    cost.costs(runs.output, [runs.planned(one) for one in given])
    assert len(trials) == 24


def test_the_words_count_what_is_finished_and_share_the_work_between_cores(tmp_path: Path, trials: list[Any]) -> None:
    runs = cases.runs(tmp_path)
    given = [cases.situation(f"s{number}", seed=number) for number in range(100)]
    tables.write_json(runs.folder(given[0]) / "result.json", "network-result/2", {})
    (first, whole), _ = cost.estimate(runs.output, {"impact": [runs.planned(one) for one in given]}, 20, 4, "situation")
    assert first == "impact: 100 situations, about 3.0 min of processor time, the longest about 1.8 s"
    assert whole.startswith("in all 100 situations, 1 of them finished; about 3.0 min of processor time")
    assert whole.endswith(" on 4 cores") and "about 46 s on" in whole


def test_what_is_not_known_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> Trial:
        raise EngineFailedError("it takes too long")

    monkeypatch.setattr(cost, "tried_run", fails)
    runs = cases.runs(tmp_path)
    said, _ = cost.estimate(runs.output, {"impact": [runs.planned(cases.situation())]}, 20, 2, "situation")
    assert said[0] == "impact: 1 situation, what they take is not known"
    assert "on 2 cores" not in said[1]


@pytest.fixture
def snakemake(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Simulates the batches in this process, each situation in no time; one called "lost" is never done."""
    commands: list[list[str]] = []

    def run(command: list[str], log: Path, progress: Any) -> None:
        commands.append(command)
        output = log.parent.parent
        for number in range(json.loads((output / "campaign/plan.json").read_text())["batches"]):
            simulate_batch(output / f"campaign/batch-{number}.json", output)

    def simulate(one: PlannedPoint, output: Path, processes: int) -> None:
        if one.name != "lost":
            tables.write_json(output / one.folder / "result.json", "network-result/2", {})

    monkeypatch.setattr(campaign, "run_snakemake", run)
    monkeypatch.setattr(batch, "simulate", simulate)
    return commands


def simulate(runs: Runs, given: list[Situation], seconds: float | None) -> None:
    planned = [runs.planned(one) for one in given]
    expected = {one.folder: cost.Cost(seconds, 4e9) for one in planned}
    how = campaign.How(batch=3, cores=2, profile=None, noun="situation")
    campaign.simulate_missing(runs.output, planned, how, expected, lambda text: None)


def test_executors_are_told_what_a_batch_needs(tmp_path: Path, snakemake: list[list[str]]) -> None:
    runs = cases.runs(tmp_path)
    given = [cases.situation(f"s{number}") for number in range(6)]
    simulate(runs, given, 600.0)
    plan = tables.read_json(runs.output / "campaign/plan.json", campaign.PLAN_SCHEMA)
    # Three of 10 minutes, four times as long for safety, and 10 minutes to start.
    plan.pop("schema")
    assert plan == {"batches": 2, "threads": 1, "processes": 1, "mem_mb": 7000, "runtime": 130}
    assert "--keep-going" in snakemake[0] and str(runs.output.resolve()) in snakemake[0]
    assert runs.missing(given) == []
    simulate(runs, given, None)
    assert len(snakemake) == 1, "nothing is missing, and nothing is started"


def test_sst_takes_its_threads_and_processes(tmp_path: Path, snakemake: list[list[str]]) -> None:
    runs = cases.runs(tmp_path, simulate={"engine": "sst", "sst": {"threads": 2, "processes": 3}})
    simulate(runs, [cases.situation()], None)
    assert json.loads((runs.output / "campaign/plan.json").read_text())["threads"] == 6


def test_a_situation_that_was_lost_is_an_error_with_its_name(tmp_path: Path, snakemake: list[list[str]]) -> None:
    runs = cases.runs(tmp_path)
    with pytest.raises(ManynodeError, match="1 situations were not simulated, lost first"):
        simulate(runs, [cases.situation("lost"), cases.situation("kept")], None)
    assert runs.failed(cases.situation("kept")) is None
