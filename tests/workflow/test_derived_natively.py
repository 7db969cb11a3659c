"""Derived skeletons of real programs, run natively: the calls of runs that were not learned from, one after the other.

One program hears from neighbours in any order and waits for them one by one, one works in communicators of its own, one
has collectives whose blocks are the parts of divided ranges, one forgets requests, one has loops over bits.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pipeline
import pytest
import yaml

from manynode.process import run

SOURCES = Path(__file__).resolve().parent.parent / "data" / "mpi"

pytestmark = [
    pytest.mark.usefixtures("no_busy_start"),
    pytest.mark.skipif(shutil.which("mpicc.mpich") is None, reason="MPICH is not installed"),
]


def derived(
    folder: Path, source: str, ranks: str, target: int, *words: str, mpi: str = "mpich"
) -> tuple[dict[str, Any], str]:
    """Derive the skeleton of a program and compare the native one with a run of 16 ranks; return it, and what was said.

    ``ranks`` are the runs that it is learned from, ``target`` a number of ranks at which it must be agreed.
    """
    program, skeleton = folder / "program", folder / "program.skeleton.yaml"
    run([f"mpicc.{mpi}", "-g", "-O1", "-o", program, SOURCES / source], what="compiling the program")
    options = ["--ranks", ranks, "--held-out", "", "--target", target, "--output", skeleton]
    done = pipeline.manynode("derive", *options, "--recordings", folder / "recordings", "--", program, *words)
    assert done.returncode == 0 and f"| {target} | agreed |" in done.stdout, done.stdout + done.stderr
    experiment = {
        "name": "program",
        "application": {"command": [str(program), *words], "derived": str(skeleton)},
        "nodes": [4],
        "ranks_per_node": 4,
        "machine": "broadwell",
        "network": "opa100-fat-tree",
    }
    compared = pipeline.manynode("conformance", pipeline.write(folder, experiment), "--ranks", "16")
    assert compared.returncode == 0 and "16 ranks: equal" in compared.stdout, compared.stdout + compared.stderr
    return yaml.safe_load(skeleton.read_text()), done.stdout


@pytest.mark.long
def test_a_list_of_neighbours(tmp_path: Path) -> None:
    _, said = derived(tmp_path, "neighbour_list.c", "1,4,8,12,18,27", 1000, "4")
    assert "receives from any source at MPI_Irecv@neighbour_list.c:" in said


@pytest.mark.long
def test_communicators(tmp_path: Path) -> None:
    skeleton, _ = derived(tmp_path, "communicators.c", "4,6,8,9,12,17,18,24,27", 16)
    assert {one["color"]: one["key"] for one in skeleton["communicators"]} == {
        **{0: "rank", "c1 * d0 + c0": "rank", "c2 * d1 + c1": "rank", "c1": "rank"},
        **{"rank // 4": "P - rank", "0 if rank % 2 == 1 else -1": "rank"},
    }


@pytest.mark.long
def test_blocks_of_collectives(tmp_path: Path) -> None:
    skeleton, _ = derived(tmp_path, "blocks.c", "4,6,9,12,18,20,25", 48, "50")
    calls = {item["call"]: item for item in skeleton["body"][-2]["do"]}
    assert calls["MPI_Allgatherv"]["received"] == "8 * block(50, P, k)"
    assert calls["MPI_Alltoallv"]["sent"] == "(8 * block(50, d0, c0)) * block(50, d0, k)"


@pytest.mark.long
def test_forgotten_requests(tmp_path: Path) -> None:
    skeleton, _ = derived(tmp_path, "forgotten.c", "4,6,8,9,12,18,20", 1024, "3")
    assert skeleton["body"][-1]["free"]


@pytest.mark.long
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_loops_over_bits(mpi: str, tmp_path: Path) -> None:
    if shutil.which(f"mpicc.{mpi}") is None:
        pytest.skip(f"mpicc.{mpi} is not installed")
    skeleton, said = derived(tmp_path, "walks.c", "2,4,8,12,32", 1024, mpi=mpi)
    assert "the program does not run on 12 ranks: the number of ranks must be a power of two" in said
    loops = [item["repeat"] for item in skeleton["body"][-2]["do"] if "repeat" in item]
    assert loops == ["log2(d0)", "log2(d0)", "log2(2 * P - 1)"]
