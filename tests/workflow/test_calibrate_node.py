"""``manynode calibrate-node`` on this host, in quick trials; its microbenchmarks under the engines of phase 2."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import mini_apps
import pandas as pd
import pytest
import yaml

from manynode.config.experiment import NodesimSection
from manynode.config.machine import Machine
from manynode.markers import read_marker_directory
from phase2_nodesim.bridge.job import BridgedJob, run_bridged_job
from phase2_nodesim.calibration.host import read_host
from phase2_nodesim.calibration.in_engine import series_of_segments, words
from phase2_nodesim.calibration.measurements import last_level_inclusive, read_lines
from phase2_nodesim.calibration.plan import CLOCK, plan_for, task
from phase2_nodesim.engines._interface import ENGINES, NodeJob, NodeRun

PROGRAM = "manynode-microbenchmarks"
LIMIT_S = 300.0
TASKS = [
    *("chase", "bytes=65536", "operations=20000"),
    *("chase", "bytes=65536", "chains=4", "operations=20000"),
    *("pages", "count=100", "operations=20000"),
    *("stream", "kernel=copy", "bytes=65536", "operations=9000"),
    *("integer", "kind=divide", "operations=20000"),
    *("float", "kind=mix", "chains=4", "operations=20000"),
    *("ports", "kind=store", "operations=20000"),
    *("width", "operations=20000"),
    *("branch", "pattern=random", "operations=12800"),
    *("window", "kind=load", "fillers=64", "bytes=1048576", "operations=100"),
    *("walk", "order=uneven", "bytes=1048576", "operations=20000"),
]
LABELS = [
    "chase bytes=65536",
    "chase bytes=65536 chains=4",
    "pages count=100",
    "stream kernel=copy bytes=65536",
    "integer kind=divide",
    "float kind=mix chains=4",
    "ports kind=store",
    "width",
    "branch pattern=random",
    "window kind=load fillers=64 bytes=1048576",
    "walk order=uneven bytes=1048576",
]


def calibrate(folder: Path, *words: str) -> subprocess.CompletedProcess:
    """Run the command in ``folder``."""
    command = [sys.executable, "-m", "manynode", "calibrate-node", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=False)


def run(program: Path, *words: str) -> subprocess.CompletedProcess:
    """Run a program of microbenchmarks."""
    return subprocess.run([program, *words], capture_output=True, text=True, timeout=LIMIT_S, check=False)


@pytest.fixture(scope="module")
def trial(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The file of a quick trial, and what the command printed."""
    mini_apps.program(build_dir, PROGRAM)
    folder = tmp_path_factory.mktemp("trial")
    done = calibrate(folder, "this-host.yaml", "--quick", "--rounds", "2", "--base", "broadwell")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "this-host.yaml", done.stdout


def test_the_file_is_a_valid_machine_of_this_host(trial: tuple[Path, str]) -> None:
    machine = Machine.model_validate(yaml.safe_load(trial[0].read_text()))
    host = read_host()
    assert machine.name == "this-host"
    assert machine.cores() == host.cores
    assert 5e8 < machine.frequency < 8e9
    for name, cache in host.caches.items():
        assert getattr(machine.caches, name).associativity == min(256, cache.associativity)


def test_the_file_says_when_where_and_how_well(trial: tuple[Path, str]) -> None:
    text = trial[0].read_text()
    assert text.startswith("# Written by: manynode calibrate-node this-host.yaml --base broadwell --rounds 2 --quick\n")
    comments = " ".join(line.lstrip("# ") for line in text.splitlines() if line.startswith("#"))
    assert read_host().processor in comments
    assert "Noise of the clock: " in comments and "A quick trial" in comments


def test_every_figure_has_its_source(trial: tuple[Path, str]) -> None:
    for line in trial[0].read_text().splitlines():
        value = line.partition(":")[2]
        if not line.startswith(("#", "name:", "description:")) and value:
            assert any(word in value for word in ("# measured", "# host", "# base broadwell", "# assumed")), line


