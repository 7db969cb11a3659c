"""The three-dimensional transforms against NumPy: the same cube, solved as often, whatever the number of ranks."""

from __future__ import annotations

from pathlib import Path

import mini_apps
import numpy as np
import pytest


def random_bits(n: np.ndarray) -> np.ndarray:
    """splitmix64, as in app.cpp."""
    with np.errstate(over="ignore"):
        z = (n + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def checksum_by_numpy(side: int, solutions: int) -> float:
    """Transform, kernel exp(-2 pi i (k + 2 l + 3 m) / side), transform back."""
    parts = random_bits(np.arange(2 * side**3, dtype=np.uint64)) >> np.uint64(11)
    cube = (parts.astype(np.float64) * 2.0**-53 - 0.5).view(np.complex128).reshape(side, side, side)
    x, y, z = np.indices(cube.shape)
    kernel = np.exp(-2j * np.pi * (x + 2 * y + 3 * z) / side)
    for _ in range(solutions):
        cube = np.fft.ifftn(kernel * np.fft.fftn(cube))
    squares = np.abs(cube) ** 2
    return float(np.sum(squares * (1 + (x + 3 * y + 5 * z) % 7)) / np.sum(squares))


@pytest.mark.parametrize("ranks", [1, 2, 3, 6, 8, 12])
@pytest.mark.parametrize("solutions", [1, 3])
def test_the_transforms_are_those_of_numpy(build_dir: Path, ranks: int, solutions: int) -> None:
    printed = mini_apps.result(build_dir, "hacc", ranks, {"elements": 600, "iterations": solutions})
    side = int(printed["side"])
    assert 0.5 * 600 * ranks < side**3 <= 600 * ranks
    assert float(printed["difference"]) < 1e-13
    assert float(printed["checksum"]) == pytest.approx(checksum_by_numpy(side, solutions), abs=2e-9)


def test_more_ranks_than_planes_is_reported_once_and_exits_2(build_dir: Path) -> None:
    error = mini_apps.error_of(build_dir, "hacc", ["--elements", "1"], ranks=3)
    assert (error["where"], error["found"]) == ("elements", "1, a side of 1")


def test_callgrind_and_the_bridge_give_the_native_checksum(build_dir: Path, tmp_path: Path) -> None:
    parameters = {"elements": 500, "iterations": 2}
    native = mini_apps.result(build_dir, "hacc", 4, parameters)["checksum"]
    assert mini_apps.under_callgrind(build_dir, "hacc", 4, parameters, tmp_path)["checksum"] == native
    assert mini_apps.as_guests(build_dir, "hacc", 4, parameters, tmp_path)["checksum"] == native
