"""Points -> projection: means, intervals, efficiency, breakdown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from phase3_cases import point

from manynode import seeds
from manynode.errors import InputError
from phase3_sst.analysis.projection_tables import analyse, bootstrap_interval


def test_a_projection_is_the_mean_of_its_replicas_and_efficiency_is_against_one_node(tmp_path: Path) -> None:
    points = [
        ("ext-var", 1, point(tmp_path / "1", [1.0, 1.0])),
        ("ext-var", 4, point(tmp_path / "4", [1.5, 2.5], count=8)),
    ]
    result = analyse(points, ranks_per_node=2, confidence=0.9, seed=1)
    four = result.projection.set_index("nodes").loc[4]
    assert (four["ranks"], four["replicas"], four["time_s"], four["efficiency"]) == (8, 2, 2.0, 0.5)
    assert 1.5 <= four["low_s"] <= 2.0 <= four["high_s"] <= 2.5
    # The first iteration includes the set-up: the other two take a quarter of the makespan each.
    assert four["iteration_s"] == pytest.approx(0.5)


def test_the_breakdown_is_seconds_per_rank(tmp_path: Path) -> None:
    points = [("ext-var", 1, point(tmp_path / "1", [1.0, 3.0]))]
    breakdown = analyse(points, ranks_per_node=2, confidence=0.9, seed=1).breakdown.set_index("operation")
    assert breakdown.loc["compute", "seconds"] == pytest.approx(1.5)
    assert breakdown.loc["MPI_Allreduce", "seconds"] == pytest.approx(0.5)
    assert breakdown["share"].sum() == pytest.approx(1)


def test_iterations_have_percentiles_and_ranks_a_slowest_one(tmp_path: Path) -> None:
    """Two replicas, each with two iterations of a quarter of its makespan after the first."""
    points = [("ext-var", 1, point(tmp_path / "1", [1.0, 3.0]))]
    row = analyse(points, ranks_per_node=2, confidence=0.9, seed=1).iterations.iloc[0]
    assert row["iterations"] == 4
    assert (row["p50_s"], row["max_s"]) == (pytest.approx(0.5), pytest.approx(0.75))
    assert row["p05_s"] == pytest.approx(0.25) and row["p99_s"] == pytest.approx(0.75)
    # Both ranks compute for three quarters of the makespan.
    assert row["compute_s"] == row["slowest_compute_s"] == pytest.approx(1.5)


def test_the_load_of_a_class_of_links_is_its_busiest_link(tmp_path: Path) -> None:
    points = [("ext-var", 1, point(tmp_path / "1", [2.0]))]
    links = analyse(points, ranks_per_node=2, confidence=0.9, seed=1).links
    assert links.loc[0, "busy_share_max"] == pytest.approx(0.1)


def test_replicas_that_agree_give_an_interval_without_width() -> None:
    assert bootstrap_interval([2.0, 2.0, 2.0], 0.95, seeds.generator(1)) == (2.0, 2.0)
    assert bootstrap_interval([2.0], 0.95, seeds.generator(1)) == (2.0, 2.0)


def test_the_interval_covers_the_mean_as_often_as_it_says() -> None:
    """90 % intervals of 20 replicas from a skewed distribution with mean 1: about nine in ten cover the mean."""
    rng = np.random.default_rng(7)
    held = 0
    for trial in range(200):
        low, high = bootstrap_interval(rng.lognormal(-0.02, 0.2, 20).tolist(), 0.9, seeds.generator(1, trial))
        held += low <= 1.0 <= high
    assert 165 <= held <= 195


def test_a_point_of_another_schema_is_refused(tmp_path: Path) -> None:
    folder = point(tmp_path / "1", [1.0])
    text = (folder / "result.json").read_text().replace("network-result/2", "network-result/9")
    (folder / "result.json").write_text(text)
    with pytest.raises(InputError, match="network-result/9"):
        analyse([("ext-var", 1, folder)], ranks_per_node=2, confidence=0.9, seed=1)
