"""The solver of fits to collectives, on functions with a known answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from phase3_sst.calibration.collective_fit.parameters import Parameter
from phase3_sst.calibration.collective_fit.solve import Simulate, solve

Array = NDArray[np.float64]

STEPS = np.array([3.0, 7.0, 3.0, 7.0, 31.0, 5.0])
KILOBYTES = np.array([1.0, 2.0, 400.0, 900.0, 4.0, 3000.0])
TRUTH = np.array([2e-6, 1.5e-7, 5e-6])


def longest_path(values: Array) -> Array:
    """Return times like those of collectives: the longer of two chains, plus one cost that none of the chains shows."""
    step, byte, _ = values
    return np.asarray(np.maximum(STEPS * step + KILOBYTES * byte, 1.2 * KILOBYTES * byte))


def each(function: object) -> Simulate:
    def simulate(vectors: Sequence[Array]) -> list[Array]:
        return [function(vector) for vector in vectors]  # type: ignore[operator]

    return simulate


def parameters(*bases: float) -> list[Parameter]:
    return [Parameter(f"p{index}", None, base, 2 * base or 1e-6) for index, base in enumerate(bases)]


def test_finds_the_parameters_and_says_what_the_data_do_not_tell() -> None:
    found = solve(each(longest_path), longest_path(TRUTH), parameters(5e-7, 5e-7, 3e-6))
    assert found.values[:2] == pytest.approx(TRUTH[:2], rel=0.02)
    assert found.simulated == pytest.approx(longest_path(TRUTH), rel=0.02)
    assert found.told[:2].min() > 0.95
    # Nothing depends on the third: it keeps its value and its uncertainty.
    assert found.values[2] == pytest.approx(3e-6)
    assert found.told[2] == pytest.approx(0, abs=1e-9)
    assert found.deviations[2] == pytest.approx(6e-6)


def test_an_outlier_does_not_move_the_rest() -> None:
    measured = longest_path(TRUTH)
    measured[1] *= 4
    found = solve(each(longest_path), measured, parameters(5e-7, 5e-7, 3e-6))
    others = np.arange(len(measured)) != 1
    assert found.simulated[others] == pytest.approx(measured[others], rel=0.08)


def test_costs_are_never_negative() -> None:
    # The second cost would have to be below 0 to explain the longest messages.
    measured = STEPS * 2e-6 * np.array([1, 1, 0.8, 0.8, 1, 0.7])
    found = solve(each(longest_path), measured, parameters(1e-6, 1e-7, 1e-6))
    assert found.values.min() >= 0
    assert found.values[1] == pytest.approx(0, abs=2e-9)


def test_what_only_a_sum_tells_is_marked_as_tied() -> None:
    def sums(values: Array) -> Array:
        return np.asarray(STEPS * (values[0] + values[1]) + 1e-9)

    found = solve(each(sums), sums(np.array([2e-6, 1e-6])), parameters(1e-6, 1e-6))
    assert found.values.sum() == pytest.approx(3e-6, rel=0.02)
    assert found.correlations[0, 1] < -0.95
