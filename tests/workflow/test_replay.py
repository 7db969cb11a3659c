"""Recorded runs of small programs, replayed: the same calls as the program's, on every engine."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pipeline
import pytest

from manynode.config.loader import resolve
from manynode.config.resolved import Resolved
from manynode.errors import EngineMissingError, ManynodeError
from manynode.markers import read_marker_directory
from manynode.paths import native_program
from manynode.process import run
from phase2_nodesim.conformance import END, first_difference, promised_calls, recorded_calls
from phase2_nodesim.record import record_run
from phase3_sst.point.contract import Point, engine_of
from phase3_sst.point.point_experiment import PointExperiment

SOURCES = Path(__file__).resolve().parent.parent / "data" / "mpi"
NETWORK = {
    "name": "small",
    "topology": {"kind": "fat-tree", "children": [2, 3], "parents": [1, 2], "parallel_links": [1, 1]},
}
# Program -> compiler and ranks.
PROGRAMS = {"skeleton_calls.c": ("mpicc", 6), "requests.c": ("mpicc", 2), "fortran_use_mpi_f08.f90": ("mpifort", 2)}


class Recorded:
    """A compiled program and the folder of its recorded run."""

    def __init__(self, flavour: str, source: str, folder: Path) -> None:
        compiler, self.ranks = PROGRAMS[source]
        compiler = f"{compiler}.{flavour}"
        if shutil.which(compiler) is None:
            pytest.skip(f"{compiler} is not installed")
        self.program = folder / "program"
        run([compiler, "-g", "-w", "-o", self.program, SOURCES / source], what=f"compiling {source}")
        self.folder = folder / "recording"
        record_run(self.folder, [str(self.program)], flavour, self.ranks, timeout_s=180)  # type: ignore[arg-type]

    def experiment(self, **changes: Any) -> Resolved:
        application = {"command": [str(self.program)], "recorded": str(self.folder)}
        content = pipeline.tiny(application=application, network=NETWORK, nodes=[self.ranks // 2], **changes)
        return resolve({**content, "ranks_per_node": 2}, where="test", base=self.folder)


@pytest.fixture(
    scope="module", params=[(flavour, source) for flavour in ("mpich", "openmpi") for source in PROGRAMS], ids=str
)
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    flavour, source = request.param
    return Recorded(flavour, source, tmp_path_factory.mktemp("recorded"))


def test_the_replay_makes_the_calls_of_the_run(recorded: Recorded) -> None:
    parameters = recorded.experiment().application.parameters
    words = ["stream", "--app", "recorded", "--ranks", str(recorded.ranks), "--parameters", json.dumps(parameters)]
    done = subprocess.run(
        [native_program("manynode-skeleton"), *words], capture_output=True, text=True, timeout=300, check=True
    )
    replayed = promised_calls(done.stdout)
    # Phases between two call sites have no label.
    replayed["phase"] = ["" if " -> " in phases else phases for phases in replayed["phase"]]
    files = read_marker_directory(recorded.folder)
    run = recorded_calls(files)
    for file in files:  # the replay keeps to the sources that the run's receives matched
        wild = file.records[file.records["any_source"]]
        assert (wild["peer"] >= 0).all() and (wild["peer2"] != -2).all()
    both = (run["peer"] == -2) | (run["peer2"] == -2)
    for column in ("peer", "peer2"):
        run.loc[both, column] = replayed.loc[both, column]
    assert first_difference(run, replayed) is None


def _as_counted(operation: str) -> str:
    """Return the operation under which engines count: a collective's non-blocking form is the collective."""
    if operation.startswith("MPI_I") and operation not in ("MPI_Isend", "MPI_Irecv"):
        return f"MPI_{operation[5:].capitalize()}"
    return operation


@pytest.mark.parametrize("engine", ["fast", "simgrid", "sst"])
def test_every_engine_makes_every_call_of_the_run(recorded: Recorded, engine: str, tmp_path: Path) -> None:
    resolved = recorded.experiment(simulate={"engine": engine, "replicas": 1, "preflight": {"enabled": False}})
    point = Point(PointExperiment.of(resolved), resolved.nodes[0], "ext-var", None, (), seed=1)
    try:
        simulator = engine_of(resolved.simulate)
        simulator.simulate(point, tmp_path)
    except EngineMissingError as error:
        pytest.skip(f"the engine {engine} cannot be used: {error.what}")
    times = pd.read_parquet(tmp_path / "ranks.parquet")
    times = times[(times["operation"] != "compute") & (times["calls"] > 0)]
    made = {(row.rank, row.operation): row.calls for row in times.itertuples()}
    run = recorded_calls(read_marker_directory(recorded.folder, resolve=False))
    run = run[run["operation"] != END]
    assert made == Counter(zip(run["rank"], map(_as_counted, run["operation"]), strict=True))
    (replica,) = json.loads((tmp_path / "result.json").read_text())["replicas"]
    assert replica["messages"] > 0 and replica["makespan_s"] > 0


