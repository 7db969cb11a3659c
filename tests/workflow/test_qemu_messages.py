"""Data of messages to and from other nodes under the engine qemu: all of it reaches the node model, once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import qemu_jobs
from qemu_jobs import node_job, report, simulate

from manynode.launch import Block, run_job
from manynode.markers import read_marker_directory


@pytest.fixture(autouse=True)
def _qemu() -> None:
    qemu_jobs.qemu_or_skip()


def said(text: str, word: str) -> dict[int, str]:
    """Return what each rank printed after ``word``."""
    return {int(rank): value for rank, value in re.findall(rf"^{word} (\d+) (\S+)$", text, re.MULTILINE)}


@pytest.mark.parametrize("flavour", ["mpich", "openmpi"])
@pytest.mark.parametrize("node", [0, 1])
def test_the_data_of_all_messages_across_the_nodes_border_is_injected(
    build_dir: Path, tmp_path: Path, flavour: Any, node: int
) -> None:
    qemu_jobs.mpi_or_skip(flavour)
    program = qemu_jobs.compiled("outside.c", flavour, tmp_path)
    job = node_job(program, flavour=flavour, nodes=2, node=node)
    simulate(job, tmp_path / "run")
    text = (tmp_path / "run" / "job.log").read_text()
    moved = said(text, "moved")
    for rank in job.simulated():
        assert report(tmp_path / "run", rank)["injected_bytes"] == int(moved[rank])
    # The application's results are those of a run without the engine. Ranks that wait sleep: there are few cores.
    polite = {"LD_PRELOAD": str(build_dir / f"lib/libmanynode_markers_{flavour}.so"), "MANYNODE_MARKERS_POLITE": "2"}
    block = Block(4, [str(program)], (), polite)
    native = run_job(flavour, [block], what="the program", log=tmp_path / "native.log", timeout_s=60).output
    assert said(text, "sum") == said(native, "sum") and len(said(native, "sum")) == 4


def test_nothing_is_injected_where_it_is_switched_off(tmp_path: Path) -> None:
    qemu_jobs.mpi_or_skip("mpich")
    program = qemu_jobs.compiled("outside.c", "mpich", tmp_path)
    frames = {}
    for inject in ("none", "nic"):
        job = node_job(program, nodes=2, inject=inject)
        simulate(job, tmp_path / inject)
        frames[inject] = [
            file.records[["operation", "peer", "peer2", "bytes", "bytes2", "tag", "requests"]]
            for file in read_marker_directory(tmp_path / inject)
        ]
    assert all(report(tmp_path / "none", rank)["injected_bytes"] == 0 for rank in (0, 1))
    assert all(report(tmp_path / "nic", rank)["injected_bytes"] > 0 for rank in (0, 1))
    # What is recorded of the calls is the same; MPI_Test is called as often as it must.
    for ours, theirs in zip(frames["none"], frames["nic"], strict=True):
        ours, theirs = (frame[frame["operation"] != "MPI_Test"].reset_index(drop=True) for frame in (ours, theirs))
        assert ours.astype(str).equals(theirs.astype(str))
