"""What the mini-app of MILC computes, however the lattice is cut and wherever the program runs."""

from __future__ import annotations

from pathlib import Path

import mini_apps
import pytest


def residuals(printed: dict[str, str]) -> list[float]:
    return [float(value) for name, value in printed.items() if name.startswith("residual")]


@pytest.mark.parametrize("third_neighbours", [0, 1])
def test_a_lattice_gives_the_same_residuals_however_it_is_cut(build_dir: Path, third_neighbours: int) -> None:
    cuts = {1: (8, 8, 8, 8), 2: (8, 8, 8, 4), 4: (8, 8, 4, 4), 8: (8, 4, 4, 4)}
    runs = {}
    for ranks, extents in cuts.items():
        lattice = dict(zip(("nx", "ny", "nz", "nt"), extents, strict=True))
        lattice |= {"iterations": 8, "third_neighbours": third_neighbours}
        runs[ranks] = mini_apps.result(build_dir, "milc", ranks, lattice, "--history")
    assert all(run["global_lattice"] == "8 8 8 8" for run in runs.values())
    expected = residuals(runs[1])
    assert len(expected) == 8
    for run in runs.values():
        assert residuals(run) == pytest.approx(expected, rel=1e-9)
        assert float(run["checksum"]) == pytest.approx(float(runs[1]["checksum"]), abs=2e-9)


@pytest.mark.parametrize("third_neighbours", [0, 1])
@pytest.mark.parametrize("ranks", [1, 3, 6])
def test_the_solver_converges_to_a_solution(build_dir: Path, ranks: int, third_neighbours: int) -> None:
    """The residual, computed again, is the recurrence's, and falls by ten orders of magnitude."""
    lattice = {"nx": 4, "ny": 4, "nz": 6, "nt": 4, "third_neighbours": third_neighbours}
    printed = mini_apps.result(build_dir, "milc", ranks, lattice | {"iterations": 10})
    assert float(printed["true_residual"]) == pytest.approx(float(printed["final_residual"]), rel=1e-5)
    converged = mini_apps.result(build_dir, "milc", ranks, lattice | {"iterations": 80})
    assert float(converged["true_residual"]) < 1e-10


def test_links_are_unitary_and_third_neighbours_are_another_operator(build_dir: Path) -> None:
    first, third = (mini_apps.result(build_dir, "milc", 2, {"third_neighbours": third}) for third in (0, 1))
    assert float(first["unitarity_defect"]) < 1e-14 and float(third["unitarity_defect"]) < 1e-14
    assert first["checksum"] != third["checksum"]


@pytest.mark.parametrize(
    ("words", "where", "found"),
    [
        (["--ny", "5"], "ny", "5"),
        (["--nt", "2", "--third_neighbours", "1"], "nt", "2"),
        (["--mass", "0"], "mass", "0"),
        (["--third_neighbours", "2"], "third_neighbours", "2"),
        (["--naik", "1"], "command line", "naik"),
        (["--nx", "1024", "--ny", "1024", "--nz", "1024"], "nx, ny, nz, nt", "6442450944 sites"),
    ],
)
def test_a_wrong_option_is_reported_once_and_exits_2(build_dir: Path, words: list[str], where: str, found: str) -> None:
    error = mini_apps.error_of(build_dir, "milc", words)
    assert (error["where"], error["found"]) == (where, found)


def test_callgrind_and_the_bridge_give_the_native_checksum(build_dir: Path, tmp_path: Path) -> None:
    lattice = {"nx": 4, "ny": 4, "nz": 4, "nt": 4, "iterations": 5, "third_neighbours": 1}
    native = mini_apps.result(build_dir, "milc", 4, lattice)["checksum"]
    assert mini_apps.under_callgrind(build_dir, "milc", 4, lattice, tmp_path)["checksum"] == native
    assert mini_apps.as_guests(build_dir, "milc", 4, lattice, tmp_path)["checksum"] == native
