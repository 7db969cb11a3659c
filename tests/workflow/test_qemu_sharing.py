"""What ranks share under a real QEMU: cache misses against callgrind's, shared caches against private ones; HPCG."""

from __future__ import annotations

import shutil
from pathlib import Path

import mini_apps
import numpy as np
import pandas as pd
import pytest
import qemu_jobs
import yaml
from bridge_programs import ROOT

from manynode.config.machine import Machine
from manynode.markers import read_marker_directory
from phase2_nodesim.engines._interface import ENGINES, NodeRun
from phase2_nodesim.parameters import NodeParameters

# A rank's matrices of all levels take 1.5 MB.
HPCG = {"nx": 16, "ny": 16, "nz": 16, "levels": 4}
SMOOTHERS = 7  # of an iteration: down and up the four levels, the finest one first


def simulated(
    build_dir: Path,
    directory: Path,
    machine: Machine,
    *,
    ranks: int,
    iterations: int,
    engine: str = "qemu",
    **settings: object,
) -> pd.DataFrame:
    """Return the segments of one node of HPCG under ``engine``."""
    words = mini_apps.options({**HPCG, "iterations": iterations})
    job = qemu_jobs.node_job(mini_apps.program(build_dir, "hpcg"), *words, ranks=ranks, **settings)
    directory.mkdir()
    run = NodeRun(machine, ranks, directory, crowded=True, parameters=NodeParameters(last_level="private"))
    ENGINES.get(engine).run(run, job)
    return ENGINES.get(engine).segments(run, read_marker_directory(directory))


def with_last_level(size: str, *, inclusion: str = "inclusive") -> Machine:
    """Return the generic machine with another last-level cache."""
    content = yaml.safe_load((ROOT / "configs" / "machines" / "generic.yaml").read_text(encoding="utf-8"))
    content["caches"]["last_level"] |= {"size": size, "associativity": 16, "inclusion": inclusion}
    return Machine.model_validate(content)


def variation(segments: pd.DataFrame) -> float:
    """Return the coefficient of variation of the finest smoother from iteration to iteration, the median over ranks."""
    found = []
    for _, rows in segments[segments["phase"] == "symgs"].groupby("rank"):
        times = rows.sort_values("sequence")["compute_s"].to_numpy()[::SMOOTHERS][3:]
        found.append(times.std() / times.mean())
    return float(np.median(found))


def test_first_and_second_level_misses_are_those_of_callgrind(build_dir: Path, tmp_path: Path) -> None:
    qemu_jobs.qemu_or_skip()
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    machine = qemu_jobs.machine()  # without prefetchers
    ours = simulated(build_dir, tmp_path / "qemu", machine, ranks=1, iterations=3, frames="virtual").sum(
        numeric_only=True
    )
    theirs = simulated(build_dir, tmp_path / "callgrind", machine, ranks=1, iterations=3, engine="valgrind").sum(
        numeric_only=True
    )
    assert ours["l1d_misses"] == pytest.approx(theirs["D1mr"] + theirs["D1mw"], rel=0.01)
    assert ours["l2_misses"] == pytest.approx(theirs["DLmr"] + theirs["DLmw"] + theirs["ILmr"], rel=0.01)


@pytest.mark.long
def test_ranks_that_share_a_last_level_vary_more_than_those_with_a_private_one(build_dir: Path, tmp_path: Path) -> None:
    qemu_jobs.qemu_or_skip()
    # The data of two ranks, 3 MB, outgrow the last level.
    shared, private = (
        simulated(build_dir, tmp_path / sharing, with_last_level("2 MiB"), ranks=2, iterations=9, sharing=sharing)
        for sharing in ("shared", "private")
    )
    # Four to six times in runs of this test.
    assert variation(shared) > 2 * variation(private), (variation(shared), variation(private))
    assert shared["recalls"].sum() > 0


@pytest.mark.long
def test_keeping_the_clocks_together_changes_nothing_for_private_caches(build_dir: Path, tmp_path: Path) -> None:
    qemu_jobs.qemu_or_skip()
    tight, loose = (
        simulated(
            build_dir,
            tmp_path / quantum.replace(" ", ""),
            with_last_level("4 MiB", inclusion="neither"),
            ranks=2,
            iterations=6,
            sharing="private",
            quantum=quantum,
        )
        for quantum in ("1 us", "100 us")
    )
    for phase in ("symgs", "spmv"):
        times = [frame.loc[frame["phase"] == phase, "compute_s"].sum() for frame in (tight, loose)]
        assert times[0] == pytest.approx(times[1], rel=0.001), phase
