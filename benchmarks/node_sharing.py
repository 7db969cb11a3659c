"""Measure what the ranks of HPCG on one node share: variation in time by sharing, spread over the ranks by binding.

All figures are of the finest smoother. The variation is the coefficient of variation over the iterations of a rank (by
the sample's standard deviation, without the first iteration), the median over the ranks. The spread is that of the
ranks' mean times, the largest over the smallest. By default 16 ranks of 32^3 points on a Broadwell node: the matrices
of the ranks of a socket take 100 MB, its last level 45 MB. Takes ten minutes on an idle host. Other cases:
``python benchmarks/node_sharing.py --machine generic --grid 16x16x16 --last-level "34 MiB"``.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np
import yaml
from _figure import figure
from _mini_app import ROOT
from _node_run import hpcg_node, need

from manynode.config.experiment import NodesimSection, QemuSection
from manynode.config.machine import Machine

LEVELS = 4
SMOOTHERS = 2 * LEVELS - 1  # of an iteration: down and up the levels, the finest one first
OVER_PRIVATE = 5.0


@dataclass(frozen=True)
class Case:
    """One node and one size; an empty last level or replacement is that of the machine file."""

    machine: str = "broadwell"
    grid: tuple[int, int, int] = (32, 32, 32)
    ranks: int = 16
    iterations: int = 8
    last_level: str = ""
    replacement: str = ""

    def node(self, factor: float) -> Machine:
        """Return the machine; the last level has its size times ``factor``."""
        content = yaml.safe_load((ROOT / "configs" / "machines" / f"{self.machine}.yaml").read_text())
        last_level = content["caches"]["last_level"]
        if self.last_level:
            last_level["size"] = self.last_level
        if self.replacement:
            last_level["replacement"] = self.replacement
        size = Machine.model_validate(content).caches.last_level.size
        last_level["size"] = f"{int(factor * size)} B"
        return Machine.model_validate(content)

    def smoother_times(self, factor: float = 1.0, **qemu: Any) -> list[np.ndarray]:
        """Return the times [s] of each rank's finest smoother in all iterations but the first."""
        settings = NodesimSection(engine="qemu", qemu=QemuSection.model_validate(qemu))
        sizes = {"iterations": self.iterations, "levels": LEVELS}
        segments, _ = hpcg_node(self.node(factor), settings, ranks=self.ranks, grid=self.grid, **sizes)
        own = segments[segments["phase"] == "symgs"].sort_values("sequence")
        return [rows["compute_s"].to_numpy()[::SMOOTHERS][1:] for _, rows in own.groupby("rank")]


def spread(times: list[np.ndarray]) -> float:
    """Return the largest mean over the smallest one."""
    means = [float(own.mean()) for own in times]
    return max(means) / min(means)


def variation(times: list[np.ndarray]) -> float:
    """Return the median coefficient of variation."""
    return float(np.median([own.std(ddof=1) / own.mean() for own in times]))


def figures(case: Case | None = None) -> list[dict[str, Any]]:
    """Return variations and spreads."""
    need("qemu")
    case = case or Case()
    shared, domains = case.smoother_times(), case.smoother_times(binding="domains")
    private, larger = case.smoother_times(sharing="private"), case.smoother_times(2.0)
    over_private = variation(shared) / variation(private)
    over_larger = variation(shared) / variation(larger)
    return [
        figure("mean time, shared caches", 1e6 * float(np.mean(shared)), "us", None, None),
        figure("mean time, private caches", 1e6 * float(np.mean(private)), "us", None, None),
        figure("variation in time, shared caches", variation(shared), "", None, None),
        figure("variation in time, private caches", variation(private), "", None, None),
        figure("variation in time, last level doubled", variation(larger), "", None, None),
        figure("variation in time, shared over private", over_private, "", OVER_PRIVATE, ">="),
        figure("variation in time, shared over last level doubled", over_larger, "", 1.0, ">="),
        figure("spread over the ranks (binding: balanced)", spread(shared), "", None, None),
        figure("spread over the ranks (binding: domains)", spread(domains), "", None, None),
        figure("spread over the ranks, private caches", spread(private), "", None, None),
    ]


def _case() -> Case:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machine", default=Case.machine, help="a file of configs/machines, without .yaml")
    parser.add_argument("--grid", default="x".join(map(str, Case.grid)), help="points of a rank: 24x24x32")
    parser.add_argument("--ranks", type=int, default=Case.ranks)
    parser.add_argument("--iterations", type=int, default=Case.iterations)
    parser.add_argument("--last-level", default="", help="another size of the last level: '24 MiB'")
    parser.add_argument("--replacement", default="", help="another replacement of the last level: adaptive")
    given = parser.parse_args()
    try:
        x, y, z = (int(count) for count in given.grid.split("x"))
    except ValueError:
        parser.error(f"--grid: three counts such as 24x24x32 (found {given.grid!r})")
    return Case(given.machine, (x, y, z), given.ranks, given.iterations, given.last_level, given.replacement)


if __name__ == "__main__":
    for entry in figures(_case()):
        print(f"{entry['name']}: {entry['value']:.4g} {entry['unit']}".rstrip())
