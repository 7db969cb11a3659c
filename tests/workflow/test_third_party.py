"""An MPI program that others built: profiled, clustered and its compute phases named, from start to end, unchanged.

NetPIPE as Debian packages it, for MPICH and for Open MPI: stripped binaries, no sources, no debug symbols.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pipeline
import pytest
import yaml

from manynode import tables
from manynode.rank_classes import read_rank_classes
from manynode.timing_profile import read_timing_profile

pytestmark = pytest.mark.long

PROGRAMS = {"mpich": "NPmpich2", "openmpi": "NPopenmpi"}


@pytest.mark.parametrize("mpi", PROGRAMS)
def test_a_program_as_its_package_installs_it_is_profiled_to_a_report(mpi: str, tmp_path: Path) -> None:
    program = shutil.which(PROGRAMS[mpi])
    if program is None:
        pytest.skip(f"{PROGRAMS[mpi]} (NetPIPE for {mpi}) is not installed")
    made = pipeline.manynode(
        *("config", "new", "--name", f"netpipe-{mpi}", "--ranks-per-node", 1, "--nodes", "2", "--"),
        *(program, "-u", "64", "-n", "2", "-o", tmp_path / "np.out"),
    )
    assert made.returncode == 0, made.stderr
    content = yaml.safe_load(made.stdout)
    content["profile"] |= {"source": pipeline.source(), "repetitions": 1}
    experiment = pipeline.write(tmp_path, content)
    done = pipeline.run(experiment, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr

    results = tmp_path / "results" / f"netpipe-{mpi}"
    classes = read_rank_classes(results / "profile" / "rank-classes.json")
    assert set(classes["rank_class"]) == {"0", "1"}
    segments = tables.read_table(results / "nodesim" / "ext" / "segments.parquet", "segments/1")
    names = set(segments["phase"])
    assert any("MPI_Send@" in name and " -> MPI_Recv@" in name for name in names), sorted(names)
    # Stripped: a call site is the program's name and an offset that a debugger understands.
    assert all(f"@{PROGRAMS[mpi]}+0x" in name for name in names if "->" in name), sorted(names)
    profile = read_timing_profile(results / "nodesim" / "timing-profile-ext.json")
    assert {phase.name for phase in profile.classes[0].phases} <= names
    page = (results / "report.html").read_text()
    assert "NetPIPE" in page or PROGRAMS[mpi] in page
    assert not (results / "projection.parquet").exists()


def test_phases_of_a_program_with_symbols_are_named_by_function_and_line(finished: Path) -> None:
    segments = pd.read_parquet(finished / "nodesim" / "ext" / "segments.parquet")
    unnamed = segments.loc[~segments["labelled"], "phase"].unique()
    assert any("app_matrix.cpp:" in name and "exchange_halo" in name for name in unnamed), list(unnamed)
