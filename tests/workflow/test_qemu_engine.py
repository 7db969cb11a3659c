"""The engine qemu in real runs: results, repeats, failures. Skipped by name without a QEMU that takes plugins."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mini_apps
import pandas as pd
import pipeline
import pytest
import qemu_jobs
from bridge_parties import program as name_of
from bridge_parties import started_by, wait_until
from qemu_jobs import node_job, report, simulate

from manynode.errors import EngineFailedError, EngineMissingError
from manynode.tables import read_provenance
from manynode.timing_profile import read_timing_profile
from phase2_nodesim.engines._interface import ENGINES, NodeJob
from phase2_nodesim.qemu.cpi_stack import COMPONENTS

HPCG = {"nx": 8, "ny": 8, "nz": 8, "levels": 2, "iterations": 3}
SMALL: dict[str, dict[str, int]] = {"hpcg": HPCG, **pipeline.SMALL}
FLAVOURS = ("mpich", "openmpi")


@pytest.fixture(autouse=True)
def _qemu() -> None:
    qemu_jobs.qemu_or_skip()


@pytest.fixture(scope="module")
def hpcg(build_dir: Path) -> Path:
    return mini_apps.program(build_dir, "hpcg")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    qemu_jobs.mpi_or_skip("mpich")
    return qemu_jobs.compiled("guest_ends.c", "mpich", tmp_path_factory.mktemp("mpich"))


def checksum(text: str) -> str:
    return mini_apps.values(text)["checksum"]


@pytest.mark.long
def test_a_whole_experiment_with_the_engine_ends_in_its_report(tmp_path: Path) -> None:
    content = pipeline.tiny(
        ranks_per_node=2,
        profile={"source": "processor_time", "nodes": [2], "repetitions": 1, "max_classes": 1},
        nodesim={"engine": "auto", "nodes": 2, "qemu": {"control": True}},
        nodes=[2],
        techniques=["no-ext-var", "ext-var"],
    )
    content["application"]["parameters"] |= HPCG
    done = pipeline.run(pipeline.write(tmp_path, content), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    results = tmp_path / "results" / "tiny"
    for mode in ("ext", "no-ext"):
        profile = read_timing_profile(results / f"nodesim/timing-profile-{mode}.json")
        assert profile.engine == "qemu" and profile.external == (mode == "ext")
        (table,) = (results / "nodesim" / mode).glob("node-*/segments.parquet")
        told = read_provenance(table, "segments/1")["engine_detail"]
        assert told["sharing"] == "shared" and told["run"]["synchronisations"] > 0
        segments = pd.read_parquet(table)
        stack = segments[[f"cycles_{part}" for part in COMPONENTS]].sum(axis=1)
        assert stack.to_numpy() == pytest.approx(segments["cycles"].to_numpy(), rel=1e-9)
    (control,) = (results / "nodesim").glob("*-control/node-*/segments.parquet")
    assert read_provenance(control, "segments/1")["engine_detail"]["sharing"] == "private"
    page = (results / "report.html").read_text()
    assert '<figure id="figure-cpi-stacks"' in page and "model of the node" in page
    assert "The difference is the effect of sharing" in page


@pytest.mark.parametrize("nodes", [1, 2], ids=["alone", "external"])
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_hpcg_computes_what_it_computes_natively(build_dir: Path, tmp_path: Path, flavour: Any, nodes: int) -> None:
    qemu_jobs.mpi_or_skip(flavour)
    app = mini_apps.program(build_dir, "hpcg" if flavour == "mpich" else "hpcg.openmpi")
    job = node_job(app, *mini_apps.options(HPCG), flavour=flavour, nodes=nodes, node=nodes - 1)
    segments = simulate(job, tmp_path)
    assert sorted(segments["rank"].unique()) == job.simulated()
    native = mini_apps.result(build_dir, "hpcg", job.ranks, HPCG)
    assert checksum((tmp_path / "job.log").read_text()) == native["checksum"]
    assert segments["compute_s"].gt(0).all() and segments["instructions"].gt(0).all()
    assert all(report(tmp_path, rank)["clocks"]["released_by_time_out"] == 0 for rank in job.simulated())


@pytest.mark.parametrize("name", pipeline.SMALL)
def test_every_application_computes_what_it_computes_natively(build_dir: Path, tmp_path: Path, name: str) -> None:
    app = mini_apps.program(build_dir, name)
    simulate(node_job(app, *mini_apps.options(SMALL[name]), nodes=2), tmp_path)
    native = mini_apps.result(build_dir, name, 4, SMALL[name])
    assert checksum((tmp_path / "job.log").read_text()) == native["checksum"]


def test_the_same_job_has_the_same_counts_and_nearly_the_same_times(hpcg: Path, tmp_path: Path) -> None:
    job = node_job(hpcg, *mini_apps.options(HPCG | {"iterations": 6}))
    # Names of the same length: the environment lies on the stack, and its length moves what comes after it.
    first, second = (simulate(job, tmp_path / name) for name in ("run-1", "run-2"))
    keys = ["rank", "sequence", "phase", "instructions", "loads", "stores", "branches"]
    # What has no label prints the host's own times, whose digits differ.
    first, second = (frame[frame["labelled"]] for frame in (first, second))
    pd.testing.assert_frame_equal(first[keys], second[keys])
    times = [frame.groupby("phase")["compute_s"].sum() for frame in (first, second)]
    large = times[0][times[0] > 0.01 * times[0].sum()].index
    assert {"symgs", "spmv"} <= set(large)
    assert (times[1][large] / times[0][large] - 1).abs().max() < 0.01, times


def test_a_private_node_is_a_node_of_its_own_for_each_rank(hpcg: Path, tmp_path: Path) -> None:
    segments = simulate(node_job(hpcg, *mini_apps.options(HPCG), sharing="private"), tmp_path)
    assert segments["compute_s"].gt(0).all()


def test_a_qemu_that_is_not_there_is_named_before_the_run(tmp_path: Path) -> None:
    content = pipeline.tiny(nodesim={"engine": "qemu", "nodes": 2, "qemu": {"executable": "/nonexistent/qemu-x86_64"}})
    done = pipeline.manynode("config", "check", pipeline.write(tmp_path, content))
    assert done.returncode == 4 and "QEMU's user mode was not found" in done.stderr
    assert "nodesim: qemu: executable" in done.stderr and "--no-install-recommends qemu-user" in done.stderr


def test_a_qemu_without_plugins_is_named_before_the_run(tmp_path: Path) -> None:
    answers = pipeline.ROOT / "tests" / "data" / "qemu"
    script = tmp_path / "qemu-x86_64"
    script.write_text(
        f"#!/bin/sh\ncase $1 in\n  -help) cat {answers}/help-7.2-static.txt ;;\n"
        f"  *) cat {answers}/version-7.2-debian-12.txt ;;\nesac\n"
    )
    script.chmod(0o755)
    content = pipeline.tiny(nodesim={"engine": "qemu", "nodes": 2, "qemu": {"executable": str(script)}})
    done = pipeline.manynode("config", "check", pipeline.write(tmp_path, content))
    assert done.returncode == 4 and "this QEMU takes no plugins" in done.stderr and "7.2.22" in done.stderr
    with pytest.raises(EngineMissingError, match="takes no plugins"):
        ENGINES.get("qemu").run(
            qemu_jobs.NodeRun(qemu_jobs.machine(), 2, tmp_path / "run"), node_job(Path("app"), executable=str(script))
        )


def checked(tmp_path: Path, command: Path, **changes: Any) -> subprocess.CompletedProcess:
    """``manynode config check`` of an experiment with a program of one's own."""
    content = pipeline.tiny(
        application={"command": [str(command)], "mpi": "mpich", "timeout_s": 60},
        nodesim={"engine": "qemu", "nodes": 2},
        **changes,
    )
    return pipeline.manynode("config", "check", pipeline.write(tmp_path, content))


