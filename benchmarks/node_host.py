"""Measure the engine qemu against the host that it runs on: compute phases of eight mini-apps, alone and side by side.

The machine file comes from ``manynode calibrate-node`` (``python benchmarks/node_host.py MACHINE`` takes another one);
nothing is fitted to the applications. OpenBLAS takes the same routines natively as under QEMU, which has no AVX-512.
Native times are those of the best round, because other work on a host only ever adds time; ``--rounds N`` makes more of
them. A phase counts if it is executed several times and is among those that make up 95 % of the application's
computation; its first execution, which faults pages in, does not.

A phase is timed in three ways: one rank; two ranks of one job; and two ranks that do not know of each other, each with
the work of one (``separate_ranks.c``), of which the first is timed. The last over the first is the slow-down by the
neighbour. A job of two ranks would not tell it: its ranks have other work than one alone (HACC: transforms of 50 points
in place of 40). Takes seven minutes with 60 rounds, and needs two idle cores.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import pandas as pd
import yaml
from _figure import figure
from _mini_app import at_most
from _node_run import need, node_segments

from manynode import process
from manynode.config.experiment import NodesimSection
from manynode.config.machine import Machine
from manynode.paths import ROOT

ROUNDS: Final = 5
APPLICATIONS: Final[Mapping[str, Mapping[str, int]]] = {
    "hpcg": {"nx": 32, "ny": 32, "nz": 32, "iterations": 4},
    "snap": {"nx": 200, "ny": 8, "nz": 8, "chunk": 20, "angles": 4, "groups": 4, "outers": 1, "inners": 3},
    "milc": {"nx": 8, "ny": 8, "nz": 8, "nt": 8, "iterations": 6},
    "fft2d": {"elements": 131072, "iterations": 6},
    "caffe": {"images": 32, "side": 16, "filters": 8, "hidden": 64, "iterations": 3},
    "spmv": {"nx": 12, "ny": 12, "nz": 12, "columns": 32, "iterations": 6},
    "lammps": {"nx": 8, "ny": 8, "nz": 8, "iterations": 20, "every": 5},
    "hacc": {"elements": 65536, "iterations": 4},
}
COMPUTATION: Final = 0.95
MEAN, WORST, SLOW_DOWN = 0.12, 0.35, 0.10


def calibrated(folder: Path) -> Machine:
    """Return the machine that ``calibrate-node`` makes of this host."""
    path = folder / "host.yaml"
    subprocess.run([sys.executable, "-m", "manynode", "calibrate-node", str(path)], check=True, stdout=sys.stderr)
    return Machine.model_validate(yaml.safe_load(path.read_text()))


def separate_ranks(folder: Path) -> Path:
    """Return the library with which each rank of a job is a world of its own."""
    library = folder / "separate_ranks.so"
    source = ROOT / "benchmarks" / "separate_ranks.c"
    process.run(["mpicc.mpich", "-O2", "-shared", "-fPIC", source, "-o", library, "-ldl"], what="mpicc")
    return library


def means(
    name: str, size: Mapping[str, int], machine: Machine, engine: str, ranks: int, preloaded: Path | None = None
) -> pd.DataFrame:
    """Return the ``mean`` time [s] and the ``total`` of each repeated phase, without its first execution.

    The mean is that of all ranks, or of the first one where each is a world of its own: of as many executions as alone.
    """
    settings = NodesimSection.model_validate({"engine": engine})
    segments, _ = node_segments(name, size, machine, settings, ranks=ranks, preloaded=preloaded)
    later = segments[segments.groupby(["rank", "phase"]).cumcount() > 0]
    if preloaded is not None:
        later = later[later["rank"] == 0]
    return later.groupby("phase")["compute_s"].agg(mean="mean", total="sum")


def phases(name: str, size: Mapping[str, int], machine: Machine, separate: Path, rounds: int) -> pd.DataFrame:
    """Return a row per phase: native and simulated times in three ways, and the natives' spread over rounds."""
    ways: dict[str, tuple[int, Path | None]] = {"1": (1, None), "2": (2, None), "beside": (2, separate)}
    native: dict[str, list[pd.DataFrame]] = {way: [] for way in ways}
    # In turns, so that a host that changes with time changes all of them.
    for _ in range(rounds):
        for way, (ranks, preloaded) in ways.items():
            native[way].append(means(name, size, machine, "native", ranks, preloaded))
    table = pd.DataFrame()
    for way, (ranks, preloaded) in ways.items():
        times = pd.concat([found["mean"] for found in native[way]], axis=1)
        table[f"native_{way}_s"] = times.min(axis=1)
        table[f"spread_{way}"] = times.median(axis=1) / times.min(axis=1) - 1
        table[f"qemu_{way}_s"] = means(name, size, machine, "qemu", ranks, preloaded)["mean"]
    total = pd.concat([found["total"] for found in native["1"]], axis=1).min(axis=1).sort_values(ascending=False)
    share = total / total.sum()
    kept = share.index[share.cumsum() - share < COMPUTATION]
    table = table.loc[kept].assign(application=name, share=share[kept])
    return table.rename_axis("phase").reset_index()


@patch.dict(os.environ, {"OPENBLAS_CORETYPE": "Haswell"})
def figures(
    machine: Machine | None = None, rounds: int = ROUNDS, applications: Mapping[str, Mapping[str, int]] = APPLICATIONS
) -> list[dict[str, Any]]:
    """Return the errors of phases and of the slow-down by the neighbour."""
    need("qemu")
    with tempfile.TemporaryDirectory() as folder:
        if machine is None:
            machine = calibrated(Path(folder))
        separate = separate_ranks(Path(folder))
        tables = [phases(name, size, machine, separate, rounds) for name, size in applications.items()]
        table = pd.concat(tables, ignore_index=True)
    for ranks in (1, 2):
        table[f"error_{ranks}"] = table[f"qemu_{ranks}_s"] / table[f"native_{ranks}_s"] - 1
    native, model = (table[f"{which}_beside_s"] / table[f"{which}_1_s"] - 1 for which in ("native", "qemu"))
    table["slow_down_native"], table["slow_down_qemu"] = native, model
    print(table.to_string(float_format="{:.4g}".format))
    errors = pd.concat([table["error_1"], table["error_2"]]).abs()
    return [
        at_most("engine qemu against this host: compute phases, mean error", errors.mean(), "", MEAN),
        at_most("engine qemu against this host: compute phases, worst error", errors.max(), "", WORST),
        at_most("engine qemu against this host: slow-down, difference", (model - native).abs().max(), "", SLOW_DOWN),
        figure("this host: spread of a phase over rounds, median", table["spread_beside"].median(), "", None, None),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("machine", nargs="?", type=Path, help="machine file; default: that of calibrate-node")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="native rounds (default: %(default)s)")
    parser.add_argument("--application", choices=APPLICATIONS, help="only this one; default: all")
    parser.add_argument("--size", nargs="+", default=[], metavar="KEY=NUMBER", help="its size, such as nx=64 ny=64")
    arguments = parser.parse_args()
    given = Machine.model_validate(yaml.safe_load(arguments.machine.read_text())) if arguments.machine else None
    chosen = APPLICATIONS
    if name := arguments.application:
        own = {key: int(number) for key, _, number in (word.partition("=") for word in arguments.size)}
        chosen = {name: {**APPLICATIONS[name], **own}}
    elif arguments.size:
        parser.error("--size needs --application")
    for entry in figures(given, arguments.rounds, chosen):
        print(f"{entry['name']}: {entry['value']:.4g}")
