"""Sparse matrix times multivector against SciPy, whatever the number of ranks."""

from __future__ import annotations

from pathlib import Path

import mini_apps
import numpy as np
import pytest
from scipy import sparse


def random_numbers(keys: np.ndarray) -> np.ndarray:
    """splitmix64, as in app.cpp."""
    with np.errstate(over="ignore"):
        z = (keys + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return ((z >> np.uint64(11)).astype(np.float64) + 0.5) / 2.0**52 - 1


def checksum_by_scipy(grid: list[int], columns: int, products: int) -> float:
    """The checksum of this number of products; axes of arrays are x, y, z, column."""
    one = [sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n)) for n in grid]
    eyes = [sparse.eye_array(n) for n in grid]
    matrix = sum(
        sparse.kron(sparse.kron(*(one[a] if a == axis else eyes[a] for a in (0, 1))), one[2] if axis == 2 else eyes[2])
        for axis in range(3)
    )
    x, y, z, column = np.indices((*grid, columns))
    key = ((column * grid[0] + x) * grid[1] + y) * grid[2] + z
    vectors = random_numbers(key.astype(np.uint64)).reshape(-1, columns)
    largest = sum(2 + 2 * np.cos(np.pi / (n + 1)) for n in grid)
    for _ in range(products):
        vectors = matrix @ vectors / largest
    weights = 1 + (x + 3 * y + 5 * z + column) % 7
    return float(np.sum(weights * vectors.reshape(weights.shape) ** 2) / np.sum(weights))


@pytest.mark.parametrize("norms", [0, 1])
@pytest.mark.parametrize("ranks", [1, 2, 3, 8, 12])
def test_the_product_is_that_of_scipy(build_dir: Path, ranks: int, norms: int) -> None:
    parameters = {"nx": 3, "ny": 2, "nz": 4, "columns": 5, "iterations": 9, "norms": norms}
    printed = mini_apps.result(build_dir, "spmv", ranks, parameters)
    grid = list(map(int, printed["global_grid"].split()))
    assert np.prod(grid) == 24 * ranks
    assert float(printed["difference"]) < 1e-12
    assert float(printed["checksum"]) == pytest.approx(checksum_by_scipy(grid, 5, 9), abs=2e-9)


@pytest.mark.parametrize(
    ("words", "where", "found"),
    [
        (["--columns", "0"], "columns", "0"),
        (["--nx", "1024", "--ny", "1024"], "nx, ny, nz, columns", "524288000 doubles"),
        (["--nnz", "7"], "command line", "nnz"),
    ],
)
def test_a_wrong_option_is_reported_once_and_exits_2(build_dir: Path, words: list[str], where: str, found: str) -> None:
    error = mini_apps.error_of(build_dir, "spmv", words)
    assert (error["where"], error["found"]) == (where, found)


def test_callgrind_and_the_bridge_give_the_native_checksum(build_dir: Path, tmp_path: Path) -> None:
    parameters = {"columns": 4, "iterations": 5}
    native = mini_apps.result(build_dir, "spmv", 4, parameters)["checksum"]
    assert mini_apps.under_callgrind(build_dir, "spmv", 4, parameters, tmp_path)["checksum"] == native
    assert mini_apps.as_guests(build_dir, "spmv", 4, parameters, tmp_path)["checksum"] == native
