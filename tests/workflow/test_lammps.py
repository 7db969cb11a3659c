"""Molecular dynamics against NumPy: all pairs of a periodic box, and the same box however it is cut."""

from __future__ import annotations

from pathlib import Path

import mini_apps
import numpy as np
import pytest

SIDE = (4 / 0.8442) ** (1 / 3)
CUTOFF, STEP = 2.5, 0.005
WORDS = ("first_energy", "last_energy", "temperature", "checksum")


def random_numbers(keys: np.ndarray) -> np.ndarray:
    """splitmix64, as in app_atoms.cpp."""
    with np.errstate(over="ignore"):
        z = (keys + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return ((z >> np.uint64(11)).astype(np.float64) + 0.5) / 2.0**52 - 1


def forces(positions: np.ndarray, box: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the forces and the energy of all pairs with their nearest images; the potential is shifted."""
    apart = positions[:, None] - positions[None, :]
    apart -= box * np.round(apart / box)
    squared = np.sum(apart**2, axis=2)
    np.fill_diagonal(squared, np.inf)
    near = squared < CUTOFF**2
    inverse6 = np.where(near, squared, np.inf) ** -3.0
    force = np.sum((48 * inverse6 * (inverse6 - 0.5) / squared)[:, :, None] * apart, axis=1)
    shift = 4 * (CUTOFF**-12 - CUTOFF**-6)
    return force, float(np.sum(4 * inverse6 * (inverse6 - 1) - shift * near) / 2)


def by_numpy(cells: tuple[int, int, int], temperature: float, steps: int) -> dict[str, float]:
    basis = np.array([[0.25, 0.25, 0.25], [0.25, 0.75, 0.75], [0.75, 0.25, 0.75], [0.75, 0.75, 0.25]])
    z, y, x = np.indices(cells[::-1])
    corners = np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1)
    positions = ((corners[:, None] + basis) * SIDE).reshape(-1, 3)
    box, atoms = np.array(cells) * SIDE, len(positions)
    velocities = random_numbers(np.arange(3 * atoms, dtype=np.uint64)).reshape(-1, 3)
    velocities -= velocities.mean(axis=0)
    velocities *= np.sqrt(3 * atoms * temperature / np.sum(velocities**2))
    force, potential = forces(positions, box)
    first = potential + 0.5 * np.sum(velocities**2)
    for _ in range(steps):
        velocities += 0.5 * STEP * force
        positions += STEP * velocities
        force, potential = forces(positions, box)
        velocities += 0.5 * STEP * force
    squares = np.sum(velocities**2, axis=1)
    weights = 1 + np.arange(atoms) % 7
    found = (
        first / atoms,
        (potential + 0.5 * np.sum(squares)) / atoms,
        np.sum(squares) / (3 * atoms),
        np.sum(weights * squares) / np.sum(weights),
    )
    return dict(zip(WORDS, map(float, found), strict=True))


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_atoms_move_as_all_pairs_of_them_make_them_move(build_dir: Path, ranks: int) -> None:
    """Also with neighbour lists that are built in between, at other steps than those with sums."""
    cut = {1: (4, 4, 4), 2: (4, 4, 2), 4: (4, 2, 2)}[ranks]
    parameters = dict(zip(("nx", "ny", "nz"), cut, strict=True)) | {"iterations": 12, "every": 5, "thermo_every": 3}
    printed = mini_apps.result(build_dir, "lammps", ranks, parameters)
    expected = by_numpy((4, 4, 4), 1.44, 12)
    assert {word: float(printed[word]) for word in WORDS} == pytest.approx(expected, abs=5e-9)


def test_a_box_gives_the_same_however_it_is_cut(build_dir: Path) -> None:
    """Long enough for atoms to move to other ranks, along axes with one, two and three ranks."""
    cuts = {1: (6, 4, 6), 3: (6, 4, 2), 4: (6, 2, 3), 12: (3, 2, 2)}
    runs = {
        ranks: mini_apps.result(
            build_dir, "lammps", ranks, dict(zip(("nx", "ny", "nz"), cut, strict=True)) | {"iterations": 120}
        )
        for ranks, cut in cuts.items()
    }
    assert [run["process_grid"] for run in runs.values()] == ["1 1 1", "1 1 3", "1 2 2", "2 2 3"]
    for run in runs.values():
        assert run["atoms"] == "576"
        for word in WORDS:
            assert float(run[word]) == pytest.approx(float(runs[1][word]), abs=1e-6), word
        assert float(run["last_energy"]) == pytest.approx(float(run["first_energy"]), abs=2e-3)
        assert float(run["momentum"]) < 1e-12


@pytest.mark.parametrize(
    ("words", "where", "found"),
    [
        (["--nx", "1"], "nx", "1"),
        (["--reductions", "7"], "reductions", "7"),
        (["--every", "0"], "every", "0"),
        (["--newton", "on"], "command line", "newton"),
    ],
)
def test_a_wrong_option_is_reported_once_and_exits_2(build_dir: Path, words: list[str], where: str, found: str) -> None:
    error = mini_apps.error_of(build_dir, "lammps", words)
    assert (error["where"], error["found"]) == (where, found)


def test_callgrind_and_the_bridge_give_the_native_checksum(build_dir: Path, tmp_path: Path) -> None:
    box = {"nx": 2, "ny": 2, "nz": 2, "iterations": 6, "every": 3}
    native = mini_apps.result(build_dir, "lammps", 4, box)["checksum"]
    assert mini_apps.under_callgrind(build_dir, "lammps", 4, box, tmp_path)["checksum"] == native
    assert mini_apps.as_guests(build_dir, "lammps", 4, box, tmp_path)["checksum"] == native
