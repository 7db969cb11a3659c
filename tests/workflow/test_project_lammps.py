"""``manynode project`` with the LAMMPS of a package: an unmodified program whose messages depend on load."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pipeline
import pytest
import yaml

from manynode.launch import detect_mpi
from manynode.paths import ROOT
from phase2_nodesim.derive.judging.compared import first_difference
from phase2_nodesim.derive.recorded.recordings import read_recording
from phase2_nodesim.derive.writing.drawn import comparison
from phase2_nodesim.record import record_run

INPUT = ROOT / "docs" / "examples" / "lammps" / "weak.lj"


def test_the_packaged_lammps_comes_to_a_projection_by_one_command(tmp_path: Path) -> None:
    lammps = shutil.which("lmp")
    if lammps is None:
        pytest.skip("lmp is not installed (the package lammps)")
    if detect_mpi(lammps) != "openmpi":
        pytest.skip("the input asks Open MPI for the number of ranks")
    command = [lammps, "-in", INPUT, "-log", "none", "-screen", "none"]
    done = pipeline.manynode(
        *("project", "--output", tmp_path / "lmp.yaml", "--directory", tmp_path, "--nodes", "1..64"),
        *("--ranks-per-node", 4, "--network", "opa100-fat-tree", "--node-engine", "native", "--cores", 2),
        *("--", *command),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Weak scaling" in done.stdout and "not projected" not in done.stdout, done.stdout
    projection = pd.read_parquet(tmp_path / "results" / "lmp" / "projection.parquet")
    assert sorted(projection["nodes"]) == [1, 2, 4, 8, 16, 32, 64] and (projection["time_s"] > 0).all()
    # A run of as many ranks as nobody derived it from.
    record_run(tmp_path / "elsewhere", [str(word) for word in command], "openmpi", 64, timeout_s=300)
    content = yaml.safe_load((tmp_path / "lmp.skeleton.yaml").read_text())
    elsewhere = read_recording(tmp_path / "elsewhere", {})
    assert first_difference(content, elsewhere) is None
    found = comparison(content, elsewhere)
    assert found is not None and abs(found.volume_error) < 0.005
