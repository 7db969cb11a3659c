"""What points will take: a trial of the first iterations, all points of a study, the words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from phase3_cases import ROOT

from manynode.config.loader import resolve
from manynode.config.resolved import Resolved
from manynode.errors import EngineFailedError
from phase3_sst.analysis.estimates import points
from phase3_sst.analysis.estimates.estimate_sentences import duration, lines
from phase3_sst.analysis.estimates.points import PointCost, point_costs
from phase3_sst.analysis.estimates.trial import Trial, extrapolated


def experiment(**changes: Any) -> Resolved:
    given = yaml.safe_load((ROOT / "configs" / "demo.yaml").read_text())
    given["application"]["parameters"]["iterations"] = 15
    given |= {"nodes": [4, 64], "techniques": ["ext-const", "ext-var"], **changes}
    return resolve(given, where="test", base=ROOT / "configs")


@pytest.fixture
def trials(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Trials without an engine: an iteration takes a millisecond a node; the nodes that were tried."""
    asked: list[int] = []

    def tried(changed: dict[str, Any], nodes: int, timeout_s: float) -> Trial:
        asked.append(nodes)
        return Trial(0.01, 1e-3 * nodes, 1e6 * nodes)

    monkeypatch.setattr(points, "tried", tried)
    return asked


def test_techniques_share_a_trial_and_trials_go_from_few_nodes_to_many(trials: list[int]) -> None:
    found = point_costs(experiment(nodes=[64, 4]))
    assert trials == [4, 64]
    assert [(cost.technique, cost.nodes) for cost in found] == [
        ("ext-const", 64), ("ext-const", 4), ("ext-var", 64), ("ext-var", 4)
    ]  # fmt: skip
    # 15 iterations; 10 replicas, of which one is simulated where nothing is drawn
    assert found[0].processor_s == pytest.approx(points.START_S + 0.01 + 14 * 0.064)
    assert found[2].processor_s == pytest.approx(points.START_S + 10 * (0.01 + 14 * 0.064))
    assert found[0].memory_bytes == 64e6 and found[0].least_s == found[0].processor_s


def test_all_replicas_count_where_routes_are_drawn(trials: list[int]) -> None:
    drawn = {"kind": "fat-tree", "children": [16, 8], "parents": [1, 4], "parallel_links": [1, 1]}
    const, var = point_costs(
        experiment(nodes=[64], network={"name": "drawn", "topology": {**drawn, "routing": "adaptive"}})
    )
    assert const.processor_s == var.processor_s == pytest.approx(points.START_S + 10 * (0.01 + 14 * 0.064))


def test_many_nodes_are_extrapolated_from_the_trials_of_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def tried(changed: dict[str, Any], nodes: int, timeout_s: float) -> Trial:
        asked.append(nodes)
        return Trial(0.05 * nodes, 0.01 * nodes**1.5, 1e6 * nodes)

    monkeypatch.setattr(points, "tried", tried)
    found = {cost.nodes: cost for cost in point_costs(experiment(nodes=[16, 64, 128, 512], techniques=["ext-var"]))}
    assert asked == [16, 64], "64 nodes take more than three seconds"
    for nodes in (128, 512):
        assert found[nodes].processor_s == pytest.approx(points.START_S + 10 * nodes * (0.05 + 14 * 0.01 * nodes**0.5))
        assert found[nodes].memory_bytes == pytest.approx(1e6 * nodes)


def test_many_nodes_alone_are_extrapolated_from_fewer_that_are_tried_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def tried(changed: dict[str, Any], nodes: int, timeout_s: float) -> Trial:
        asked.append(nodes)
        if nodes > 1024:
            raise EngineFailedError("a trial took longer than its limit")
        return Trial(0.02 * nodes, 0.01 * nodes, 1e6 * nodes)

    monkeypatch.setattr(points, "tried", tried)
    (cost,) = point_costs(experiment(nodes=[2048], techniques=["ext-var"]))
    assert asked == [64, 256], "256 nodes take more than three seconds"
    assert cost.processor_s == pytest.approx(points.START_S + 10 * 2048 * (0.02 + 14 * 0.01))


def test_a_short_trial_that_is_noise_makes_no_absurd_estimate() -> None:
    noisy = (1, Trial(0.02, 1e-6, 1e6))
    found = extrapolated(noisy, (64, Trial(5.0, 5.0, 64e6)), 4096)
    assert found.iteration_s == pytest.approx(5.0 * 64**2)


def test_a_study_has_a_trial_for_each_number_of_messages(trials: list[int]) -> None:
    parameters = {
        "bandwidth": {"keys": ["network.link.bandwidth"], "values": ["20 Gbit/s", "100 Gbit/s"]},
        "chunk": {"keys": ["network.chunk"], "values": ["1 KiB", "2 KiB"]},
    }
    found = point_costs(experiment(sensitivity={"techniques": ["ext-var"], "parameters": parameters}))
    assert len(found) == 4 + 4 and len({cost.variant for cost in found}) == 5
    assert trials == [4, 64, 64]  # the experiment's two node counts, and the other chunk


def test_with_convergence_a_point_takes_from_the_first_attempt_to_more_than_all(trials: list[int]) -> None:
    given = {"engine": "fast", "replicas": 1, "converge": {"iterations": 1000}}
    cost = point_costs(experiment(nodes=[4], techniques=["ext-var"], simulate=given))[0]
    assert cost.least_s == pytest.approx(points.START_S + 2 * 0.01 + (15 + 7) * 0.004)
    assert cost.processor_s == pytest.approx(points.START_S + 2 * 0.01 + (999 + 499) * 0.004)


def test_what_simgrid_takes_is_not_known(trials: list[int]) -> None:
    found = point_costs(experiment(simulate={"engine": "simgrid"}))
    assert trials == [] and all(cost.processor_s is None for cost in found)
    assert lines(found, 2, 2) == ["4 nodes, 8 ranks: 2 points, not known", "64 nodes, 128 ranks: 2 points, not known"]


def test_the_words_have_a_line_for_each_node_count_and_one_for_all() -> None:
    costs = [PointCost("ext-var", 4, "", 30.0, 30.0, 8e6), PointCost("ext-var", 64, "", 6000.0, 60.0, 64e6)]
    assert lines(costs, 2, 2) == [
        "4 nodes, 8 ranks: 1 point, each about 30 s of processor time, at most 7.63 MiB a replica",
        "64 nodes, 128 ranks: 1 point, each 60 s to 1.7 h of processor time, at most 61 MiB a replica",
        "in all 2 points, 45 s to 50 min on 2 cores",
    ]
    assert [duration(seconds) for seconds in (0.4, 12, 600, 36_000)] == ["0.4 s", "12 s", "10 min", "10 h"]


def test_the_file_has_every_point(tmp_path: Path) -> None:
    points.write(tmp_path / "estimate.json", "d", [PointCost("ext-var", 4, "", 30.0, 30.0, 8e6)])
    document = json.loads((tmp_path / "estimate.json").read_text())
    assert document["schema"] == "cost-estimate/1" and document["digest"] == "d"
    assert document["points"][0]["processor_s"] == 30.0