def test_the_recorded_programs_have_every_call_of_skeletons() -> None:
    declared = (pipeline.ROOT / "skeletons/include/manynode/call.hpp").read_text()
    names = set(re.findall(r'"MPI_(\w+)",', declared))
    assert len(names) > 30
    one_sided = set(re.findall(r"MPI_(\w+)\(", (SOURCES / "one_sided.c").read_text()))
    windows = {name for name in names if name.startswith("Win_")} | {"Put", "Get", "Accumulate", "Get_accumulate"}
    assert windows <= one_sided and {"Rput", "Rget", "Raccumulate", "Rget_accumulate"} <= one_sided
    names -= windows
    program = (SOURCES / "skeleton_calls.c").read_text()
    called = set(re.findall(r"MPI_(\w+)\(", program))
    messages = {"Send", "Isend", "Recv", "Irecv", "Sendrecv", "Wait", "Waitall", "Waitany", "Waitsome"}
    assert messages <= names <= called
    assert {f"I{name[0].lower()}{name[1:]}" for name in names - messages} <= called


def test_a_recording_is_replayed_at_its_own_number_of_ranks(recorded: Recorded) -> None:
    resolved = recorded.experiment(simulate={"engine": "fast", "replicas": 1})
    point = Point(PointExperiment.of(resolved), resolved.nodes[0] + 1, "ext-var", None, (), seed=1)
    with pytest.raises(ManynodeError, match="at its own number of ranks") as raised:
        engine_of(resolved.simulate).simulate(point, recorded.folder / "never")
    assert raised.value.found == str(recorded.ranks + 2) and raised.value.allowed == str(recorded.ranks)


@pytest.mark.parametrize("engine", ["fast", "simgrid"])
def test_a_replay_takes_the_time_of_the_skeleton(tmp_path: Path, engine: str) -> None:
    """Without compute times, HPCG's skeleton and the replay of its run are the same to an engine."""
    parameters = {"nx": 8, "ny": 8, "nz": 8, "levels": 3, "iterations": 4}
    program = native_program("hpcg")
    words = [word for name, value in parameters.items() for word in (f"--{name}", str(value))]
    record_run(tmp_path / "run", [str(program), *words], "mpich", 8, timeout_s=180)
    applications = {
        "skeleton": {"name": "hpcg", "parameters": parameters},
        "replay": {"command": [str(program), *words], "recorded": str(tmp_path / "run")},
    }
    times = {}
    for name, application in applications.items():
        simulate = {"engine": engine, "replicas": 1, "preflight": {"enabled": False}}
        content = pipeline.tiny(application=application, simulate=simulate, nodes=[4], ranks_per_node=2)
        resolved = resolve(content, where="test", base=tmp_path)
        point = Point(PointExperiment.of(resolved), 4, "ext-var", None, (), seed=1)
        engine_of(resolved.simulate).simulate(point, tmp_path / name)
        (replica,) = json.loads((tmp_path / name / "result.json").read_text())["replicas"]
        times[name] = (replica["makespan_s"], replica["messages"], replica["bytes"])
    assert times["replay"] == times["skeleton"]


@pytest.mark.long
def test_an_experiment_projects_a_recorded_run(tmp_path: Path) -> None:
    words = ["--nx", "8", "--ny", "8", "--nz", "8", "--levels", "3", "--iterations", "8"]
    command = [str(native_program("hpcg")), *words]
    done = pipeline.manynode("record", tmp_path / "run", "--ranks", 4, "--", *command)
    assert done.returncode == 0, done.stderr
    # Two of the four ranks have other neighbours than ranks of a job of two: the measured job is the recorded one.
    sections = pipeline.tiny()
    measured = {key: {**sections[key], "nodes": nodes} for key, nodes in (("profile", [4]), ("nodesim", 4))}
    application = {"command": command, "recorded": "run"}
    experiment = pipeline.tiny(application=application, nodes=[4], techniques=["ext-var"], **measured)
    done = pipeline.run(pipeline.write(tmp_path, experiment), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    results = tmp_path / "results" / "tiny"
    breakdown = pd.read_parquet(results / "breakdown.parquet")
    assert {"MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Allreduce"} <= set(breakdown["operation"])
    assert "hpcg (recorded)" in (results / "report.html").read_text()


def test_a_run_that_fails_leaves_no_recording_and_an_old_one_stays(tmp_path: Path) -> None:
    hpcg = str(native_program("hpcg"))
    done = pipeline.manynode("record", tmp_path / "run", "--ranks", 2, "--", hpcg, "--nx", "0")
    assert done.returncode != 0 and "nx" in done.stderr and "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []
    (tmp_path / "run").mkdir()
    done = pipeline.manynode("record", tmp_path / "run", "--ranks", 2, "--", hpcg)
    assert done.returncode != 0 and "exists already" in done.stderr
    done = pipeline.manynode("record", tmp_path / "other", "--ranks", 2, "--", "/bin/true")
    assert done.returncode != 0 and "not a dynamically linked MPI program" in done.stderr
