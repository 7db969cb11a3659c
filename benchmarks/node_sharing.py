"""Measure what 16 ranks of HPCG share on a Broadwell node: spread over ranks by binding, variation in time by sharing.

A rank has 32^3 points: the matrices of the ranks of a socket take 100 MB, its last level 45 MB. All figures are of the
finest smoother. The spread is that of the ranks' mean times, the largest over the smallest; the variation is the
coefficient of variation over the iterations of a rank, the median over the ranks. Takes a quarter of an hour.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import yaml
from _figure import figure
from _mini_app import ROOT
from _node_run import hpcg_node, need

from manynode.config.experiment import NodesimSection, QemuSection
from manynode.config.machine import Machine

RANKS, GRID, ITERATIONS = 16, 32, 6
LEVELS = 4
SMOOTHERS = 2 * LEVELS - 1  # of an iteration: down and up the levels, the finest one first
OVER_PRIVATE = 5.0


def smoother_times(last_level: float = 1.0, **qemu: Any) -> list[np.ndarray]:
    """Return the times [s] of each rank's finest smoother but the first; the last level has its size times a factor."""
    content = yaml.safe_load((ROOT / "configs" / "machines" / "broadwell.yaml").read_text())
    machine = Machine.model_validate(content)
    content["caches"]["last_level"]["size"] = f"{int(last_level * machine.caches.last_level.size)} B"
    machine = Machine.model_validate(content)
    settings = NodesimSection(engine="qemu", qemu=QemuSection.model_validate(qemu))
    segments, _ = hpcg_node(machine, settings, ranks=RANKS, grid=GRID, iterations=ITERATIONS)
    own = segments[segments["phase"] == "symgs"].sort_values("sequence")
    return [rows["compute_s"].to_numpy()[::SMOOTHERS][1:] for _, rows in own.groupby("rank")]


def spread(times: list[np.ndarray]) -> float:
    """Return the largest mean over the smallest one."""
    means = [float(own.mean()) for own in times]
    return max(means) / min(means)


def variation(times: list[np.ndarray]) -> float:
    """Return the median coefficient of variation."""
    return float(np.median([own.std() / own.mean() for own in times]))


def figures() -> list[dict[str, Any]]:
    """Return spreads and variations."""
    need("qemu")
    balanced, domains = smoother_times(), smoother_times(binding="domains")
    private, larger = smoother_times(sharing="private"), smoother_times(2.0)
    return [
        figure("spread over the ranks, 9 and 7 on the sockets (binding: domains)", spread(domains), "", None, None),
        figure("spread over the ranks, 8 and 8 (binding: balanced)", spread(balanced), "", None, None),
        figure("spread over the ranks, private caches", spread(private), "", None, None),
        figure("variation in time, shared caches", variation(balanced), "", None, None),
        figure("variation in time, last level doubled", variation(larger), "", None, None),
        figure(
            "variation in time, shared over private", variation(balanced) / variation(private), "", OVER_PRIVATE, ">="
        ),
    ]


if __name__ == "__main__":
    for entry in figures():
        print(f"{entry['name']}: {entry['value']:.4g}")
