"""Levels that all ranks have in common: found where they are, and not where times are each rank's own."""

from __future__ import annotations

import numpy as np
import pytest
from phase2_cases import phase_segments

from manynode.timing_profile import PhaseTimes, SequencePattern
from phase2_nodesim.distributions import Times
from phase2_nodesim.levels import common_levels, common_variance, in_common_order
from phase2_nodesim.parameters import FitParameters
from phase2_nodesim.phases import fit_phase
from phase2_nodesim.waits import COLUMN as WAITED

DEFAULT = FitParameters()


def shared(ranks: int, executions: int, seed: int = 1, *, rest: float = 0.05, unit: float = 1e-5) -> Times:
    """Times [s] of executions with one of four means, ranks that differ by 10 %, and a rest of each execution's own."""
    rng = np.random.default_rng(seed)
    means = rng.choice([1.0, 1.5, 2.0, 4.0], executions)
    own = np.exp(rng.normal(0, 0.1, (ranks, 1)) + rng.normal(0, rest, (ranks, executions)))
    return np.asarray(unit * means * own, dtype=np.float64)


def fitted(table: Times, **columns: float) -> PhaseTimes:
    return fit_phase("sweep", phase_segments(table, **columns), DEFAULT)


@pytest.mark.parametrize("unit", [1e-9, 1e-6, 1.0, 1e3])
@pytest.mark.parametrize("ranks", [2, 8])
def test_the_means_of_the_executions_are_told_apart_in_any_unit(ranks: int, unit: float) -> None:
    table = shared(ranks, 200, unit=unit)
    labels = common_levels(table, DEFAULT)
    assert labels is not None and 4 <= labels.max() + 1 <= 32
    means = [table[:, labels == level].mean() for level in range(labels.max() + 1)]
    assert means == sorted(means, reverse=True), "the longest first"
    # What is left within the levels is less than a tenth of what ranks had in common.
    left = np.concatenate([(table[:, labels == level] / means[level]).T for level in range(labels.max() + 1)]).T
    assert common_variance(left).common_s2 < 0.1 * common_variance(table / table.mean()).common_s2


def test_components_of_the_variance_are_those_of_the_model() -> None:
    rng = np.random.default_rng(2)
    table = 10 + rng.normal(0, 2, (1, 400)) + rng.normal(0, 5, (50, 1)) + rng.normal(0, 1, (50, 400))
    found = common_variance(table)
    assert found.common_s2 == pytest.approx(4, rel=0.15) and found.rest_s2 == pytest.approx(1, rel=0.05)
    assert found.share == pytest.approx(0.8, abs=0.05)


@pytest.mark.parametrize(
    ("ranks", "executions"), [(2, 3), (2, 7), (3, 4), (2, 12), (2, 50), (3, 20), (16, 8), (16, 400)]
)
@pytest.mark.parametrize("sigma", [0.01, 0.3, 2.0])
def test_ranks_own_times_have_no_levels_however_long_their_tail(ranks: int, executions: int, sigma: float) -> None:
    """Ranks differ, some executions take a hundred times as long: 200 tables, none in common order."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        table = rng.lognormal(0, sigma, (ranks, executions)) * rng.lognormal(0, 0.2, (ranks, 1))
        assert common_levels(table, DEFAULT) is None


def test_equal_times_are_no_order() -> None:
    assert not in_common_order(np.ones((4, 10)), 1e-4)
    same = np.tile(np.arange(1.0, 9.0), (2, 1))
    assert in_common_order(same, 1e-4), "the same on both ranks by chance: once in 40,320"
    assert not in_common_order(same[:, :7], 1e-4), "once in 5,040"


def test_one_rank_two_executions_and_long_series_have_no_levels() -> None:
    assert common_levels(shared(1, 50), DEFAULT) is None
    assert common_levels(shared(8, 2), DEFAULT) is None
    assert common_levels(shared(8, 50), DEFAULT.model_copy(update={"max_sequence": 49})) is None
    assert common_levels(shared(8, 50), DEFAULT.model_copy(update={"max_levels": 1})) is None


def test_a_phase_replays_its_levels_and_keeps_its_mean_and_what_ranks_differ_by() -> None:
    table = shared(16, 200)
    phase = fitted(table)
    assert isinstance(phase.pattern, SequencePattern)
    assert (len(phase.pattern.sequence), phase.pattern.repeat) == (200, 1)
    assert sum(cluster.weight * cluster.mean_s for cluster in phase.clusters) == pytest.approx(table.mean())
    replayed = np.array([phase.clusters[level].mean_s for level in phase.pattern.sequence])
    assert np.corrcoef(replayed, table.mean(axis=0))[0, 1] > 0.97
    # Within a level ranks differ by 10 %, executions by 5 %.
    assert phase.persistence is not None and phase.persistence.between_ranks.share > 0.5


def test_a_pattern_that_repeats_comes_first() -> None:
    sequence = np.tile([1.0, 2.0, 4.0, 2.0], 50)
    table = sequence * np.random.default_rng(3).normal(1, 0.02, (8, 200))
    phase = fitted(table)
    assert isinstance(phase.pattern, SequencePattern)
    assert (phase.pattern.sequence, phase.pattern.repeat) == ([2, 1, 0, 1], 50)


def test_a_pattern_that_leaves_much_in_common_gives_way_to_levels() -> None:
    """Two modes in turn explain four fifths of the variance; how long all ranks take at a place explains it all."""
    rng = np.random.default_rng(4)
    place = np.tile([1.0, 1.8], 100)
    work = rng.uniform(0.78, 1.22, 200)
    for common, length, repeat in ((work, 200, 1), (rng.uniform(0.78, 1.22, (16, 200)), 2, 100)):
        phase = fitted(1e-5 * place * common * rng.normal(1, 0.02, (16, 200)))
        assert isinstance(phase.pattern, SequencePattern)
        assert (len(phase.pattern.sequence), phase.pattern.repeat) == (length, repeat)


def test_times_of_a_host_have_no_levels() -> None:
    """What ranks on one host have in common is its noise; another host has its own."""
    assert isinstance(fitted(shared(8, 200)).pattern, SequencePattern)
    assert fitted(shared(8, 200, rest=0.3), **{WAITED: 0.0}).pattern.kind == "weights"
