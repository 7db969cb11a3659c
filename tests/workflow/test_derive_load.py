"""``manynode derive`` with a real program whose messages depend on load: drawn sizes, from its runs to engines."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pipeline
import pytest
import yaml

from manynode.config.loader import resolve
from manynode.errors import EngineMissingError
from manynode.launch import Flavour
from manynode.process import run
from phase2_nodesim.derive.judging.compared import first_difference
from phase2_nodesim.derive.recorded.recordings import read_recording
from phase2_nodesim.derive.writing.drawn import comparison
from phase2_nodesim.record import record_run
from phase3_sst.point.contract import Point, engine_of
from phase3_sst.point.point_experiment import PointExperiment

pytestmark = pytest.mark.long

SOURCE = Path(__file__).resolve().parent.parent / "data" / "mpi" / "particles.c"
ELSEWHERE = 20  # ranks, neither recorded for the derivation nor held out


@pytest.fixture(scope="module")
def particles(no_busy_start: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program, the skeleton that was derived from it, and a recording on other ranks.

    With one MPI library: test_derived_agreement.py derives from recordings of each.
    """
    flavour: Flavour = "mpich"
    if shutil.which(f"mpicc.{flavour}") is None:
        pytest.skip(f"mpicc.{flavour} is not installed")
    folder = tmp_path_factory.mktemp("particles")
    program = folder / "particles"
    run([f"mpicc.{flavour}", "-O1", str(SOURCE), "-o", str(program)], what="mpicc", timeout_s=120)
    counts = ("--ranks", "2,4,6,8,9,12,15,16", "--held-out", "18", "--target", f"{ELSEWHERE},64,1024")
    done = pipeline.manynode(
        *("derive", "--output", folder / "particles.skeleton.yaml", "--recordings", folder / "recordings", *counts),
        *("--parameter", "iterations=6", "--vary", "iterations=8,10", "--", program, 240000, "{iterations}"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    record_run(folder / "elsewhere", [str(program), "240000", "6"], flavour, ELSEWHERE, timeout_s=300)
    return folder


def application(folder: Path, how: str) -> dict[str, Any]:
    command = [str(folder / "particles"), "240000", "6" if how == "recorded" else "{iterations}"]
    if how == "recorded":
        return {"command": command, "recorded": str(folder / "elsewhere")}
    return {
        "command": command,
        "derived": str(folder / "particles.skeleton.yaml"),
        "parameters": {"iterations": 6},
    }


def test_the_report_says_how_much_is_drawn(particles: Path) -> None:
    report = (particles / "particles.skeleton.md").read_text()
    assert "18 ranks (iterations 6) | equal" in report, report
    assert "of the bytes) have drawn sizes; volume" in report
    assert all(f"| {ranks} | agreed | sizes are drawn in" in report for ranks in (ELSEWHERE, 64)), report
    # Parts of a domain may have borders of their own, which small jobs hardly show.
    assert "| 1024 | approximate |" in report and "recordings of more ranks would decide" in report
    content = yaml.safe_load((particles / "particles.skeleton.yaml").read_text())
    assert len(content["distributions"]) == 2 and content["parameters"]["iterations"]["recorded"] == [6, 8, 10]


def test_calls_are_equal_and_sizes_near_where_nobody_derived_it_from(particles: Path) -> None:
    content = yaml.safe_load((particles / "particles.skeleton.yaml").read_text())
    recording = read_recording(particles / "elsewhere", {"iterations": 6})
    assert recording.extents == (5, 4), "the grid of MPI_Cart_create"
    assert first_difference(content, recording) is None
    found = comparison(content, recording)
    assert found is not None and abs(found.volume_error) < 0.02 and found.apart < 0.03


@pytest.mark.parametrize("engine", ["fast", "simgrid", "sst"])
def test_engines_take_nearly_the_time_of_a_replay(particles: Path, tmp_path: Path, engine: str) -> None:
    found = {}
    for how in ("derived", "recorded"):
        simulate = {"engine": engine, "replicas": 1, "preflight": {"enabled": False}}
        content = pipeline.tiny(
            application=application(particles, how), simulate=simulate, nodes=[ELSEWHERE // 2], ranks_per_node=2
        )
        resolved = resolve(content, where="test", base=tmp_path)
        point = Point(PointExperiment.of(resolved), ELSEWHERE // 2, "ext-var", None, (), seed=1)
        try:
            engine_of(resolved.simulate).simulate(point, tmp_path / how)
        except EngineMissingError as error:
            pytest.skip(f"the engine {engine} cannot be used: {error.what}")
        (found[how],) = json.loads((tmp_path / how / "result.json").read_text())["replicas"]
    ours, theirs = found["derived"], found["recorded"]
    assert ours["messages"] == theirs["messages"]
    assert ours["bytes"] == pytest.approx(theirs["bytes"], rel=0.03) and ours["bytes"] != theirs["bytes"]
    assert ours["makespan_s"] == pytest.approx(theirs["makespan_s"], rel=0.1)
