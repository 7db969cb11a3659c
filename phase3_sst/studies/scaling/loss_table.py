"""Breaks the time at each node count down into losses: paired counterfactual simulations -> table ``scaling/1``.

In: a resolved experiment with a section ``scaling`` and the folder of its results. Costs are removed one after the
other (:mod:`manynode.config.counterfactuals`), with the same draws; the drop in time is the loss to that cost. Out, a
row per technique, node count and part: technique, nodes, ranks, part, seconds (mean over the replicas), low_s, high_s
(bootstrap interval over the paired replicas), share (of the time), growth_s (over the smallest node count). The parts
of a point add up to its time:

- compute: mean over ranks of the computation, with constant times;
- dependency: waiting that remains with constant times on a network that costs nothing (pipelines, unequal classes);
- variability: waiting caused by varying times;
- overhead: processor time of messages and of reducing;
- latency: that of links, switches, adapters and within the node;
- bandwidth: that of the same parts, and the adapters' gap between messages;
- contention: waiting for busy links.

A part can be negative, since faster messages may delay others.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd

from manynode import seeds
from manynode.config.counterfactuals import STAGES, loss_nodes, loss_techniques, technique_of
from manynode.config.resolved import Resolved
from phase3_sst.analysis.projection_tables import bootstrap_interval
from phase3_sst.point.point_result import PointResult

PARTS = ("compute", "dependency", "variability", "overhead", "latency", "bandwidth", "contention")


def analyse(experiment: Resolved, folder: Path) -> pd.DataFrame:
    """Return the table of losses of the experiment with results in ``folder``."""
    rows = []
    for technique in loss_techniques(experiment):
        for nodes in loss_nodes(experiment):
            rng = seeds.generator(experiment.seed, "bootstrap", "scaling", technique, nodes)
            for part, seconds in _parts(folder, technique, nodes).items():
                low, high = bootstrap_interval(list(seconds), experiment.simulate.confidence, rng)
                rows.append(
                    {
                        "technique": technique,
                        "nodes": nodes,
                        "ranks": nodes * experiment.ranks_per_node,
                        "part": part,
                        "seconds": float(seconds.mean()),
                        "low_s": low,
                        "high_s": high,
                    }
                )
    frame = pd.DataFrame(rows)
    frame["share"] = frame["seconds"] / frame.groupby(["technique", "nodes"])["seconds"].transform("sum")
    # The node counts increase; the first row of a part has the smallest.
    frame["growth_s"] = frame["seconds"] - frame.groupby(["technique", "part"])["seconds"].transform("first")
    return frame


def _parts(folder: Path, technique: str, nodes: int) -> dict[str, np.ndarray]:
    """Return part -> its seconds in each replica."""
    real = PointResult(folder / "simulate" / technique / f"nodes-{nodes}")
    stages = [
        PointResult(folder / "scaling" / stage / technique_of(stage, technique) / f"nodes-{nodes}") for stage in STAGES
    ]
    *variable, constant = stages
    replicas = sorted(real.makespans_s)
    times = [np.array([stage.makespans_s[replica] for replica in replicas]) for stage in [real, *variable]]
    (without_variability,) = constant.makespans_s.values()
    times.append(np.full(len(replicas), without_variability))
    times.append(np.full(len(replicas), _compute(constant.ranks())))
    losses = [before - after for before, after in itertools.pairwise(times)]
    return dict(zip(PARTS, [times[-1], *reversed(losses)], strict=True))


def _compute(ranks: pd.DataFrame) -> float:
    """Return job 0's mean seconds of computation per rank."""
    own = ranks[ranks["job"] == 0]
    computing = own.loc[own["operation"] == "compute", "seconds"].sum()
    return float(computing) / int(own["rank"].nunique())
