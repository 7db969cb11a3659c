"""One slow node: which ranks it has, and what their class draws from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from phase3_cases import experiment

from manynode.errors import UsageError
from manynode.timing_profile import TimingProfile, read_timing_profile, write_timing_profile
from phase3_sst.point.contract import Point
from phase3_sst.point.point_experiment import PointExperiment
from phase3_sst.point.slow_node import slowed

TAIL = {
    **{"model": "generalised-pareto", "threshold_s": 2.8, "anderson_darling": 0.4, "p_value": 0.5, "others": []},
    **{"probability": 0.95, "exceedances": 1, "scale_s": 0.2, "shape": 0.1},
}


def times(name: str) -> dict[str, Any]:
    cdf = {"time_s": [1.0, 3.0], "probability": [0.0, 1.0]}
    phase = {
        **{"name": "work", "count": 10, "mean_s": 2.0, "pattern": {"kind": "weights"}},
        "clusters": [{"mean_s": 2.0, "count": 10, "weight": 1.0, "cdf": cdf, "tail": TAIL}],
        "variance": {"between_ranks_s2": 0.5, "within_rank_s2": 1.0, "total_s2": 1.5},
    }
    return {"name": name, "share": 0.5, "simulated_ranks": [0], "phases": [phase]}


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    content = {
        **{"application": {}, "engine": "native", "engine_version": "1", "machine": "m", "external": True},
        **{"nodes": 1, "ranks": 2, "simulated_ranks": [0], "compute_s": 1.0, "skipped_s": 0.0, "provenance": {}},
        "classes": [times("edge"), times("inner")],
    }
    path = tmp_path / "timing-profile.json"
    write_timing_profile(path, TimingProfile.model_validate(content))
    return path


def with_slow(profile: Path, nodes: int, classes: list[str], cyclic: bool = False, **slow_node: Any) -> Point:
    """A point of two ranks per node with a slow node."""
    content = experiment(**({"slow_node": slow_node} if slow_node else {}))
    if cyclic:
        content["simulate"]["placement"]["rank_order"] = "cyclic"
    return Point(PointExperiment.read(content), nodes, "ext-var", profile, classes, 7)


def test_the_ranks_of_the_node_draw_longer_times(profile: Path, tmp_path: Path) -> None:
    classes = ["edge", "inner", "inner", "inner", "edge", "inner"]
    with slowed(with_slow(profile, 3, classes, node=1, factor=1.5), tmp_path / "point") as point:
        assert point.class_of_rank == ["edge", "inner", "inner, slow", "inner, slow", "edge", "inner"]
        found = {entry.name: entry.phases[0] for entry in read_timing_profile(point.timing_profile).classes}
    assert list(found) == ["edge", "inner", "inner, slow"]
    assert found["inner"].mean_s == 2.0
    slow = found["inner, slow"]
    assert slow.mean_s == slow.clusters[0].mean_s == 3.0
    assert slow.clusters[0].cdf.time_s == [1.5, 4.5] and slow.clusters[0].cdf.probability == [0.0, 1.0]
    assert slow.variance.total_s2 == pytest.approx(1.5 * 1.5**2)
    tail = slow.clusters[0].tail
    assert tail is not None and (tail.threshold_s, tail.scale_s, tail.shape) == pytest.approx((4.2, 0.3, 0.1))
    assert not list((tmp_path / "point").iterdir())


def test_cyclic_ranks_of_the_node(profile: Path, tmp_path: Path) -> None:
    with slowed(with_slow(profile, 3, ["edge"] * 6, cyclic=True, node=0, factor=2.0), tmp_path) as point:
        assert [index for index, name in enumerate(point.class_of_rank) if name == "edge, slow"] == [0, 3]


def test_nothing_changes_without_a_slow_node(profile: Path, tmp_path: Path) -> None:
    given = with_slow(profile, 3, ["edge"] * 6)
    with slowed(given, tmp_path) as point:
        assert point == given


def test_a_node_that_the_job_does_not_have_is_refused(profile: Path, tmp_path: Path) -> None:
    given = with_slow(profile, 3, ["edge"] * 6, node=3, factor=2.0)
    with pytest.raises(UsageError, match="does not belong to the job"), slowed(given, tmp_path):
        pass
