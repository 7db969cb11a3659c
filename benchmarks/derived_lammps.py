"""Derive the skeleton of an unmodified LAMMPS, whose messages depend on load, and compare it with larger runs.

A Lennard-Jones liquid of 108,000 atoms, 40 steps. Trained on 4 to 32 ranks, held out 16, 36 and 64: calls that differ
(none may), error of the bytes sent, Kolmogorov-Smirnov distance of the sizes, and the makespan on the fast engine
against a replay of the recorded stream, without compute times and with contention. The program `lmp` is that of a
distribution's package (`apt install lammps`); x = 30 is a size at which it takes its grid in ascending order.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from _figure import figure, program
from fast_messages import run_file, simulate

from manynode.derived import skeleton_file
from manynode.launch import detect_mpi
from phase2_nodesim.derive.derivation import derive
from phase2_nodesim.derive.judging.compared import first_difference
from phase2_nodesim.derive.recorded.recordings import Recording, read_recording
from phase2_nodesim.derive.writing.drawn import comparison
from phase2_nodesim.record import record_run
from phase2_nodesim.recorded_stream import write_recorded_stream

TRAINED, HELD_OUT = (4, 8, 12, 18, 24, 27, 32), (16, 36, 64)
VOLUME_TARGET, MAKESPAN_TARGET, DERIVATION_TARGET_S = 0.005, 0.05, 60.0
INPUT = """\
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 $x 0 $x 0 $x
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
thermo 10
run 40
"""


def figures() -> list[dict[str, Any]]:
    """Return, over the runs held out, the worst differences between the derived skeleton and the program."""
    lammps = program("lmp", "install the package lammps of your distribution")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "liquid.in").write_text(INPUT, encoding="utf-8")
        command = [lammps, "-in", str(folder / "liquid.in"), "-log", "none", "-screen", "none", "-var", "x", "30"]
        read: dict[int, Recording] = {}
        for ranks in (*TRAINED, *HELD_OUT):
            place = folder / f"ranks-{ranks}"
            record_run(place, command, detect_mpi(lammps), ranks, timeout_s=600)
            read[ranks] = read_recording(place, {})
        start = time.process_time()
        content = derive([read[ranks] for ranks in TRAINED], name="liquid").skeleton
        seconds = time.process_time() - start
        compiled = folder / "liquid.json"
        digest = skeleton_file.write_compiled(compiled, skeleton_file.checked(content, "liquid"))
        derived = {"name": "derived", "parameters": {"file": str(compiled), "digest": digest, "values": "{}"}}
        different = 0
        volume = distance = makespan = 0.0
        for ranks in HELD_OUT:
            difference = first_difference(content, read[ranks])
            found = comparison(content, read[ranks])
            assert found is not None
            print(f"{ranks} ranks: {difference or 'all calls are equal'}; {found}")
            different += difference is not None
            volume = max(volume, abs(found.volume_error))
            distance = max(distance, found.distance)
            stream = folder / f"ranks-{ranks}.json"
            head = write_recorded_stream(folder / f"ranks-{ranks}", stream)
            replayed = {"name": "recorded", "parameters": {"file": str(stream), "digest": head["digest"]}}
            ours, theirs = (simulate(run_file(one, ranks // 4, 4)).replica["makespan_s"] for one in (derived, replayed))
            print(f"{ranks} ranks: makespan {ours * 1e3:.3f} ms, of the replay {theirs * 1e3:.3f} ms")
            makespan = max(makespan, abs(ours / theirs - 1))
    return [
        figure("LAMMPS derived: runs held out that differ in a call", different, "", 0, "<="),
        figure("LAMMPS derived: error of the bytes sent", volume, "", VOLUME_TARGET, "<="),
        figure("LAMMPS derived: Kolmogorov-Smirnov distance, median", distance, "", None, None),
        figure("LAMMPS derived: makespan against the replay", makespan, "", MAKESPAN_TARGET, "<="),
        figure("LAMMPS derived: derivation", seconds, "s", DERIVATION_TARGET_S, "<="),
    ]
