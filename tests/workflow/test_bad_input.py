"""What goes wrong at a user's desk: each with its exit code, its place and its remedy, and never a traceback."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pipeline
import pytest

HAS_MPICC = shutil.which("mpicc.mpich") or shutil.which("mpicc")


def fails(done: subprocess.CompletedProcess, code: int, *words: str) -> None:
    text = done.stdout + done.stderr
    assert done.returncode == code, text
    assert "Traceback" not in text, text
    for word in words:
        assert word in text, f"{word!r} is not in:\n{text}"


def program(folder: Path, source: str, name: str = "app") -> Path:
    """Compile a small MPI program."""
    if not HAS_MPICC:
        pytest.skip("mpicc is not installed")
    (folder / f"{name}.c").write_text(source)
    path = folder / name
    subprocess.run([HAS_MPICC, "-o", path, folder / f"{name}.c"], check=True, capture_output=True)
    return path


def own(command: list[str], **changes: object) -> dict:
    """An experiment for a program of the user's own, with native engines."""
    content = pipeline.tiny(**changes)
    content["application"] = {"command": command, "timeout_s": 60}
    content["nodesim"]["engine"] = "native"
    content["techniques"] = ["ext-var"]
    return content


def test_an_unknown_key(tmp_path: Path) -> None:
    content = pipeline.tiny()
    content["simulate"]["replcas"] = 3
    fails(pipeline.run(pipeline.write(tmp_path, content), tmp_path), 2, "simulate: replcas", "did you mean 'replicas'?")
    assert not (tmp_path / "results" / "tiny" / "experiment.json").exists()


def test_an_unknown_key_through_plain_snakemake(tmp_path: Path) -> None:
    content = pipeline.tiny()
    content["sead"] = 3
    path = pipeline.write(tmp_path, content)
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "-n", "--cores", "1", "--configfile", str(path)],
        cwd=pipeline.ROOT,
        capture_output=True,
        text=True,
    )
    fails(done, 2, "sead: unknown key; did you mean 'seed'?")


def test_a_wrong_unit(tmp_path: Path) -> None:
    content = pipeline.tiny()
    content["network"] = {
        "name": "x",
        "topology": {"kind": "fat-tree", "children": [8], "parents": [1], "parallel_links": [1]},
        "link": {"latency": "90 GB"},
    }
    done = pipeline.manynode("config", "check", pipeline.write(tmp_path, content))
    fails(done, 2, "network: link: latency", "'90 ns'")


def test_a_negative_node_count(tmp_path: Path) -> None:
    done = pipeline.manynode("config", "check", pipeline.write(tmp_path, pipeline.tiny(nodes=[-4])))
    fails(done, 2, "nodes: 0", "greater than or equal to 1")


def test_a_grid_that_the_application_cannot_use(tmp_path: Path) -> None:
    content = pipeline.tiny()
    content["application"]["parameters"]["nx"] = 9
    fails(pipeline.run(pipeline.write(tmp_path, content), tmp_path), 2, "nx", "multiple")


def test_a_missing_program(tmp_path: Path) -> None:
    fails(pipeline.run(pipeline.write(tmp_path, own(["./nothing"])), tmp_path), 2, "nothing", "build it first")


def test_an_unknown_engine(tmp_path: Path) -> None:
    content = pipeline.tiny(nodesim={"engine": "valgrnd", "nodes": 2})
    done = pipeline.run(pipeline.write(tmp_path, content), tmp_path)
    fails(done, 2, "valgrnd", "did you mean 'valgrind'?")


def test_an_application_without_mpi(tmp_path: Path) -> None:
    done = pipeline.run(pipeline.write(tmp_path, own(["/bin/true"])), tmp_path)
    fails(done, 3, "not a dynamically linked MPI program", "/bin/true")


def test_an_application_that_crashes_in_the_middle(tmp_path: Path) -> None:
    app = program(
        tmp_path,
        "#include <mpi.h>\n#include <stdlib.h>\nint main(int c, char **v) { int r; MPI_Init(&c, &v);"
        "MPI_Comm_rank(MPI_COMM_WORLD, &r); MPI_Barrier(MPI_COMM_WORLD); if (r == 1) abort();"
        "MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); return 0; }\n",
    )
    done = pipeline.run(pipeline.write(tmp_path, own([str(app)])), tmp_path)
    fails(done, 5, "failed", "crashed", "mpiexec", "rank 1: killed by signal 6 (SIGABRT)")
    assert not list(tmp_path.rglob("counters.parquet"))


