"""What the mini-app of SNAP computes, however the mesh is cut and wherever the program runs."""

from __future__ import annotations

import itertools
from pathlib import Path

import mini_apps
import pytest

MESH = {"nx": 24, "chunk": 6, "angles": 5, "groups": 3, "outers": 4, "inners": 2}


def changes(printed: dict[str, str]) -> list[list[float]]:
    """The changes of each outer iteration: within the group, and since the last outer one."""
    return [[float(word) for word in value.split()] for name, value in printed.items() if name.startswith("change")]


def test_a_mesh_gives_the_same_fluxes_however_it_is_cut(build_dir: Path) -> None:
    """Sweeps do not depend on the cut to the last bit; only the checksum's additions have another order."""
    cuts = {1: (8, 8), 2: (4, 8), 4: (4, 4), 8: (2, 4)}
    runs = {
        ranks: mini_apps.result(build_dir, "snap", ranks, MESH | {"ny": ny, "nz": nz}, "--history")
        for ranks, (ny, nz) in cuts.items()
    }
    assert all(run["global_mesh"] == "24 8 8" for run in runs.values())
    assert len(changes(runs[1])) == 4
    for run in runs.values():
        assert changes(run) == changes(runs[1])
        assert run["fixups_per_crossing"] == runs[1]["fixups_per_crossing"]
        assert float(run["checksum"]) == pytest.approx(float(runs[1]["checksum"]), rel=1e-8)


def test_the_length_of_chunks_changes_nothing(build_dir: Path) -> None:
    mesh = MESH | {"ny": 3, "nz": 2}
    runs = [mini_apps.result(build_dir, "snap", 6, mesh | {"chunk": chunk}, "--history") for chunk in (1, 8, 24)]
    for run in runs[1:]:
        assert changes(run) == changes(runs[0])
        assert run["checksum"] == runs[0]["checksum"]


@pytest.mark.parametrize("ranks", [1, 3, 6])
def test_particles_balance_and_negative_fluxes_are_mended(build_dir: Path, ranks: int) -> None:
    printed = mini_apps.result(build_dir, "snap", ranks, MESH | {"ny": 2, "nz": 3})
    assert abs(float(printed["balance"])) < 1e-12
    assert 0 < float(printed["leakage"]) < 1
    assert float(printed["fixups_per_crossing"]) > 0.01
    assert printed["negative_fluxes"] == "0"


def test_the_iterations_converge(build_dir: Path) -> None:
    printed = mini_apps.result(build_dir, "snap", 2, MESH | {"ny": 4, "nz": 4, "outers": 12}, "--history")
    outer = [change[1] for change in changes(printed)][1:]  # the first is from nothing
    assert all(later < earlier for earlier, later in itertools.pairwise(outer))
    assert outer[-1] < 1e-5


@pytest.mark.parametrize(
    ("words", "where", "found"),
    [
        (["--nx", "10", "--chunk", "4"], "chunk", "4"),
        (["--angles", "0"], "angles", "0"),
        (["--groups", "many"], "groups", "many"),
        (["--iterations", "1"], "command line", "iterations"),
        (["--nx", "16384", "--ny", "16384", "--chunk", "1"], "nx, ny, nz, groups", "1073741824 cells, 4 groups"),
    ],
)
def test_a_wrong_option_is_reported_once_and_exits_2(build_dir: Path, words: list[str], where: str, found: str) -> None:
    error = mini_apps.error_of(build_dir, "snap", words)
    assert (error["where"], error["found"]) == (where, found)


def test_callgrind_and_the_bridge_give_the_native_checksum(build_dir: Path, tmp_path: Path) -> None:
    mesh = MESH | {"ny": 2, "nz": 2, "outers": 1}
    native = mini_apps.result(build_dir, "snap", 4, mesh)["checksum"]
    assert mini_apps.under_callgrind(build_dir, "snap", 4, mesh, tmp_path)["checksum"] == native
    assert mini_apps.as_guests(build_dir, "snap", 4, mesh, tmp_path)["checksum"] == native
