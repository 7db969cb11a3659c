"""Ranks that wait for a core in real MPI programs: recorded per phase, reported, and not called the host's own time.

Ranks certainly wait if more threads compute than there are cores. On a host with other work, it is not certain that
they do not wait: the quiet case is arithmetic on recorded values (tests/unit/phase2/test_waits.py).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pipeline
import pytest

from manynode import process
from manynode.launch import Block, Flavour, run_job
from manynode.markers import concatenate, read_marker_directory
from manynode.paths import native_library
from manynode.tables import read_provenance
from manynode.timing_profile import read_timing_profile
from manynode.waiting import LIMIT
from phase2_nodesim.waits import COLUMN

SOURCE = Path(__file__).resolve().parent.parent / "data" / "mpi" / "team.c"
LIMIT_S = 300.0


@pytest.fixture(autouse=True)
def _two_cores() -> Iterator[None]:
    """Children inherit the binding."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, set(sorted(before)[:2]))
    yield
    os.sched_setaffinity(0, before)


@pytest.fixture(scope="module", params=["mpich", "openmpi"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Flavour, str]:
    compiler = f"mpicc.{request.param}"
    if shutil.which(compiler) is None or shutil.which(f"mpiexec.{request.param}") is None:
        pytest.skip(f"{request.param} is not installed")
    if not Path("/proc/self/schedstat").exists():
        pytest.skip("this kernel does not count the time waited")
    path = tmp_path_factory.mktemp(request.param) / "team"
    process.run([compiler, "-O2", "-fopenmp", "-o", path, SOURCE], what="compiling")
    return request.param, str(path)


def recorded(program: tuple[Flavour, str], folder: Path, ranks: int, threads: int, **settings: str) -> pd.DataFrame:
    """The records of a job of team.c under the markers library."""
    flavour, path = program
    environment = {
        "LD_PRELOAD": str(native_library(f"libmanynode_markers_{flavour}.so")),
        "MANYNODE_MARKERS_DIR": str(folder),
        "OMP_NUM_THREADS": str(threads),
        **{f"MANYNODE_MARKERS_{name.upper()}": value for name, value in settings.items()},
    }
    block = Block(ranks, [path, "8"], (), environment)
    run_job(flavour, [block], what="team", log=folder / "job.log", timeout_s=LIMIT_S)
    return concatenate(read_marker_directory(folder))


def test_every_thread_of_a_rank_counts(program: tuple[Flavour, str], tmp_path: Path) -> None:
    records = recorded(program, tmp_path, 4, 2, waiting="1", polite="2", counters="time")
    work = records[records["phase"] == "work"]
    assert len(work) == 4 * 8
    share = work["waited_ns"].sum() * 1e-9 / work["compute_s"].sum()
    # Eight threads on two cores run for a quarter of the time; the team waits as long as its slowest thread.
    assert share > 0.4


def test_a_team_waits_where_only_its_second_thread_does(program: tuple[Flavour, str], tmp_path: Path) -> None:
    """One rank of eight threads on two cores: its first thread alone would show less waiting."""
    records = recorded(program, tmp_path, 1, 8, waiting="1", counters="time")
    work = records[records["phase"] == "work"]
    assert work["waited_ns"].sum() * 1e-9 > LIMIT * work["compute_s"].sum()


def test_what_nobody_asks_for_is_not_recorded(program: tuple[Flavour, str], tmp_path: Path) -> None:
    assert "waited_ns" not in recorded(program, tmp_path, 1, 1, counters="time").columns


def test_where_the_kernel_does_not_count_nothing_is_known(program: tuple[Flavour, str], tmp_path: Path) -> None:
    """As in a sandbox whose /proc has no schedstat."""
    flavour, path = program
    if flavour == "mpich":
        pytest.skip("MPICH's transport needs /proc itself")
    hidden = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    if process.run([*hidden, "true"], what="unshare", check=False).returncode != 0:
        pytest.skip("this user may not hide /proc")
    environment = {
        "LD_PRELOAD": str(native_library(f"libmanynode_markers_{flavour}.so")),
        "MANYNODE_MARKERS_DIR": str(tmp_path),
        "MANYNODE_MARKERS_COUNTERS": "time",
        "MANYNODE_MARKERS_WAITING": "1",
    }
    assigned = ["env", *(f"{name}={value}" for name, value in environment.items())]
    run_job(flavour, [Block(1, [*assigned, path, "2"], hidden)], what="team", log=tmp_path / "log", timeout_s=LIMIT_S)
    (file,) = read_marker_directory(tmp_path)
    assert "waited_ns" not in file.records.columns and "waited_ns: " in file.metadata["counter_notes"]


def test_times_stand_beside_the_time_waited_whatever_else_is_counted(
    program: tuple[Flavour, str], tmp_path: Path
) -> None:
    records = recorded(program, tmp_path, 2, 1, waiting="1", cpu_time="1", counters="auto")
    assert list(records.columns[-2:]) == ["cpu_ns", "waited_ns"]
    for _, rank in records.groupby("rank"):
        # A thread runs, waits or sleeps: from MPI_Init to MPI_Finalize, no more than that takes.
        took_s = rank["time_in_s"].max() - rank["time_in_s"].min()
        assert 0 < rank["cpu_ns"].sum() * 1e-9 <= took_s
        assert 0 <= rank["waited_ns"].sum() * 1e-9 <= took_s


@pytest.mark.long
def test_an_oversubscribed_run_is_warned_of_and_its_report_says_so_first(
    program: tuple[Flavour, str], tmp_path: Path
) -> None:
    flavour, path = program
    if flavour != "mpich":
        pytest.skip("one whole run is enough")
    experiment = pipeline.write(
        tmp_path,
        {
            "name": "team",
            "application": {"command": [path, "12"], "threads": 2, "timeout_s": LIMIT_S},
            "nodes": [1],
            "ranks_per_node": 4,
            "machine": "broadwell",
            "network": "opa100-fat-tree",
            "techniques": ["no-ext-var"],
            "profile": {"source": "processor_time", "nodes": [1], "repetitions": 1},
            "nodesim": {"engine": "native", "nodes": 1},
        },
    )
    checked = pipeline.manynode("config", "check", experiment)
    assert checked.returncode == 0 and "measures 8 threads at once, and 2 cores are available" in checked.stdout
    done = pipeline.run(experiment, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    output = " ".join(done.stdout.split())
    assert "warning: nodesim: the engine native measures 8 threads at once" in output
    assert "warning: phase 2, no-ext, node 0: ranks were runnable and did not run for" in output

    results = tmp_path / "results" / "team"
    profile = read_timing_profile(results / "nodesim" / "timing-profile-no-ext.json")
    assert profile.waiting is not None and profile.waiting.oversubscribed
    (work,) = [phase for phase in profile.classes[0].phases if phase.name == "work"]
    assert work.waited_s is not None and work.waited_s > LIMIT * work.mean_s
    segments = results / "nodesim" / "no-ext" / "node-0" / "segments.parquet"
    assert (pd.read_parquet(segments)[COLUMN] >= 0).all()
    assert read_provenance(segments, "segments/1")["engine_detail"]["times"] == "this host's, oversubscribed"
    answer = (results / "report.html").read_text().split('<section id="answer">')[1]
    first = answer.split("<p")[1]
    assert "These times are those of an oversubscribed host and not of the machine" in first
