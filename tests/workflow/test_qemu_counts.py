"""Counts of phase 1 under a real QEMU and under callgrind: equal where both count the same thing."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import mini_apps
import pandas as pd
import pipeline
import pytest
import qemu_jobs

from manynode.launch import Block, run_job
from manynode.rank_classes import read_rank_classes
from phase1_profile.sources.interface import SOURCES, CountedJob

HPCG = {"nx": 16, "ny": 16, "nz": 16, "levels": 3, "iterations": 2}
# Loops over arrays in registers. The other phases copy and clear arrays: callgrind counts each repetition of a "rep"
# instruction, and the C library chooses other routines on another processor.
LOOPS = ["spmv", "symgs", "initial", "checksum", "direction", "update"]


def counted(source: str, program: Path, flavour: Any, directory: Path) -> pd.DataFrame:
    """Return the counters of HPCG on two ranks, indexed by rank and phase."""
    directory.mkdir()
    chosen, job = SOURCES.get(source)(), CountedJob(directory, flavour, 2, 2)
    block = Block(2, [str(program), *mini_apps.options(HPCG)], chosen.prefix(job), chosen.environment(job))
    run_job(flavour, [block], what="hpcg", log=directory / "job.log", timeout_s=300)
    return chosen.read(directory, 2).set_index(["rank", "phase"])


def script(path: Path, line: str) -> Path:
    """Write a script that starts the program."""
    path.write_text(f"#!/bin/sh\nname=$(basename here)\n{line}\n")
    path.chmod(0o755)
    return path


@pytest.mark.long
@pytest.mark.parametrize("flavour", ["mpich", "openmpi"])
def test_loops_have_as_many_instructions_as_under_callgrind_where_a_script_becomes_the_program(
    build_dir: Path, tmp_path: Path, flavour: str
) -> None:
    qemu_jobs.qemu_or_skip()
    qemu_jobs.mpi_or_skip(flavour)
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    program = mini_apps.program(build_dir, "hpcg" if flavour == "mpich" else "hpcg.openmpi")
    ours = counted("qemu", program, flavour, tmp_path / "qemu")
    becomes = script(tmp_path / "run.sh", f'exec {program} "$@"')
    theirs = counted("callgrind", becomes, flavour, tmp_path / "callgrind")
    assert list(ours.index) == list(theirs.index)
    loops = ours.index.get_level_values("phase").isin(LOOPS)
    assert loops.sum() == 2 * len(LOOPS)
    # The way into and out of a call counts, and differs by some ten stores: much for phases of few stores.
    for name, loose in (("instructions", 1e-3), ("loads", 1e-3), ("stores", 1e-2)):
        apart = (ours.loc[loops, name] / theirs.loc[loops, name] - 1).abs()
        assert apart.max() < loose, apart
    whole = ours.xs("", level="phase")["instructions"] / theirs.xs("", level="phase")["instructions"]
    assert (whole - 1).abs().max() < 0.03, whole
    assert "cycles" not in ours and "seconds" not in ours


def test_counts_repeat_where_a_script_starts_the_program(build_dir: Path, tmp_path: Path) -> None:
    qemu_jobs.qemu_or_skip()
    program = mini_apps.program(build_dir, "hpcg")
    # Names of the same length: the environment lies on the stack, and its length moves what comes after it.
    starts = script(tmp_path / "run.sh", f'{program} "$@" && echo "$name"')
    first, second = (counted("qemu", starts, "mpich", tmp_path / name) for name in ("run-1", "run-2"))
    named = first.index.get_level_values("phase") != ""
    pd.testing.assert_frame_equal(first[named], second[named])


def test_auto_profiles_with_qemu_where_there_are_no_hardware_counters(tmp_path: Path) -> None:
    qemu_jobs.qemu_or_skip()
    if SOURCES.get("perf_event")().probe().available:
        pytest.skip("this host has hardware counters")
    content = pipeline.tiny(profile={"source": "auto", "nodes": [2], "repetitions": 2}, nodes=[2])
    results = tmp_path / "results" / "tiny"
    done = pipeline.manynode(
        *("run", pipeline.write(tmp_path, content), "--cores", 2, "--directory", tmp_path),
        *("--until", "phase1_classify_ranks"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    classes = read_rank_classes(results / "profile" / "rank-classes.json")
    assert classes["source"] == "qemu" and "perf_event cannot be used" in classes["source_reason"]
    assert "ipc" not in classes["features"] and "instructions" in classes["features"]
