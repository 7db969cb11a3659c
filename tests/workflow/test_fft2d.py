"""FFT2d against NumPy: the same matrix, transformed as often, whatever the number of ranks it is dealt to."""

from __future__ import annotations

from pathlib import Path

import mini_apps
import numpy as np
import pytest


def random_bits(n: np.ndarray) -> np.ndarray:
    """splitmix64, as in app_input.hpp."""
    with np.errstate(over="ignore"):
        z = (n + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def checksum_by_numpy(rows: int, columns: int, transforms: int) -> float:
    parts = random_bits(np.arange(2 * rows * columns, dtype=np.uint64)) >> np.uint64(11)
    matrix = (parts.astype(np.float64) * 2.0**-53 - 0.5).view(np.complex128).reshape(rows, columns)
    for _ in range(transforms):
        matrix = np.fft.fft2(matrix, norm="ortho")
    row, column = np.indices(matrix.shape)
    squares = np.abs(matrix) ** 2
    return float(np.sum(squares * (1 + (3 * row + 5 * column) % 7)) / np.sum(squares))


@pytest.mark.parametrize("ranks", [1, 2, 3, 5, 8, 12])
@pytest.mark.parametrize("transforms", [1, 2, 3, 4])
def test_the_transform_is_that_of_numpy(build_dir: Path, ranks: int, transforms: int) -> None:
    printed = mini_apps.result(build_dir, "fft2d", ranks, {"elements": 720, "iterations": transforms})
    rows, columns = map(int, printed["matrix"].split())
    assert rows * columns == 720 * ranks
    assert float(printed["direct_difference"]) < 1e-14
    assert float(printed["checksum"]) == pytest.approx(checksum_by_numpy(rows, columns, transforms), abs=2e-9)


def test_more_ranks_than_elements_is_reported_once_and_exits_2(build_dir: Path) -> None:
    error = mini_apps.error_of(build_dir, "fft2d", ["--elements", "2"], ranks=3)
    assert (error["where"], error["found"]) == ("elements", "2")