def test_the_command_says_what_it_did_not_measure(trial: tuple[Path, str]) -> None:
    printed = trial[1]
    listed = next(line for line in printed.splitlines() if line.startswith("not measured, from broadwell: "))
    assert "core.branch_resolution" in listed and "caches.l1i.latency" in listed
    assert "note: memory.bandwidth" in printed


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        (["old.yaml"], ["exists already", "old.yaml", "--force"]),
        (["folder.yaml", "--force"], ["cannot be written", "a folder of that name"]),
        (["new.yaml", "--base", "brodwell"], ["unknown machine", "brodwell", "'broadwell'"]),
        (["new.yaml", "--cores", "60000"], ["fewer cores", "--cores", "60000"]),
        (["new.txt"], ["a machine file is YAML", "new.txt"]),
        (["new.yaml", "--name", "a name"], ["no name of a machine", "a name"]),
        (["new.yaml", "--rounds", "0"], ["--rounds"]),
    ],
)
def test_bad_input_is_refused_before_anything_is_measured(tmp_path: Path, words: list[str], facts: list[str]) -> None:
    (tmp_path / "old.yaml").write_text("name: old\n")
    (tmp_path / "folder.yaml").mkdir()
    done = calibrate(tmp_path, *words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert all(fact in done.stderr for fact in facts), done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.yaml", "old.yaml"]
    assert (tmp_path / "old.yaml").read_text() == "name: old\n"


def test_microbenchmarks_that_are_not_built_are_named(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "manynode", "calibrate-node", "new.yaml", "--quick"]
    environment = {"MANYNODE_BUILD_DIR": str(tmp_path / "nothing"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert done.returncode == 4
    assert PROGRAM in done.stderr and not (tmp_path / "new.yaml").exists()


def test_the_program_says_whether_the_last_level_is_inclusive(build_dir: Path) -> None:
    printed = run(mini_apps.program(build_dir, PROGRAM), "--processor").stdout
    assert json.loads(printed)["last_level_inclusive"] in (True, False, None)
    assert json.loads(printed)["last_level_inclusive"] is last_level_inclusive()


def test_threads_and_ranks_do_the_same_work(build_dir: Path) -> None:
    threads = run(mini_apps.program(build_dir, PROGRAM), *TASKS)
    ranks = run(mini_apps.program(build_dir, f"{PROGRAM}-mpi"), *TASKS)
    assert threads.returncode == ranks.returncode == 0, threads.stderr + ranks.stderr
    rows = [json.loads(line) for line in threads.stdout.splitlines() if line.startswith("{")]
    assert [row["label"] for row in rows] == LABELS
    checksums = [mini_apps.values(done.stdout)["checksum"] for done in (threads, ranks)]
    assert checksums[0] == checksums[1]


def test_a_guest_of_the_bridge_does_the_same_work(build_dir: Path, tmp_path: Path) -> None:
    guest = str(mini_apps.program(build_dir, f"{PROGRAM}-mpi.bridge"))
    native = str(mini_apps.program(build_dir, f"{PROGRAM}-mpi"))
    job = BridgedJob("mpich", [guest, *TASKS], [native, *TASKS], 0, 1, 2, tmp_path / "bridged")
    done = run_bridged_job(job, what="the microbenchmarks", timeout_s=LIMIT_S)
    printed = mini_apps.values("".join(completed.output for completed in done))
    alone = run(mini_apps.program(build_dir, PROGRAM), *TASKS)
    assert printed["checksum"] == mini_apps.values(alone.stdout)["checksum"]


def core_of(processor: str) -> tuple[str, str]:
    """Return package and core of a processor."""
    folder = Path(f"/sys/devices/system/cpu/cpu{processor}/topology")
    return (folder / "physical_package_id").read_text(), (folder / "core_id").read_text()


def test_each_thread_has_a_core_of_its_own(build_dir: Path) -> None:
    workers = read_host().cores
    if workers == 1:
        pytest.skip("this process may use one core only")
    # Far more operations than the test waits for.
    command = [mini_apps.program(build_dir, PROGRAM), "width", f"workers={workers}", f"operations={2**40}"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as started:
        try:
            deadline = time.monotonic() + 60
            places: list[str] = []
            while len(places) < workers and time.monotonic() < deadline and started.poll() is None:
                time.sleep(0.02)
                states = [path.read_text() for path in Path(f"/proc/{started.pid}/task").glob("*/status")]
                allowed = [state.partition("Cpus_allowed_list:")[2].split()[0] for state in states]
                # The thread that waits for the workers may run anywhere.
                places = [place for place in allowed if place.isdecimal()]
        finally:
            started.kill()
    assert len({core_of(place) for place in places}) == len(places) == workers


def test_as_many_ranks_as_are_started_work_at_the_same_time(build_dir: Path) -> None:
    done = mini_apps.start(build_dir, f"{PROGRAM}-mpi", 2, ["--rounds", "2", "width", "operations=1000"])
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [(row["round"], row["workers"]) for row in rows] == [(0, 2), (1, 2)]


def test_every_microbenchmark_of_a_plan_is_there(build_dir: Path) -> None:
    listed = run(mini_apps.program(build_dir, PROGRAM), "--list").stdout
    names = {line.partition(":")[0] for line in listed.splitlines() if not line.startswith(" ")}
    plan = plan_for(read_host(), 1, quick=True)
    groups = (plan.core(), plan.chases(), plan.pages(), plan.parallel(), plan.streams(), plan.window("nop"))
    # A quick trial reads no lines of the host's further caches.
    assert {task.name for group in groups for task in group} | {"lines", "walk"} == names


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        (["chse"], ["unknown microbenchmark", "chse", "branch, chase, fetch, float"]),
        (["chase", "byte=5"], ["unknown parameter", "byte", "bytes, line"]),
        (["chase", "bytes=5"], ["not allowed", "5", "128 to"]),
        (["float", "kind=sub"], ["not allowed", "sub", "add, multiply"]),
        (["width", "workers=60000"], ["not allowed", "60000"]),
        (["--rounds", "many", "width"], ["number of rounds", "many", "1 to 1000"]),
    ],
)
def test_a_wrong_word_is_reported_with_what_is_allowed(build_dir: Path, words: list[str], facts: list[str]) -> None:
    done = run(mini_apps.program(build_dir, PROGRAM), *words)
    assert done.returncode == 2
    assert all(fact in done.stderr for fact in facts), done.stderr


def segments(build_dir: Path, engine: str, folder: Path, words: Sequence[str] = TASKS) -> pd.DataFrame:
    """Return the segments of one rank with some tasks under an engine of phase 2."""
    if not ENGINES.get(engine).probe().available:
        pytest.skip(f"the engine {engine} is not installed")
    machine = Machine.model_validate(
        yaml.safe_load((Path(__file__).parents[2] / "configs/machines/generic.yaml").read_text())
    )
    settings = NodesimSection(engine=engine)
    command = [str(mini_apps.program(build_dir, f"{PROGRAM}-mpi")), *words]
    node = NodeRun(machine, 1, folder, settings=settings)
    ENGINES.get(engine).run(node, NodeJob(command, "mpich", 0, 1, 1, settings=settings))
    return ENGINES.get(engine).segments(node, read_marker_directory(folder))


@pytest.mark.skipif(shutil.which("mpiexec.mpich") is None, reason="MPICH's mpiexec is not installed")
def test_each_region_is_a_phase_with_its_label(build_dir: Path, tmp_path: Path) -> None:
    frame = segments(build_dir, "native", tmp_path / "native")
    regions = frame[frame["phase"].isin(LABELS)]
    assert regions["phase"].tolist() == LABELS
    assert (regions["compute_s"] > 0).all()


@pytest.mark.long
@pytest.mark.skipif(shutil.which("mpiexec.mpich") is None, reason="MPICH's mpiexec is not installed")
def test_a_simulator_counts_the_operations_that_were_asked_for(build_dir: Path, tmp_path: Path) -> None:
    frame = segments(build_dir, "valgrind", tmp_path / "valgrind").set_index("phase")
    # A chase has one load per operation, and nearly nothing else.
    assert frame.loc["chase bytes=65536", "Dr"] == pytest.approx(20000, rel=0.05)
    assert frame.loc["pages count=100", "Dr"] == pytest.approx(20000, rel=0.05)
    assert frame.loc["ports kind=store", "Dw"] == pytest.approx(20000, rel=0.05)
    # One branch by a bit, one of the loop over the bits.
    assert frame.loc["branch pattern=random", "Bc"] == pytest.approx(2 * 12800, rel=0.1)
    again = segments(build_dir, "valgrind", tmp_path / "again").set_index("phase")
    assert frame.loc[LABELS, ["Ir", "Dr", "Dw", "Bc"]].equals(again.loc[LABELS, ["Ir", "Dr", "Dw", "Bc"]])


@pytest.mark.skipif(shutil.which("mpiexec.mpich") is None, reason="MPICH's mpiexec is not installed")
def test_an_engines_segments_are_measurements_like_those_of_the_program(build_dir: Path, tmp_path: Path) -> None:
    tasks = [task("float", 2_000_000, kind="divide"), task("integer", 2_000_000, kind="divide", workers=1)]
    # The clock's region would be a third of a millisecond, in which a busy host's preemption between region and phase
    # is more than the tolerance.
    short = f"operations={CLOCK.operations}"
    long = [f"operations={20 * CLOCK.operations}" if word == short else word for word in words(tasks)]
    frame = segments(build_dir, "native", tmp_path / "native", long)
    output = (tmp_path / "native" / "job.log").read_text()
    printed, found = read_lines(output), series_of_segments(frame, output)
    assert list(found) == ["integer kind=add", "float kind=divide", "integer kind=divide"]
    for label, series in found.items():
        # The region and its phase begin and end within microseconds of each other.
        assert series.seconds == pytest.approx(printed[label].seconds, rel=0.1)
