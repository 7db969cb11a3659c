"""Predict on one node what the ranks of another have in common: the levels of the fit, held out.

Two nodes of the job of a shipped scaling study are simulated with external ranks. The levels of each phase
(:mod:`phase2_nodesim.levels`) are told from the ranks of the first. The figure is the share of the variance of the
second node's executions (their means over its ranks) that these levels explain, of the phases with at least a
twentieth of the computation. ``python benchmarks/common_levels.py snap milc fft2d`` takes some half an hour on two idle
cores, MILC alone, the default, five minutes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _figure import figure
from _node_run import need

from manynode import process
from manynode.config.loader import load_experiment
from manynode.config.resolved import write_resolved
from manynode.paths import ROOT
from manynode.tables import read_table
from phase2_nodesim.distributions import Times
from phase2_nodesim.levels import by_level, common_levels
from phase2_nodesim.parameters import FitParameters

LEAST_SHARE = 0.05
LEAST_EXPLAINED = 0.9


def tables(segments: pd.DataFrame) -> dict[str, Times]:
    """Return the times [s] of each labelled phase, a row for each rank; phases of unequal length are left out."""
    own = segments[segments["labelled"] & ~segments["warm_up"]].sort_values(["rank", "sequence"])
    found = {}
    for name, rows in own.groupby("phase"):
        counts = rows.groupby("rank").size()
        if counts.nunique() == 1:
            found[str(name)] = rows["compute_s"].to_numpy(np.float64).reshape(len(counts), -1)
    return found


def explained(first: Times, second: Times) -> float | None:
    """Return the share of the variance of the second node's executions that the first one's levels explain."""
    levels = common_levels(first, FitParameters())
    if levels is None or first.shape[1] != second.shape[1]:
        return None
    predicted = by_level(first.mean(axis=0), levels)
    truth = second.mean(axis=0)
    predicted = predicted * truth.mean() / predicted.mean()
    return 1 - float(((truth - predicted) ** 2).mean() / truth.var())


def of_application(name: str) -> Iterator[tuple[str, float]]:
    """Yield the phases of an application that have levels, with the explained share."""
    experiment = load_experiment(ROOT / "configs" / "studies" / "scaling" / f"{name}.yaml")
    nodes = experiment.nodesim.nodes
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "experiment.json"
        write_resolved(file, experiment)
        found = []
        for node in (nodes // 4, nodes // 2):
            output = Path(folder) / f"node-{node}.parquet"
            command = [sys.executable, "-m", "manynode", "nodesim", "run", "--experiment", file, "--mode", "ext"]
            process.run([*command, "--node", str(node), "--output", output], what="nodesim run")
            found.append(tables(read_table(output, "segments/1")))
    first, second = found
    total = sum(float(times.sum()) for times in first.values())
    for phase, times in first.items():
        share = None if phase not in second else explained(times, second[phase])
        if share is not None and times.sum() >= LEAST_SHARE * total:
            yield phase, share


def figures(names: Sequence[str] = ("milc",)) -> list[dict[str, Any]]:
    """Return the explained share of each phase."""
    need("qemu")
    return [
        figure(f"{name}, {phase}: variance of another node explained", share, "", LEAST_EXPLAINED, ">=")
        for name in names
        for phase, share in of_application(name)
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("applications", nargs="*", default=["milc"], help="of configs/studies/scaling")
    for entry in figures(parser.parse_args().applications):
        print(f"{entry['name']}: {entry['value']:.4g}")