def test_a_static_program_is_refused_before_the_run(tmp_path: Path) -> None:
    source, static = tmp_path / "main.c", tmp_path / "static"
    source.write_text("int main(void) { return 0; }\n")
    if subprocess.run(["cc", "-static", "-o", static, source], check=False, capture_output=True).returncode != 0:
        pytest.skip("the compiler cannot link statically")
    done = checked(tmp_path, static)
    assert done.returncode == 2 and "the program is linked statically" in done.stderr


def test_more_ranks_than_cores_are_refused_before_the_run(tmp_path: Path) -> None:
    content = pipeline.tiny(machine="generic", ranks_per_node=6, nodesim={"engine": "qemu", "nodes": 2})
    content["application"]["threads"] = 3
    done = pipeline.manynode("config", "check", pipeline.write(tmp_path, content))
    assert done.returncode == 2 and "do not fit a node of 16 cores" in done.stderr


def test_a_guest_with_avx512_is_told_how_to_be_built(tmp_path: Path) -> None:
    qemu_jobs.mpi_or_skip("mpich")
    source = tmp_path / "try.c"
    source.write_text("#include <immintrin.h>\n__m512d f(__m512d a) { return _mm512_add_pd(a, a); }\n")
    words = ["cc", "-mavx512f", "-c", "-o", tmp_path / "try.o", source]
    if subprocess.run(words, check=False, capture_output=True).returncode != 0:
        pytest.skip("the compiler has no AVX-512")
    program = qemu_jobs.compiled("guest_ends.c", "mpich", tmp_path, "-mavx512f")
    with pytest.raises(EngineFailedError, match="instructions that QEMU does not emulate") as caught:
        simulate(node_job(program, "wide"), tmp_path / "run")
    assert "-march=x86-64-v3" in str(caught.value.remedy)


