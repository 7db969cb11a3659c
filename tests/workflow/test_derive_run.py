"""``manynode derive`` with real programs: from their runs to a skeleton, and from it to a projection."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pipeline
import pytest
import yaml

from manynode.config.loader import resolve
from manynode.errors import EngineMissingError
from manynode.markers import read_marker_directory
from manynode.paths import native_program
from phase2_nodesim.conformance import first_difference, promised_calls, recorded_calls
from phase2_nodesim.record import record_run
from phase3_sst.point.contract import Point, engine_of
from phase3_sst.point.point_experiment import PointExperiment

SPMV = {"nx": 3, "ny": 4, "nz": 5, "columns": 7, "iterations": 5, "norms": 0}
RANKS = ("--ranks", "4,8,12,18,27", "--held-out", "16")  # fewer than by default
OTHER = {"nx": 6, "ny": 5, "nz": 9, "columns": 2, "iterations": 7}  # neither recorded nor derived from


def spmv_words(values: dict[str, Any]) -> list[str]:
    return [word for name, value in values.items() for word in (f"--{name}", str(value))]


@pytest.fixture(scope="module")
def spmv(no_busy_start: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the skeleton that was derived from runs of the mini-app spmv."""
    folder = tmp_path_factory.mktemp("spmv")
    path = pipeline.write(folder, {"name": "spmv", "application": {"name": "spmv", "parameters": SPMV}})
    varied = {"nx": "5,6", "ny": "6,7", "nz": "7,8", "columns": "3,5", "iterations": "6,8"}
    words: list[Any] = [word for name, values in varied.items() for word in ("--vary", f"{name}={values}")]
    words += ["--output", folder / "spmv.skeleton.yaml", "--recordings", folder / "recordings", "--varied-ranks", 8]
    done = pipeline.manynode("derive", path, *RANKS, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def derived(folder: Path, parameters: dict[str, int]) -> dict[str, Any]:
    """The section application of an experiment with the derived skeleton."""
    placeholders = [word for name in OTHER for word in (f"--{name}", f"{{{name}}}")]
    return {
        "command": [str(native_program("spmv")), *placeholders, "--norms", "0"],
        "derived": str(folder / "spmv.skeleton.yaml"),
        "parameters": parameters,
    }


@pytest.mark.long
def test_the_report_says_what_the_skeleton_is_worth(spmv: Path) -> None:
    report = (spmv / "spmv.skeleton.md").read_text()
    assert "least-surface 3-D ascending" in report
    assert report.count("| equal |") == 2, report
    assert all(f"| {ranks} | agreed |" in report for ranks in (64, 256, 1024, 4096)), report
    content = yaml.safe_load((spmv / "spmv.skeleton.yaml").read_text())
    assert content["program"]["fixed"] == {"norms": 0}
    assert content["parameters"]["nx"] == {"default": 3, "recorded": [3, 5, 6]}
    bytes_of_faces = {item["bytes"] for item in content["body"][2]["do"] if item.get("call") == "MPI_Isend"}
    assert bytes_of_faces == {f"8 * columns * {face}" for face in ("nx * ny", "nx * nz", "ny * nz")}


def test_the_skeleton_makes_the_calls_of_a_run_that_nobody_derived_it_from(spmv: Path, tmp_path: Path) -> None:
    ranks = 36
    record_run(tmp_path / "run", [str(native_program("spmv")), *spmv_words(OTHER)], "mpich", ranks, timeout_s=300)
    content = pipeline.tiny(application=derived(spmv, OTHER), nodes=[1], ranks_per_node=1)
    parameters = resolve(content, where="test", base=tmp_path).application.parameters
    words = ["stream", "--app", "derived", "--ranks", str(ranks), "--parameters", json.dumps(parameters)]
    done = subprocess.run([native_program("manynode-skeleton"), *words], capture_output=True, text=True, check=True)
    recorded = recorded_calls(read_marker_directory(tmp_path / "run", resolve=False))
    assert first_difference(recorded, promised_calls(done.stdout)) is None


@pytest.mark.parametrize("engine", ["fast", "simgrid", "sst"])
def test_a_derived_skeleton_takes_the_time_of_the_one_written_by_hand(spmv: Path, tmp_path: Path, engine: str) -> None:
    times = {}
    by_hand = {"name": "spmv", "parameters": {**OTHER, "norms": 0}}
    for name, application in (("hand", by_hand), ("derived", derived(spmv, OTHER))):
        simulate = {"engine": engine, "replicas": 1, "preflight": {"enabled": False}}
        content = pipeline.tiny(application=application, simulate=simulate, nodes=[9], ranks_per_node=2)
        resolved = resolve(content, where="test", base=tmp_path)
        point = Point(PointExperiment.of(resolved), 9, "ext-var", None, (), seed=1)
        try:
            engine_of(resolved.simulate).simulate(point, tmp_path / name)
        except EngineMissingError as error:
            pytest.skip(f"the engine {engine} cannot be used: {error.what}")
        (replica,) = json.loads((tmp_path / name / "result.json").read_text())["replicas"]
        times[name] = (replica["makespan_s"], replica["messages"], replica["bytes"])
    assert times["derived"] == times["hand"]


def test_recordings_are_used_again_and_never_mixed(spmv: Path, tmp_path: Path) -> None:
    words = ["derive", spmv / "experiment.yaml", *RANKS, "--output", tmp_path / "again.yaml", "--recordings"]
    done = pipeline.manynode(*words, spmv / "recordings")
    assert done.returncode == 0 and "recording" not in done.stdout.split("#")[0], done.stdout + done.stderr
    other = tmp_path / "recordings"
    shutil.copytree(spmv / "recordings", other)
    shutil.rmtree(other / "ranks0008-columns7-iterations5-norms0-nx3-ny4-nz5")
    (other / "ranks0012-columns7-iterations5-norms0-nx3-ny4-nz5").rename(
        other / "ranks0008-columns7-iterations5-norms0-nx3-ny4-nz5"
    )
    done = pipeline.manynode(*words, other)
    assert done.returncode != 0 and "a recording is of another run" in done.stderr, done.stderr
    assert "ranks" in done.stderr and "found: 12" in done.stderr
    done = pipeline.manynode(*words, spmv / "recordings", "--ranks", "8", "--held-out", "")
    assert done.returncode != 0 and "numbers of ranks" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--vary", "nx=5,6", "--", "HPCG"], "a parameter to vary is not one of the program's"),
        (["--parameter", "nx=8", "--", "HPCG", "--nx", "8"], "a parameter is not in the command"),
        (["--parameter", "rank=8", "--", "HPCG", "{rank}"], "cannot be one of a derived skeleton"),
        (["--ranks", "2;4", "--", "HPCG"], "a list of whole numbers cannot be read"),
        (["--", "/bin/true"], "not a dynamically linked MPI program"),
    ],
)
def test_bad_requests_are_refused_before_anything_runs(tmp_path: Path, words: list[str], said: str) -> None:
    given = [str(native_program("hpcg")) if word == "HPCG" else word for word in words]
    done = pipeline.manynode("derive", "--recordings", tmp_path / "recordings", *given)
    assert done.returncode != 0 and said in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert not (tmp_path / "recordings").exists()


