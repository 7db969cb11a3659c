"""Public programs on two ranks, in two lengths: how each is told its number of steps, its native times, its recording.

The programs and their places are those of ``real_programs.py``. Here are those whose number of steps is an argument or
in an input file: their start-up cancels. HPCCG, HPCG, miniFE, AMG and NPB IS have a fixed one, LULESH runs on cubes.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from real_programs import FOLDER, PROGRAMS

from manynode.config.input_files import place, read_inputs, rendered
from manynode.launch import Flavour, detect_mpi
from manynode.markers import read_marker_file
from manynode.paths import ROOT
from phase2_nodesim.record import record_run

RANKS: Final = 2
INPUTS: Final = ROOT / "benchmarks" / "inputs"


@dataclass(frozen=True)
class Stepped:
    """``{n}`` in ``arguments`` and in the ``inputs`` (templates in ``benchmarks/inputs``) is the number of steps.

    The shorter run has ``steps``, the longer one twice as many. ``{inside}``: the folder in which the program is run in
    ``real_programs.py``.
    """

    steps: int
    arguments: str
    inputs: tuple[str, ...] = ()


AMR: Final = (
    "--npx 2 --npy 1 --npz 1 --nx 8 --ny 8 --nz 8 --num_tsteps {n} --max_blocks 2000 --num_refine 2 "
    "--num_objects 1 --object 2 0 -1.1 -1.1 -1.1 0.05 0.05 0.05 1.0 1.0 1.0 0.0 0.0 0.0"
)
STEPPED: Final[Mapping[str, Stepped]] = {
    "CoMD, weak": Stepped(20, "-i 2 -j 1 -k 1 -x 24 -y 12 -z 12 -N {n} -n 10"),
    "CloverLeaf": Stepped(60, "", ("clover.in.j2",)),
    "miniMD, strong": Stepped(60, "-i {inside}/in.lj.miniMD -n {n} -s 16"),
    "miniAMR": Stepped(20, AMR),
    "SNAP": Stepped(5, "snap.in out", ("snap.in.j2",)),
    "NPB FT, class A": Stepped(1, "", ("inputft.data.j2",)),
    "NPB LU, class A": Stepped(3, "", ("inputlu.data.j2",)),
    "NPB MG, class A": Stepped(4, "", ("mg.input.j2",)),
}


def there() -> list[str]:
    """Return the names of the programs that are in the folder; name those that are not."""
    found = {one.name for one in PROGRAMS if FOLDER in os.environ and (_folder() / one.path).is_file()}
    if missing := [name for name in STEPPED if name not in found]:
        print(f"left out, not in {FOLDER}: {'; '.join(missing)}")
    return [name for name in STEPPED if name in found]


@dataclass(frozen=True)
class Run:
    """The program ``name`` with ``steps`` steps, in a ``folder`` of its own, which is made with its input files."""

    name: str
    steps: int
    folder: Path

    def __post_init__(self) -> None:
        inputs = read_inputs(STEPPED[self.name].inputs, INPUTS, "inputs")
        place(inputs, rendered(inputs, {"n": self.steps}, RANKS, RANKS, None), self.folder)

    @cached_property
    def command(self) -> list[str]:
        """The program and its arguments."""
        (found,) = (one for one in PROGRAMS if one.name == self.name)
        arguments = STEPPED[self.name].arguments.format(n=self.steps, inside=_folder() / found.inside)
        return [str(_folder() / found.path), *shlex.split(arguments)]

    @cached_property
    def mpi(self) -> Flavour:
        """The MPI that the program is linked with."""
        return detect_mpi(self.command[0])

    def native(self) -> np.ndarray:
        """Return the times from one MPI call of the first rank to the next [s], of a run on this host."""
        recording = self.folder.with_name(f"{self.folder.name}.native")
        record_run(recording, self.command, self.mpi, RANKS, placed=lambda _: self.folder)
        first = read_marker_file(recording / "rank-000000.mnmk", resolve=False)
        shutil.rmtree(recording)
        return np.diff(first.records["time_out_s"].to_numpy())

    def application(self) -> dict[str, Any]:
        """Record the calls of a run; return the section of an experiment that replays them."""
        recording = self.folder.with_name(f"{self.folder.name}.recording")
        record_run(recording, self.command, self.mpi, RANKS, placed=lambda _: self.folder)
        section: dict[str, Any] = {"command": self.command, "recorded": str(recording)}
        if names := STEPPED[self.name].inputs:
            section |= {"inputs": [str(INPUTS / name) for name in names], "input_values": {"n": self.steps}}
        return section


def _folder() -> Path:
    return Path(os.environ[FOLDER]).resolve()
