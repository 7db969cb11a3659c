"""What several measurements share: the mini-app run natively, with or without the markers, and the form of a figure."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from _figure import program

from manynode.paths import ROOT, native_library, native_program

__all__ = ["ROOT", "at_most", "run_hpcg"]


def run_hpcg(ranks: int, parameters: Mapping[str, int], markers: Path | None) -> str:
    """Run HPCG under MPICH, marked into the folder ``markers`` if one is given, and return what it printed."""
    launcher = shutil.which("mpiexec.mpich") or program("mpiexec", "install mpich")
    # As the pipeline does it: the ranks get the library, the launcher does not; started alike without it.
    preload = ["env"]
    if markers is not None:
        library = native_library("libmanynode_markers_mpich.so")
        preload += [f"LD_PRELOAD={library}", f"MANYNODE_MARKERS_DIR={markers}"]
    options = [word for name, value in parameters.items() for word in (f"--{name}", str(value))]
    command = [launcher, "-n", str(ranks), *preload, str(native_program("hpcg")), *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def at_most(name: str, value: float, unit: str, target: float) -> dict[str, Any]:
    """Return a figure that should not be above ``target``."""
    return {
        "name": name, "value": value, "unit": unit, "target": target, "comparison": "<=", "holds": value <= target,
    }  # fmt: skip
