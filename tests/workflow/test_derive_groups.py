"""A program that works in communicators of its own: derived, and run natively."""

from __future__ import annotations

import shutil
from pathlib import Path

import pipeline
import pytest
import yaml

from manynode.process import run

SOURCE = Path(__file__).resolve().parent.parent / "data" / "mpi" / "communicators.c"

pytestmark = [
    pytest.mark.usefixtures("no_busy_start"),
    pytest.mark.skipif(shutil.which("mpicc.mpich") is None, reason="MPICH is not installed"),
]

# The middle axis has one rank at some of these numbers, and several at others.
LEARNED = "4,6,8,9,12,17,18,24,27"


def test_the_native_skeleton_makes_the_calls_in_the_communicators_of_a_run_not_learned_from(tmp_path: Path) -> None:
    program, skeleton = tmp_path / "groups", tmp_path / "groups.skeleton.yaml"
    run(["mpicc.mpich", "-g", "-O1", "-o", program, SOURCE], what="compiling the program")
    options = ["--ranks", LEARNED, "--held-out", "", "--target", "16", "--output", skeleton]
    done = pipeline.manynode("derive", *options, "--recordings", tmp_path / "recordings", "--", program)
    assert done.returncode == 0 and "| 16 | agreed |" in done.stdout, done.stdout + done.stderr
    colors = {one["color"]: one["key"] for one in yaml.safe_load(skeleton.read_text())["communicators"]}
    assert colors == {
        **{0: "rank", "c1 * d0 + c0": "rank", "c2 * d1 + c1": "rank", "c1": "rank"},
        **{"rank // 4": "P - rank", "0 if rank % 2 == 1 else -1": "rank"},
    }
    experiment = {
        "name": "groups",
        "application": {"command": [str(program)], "derived": str(skeleton)},
        "nodes": [4],
        "ranks_per_node": 4,
        "machine": "broadwell",
        "network": "opa100-fat-tree",
    }
    (tmp_path / "groups.yaml").write_text(yaml.safe_dump(experiment))
    done = pipeline.manynode("conformance", tmp_path / "groups.yaml", "--ranks", "16")
    assert done.returncode == 0 and "16 ranks: equal" in done.stdout, done.stdout + done.stderr
