"""What several measurements share: the mini-app run natively, with or without the markers, and the form of a figure."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("MANYNODE_BUILD_DIR", ROOT / "build"))


def run_hpcg(ranks: int, parameters: Mapping[str, int], markers: Path | None) -> str:
    """Run HPCG under MPICH, marked into the folder ``markers`` if one is given, and return what it printed."""
    # As the pipeline does it: the ranks get the library, the launcher does not; started alike without it.
    preload = ["env"]
    if markers is not None:
        library = BUILD / "lib" / "libmanynode_markers_mpich.so"
        preload += [f"LD_PRELOAD={library}", f"MANYNODE_MARKERS_DIR={markers}"]
    launcher = shutil.which("mpiexec.mpich") or "mpiexec"
    options = [word for name, value in parameters.items() for word in (f"--{name}", str(value))]
    command = [launcher, "-n", str(ranks), *preload, str(BUILD / "bin" / "hpcg"), *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def at_most(name: str, value: float, unit: str, target: float) -> dict[str, Any]:
    """Return a figure that should not be above ``target``."""
    return {
        "name": name, "value": value, "unit": unit, "target": target, "comparison": "<=", "holds": value <= target,
    }  # fmt: skip
