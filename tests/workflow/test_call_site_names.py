"""Call sites of a C++ program with long names, with and without debug information: no mangled name reaches people."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from manynode.markers import read_marker_directory
from manynode.phase_names import short_names
from manynode.process import run
from phase2_nodesim.segments import segment_table

SOURCE = Path(__file__).resolve().parent.parent / "data" / "mpi" / "cxx_names.cpp"
BUILD = Path(os.environ.get("MANYNODE_BUILD_DIR", Path(__file__).resolve().parents[2] / "build"))
LIBRARY = BUILD / "lib" / "libmanynode_markers_mpich.so"

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("mpicxx.mpich", "mpiexec.mpich", "addr2line", "c++filt", "readelf"))),
    reason="MPICH or binutils is not installed",
)


def phases(folder: Path, *options: str) -> list[str]:
    """Compile the program with ``options``, run it on two ranks and return the names of its compute phases."""
    if not LIBRARY.exists():
        pytest.skip(f"{LIBRARY} is not built")
    program, markers = folder / "names", folder / "markers"
    markers.mkdir()
    run(["mpicxx.mpich", "-O1", "-std=c++17", *options, "-o", program, SOURCE], what="compiling")
    words = ["env", f"LD_PRELOAD={LIBRARY}", f"MANYNODE_MARKERS_DIR={markers}", program]
    run(["mpiexec.mpich", "-n", "2", *words], what="an MPI program", timeout_s=120)
    table = segment_table(read_marker_directory(markers)[0].records)
    return list(dict.fromkeys(table["phase"]))


@pytest.mark.parametrize(
    ("options", "place"),
    [(["-g"], "cxx_names.cpp:"), (["-rdynamic"], "+0x"), ([], "names+0x"), (["-s", "-rdynamic"], "+0x")],
    ids=["debug information", "dynamic symbols", "symbol table", "dynamic symbols alone"],
)
def test_names_are_demangled_short_and_distinct(tmp_path: Path, options: list[str], place: str) -> None:
    found = phases(tmp_path, *options)
    assert not [name for name in found if "_Z" in name]
    assert all(place in name for name in found)
    assert any("exchange_ghost_particles" in name for name in found)
    shown = short_names(found)
    assert len(set(shown.values())) == len(found)
    assert max(map(len, shown.values())) <= 84
    assert not [text for text in shown.values() if "particle_dynamics_framework" in text]
    assert all(" → " in text for text in shown.values())


def test_a_stripped_program_has_no_functions_rather_than_wrong_ones(tmp_path: Path) -> None:
    found = phases(tmp_path, "-s")
    assert all(name.count("names+0x") == 2 and "exchange" not in name for name in found)
    shown = short_names(found)
    # The name of the program, which all share, is dropped.
    assert len(set(shown.values())) == len(found) and not [text for text in shown.values() if "names" in text]