def test_an_application_that_never_calls_mpi_init(tmp_path: Path) -> None:
    app = program(tmp_path, "#include <mpi.h>\nint main(int c, char **v) { return c > 9 ? MPI_Init(&c, &v) : 0; }\n")
    fails(pipeline.run(pipeline.write(tmp_path, own([str(app)])), tmp_path), 3, "marker")


@pytest.mark.long
def test_an_application_that_hangs_is_ended(tmp_path: Path) -> None:
    app = program(
        tmp_path,
        "#include <mpi.h>\n#include <unistd.h>\nint main(int c, char **v) { MPI_Init(&c, &v); sleep(1000);"
        "MPI_Finalize(); return 0; }\n",
        name="hangs",
    )
    content = own([str(app)])
    content["application"]["timeout_s"] = 4
    fails(pipeline.run(pipeline.write(tmp_path, content), tmp_path), 5, "did not end in time")
    assert not subprocess.run(["pgrep", "-f", str(app)], capture_output=True, text=True).stdout


@pytest.mark.long
def test_a_truncated_marker_file(finished: Path, tmp_path: Path) -> None:
    from manynode.errors import InputError
    from manynode.markers import read_marker_directory

    markers = tmp_path / "markers"
    shutil.copytree(finished / "nodesim" / "ext" / "node-0" / "markers", markers)
    victim = sorted(markers.glob("*.mnmk"))[0]
    victim.write_bytes(victim.read_bytes()[:-100])
    with pytest.raises(InputError) as caught:
        read_marker_directory(markers, complete=False)
    assert str(victim) in caught.value.render() and caught.value.exit_code == 3


def test_a_timing_profile_of_another_version(finished: Path, tmp_path: Path) -> None:
    text = (finished / "nodesim" / "timing-profile-ext.json").read_text()
    other = tmp_path / "profile.json"
    other.write_text(text.replace("timing-profile/1", "timing-profile/2"))
    done = pipeline.manynode(
        *("simulate", "run", "--experiment", finished / "experiment.json", "--technique", "ext-var", "--nodes", 1),
        *("--classes", finished / "profile" / "rank-classes.json", "--profile", other),
        *("--result", tmp_path / "result.json"),
    )
    fails(done, 3, "timing-profile/2", "timing-profile/1", str(other))
    assert not (tmp_path / "result.json").exists()


def test_hardware_counters_that_the_host_does_not_give(tmp_path: Path) -> None:
    from phase1_profile.sources.interface import SOURCES

    if SOURCES.get("perf_event")().probe().available:
        pytest.skip("this host gives hardware counters")
    content = pipeline.tiny(profile={"source": "perf_event", "nodes": [2], "repetitions": 1})
    done = pipeline.run(pipeline.write(tmp_path, content), tmp_path)
    fails(done, 4, "perf_event", "callgrind")


def test_a_full_disk(finished: Path, tmp_path: Path) -> None:
    """A real full file system: a small tmpfs, where this test may mount one."""
    small = tmp_path / "small"
    small.mkdir()
    if (
        os.geteuid() != 0
        or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(small)], capture_output=True
        ).returncode
    ):
        pytest.skip("mounting a small file system needs root")
    try:
        done = pipeline.manynode("report", finished, "--output", small / "report.html")
        fails(done, 5, "could not be written", "No space left", "free space")
        assert not list(small.iterdir())
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_sigint_in_the_middle_says_how_to_go_on(tmp_path: Path) -> None:
    experiment = pipeline.write(tmp_path, pipeline.tiny())
    child = subprocess.Popen(
        [sys.executable, "-m", "manynode", "run", str(experiment), "--directory", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert child.stdout is not None
    for line in child.stdout:
        if line.startswith("phase1_profile_ranks"):
            break
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    text = child.stdout.read()
    assert child.wait(60) == 130
    assert "interrupted" in text and "Traceback" not in text
    assert not subprocess.run(["pgrep", "-f", f"{tmp_path}.*hpcg"], capture_output=True, text=True).stdout


def test_two_runs_of_one_experiment_at_a_time(tmp_path: Path) -> None:
    from manynode.hostlock import exclusive

    experiment = pipeline.write(tmp_path, pipeline.tiny())
    with exclusive(tmp_path / "results" / "tiny" / ".lock", purpose="run"):
        fails(pipeline.run(experiment, tmp_path), 2, "already running")


@pytest.mark.parametrize("arguments", [["frobnicate"], ["run"], ["config", "check"], ["run", "--cores", "0", "x"]])
def test_a_wrong_command_line(arguments: list[str]) -> None:
    done = pipeline.manynode(*arguments)
    assert done.returncode == 2 and "Traceback" not in done.stderr