def test_a_job_smaller_than_all_recordings_is_refused(spmv: Path, tmp_path: Path) -> None:
    """A lone rank packs nothing for its neighbours, which no larger job shows."""
    path = pipeline.write(tmp_path, pipeline.tiny(application=derived(spmv, OTHER), nodes=[1, 8]))
    done = pipeline.manynode("config", "check", path)
    assert done.returncode != 0 and "no recording is smaller than 4 ranks" in done.stderr, done.stderr


def test_a_refused_number_of_ranks_does_not_start(spmv: Path, tmp_path: Path) -> None:
    content = yaml.safe_load((spmv / "spmv.skeleton.yaml").read_text())
    content["doubts"].append({"at": "body/1/when", "says": "1", "or": ["P < 8"]})
    (tmp_path / "doubtful.yaml").write_text(yaml.safe_dump(content))
    application = {**derived(spmv, OTHER), "derived": str(tmp_path / "doubtful.yaml")}
    path = pipeline.write(tmp_path, pipeline.tiny(application=application, nodes=[4, 8]))
    done = pipeline.run(path, tmp_path)
    assert done.returncode != 0 and not (tmp_path / "results" / "tiny" / "profile").exists()
    assert "do not say what the program does at this number of ranks" in done.stderr, done.stderr
    assert "8 nodes of 1 ranks" in done.stderr and "P < 8" in done.stderr
