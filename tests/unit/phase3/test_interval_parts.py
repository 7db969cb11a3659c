"""The parts of an interval: arithmetic that can be checked by hand, and coverage with known parts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from phase3_sst.analysis.interval_parts import Part, interval_parts, profile_part, replicas_part


def test_the_replicas_part_is_the_standard_error_of_the_mean() -> None:
    part = replicas_part([1.0, 2.0, 3.0, 4.0])
    assert part.error_s == pytest.approx(math.sqrt(5 / 3 / 4)) and part.dof == 3
    assert replicas_part([7.0]) == Part(0.0, 1)


def test_the_profile_part_knows_how_few_ranks_there_were() -> None:
    differences = [-1.0, 0.0, 1.0, 0.0]
    variance = (2 / 3) * (1 + 1 / 4)
    few, many = profile_part(differences, 2), profile_part(differences, 1000)
    assert few.error_s == pytest.approx(math.sqrt(2 * variance)) and few.dof == pytest.approx(1 / (1 + 1 / 3))
    assert many.error_s == pytest.approx(math.sqrt(variance), rel=1e-3) and many.dof == pytest.approx(3, rel=0.01)
    assert profile_part([], 8) == Part(0.0, 1)
    single = profile_part(differences, 1)
    assert single.error_s == pytest.approx(math.sqrt(variance)) and single.dof == 3


def test_half_widths_add_up_as_squares_and_biases_as_they_are() -> None:
    replicas, resampled = {0: 10.0, 1: 12.0, 2: 11.0}, [(0, 9.0), (1, 12.0), (2, 11.5), (0, 9.5)]
    rows = {row["part"]: row for row in interval_parts(replicas, resampled, 4, 0.9)}
    half = {name: (float(row["high_s"]) - float(row["low_s"])) / 2 for name, row in rows.items()}
    assert half["both"] == pytest.approx(math.hypot(half["replicas"], half["profile"]))
    assert half["replicas"] == pytest.approx(stats.t.ppf(0.95, 2) / math.sqrt(3))
    assert rows["both"]["bias_s"] == rows["profile"]["bias_s"] == pytest.approx(-0.25)
    assert (float(rows["both"]["low_s"]) + float(rows["both"]["high_s"])) / 2 == pytest.approx(11.25)
    # Two ranks: the whole is no narrower than the part that is hardly known.
    few = {row["part"]: row for row in interval_parts(replicas, resampled, 2, 0.95)}
    assert float(few["both"]["high_s"]) > float(few["profile"]["high_s"])


def test_what_does_not_vary_has_no_width() -> None:
    rows = interval_parts({0: 0.1, 1: 0.1, 2: 0.1}, [(0, 0.1), (1, 0.1)], 4, 0.95)
    assert all(row["low_s"] == row["high_s"] == pytest.approx(0.1) and row["error_s"] == 0 for row in rows)


def test_a_resample_is_compared_with_the_replica_of_the_same_draws() -> None:
    rows = {row["part"]: row for row in interval_parts({0: 10.0, 1: 20.0}, [(0, 11.0), (1, 21.0), (0, 11.0)], 8, 0.9)}
    assert rows["profile"]["error_s"] == 0 and rows["profile"]["bias_s"] == 1
    assert rows["profile"]["low_s"] == rows["profile"]["high_s"] == 14
    assert rows["both"]["error_s"] == rows["replicas"]["error_s"] == pytest.approx(5)


@pytest.mark.parametrize("groups", [4, 8, 32])
def test_means_of_few_ranks_are_covered_as_often_as_the_interval_says(groups: int) -> None:
    rng = np.random.default_rng(groups)
    covered, runs = 0, 1000
    for _ in range(runs):
        ranks = rng.normal(1, 0.1, groups)
        noise = rng.normal(0, 0.02, 10)
        replicas = {number: ranks.mean() + value for number, value in enumerate(noise.tolist())}
        resampled = [(n % 10, rng.choice(ranks, groups).mean() + noise[n % 10]) for n in range(20)]
        rows = interval_parts(replicas, resampled, groups, 0.9)
        covered += float(rows[2]["low_s"]) <= 1 <= float(rows[2]["high_s"])
    assert 0.87 <= covered / runs <= 0.95
