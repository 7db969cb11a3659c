"""Patterns: HPCG's multigrid and the series that have none."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from phase2_nodesim.parameters import FitParameters
from phase2_nodesim.patterns import (
    Pattern,
    Series,
    common_pattern,
    common_series,
    find_pattern,
    match_counts,
)

DEFAULT = FitParameters()
MULTIGRID = (0, 1, 2, 2, 2, 1, 0)


def series(*values: int) -> Series:
    return np.array(values, dtype=np.int64)


def noisy(sequence: tuple[int, ...], length: int, share: float, seed: int) -> Series:
    rng = np.random.default_rng(seed)
    got = np.resize(series(*sequence), length)
    wrong = rng.random(length) < share
    got[wrong] = rng.integers(0, max(sequence) + 1, int(wrong.sum()))
    return got


def test_the_multigrid_of_the_paper_is_found() -> None:
    assert find_pattern(np.tile(series(*MULTIGRID), 50), 3, DEFAULT) == Pattern(MULTIGRID, 50, 1.0)


def test_four_distinct_levels_are_found() -> None:
    got = find_pattern(np.tile(series(0, 1, 2, 3, 2, 1, 0), 20), 4, DEFAULT)
    assert got == Pattern((0, 1, 2, 3, 2, 1, 0), 20, 1.0)


@pytest.mark.parametrize("seed", range(5))
def test_noise_does_not_hide_the_pattern(seed: int) -> None:
    got = find_pattern(noisy(MULTIGRID, 350, 0.04, seed), 3, DEFAULT)
    assert got is not None
    assert (got.sequence, got.repeat, got.prefix) == (MULTIGRID, 50, 0)
    assert got.agreement > 0.94


def test_a_partial_last_repeat_is_allowed() -> None:
    got = find_pattern(np.tile(series(*MULTIGRID), 51)[:353], 3, DEFAULT)
    assert got == Pattern(MULTIGRID, 50, 1.0)


def test_a_short_prefix_is_cut_off() -> None:
    got = find_pattern(np.concatenate([series(2, 2, 2, 1), np.tile(series(*MULTIGRID), 50)]), 3, DEFAULT)
    assert got == Pattern(MULTIGRID, 50, 1.0, prefix=4)


def test_a_pattern_is_minimal() -> None:
    got = find_pattern(np.tile(series(0, 1, 0, 1), 20), 2, DEFAULT)
    assert got == Pattern((0, 1), 40, 1.0)


def test_one_cluster_has_weights() -> None:
    assert find_pattern(np.zeros(100, dtype=np.int64), 1, DEFAULT) is None


def test_a_rare_cluster_is_not_explained_away() -> None:
    rare = (np.random.default_rng(0).random(5000) < 0.03).astype(np.int64)
    assert find_pattern(rare, 2, DEFAULT) is None


def test_a_change_in_the_middle_is_no_pattern() -> None:
    assert find_pattern(np.repeat(series(0, 1), 50), 2, DEFAULT) is None


def test_six_values_are_too_few_to_tell() -> None:
    assert find_pattern(series(0, 1, 1, 0, 1, 1), 2, DEFAULT) is None


def test_random_series_have_none() -> None:
    rng = np.random.default_rng(1)
    found = [find_pattern(rng.integers(0, 2, n), 2, DEFAULT) for n in (8, 12, 20, 50, 200) for _ in range(40)]
    assert sum(pattern is not None for pattern in found) <= 1


def test_ranks_agree_on_the_pattern_of_the_majority() -> None:
    ranks = [noisy(MULTIGRID, 350, 0.03, seed) for seed in range(5)] + [np.random.default_rng(9).integers(0, 3, 350)]
    got = common_pattern(ranks, 3, DEFAULT)
    assert got is not None
    assert got.sequence == MULTIGRID
    assert 0.75 < got.agreement < 0.95
    assert common_pattern(ranks[::-1], 3, DEFAULT) == got


def test_without_majority_there_is_none() -> None:
    ranks = [np.tile(series(0, 1), 50), *(np.random.default_rng(seed).integers(0, 2, 100) for seed in range(3))]
    assert common_pattern(ranks, 2, DEFAULT) is None


def test_a_first_execution_that_differs_on_all_ranks_is_no_chance() -> None:
    cold = [series(0, *[1] * 19) for _ in range(16)]
    assert common_pattern(cold, 2, DEFAULT) is None
    assert common_series(cold, 2, DEFAULT) == Pattern((0, *[1] * 19), 1, 1.0)


@pytest.mark.parametrize("seed", range(5))
def test_what_ranks_have_in_common_is_found_beside_exceptions(seed: int) -> None:
    common = np.random.default_rng(seed).integers(0, 3, 200)
    ranks = [noisy(tuple(common.tolist()), 200, 0.03, 10 * seed + rank) for rank in range(8)]
    got = common_series(ranks, 3, DEFAULT)
    assert got is not None and got.sequence == tuple(common.tolist()) and got.repeat == 1
    assert 0.95 < got.agreement < 0.99


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.05, 0.95), (0.01, 0.99)])
def test_independent_draws_have_nothing_in_common(shares: tuple[float, float]) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        for count in (2, 3, 16):
            assert common_series([rng.choice(2, 50, p=shares) for _ in range(count)], 2, DEFAULT) is None


def test_one_rank_and_ranks_of_other_lengths_tell_nothing_in_common() -> None:
    cold = series(0, *[1] * 19)
    assert common_series([cold], 2, DEFAULT) is None
    assert common_series([cold, cold, cold[:-1]], 2, DEFAULT) is None


def test_a_series_in_common_has_a_largest_length() -> None:
    cold = [series(0, *[1] * 19) for _ in range(16)]
    assert common_series(cold, 2, DEFAULT.model_copy(update={"max_sequence": 19})) is None


def test_long_series_of_many_ranks_are_fast() -> None:
    ranks = [noisy(MULTIGRID, 5000, 0.03, seed) for seed in range(100)]
    skewed = [(np.random.default_rng(seed).random(5000) < 0.03).astype(np.int64) for seed in range(20)]
    find_pattern(ranks[0][:100], 3, DEFAULT)  # imports
    start = time.process_time()
    assert common_pattern(ranks, 3, DEFAULT) is not None
    assert common_pattern(skewed, 2, DEFAULT) is None
    assert time.process_time() - start < 3.0


def test_matches_per_lag_are_counted() -> None:
    assert match_counts(series(0, 1, 0, 1, 1), 2).tolist() == [5, 1, 2, 1, 0]


@given(st.lists(st.integers(0, 3), min_size=2, max_size=12), st.integers(10, 60), st.integers(0, 11))
@settings(deadline=None)
def test_a_found_pattern_explains_the_series(sequence: list[int], repeats: int, cut: int) -> None:
    kinds = sorted(set(sequence))
    assume(len(kinds) >= 2)
    compact = np.array([kinds.index(value) for value in sequence], dtype=np.int64)
    values = np.tile(compact, repeats)
    values = values[: values.size - min(cut, len(sequence) - 1)]
    assume(values.size >= 100)
    got = find_pattern(values, len(kinds), DEFAULT)
    assert got is not None
    assert len(got.sequence) <= len(sequence)
    assert got.agreement >= 1 - DEFAULT.tolerance
    expected = got.expected(values.size)
    agreed = (expected == values)[got.prefix :].mean()
    assert agreed == pytest.approx(got.agreement)
    shorter = [
        n
        for n in range(1, len(got.sequence))
        if np.resize(got.sequence[:n], len(got.sequence)).tolist() == list(got.sequence) and len(got.sequence) % n == 0
    ]
    assert not shorter
