"""Time of a campaign: 400 measured collectives of pico in one experiment, on two cores, on a torus and on a fat-tree.

The rows are those of all three machines (8 to 64 nodes, 4 B to 64 MiB), each under a name of its own, and are simulated
on one network: the time is what counts here, and the errors say nothing about the machines. With ``--system`` the rows
of one machine are compared with a network, and the summary is printed.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from _agreement import need
from _figure import figure
from _mini_app import manynode

ROOT = Path(__file__).resolve().parent.parent
PICO = ROOT / "tests" / "data" / "calibration" / "pico" / "collectives.csv"
SYSTEMS = ("fugaku", "mare_nostrum", "lumi")
NETWORKS = ("tofu-d", "opa100-fat-tree")
RULE = "phase3_validate_collectives"
POINTS, CORES, MOST_S = 400, 2, 600.0
# An execution after a barrier repeats itself; the first one begins from a common start.
ITERATIONS = 2
# The campaign's names -> this toolkit's, the best one that exists first.
NAMES: dict[str, dict[str, list[str]]] = {
    "allgather": {"neighbor": ["neighbor_exchange", "ring"], "recursive-doubling": ["recursive_doubling"]},
    "allreduce": {"rabenseifner": ["reduce_scatter_allgather"], "segmented_ring": ["segmented_ring", "ring"]},
    "alltoall": {
        "linear": ["linear", "scattered"],
        "modified-bruck": ["bruck"],
        "modified_bruck": ["bruck"],
        "BRUCK-LOG-MPI-0-1": ["bruck"],
    },
    "bcast": {
        "scatter_allgather": ["scatter_recursive_doubling"],
        "scatter_allgather_ring": ["scatter_allgather"],
    },
    "gather": {"basic-linear": ["linear"]},
    "reduce": {"rabenseifner": ["reduce_scatter_gather"]},
    "reduce_scatter": {"recursive-halving": ["recursive_halving"]},
    "scatter": {"basic-linear": ["linear"]},
}


def algorithm_names() -> dict[str, dict[str, str]]:
    """Return the key ``algorithm_names`` of an experiment."""
    known = {path.stem for path in (ROOT / "skeletons" / "collectives").glob("*.cpp")}
    return {
        collective: {
            name: next(own for own in candidates if f"{collective}_{own}" in known)
            for name, candidates in names.items()
        }
        for collective, names in NAMES.items()
    }


def table(folder: Path, systems: tuple[str, ...]) -> pd.DataFrame:
    """Return the measured rows of ``systems``, those of each machine as a campaign of its own."""
    frames = []
    for system in systems:
        output = folder / f"{system}.csv"
        manynode("measured", PICO, "--system", system, "--output", output)
        frame = pd.read_csv(output, comment="#", dtype=str).fillna("")
        frames.append(frame.assign(campaign=system + " " + frame["campaign"]))
    return pd.concat(frames, ignore_index=True).fillna("")


def campaign(network: str, systems: tuple[str, ...], points: int | None) -> tuple[float, pd.DataFrame, str]:
    """Return the wall time of a campaign [s], its points, and what the terminal showed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = table(folder, systems)
        if points is not None:
            rows = rows.sample(points, random_state=1)
        rows.to_csv(folder / "campaign.csv", index=False)
        experiment = {
            "name": "campaign",
            "application": {"name": "hpcg"},
            "nodes": [8],
            "ranks_per_node": 1,
            "machine": "generic",
            "network": network,
            "validation": {
                "collectives": "campaign.csv",
                "start": "barrier",
                "iterations": ITERATIONS,
                "algorithm_names": algorithm_names(),
            },
        }
        (folder / "experiment.yaml").write_text(yaml.safe_dump(experiment, sort_keys=False))
        begin = time.monotonic()
        said = manynode("run", folder / "experiment.yaml", "--cores", CORES, "--directory", folder, "--until", RULE)
        seconds = time.monotonic() - begin
        return seconds, pd.read_parquet(folder / "results/campaign/validation_collectives.parquet"), said


def figures() -> list[dict[str, Any]]:
    """Return the time of a campaign on each network."""
    need("fast")
    found = []
    for network in NETWORKS:
        seconds, points, _ = campaign(network, SYSTEMS, POINTS)
        assert len(points) == POINTS and (points["simulated_s"] > 0).all()
        found.append(figure(f"campaign of {POINTS} points on {network}, {CORES} cores", seconds, "s", MOST_S, "<="))
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", default="tofu-d")
    parser.add_argument("--system", choices=SYSTEMS, default="fugaku")
    arguments = parser.parse_args()
    took, _, lines = campaign(arguments.network, (arguments.system,), None)
    print(lines)
    print(f"{took:.1f} s on {CORES} cores")
