"""Whole runs on this host against their projection by the engine qemu: Table 2 with a node model in place of timings.

The machine file is that of ``manynode calibrate-node``, the network's that of ``manynode calibrate`` from a ping-pong
of two ranks (``ping_pong.c``), with this host's rate of copies; nothing is fitted to the applications. Each of eight
mini-apps runs natively, without markers, on one rank and on two, and from its profile to its projection through
``manynode run``. The compared quantity is the time of an iteration: the difference of two lengths, because the first
native iteration faults pages in, and a projection's last one contains what comes after it. The fastest of several
native rounds counts: other work on a host only ever adds time. A node alone has no external ranks, so that the two
techniques without them are compared.

``python benchmarks/whole_runs.py MACHINE`` takes a machine file that is there. Takes a quarter of an hour with it and
needs two idle cores.
"""

from __future__ import annotations

import argparse
import math
import os
import tempfile
import timeit
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import node_host
import numpy as np
import pandas as pd
import yaml
from _figure import figure
from _mini_app import ROOT, manynode, options, seconds_per_iteration
from _node_run import need
from validation_host import NETWORK

from manynode import process
from manynode.known_errors.predictive import known_error
from manynode.known_errors.records import NODE, read_records, shipped
from manynode.paths import native_program

ROUNDS: Final = 20
RANKS: Final = (1, 2)
TECHNIQUES: Final = ["no-ext-const", "no-ext-var"]
CONFIDENCE: Final = 0.9
# Those of node_host.py with more iterations; the shorter run has half of them.
LONGER: Final[Mapping[str, Mapping[str, int]]] = {
    "hpcg": {"iterations": 10},
    "snap": {"outers": 4},
    "milc": {"iterations": 60},
    "fft2d": {"iterations": 20},
    "caffe": {"iterations": 10},
    "spmv": {"iterations": 100},
    "lammps": {"iterations": 40},
    "hacc": {"iterations": 20},
}
APPLICATIONS: Final = {name: {**size, **LONGER[name]} for name, size in node_host.APPLICATIONS.items()}
# Where a rate of copies begins, and the size at which it is measured: first and second level, beyond them.
COPIES: Final = {"0 B": 2**13, "32 KiB": 2**18, "1 MiB": 2**22}


def iterations(size: Mapping[str, int]) -> int:
    """Return the iterations for whose mean a mini-app prints the time."""
    return math.prod(size.get(key, 1) for key in ("iterations", "outers", "inners"))


