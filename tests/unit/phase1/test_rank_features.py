from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from phase1_jobs import job

from manynode.errors import InputError, UsageError
from phase1_profile.classes import RankClassifier
from phase1_profile.features import feature_table, logarithms
from phase1_profile.noise import Noise, estimate_noise, standardise
from phase1_profile.parameters import DEFAULT_FEATURES, ClassifyParameters


def test_ipc_is_instructions_over_cycles_and_a_feature_without_counts_is_left_out_with_the_reason() -> None:
    table = feature_table(job(2, 4), DEFAULT_FEATURES)
    assert table.names == DEFAULT_FEATURES
    assert table.frame["ipc"].tolist() == pytest.approx([2.0] * 4)
    without = feature_table(job(2, 4, drop=("cycles",)), DEFAULT_FEATURES)
    assert without.names == ("instructions", "branches", "loads")
    assert without.left_out == {"ipc": "the source of the counters cannot tell it"}


def test_a_feature_unknown_for_one_rank_is_left_out_for_all() -> None:
    frame = job(2, 4)
    frame.loc[2, "loads"] = np.nan
    table = feature_table(frame, DEFAULT_FEATURES)
    assert "loads" not in table.names
    assert "rank 2" in table.left_out["loads"]


def test_no_feature_at_all_and_an_unknown_one_are_errors() -> None:
    with pytest.raises(InputError, match="another source"):
        feature_table(job(1, 2, drop=("instructions", "cycles", "branches", "loads")), DEFAULT_FEATURES)
    with pytest.raises(UsageError, match="did you mean 'instructions'"):
        feature_table(job(1, 2), ["instruction"])


def test_repetitions_with_other_ranks_do_not_match() -> None:
    frame = pd.concat([job(2, 4), job(2, 6, repetition=1)])
    with pytest.raises(InputError, match="repetition 1"):
        logarithms(feature_table(frame, DEFAULT_FEATURES))


def test_without_repetitions_the_noise_is_the_floor_and_says_so() -> None:
    table = feature_table(job(2, 8, noise=0.03), DEFAULT_FEATURES)
    noise = estimate_noise(logarithms(table), table.names, ClassifyParameters())
    assert noise.used == {"instructions": 0.005, "ipc": 0.02, "branches": 0.005, "loads": 0.005}
    assert noise.measured["instructions"] is None
    assert "not measured" in noise.describe()


def test_noise_is_measured_from_repetitions_and_a_slower_run_as_a_whole_is_none() -> None:
    jobs = [job(4, 64, repetition=r, noise=0.01) for r in range(4)]
    jobs[1]["instructions"] *= 1.5
    table = feature_table(pd.concat(jobs), ["instructions"])
    noise = estimate_noise(logarithms(table), table.names, ClassifyParameters())
    assert noise.degrees_of_freedom == 3 * 63
    assert noise.measured["instructions"] == pytest.approx(0.01, rel=0.15)
    measured = noise.measured["instructions"]
    assert measured is not None
    assert measured < noise.used["instructions"] < 1.2 * measured


def test_noise_known_from_two_values_is_not_believed_exactly() -> None:
    table = feature_table(pd.concat([job(1, 2, repetition=r, noise=0.01) for r in range(2)]), ["instructions"])
    noise = estimate_noise(logarithms(table), table.names, ClassifyParameters(noise_floor=0.0))
    assert noise.measured["instructions"] is not None
    assert noise.used["instructions"] > 5 * noise.measured["instructions"]


def test_a_count_of_zero_is_far_from_any_other_and_all_zeros_are_equal() -> None:
    frame = job(1, 8)
    frame.loc[0, "branches"] = 0.0
    frame["loads"] = 0.0
    table = feature_table(frame, DEFAULT_FEATURES)
    points = standardise(logarithms(table)[1], _floor(table.names), table.names)
    assert np.isfinite(points).all()
    assert RankClassifier().fit(points).labels_.tolist() == [1] + [0] * 7


def test_counts_are_relative_to_the_median_of_the_ranks_that_have_any() -> None:
    frame = job(1, 4)
    frame["loads"] = [0.0, 1.0, 10.0, 1000.0]
    logs = logarithms(feature_table(frame, ["loads"]))[1][0, :, 0]
    # Of 1, 10 and 1000 the median is 10; a zero lies at the offset.
    assert np.exp(logs) == pytest.approx([1e-6, 0.1, 1.0, 100.0], abs=2e-6, rel=1e-5)
    assert np.exp(logs[0]) == pytest.approx(1e-6)


def _floor(names: tuple[str, ...]) -> Noise:
    return estimate_noise({}, names, ClassifyParameters())


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 1000),
    st.lists(st.floats(1e-3, 1e3), min_size=3, max_size=3),
)
def test_the_unit_of_a_counter_does_not_change_the_classes(seed: int, units: list[float]) -> None:
    frame = job(4, 16, factor=lambda rank: 1.3 if rank % 5 == 0 else 1.0, noise=0.001, seed=seed)
    scaled = frame.copy()
    for name, unit in zip(["instructions", "branches", "loads"], units, strict=True):
        scaled[name] *= unit
    labels = []
    for table in (feature_table(f, DEFAULT_FEATURES) for f in (frame, scaled)):
        points = standardise(logarithms(table)[4], _floor(table.names), table.names)
        labels.append(RankClassifier().fit(points).labels_.tolist())
    assert labels[0] == labels[1] == [1 if rank % 5 == 0 else 0 for rank in range(16)]
