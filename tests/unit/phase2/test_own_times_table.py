"""A timing profile of the user's own times: exact moments, what persists, classes of ranks."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manynode.config.loader import resolve
from manynode.config.own_times import OwnPhase
from manynode.config.resolved import RESOLVED, Resolved, read_yaml
from manynode.rank_classes import assign_classes, check_rank_classes
from phase2_nodesim.own_times import correlation, log_normal, phase_times, rank_classes, timing_profile

EXAMPLE = Path(__file__).resolve().parent.parent.parent.parent / "configs" / "own-times.yaml"


def example(**own: Any) -> Resolved:
    content = read_yaml(EXAMPLE, "the experiment")
    content["own_times"] |= own
    return resolve(content, where="test", base=EXAMPLE.parent)


def moments(mean: float, spread: float) -> tuple[float, float]:
    cdf = log_normal(mean, spread)
    low, high = np.array(cdf.time_s[:-1]), np.array(cdf.time_s[1:])
    weight = np.diff(cdf.probability)
    first = float(np.sum(weight * (low + high) / 2))
    return first, math.sqrt(float(np.sum(weight * (low**2 + low * high + high**2) / 3)) - first**2) / first


@pytest.mark.parametrize("spread", [0.001, 0.02, 0.3, 1.0, 3.0])
def test_mean_and_spread_are_those_of_the_row(spread: float) -> None:
    mean, found = moments(60e-6, spread)
    assert mean == pytest.approx(60e-6, rel=1e-12) and found == pytest.approx(spread, rel=1e-6)


def test_a_small_spread_is_log_normal() -> None:
    cdf = log_normal(1.0, 0.1)
    median = cdf.time_s[len(cdf.time_s) // 2]
    assert median == pytest.approx(1 / math.sqrt(1 + 0.1**2), rel=2e-3)


def test_without_spread_the_time_is_constant() -> None:
    cdf = log_normal(2e-6, 0.0)
    assert (cdf.time_s, cdf.probability) == ([2e-6], [1.0])


@pytest.mark.parametrize(("share", "spread"), [(0.5, 0.02), (0.2, 1.0), (1.0, 0.5)])
def test_the_share_between_ranks_is_that_of_the_drawn_times(share: float, spread: float) -> None:
    random, r = np.random.default_rng(1), correlation(share, spread)
    of_log = math.sqrt(math.log1p(spread**2))
    ranks = random.normal(size=(400_000, 1)) * math.sqrt(r)
    times = np.exp(of_log * (ranks + random.normal(size=(400_000, 2)) * math.sqrt(1 - r)))
    assert np.corrcoef(times[:, 0], times[:, 1])[0, 1] == pytest.approx(share, abs=0.03)


def test_a_phase_splits_its_variance() -> None:
    row = OwnPhase.model_validate(
        {"phase": "symgs", "mean": 1e-3, "spread": 0.1, "between_ranks": 0.25}, context=RESOLVED
    )
    phase = phase_times(row, 8)
    assert phase.variance.total_s2 == pytest.approx(1e-8)
    assert phase.variance.between_ranks_s2 == pytest.approx(0.25e-8)
    assert phase.persistence is not None and phase.persistence.between_ranks.share == 0.25


def test_the_profile_is_that_of_the_table_and_names_it() -> None:
    profile = timing_profile(example(), external=True, provenance={})
    assert profile.engine == "own" and profile.machine == "our cluster"
    assert profile.provenance["source"] == "own-times.csv"
    (only,) = profile.classes
    assert {phase.name: phase.mean_s for phase in only.phases}["residual"] == pytest.approx(25e-6)
    check_rank_classes({**rank_classes(example()), "schema": "rank-classes/1"}, "test")


def test_classes_have_their_share_and_their_fixed_ranks() -> None:
    names = [row.phase for row in example().own_times.phases]  # type: ignore[union-attr]
    rows = [
        {"phase": name, "mean": mean, "class": of}
        for name in names
        for of, mean in (("inner", "1 us"), ("outer", "2 us"))
    ]
    given = {"inner": {"share": 0.75}, "outer": {"share": 0.25, "ranks": [0, -1]}}
    experiment = example(phases=rows, classes=given, nodes=2)
    classes = rank_classes(experiment)
    check_rank_classes({**classes, "schema": "rank-classes/1"}, "test")
    of_rank = assign_classes(classes, 64, 1)
    assert of_rank[0] == of_rank[-1] == "outer" and 15 <= of_rank.count("outer") - 2 <= 16
    profile = timing_profile(experiment, external=True, provenance={})
    assert {entry.name: entry.phases[0].mean_s for entry in profile.classes} == {"inner": 1e-6, "outer": 2e-6}
