"""Measure the engine qemu against gem5 on the same machine file: times of compute phases, misses of the last level.

Five applications on two ranks of a Broadwell node whose last-level cache is small enough for small problems to outgrow
it. The machine has only what both engines model: no TLBs (gem5's misses take no time here), no inclusion (gem5 has
none), memory of one latency and bandwidth instead of DRAM, and no prefetchers, which are not the same. QEMU's guest has
no AVX, as gem5's, so that the C library takes the same routines, and OpenBLAS is told to take those that it takes under
gem5; functions are bound before the start, as gem5's static guest has them. A phase counts if it is among those that
make up 95 % of the computation under gem5. Skipped by name without gem5, which simulates some 0.2 million instructions
a second: takes a quarter of an hour. Prints a table of all phases.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final
from unittest.mock import patch

import pandas as pd
import yaml
from _figure import figure
from _mini_app import ROOT, at_most
from _node_run import need, node_segments

from manynode.config.experiment import NodesimSection
from manynode.config.machine import Machine
from phase2_nodesim.compare import phase_table

RANKS: Final = 2
LAST_LEVEL: Final = {"size": "512 KiB", "associativity": 16, "inclusion": "neither"}
APPLICATIONS: Final[Mapping[str, Mapping[str, int]]] = {
    "hpcg": {"nx": 16, "ny": 16, "nz": 16, "levels": 3, "iterations": 3},
    "snap": {"nx": 50, "ny": 4, "nz": 4, "chunk": 10, "angles": 4, "groups": 2, "outers": 1, "inners": 3},
    "milc": {"nx": 6, "ny": 6, "nz": 6, "nt": 6, "iterations": 4},
    "fft2d": {"elements": 16384, "iterations": 4},
    "caffe": {"images": 8, "side": 8, "filters": 4, "hidden": 256, "iterations": 2},
}
COMPUTATION, TIME, MISSES = 0.95, 0.15, 0.10


def machine() -> Machine:
    """Return Broadwell with a small last level, without what only one of the engines has."""
    content = yaml.safe_load((ROOT / "configs" / "machines" / "broadwell.yaml").read_text())
    content["caches"]["last_level"].update(LAST_LEVEL)
    for level in ("l1d", "l2"):
        del content["caches"][level]["prefetcher"]
    del content["tlbs"], content["memory"]["dram"], content["memory"]["channels"]
    return Machine.model_validate(content)


def compared(name: str) -> pd.DataFrame:
    """Return the phases of an application that make up most of its computation, the longest first."""
    segments = {}
    for engine in ("gem5", "qemu"):
        settings = NodesimSection.model_validate({"engine": engine, "gem5": {"inject": "none"}})
        segments[engine] = node_segments(name, APPLICATIONS[name], machine(), settings, ranks=RANKS)[0]
    table = phase_table(segments)
    before = table["share"].cumsum() - table["share"]
    return table[before < COMPUTATION].assign(application=name)


@patch("manynode.qemu.guest.CPU", "Nehalem")
@patch.dict(os.environ, {"LD_BIND_NOW": "1", "OPENBLAS_CORETYPE": "Prescott"})
def figures() -> list[dict[str, Any]]:
    """Return differences to gem5: the median over phases, and of each application's misses."""
    need("gem5", "qemu")
    table = pd.concat([compared(name) for name in APPLICATIONS], ignore_index=True)
    table["time"] = table["qemu_mean_s"] / table["gem5_mean_s"] - 1
    print(table.to_string(float_format="{:.4g}".format))
    found = [at_most("engine qemu: times of phases, median difference to gem5", table["time"].abs().median(), "", TIME)]
    for name, rows in table.groupby("application", sort=False):
        own, theirs = ((rows[f"{engine}_last_level_misses"] * rows["count"]).sum() for engine in ("qemu", "gem5"))
        found += [
            figure(f"{name}: largest difference of a phase's time", rows["time"].abs().max(), "", None, None),
            at_most(f"{name}: misses of the last level, difference to gem5", abs(own / theirs - 1), "", MISSES),
        ]
    return found


if __name__ == "__main__":
    for entry in figures():
        print(f"{entry['name']}: {entry['value']:.4g}")