def failing(job: NodeJob, directory: Path, errors: list[EngineFailedError]) -> None:
    """Run a job that fails, and keep its error."""
    try:
        simulate(job, directory)
    except EngineFailedError as error:
        errors.append(error)


@contextlib.contextmanager
def spinning(job: NodeJob, directory: Path) -> Iterator[list[int]]:
    """Yield QEMU's processes while the job's ranks compute; the caller kills one of them, which must be named."""
    errors: list[EngineFailedError] = []
    thread = threading.Thread(target=failing, args=(job, directory, errors))
    thread.start()
    try:
        log = directory / "job.log"
        assert wait_until(lambda: log.is_file() and "about to spin" in log.read_text(errors="replace"), 60.0)
        guests = [pid for pid in started_by(os.getpid()) if name_of(pid).startswith("qemu-")]
        assert len(guests) == job.ranks
        yield guests
    finally:
        thread.join()
    assert len(errors) == 1 and "signal 9 (SIGKILL)" in str(errors[0].found)


def test_a_rank_that_never_returns_to_mpi_ends_with_the_time_limit(program: Path, tmp_path: Path) -> None:
    with pytest.raises(EngineFailedError, match="did not end in time"):
        simulate(node_job(program, "spin", nodes=2, timeout_s=3.0), tmp_path)


def test_a_killed_rank_is_named_and_nothing_stays(program: Path, tmp_path: Path) -> None:
    with spinning(node_job(program, "spin", ranks=3), tmp_path) as guests:
        os.kill(guests[1], signal.SIGKILL)


def test_shared_memory_has_no_name_while_the_ranks_compute(program: Path, tmp_path: Path) -> None:
    """However the job ends, even if all of it is killed, nothing is left in /dev/shm."""
    with spinning(node_job(program, "spin"), tmp_path) as guests:
        qemu_jobs.nothing_is_shared(tmp_path)
        os.kill(guests[0], signal.SIGKILL)
