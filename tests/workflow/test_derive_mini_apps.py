"""Skeletons derived from small runs of the mini-apps equal a larger run, call by call, in Python and in C++.

Each shows another side of a derivation: messages along whole lines with sizes of unequal blocks (hacc), a 4-D grid with
MPI_PROC_NULL (milc), exchanges that only long axes have (lammps), a tree (caffe), and one that is refused (fft2d).
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from manynode.derived import skeleton_file
from manynode.errors import InputError
from manynode.markers import read_marker_directory
from manynode.paths import native_program
from phase2_nodesim.conformance import first_difference, promised_calls, recorded_calls
from phase2_nodesim.derive.derivation import derive
from phase2_nodesim.derive.judging.verdict import verdict
from phase2_nodesim.derive.recorded.recordings import Recording, read_recording
from phase2_nodesim.record import record_run

pytestmark = pytest.mark.usefixtures("no_busy_start")
# The numbers of ranks to derive from, as few as each needs, and a larger one to compare with.
COUNTS = {
    "hacc": ((4, 8, 12, 16), 24),
    "milc": ((4, 8, 12, 16), 24),
    "lammps": ((4, 8, 12, 16), 20),
    "caffe": ((8, 12, 32), 36),
}
PROBLEMS = {
    "hacc": {"elements": 150, "iterations": 4},
    "milc": {"nx": 4, "ny": 6, "nz": 4, "nt": 8, "iterations": 4, "third_neighbours": 1},
    "lammps": {"nx": 2, "ny": 3, "nz": 2, "iterations": 12, "every": 3, "thermo_every": 3, "reductions": 4},
    "caffe": {"images": 4, "side": 8, "filters": 2, "hidden": 6, "iterations": 4},
}


def record(name: str, problem: dict[str, int], ranks: int, folder: Path) -> Recording:
    words = [word for key, value in problem.items() for word in (f"--{key}", str(value))]
    record_run(folder, [str(native_program(name)), *words], "mpich", ranks, timeout_s=300)
    return read_recording(folder, problem)


@pytest.mark.long
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_skeleton_from_small_runs_is_agreed_and_equals_a_larger_run(name: str, tmp_path: Path) -> None:
    problem = PROBLEMS[name]
    counts, held_out = COUNTS[name]
    derived = derive([record(name, problem, ranks, tmp_path / str(ranks)) for ranks in counts], name=name)
    # Judged before the larger run is made.
    assert verdict(derived.skeleton, held_out).level == "agreed"
    record(name, problem, held_out, tmp_path / "held-out")
    file = tmp_path / "skeleton.yaml"
    file.write_text(derived.text(), encoding="utf-8")
    compiled = tmp_path / "skeleton.json"
    digest = skeleton_file.write_compiled(compiled, skeleton_file.read(file))
    parameters = json.dumps({"file": str(compiled), "digest": digest})
    words = ["stream", "--app", "derived", "--ranks", str(held_out), "--parameters", parameters]
    made = subprocess.run([native_program("manynode-skeleton"), *words], capture_output=True, text=True, check=True)
    recorded = recorded_calls(read_marker_directory(tmp_path / "held-out", resolve=False))
    assert first_difference(recorded, promised_calls(made.stdout)) is None


def test_a_program_that_chooses_its_collective_by_divisibility_is_refused(tmp_path: Path) -> None:
    problem = {"elements": 96, "iterations": 4}
    recordings = [record("fft2d", problem, ranks, tmp_path / str(ranks)) for ranks in (4, 8, 18)]
    with pytest.raises(InputError) as caught:
        derive(recordings)
    assert "MPI_Alltoall" in caught.value.render()
