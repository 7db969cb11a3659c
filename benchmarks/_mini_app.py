"""Shared by several measurements: native runs of the mini-app, with or without markers, and the form of a figure."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from _figure import program

from manynode.paths import ROOT, native_library, native_program

__all__ = ["ROOT", "at_most", "manynode", "options", "run_hpcg", "seconds_per_iteration"]


def options(parameters: Mapping[str, int]) -> list[str]:
    """Return the options of a mini-app with these parameters."""
    return [word for name, value in parameters.items() for word in (f"--{name}", str(value))]


def seconds_per_iteration(output: str) -> float:
    """Return the mean time of an iteration [s] that a mini-app prints."""
    found = re.search(r"^seconds_per_\w+: ([\d.]+)$", output, re.MULTILINE)
    assert found is not None, output
    return float(found[1])


def manynode(*arguments: object) -> str:
    """Run the command line; return its output. Its progress and errors are shown."""
    command = [sys.executable, "-m", "manynode", *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def run_hpcg(ranks: int, parameters: Mapping[str, int], markers: Path | None) -> str:
    """Run HPCG under MPICH and return its output; with ``markers``, record markers into that folder."""
    launcher = shutil.which("mpiexec.mpich") or program("mpiexec", "install mpich")
    # As in the pipeline, only the ranks load the library, not the launcher. Runs without it start in the same way.
    preload = ["env"]
    if markers is not None:
        library = native_library("libmanynode_markers_mpich.so")
        preload += [f"LD_PRELOAD={library}", f"MANYNODE_MARKERS_DIR={markers}"]
    command = [launcher, "-n", str(ranks), *preload, str(native_program("hpcg")), *options(parameters)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def at_most(name: str, value: float, unit: str, target: float) -> dict[str, Any]:
    """Return a figure that must not exceed ``target``."""
    return {
        "name": name, "value": value, "unit": unit, "target": target, "comparison": "<=", "holds": value <= target,
    }  # fmt: skip