def halved(size: Mapping[str, int]) -> Mapping[str, int]:
    """Return the size with half of the iterations."""
    key = "outers" if "outers" in size else "iterations"
    return {**size, key: size[key] // 2}


def native(name: str, size: Mapping[str, int], ranks: int) -> float:
    """Return the time of all iterations [s] of a run on this host."""
    command = ["mpiexec.mpich", "-n", str(ranks), str(native_program(name)), *options(size)]
    return seconds_per_iteration(process.run(command, what=name).output) * iterations(size)


def host_network(folder: Path) -> Path:
    """Return the network file that ``calibrate`` makes of a ping-pong between two ranks of this host."""
    program, table, path = folder / "ping_pong", folder / "ping_pong.txt", folder / "network.yaml"
    base = folder / "base.yaml"
    base.write_text(yaml.safe_dump(NETWORK, sort_keys=False))
    process.run(["mpicc.mpich", "-O2", ROOT / "benchmarks" / "ping_pong.c", "-o", program], what="mpicc")
    table.write_text(process.run(["mpiexec.mpich", "-n", "2", program], what="ping-pong").output)
    manynode("calibrate", table, "--intranode", table, "--base", base, "--name", "host", "--output", path)
    content = yaml.safe_load(path.read_text())
    content["host"]["copy_bandwidth"] = [
        {"from": start, "bandwidth": f"{copies_per_s(size) / 1e9:.3f} GB/s"} for start, size in COPIES.items()
    ]
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path


def copies_per_s(size: int) -> float:
    """Return the bytes that a copy of ``size`` bytes moves in a second, the fastest of many."""
    source, destination = np.ones(size, np.uint8), np.zeros(size, np.uint8)
    number = max(1, 2**24 // size)
    return number * size / min(timeit.repeat(lambda: np.copyto(destination, source), number=number, repeat=40))


def projected(
    name: str, size: Mapping[str, int], ranks: int, machine: Path, network: Path, folder: Path
) -> tuple[pd.Series, float]:
    """Return the projected time of a run [s] by technique, and the share of no-ext-var that a rank spends in MPI."""
    title = "-".join([name, str(ranks), *map(str, size.values())])
    content = {
        "name": title,
        "application": {"name": name, "parameters": dict(size)},
        "nodes": [1],
        "ranks_per_node": ranks,
        "techniques": TECHNIQUES,
        "machine": str(machine),
        "network": str(network),
        "profile": {"nodes": [1], "repetitions": 1},
        "nodesim": {"engine": "qemu", "nodes": 1},
        "simulate": {"engine": "fast", "replicas": 5, "preflight": {"enabled": False}},
    }
    path = folder / f"{title}.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    manynode("run", path, "--directory", folder)
    results = folder / "results" / title
    parts = pd.read_parquet(results / "breakdown.parquet").set_index(["technique", "operation"])["seconds"]
    parts = parts[TECHNIQUES[-1]]
    times = pd.read_parquet(results / "projection.parquet").set_index("technique")["time_s"]
    return times, float(1 - parts["compute"] / parts.sum())


@patch.dict(os.environ, {"OPENBLAS_CORETYPE": "Haswell", "OMP_NUM_THREADS": "1"})
def cases(machine: Path | None, rounds: int, applications: Sequence[str]) -> pd.DataFrame:
    """Return a row per application and ranks: time of an iteration [s], spread of rounds, share of MPI, errors."""
    need("qemu")
    rows = []
    with tempfile.TemporaryDirectory(prefix="whole-runs.") as scratch:
        folder = Path(scratch)
        if machine is None:
            node_host.calibrated(folder)
            machine = folder / "host.yaml"
        network = host_network(folder)
        sizes = {name: (halved(APPLICATIONS[name]), APPLICATIONS[name]) for name in applications}
        times: dict[tuple[str, int], list[list[float]]] = {(name, ranks): [] for name in sizes for ranks in RANKS}
        # In turns, so that a host that changes with time changes all of them.
        for _ in range(rounds):
            for (name, ranks), own in times.items():
                own.append([native(name, size, ranks) for size in sizes[name]])
        for (name, ranks), own in times.items():
            half, whole = np.min(own, axis=0)
            count = iterations(sizes[name][1]) - iterations(sizes[name][0])
            measured = (whole - half) / count
            spread = np.median(own, axis=0)[1] / whole - 1
            first, both = (projected(name, size, ranks, machine.absolute(), network, folder) for size in sizes[name])
            row = {"application": name, "ranks": ranks, "measured_s": measured, "spread": spread, "in_mpi": both[1]}
            rows.append(row | {key: (both[0] - first[0])[key] / count / measured - 1 for key in TECHNIQUES})
    return pd.DataFrame(rows)


def figures(
    machine: Path | None = None, rounds: int = ROUNDS, applications: Sequence[str] = tuple(APPLICATIONS)
) -> list[dict[str, Any]]:
    """Return each technique's mean and worst error, and what the band from the engine's shipped records covers."""
    table = cases(machine, rounds, applications)
    print(table.to_string(index=False, float_format="{:.4g}".format))
    records = read_records(shipped())
    band = known_error(records[(records["component"] == NODE) & (records["engine"] == "qemu")], CONFIDENCE)
    assert band is not None, "validation/ has records of the engine qemu"
    covered = (-np.log1p(table[TECHNIQUES[-1]])).between(band.low, band.high).mean()
    return [
        *(
            figure(f"whole runs on this host, {technique}: {which} error", value, "", None, None)
            for technique in TECHNIQUES
            for which, value in (("mean", table[technique].abs().mean()), ("worst", table[technique].abs().max()))
        ),
        figure(
            f"whole runs on this host, {TECHNIQUES[-1]}: covered by the known errors' band", covered, "", None, None
        ),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("machine", nargs="?", type=Path, help="machine file; default: that of calibrate-node")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="native rounds (default: %(default)s)")
    parser.add_argument(
        "--application", nargs="+", choices=APPLICATIONS, default=list(APPLICATIONS), help="default: all"
    )
    arguments = parser.parse_args()
    for entry in figures(arguments.machine, arguments.rounds, arguments.application):
        print(f"{entry['name']}: {entry['value']:.4g}")
