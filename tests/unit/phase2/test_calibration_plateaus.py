"""Fits of latency curves: synthetic curves with known answers, with noise and without."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from calibration_curves import KIB, MIB, Hierarchy, noisy
from hypothesis import given, settings
from hypothesis import strategies as st

from phase2_nodesim.calibration.host import Host
from phase2_nodesim.calibration.plan import Plan, plan_for
from phase2_nodesim.calibration.plateaus import (
    crossing,
    last_below,
    misses_in_flight,
    nearest_size,
    plateaus,
    steepest,
    window,
    without_spikes,
)

HOST = Host("test", 4, 1, 1, 4096, 2**36, 32, True, {})
SIZES = plan_for(HOST, 4, quick=False).sizes()
NOISE = 0.03
MEASURED = Path(__file__).resolve().parents[2] / "data" / "calibration" / "chase_xeon_guest.csv"


def curve(hierarchy: Hierarchy, noise: float = 0.0, seed: int = 0, spikes: int = 0) -> np.ndarray:
    return noisy(np.array([hierarchy.latency(size) for size in SIZES]), noise, seed, spikes)


@pytest.mark.parametrize("replaces_any", [False, True])
@pytest.mark.parametrize("noise", [0.0, NOISE])
def test_every_level_is_a_plateau_at_its_latency(replaces_any: bool, noise: float) -> None:
    hierarchy = Hierarchy(replaces_any=replaces_any)
    levels = plateaus(SIZES, curve(hierarchy, noise))
    assert [level.latency for level in levels] == pytest.approx([4, 14, 50, 600], rel=0.05)


@settings(max_examples=25)
@given(
    st.integers(0, 1000),
    st.sampled_from([32 * KIB, 48 * KIB, 64 * KIB]),
    st.sampled_from([512 * KIB, 1 * MIB, 2 * MIB]),
    st.sampled_from([16 * MIB, 32 * MIB]),
    st.floats(3.5, 5.5),
    st.floats(11, 17),
    st.floats(35, 90),
    st.floats(200, 900),
)
def test_levels_and_capacities_of_any_host_are_found_through_noise(
    seed: int, first: int, second: int, last: int, fast: float, middle: float, slow: float, memory: float
) -> None:
    hierarchy = Hierarchy(((first, fast), (second, middle), (last, slow)), memory)
    times = curve(hierarchy, NOISE, seed, spikes=3)
    levels = plateaus(SIZES, times)
    assert [level.latency for level in levels] == pytest.approx([fast, middle, slow, memory], rel=0.05)
    steps = itertools.pairwise(levels)
    found = [crossing(SIZES, times, near.latency, far.latency) for near, far in steps]
    assert found == pytest.approx([first, second, last], rel=0.16)


def test_a_cache_that_replaces_any_line_looks_at_most_a_third_larger() -> None:
    times = curve(Hierarchy(replaces_any=True))
    assert 48 * KIB <= crossing(SIZES, times, 4, 14) <= 1.36 * 48 * KIB


def test_a_flat_curve_is_one_level() -> None:
    assert [level.latency for level in plateaus(SIZES, np.full(len(SIZES), 4.0))] == [pytest.approx(4)]


def test_a_curve_that_only_rises_has_no_level() -> None:
    assert plateaus(SIZES, np.geomspace(1, 1e6, len(SIZES))) == []


def test_levels_that_differ_by_less_than_a_half_are_one() -> None:
    times = np.where(np.arange(len(SIZES)) < 50, 10.0, 14.0)
    assert len(plateaus(SIZES, times)) == 1


def test_a_guest_that_has_a_part_of_the_last_level_shows_four_levels() -> None:
    """Measured: the second level bends from 0.4 MiB on, the last one from 15 MiB on, and memory beyond 1 GiB."""
    sizes, cycles = np.loadtxt(MEASURED, delimiter=",", skiprows=1, unpack=True)
    levels = plateaus(sizes, cycles)
    assert [level.latency for level in levels] == pytest.approx([5.0, 16.6, 101, 454], rel=0.05)
    assert levels[-1].last == len(sizes) - 1
    near, far = levels[2:]
    assert crossing(sizes, cycles, near.latency, far.latency) == pytest.approx(26 * MIB, rel=0.1)


def test_spikes_do_not_change_the_curve() -> None:
    assert without_spikes([4, 9, 4, 5, 20, 6]).tolist() == [4, 4, 4, 5, 6, 6]


def test_a_capacity_beyond_the_curve_is_its_last_size() -> None:
    assert crossing([1, 2, 4], [5, 5, 5], 5, 10) == 4.0
    assert crossing([1, 2, 4], [9, 9, 9], 5, 10) == 1.0


def test_the_last_size_below_a_threshold() -> None:
    assert last_below([16, 32, 64, 128], [0, 9, 0, 7], 3.5) == 64.0
    assert last_below([16, 32], [5, 7], 3.5) is None


def test_the_steepest_rise_is_by_factor_per_octave() -> None:
    assert steepest([1, 2, 4, 16, 32, 64, 128], [10, 11, 22, 60, 60, 60, 90]) == 1
    assert steepest([1], [10]) is None


def test_a_spike_at_the_end_is_not_the_steepest_rise() -> None:
    assert steepest([1, 2, 4, 8, 16, 32, 64], [10, 10, 15, 16, 17, 18, 900]) == 1


@pytest.mark.parametrize("buffers", [10, 12, 16, 24])
def test_misses_in_flight_stop_at_the_number_of_buffers(buffers: int) -> None:
    counts = Plan(2**28, 1, 4096).counts
    gaps = noisy(np.array([600 / min(count, buffers) for count in counts]), 0.02, buffers)
    most, growing = misses_in_flight(counts, gaps)
    assert most == pytest.approx(buffers, rel=0.05) and not growing


def test_a_slow_single_chase_does_not_look_like_more_misses_in_flight() -> None:
    most, _ = misses_in_flight([1, 2, 4, 8, 16], [1300, 310, 150, 75, 60])
    assert most == pytest.approx(10)


def test_misses_that_still_grow_are_said_to() -> None:
    counts = Plan(2**28, 1, 4096).counts
    most, growing = misses_in_flight(counts, [600 / count for count in counts])
    assert most == pytest.approx(counts[-1]) and growing


@pytest.mark.parametrize("entries", [224, 352, 448, 512])
def test_the_reorder_buffer_is_where_two_misses_no_longer_overlap(entries: int) -> None:
    fillers = range(0, 769, 16)
    times = noisy(np.array([600 + count / 4 + (500 if count >= entries else 0) for count in fillers]), 0.03, entries)
    assert window([*fillers], times) == (entries - 16, entries)


def test_single_outliers_hide_no_step_of_the_reorder_buffer() -> None:
    fillers = range(0, 769, 16)
    times = noisy(np.array([600 + (600 if count >= 448 else 0) for count in fillers]), 0.03, 1, spikes=4)
    times[30] = 620
    assert window([*fillers], times) == (432, 448)


def test_without_a_step_there_is_no_reorder_buffer() -> None:
    fillers = range(0, 769, 32)
    assert window([*fillers], [600 + count for count in fillers]) is None


@pytest.mark.parametrize(
    ("value", "size"), [(91, 96), (64, 64), (70, 64), (3444, 3072), (3756, 4096), (2048.4, 2048), (1.2, 1)]
)
def test_numbers_of_entries_are_powers_of_two_or_three_times_one(value: float, size: int) -> None:
    assert nearest_size(value) == size


def test_a_memory_whose_latency_rises_slowly_is_one_level_to_the_end() -> None:
    """As where page tables leave the caches: without it the last sizes belonged to no level, and memory was none."""
    sizes = np.geomspace(4 * KIB, 2048 * MIB, 120)
    curve = np.asarray([Hierarchy().latency(size) for size in sizes])
    curve[-4:] *= [1.1, 1.22, 1.36, 1.48]
    found = plateaus(sizes, curve)
    assert len(found) == 4 and found[-1].last == len(sizes) - 1
    assert found[-1].latency == pytest.approx(600, rel=0.05)
