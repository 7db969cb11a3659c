"""Whole runs on this host against their projection by the engine qemu: Table 2 with a node model in place of timings.

The machine file is that of ``manynode calibrate-node``, the network's that of ``manynode calibrate`` from a ping-pong
of two ranks (``ping_pong.c``), with this host's rate of copies; nothing is fitted to the applications. Each of eight
mini-apps runs natively, without markers, on one rank and on two, and from its profile to its projection through
``manynode run``. The compared quantity is the time of an iteration: the difference of two lengths, because the first
native iteration faults pages in, and a projection's last one contains what comes after it. The fastest of several
native rounds counts: other work on a host only ever adds time. A node alone has no external ranks, so that the two
techniques without them are compared.

Public programs follow, unmodified, on two ranks: those of ``_real_runs.py`` that are built in the folder of
``MANYNODE_REAL_PROGRAMS``, for at most x86-64-v3, because QEMU has no AVX-512. Their native runs are recorded, and cut
at calls of the first rank into pieces of about 10 ms. The fastest round of each piece counts. A virtual core is often
one of two threads of a real one. A busy neighbour takes units of that core for seconds at a time. Whole runs of a
second do not escape it; many pieces do, as do the loops of ``calibrate-node``. ``spread`` is what the median round
takes longer than all these pieces. ``covered`` is the share of a recorded run's processor time in phases
that the node engine has timed, and as often. What cannot be projected is named and left out.

``python benchmarks/whole_runs.py MACHINE`` takes a machine file that is there. Takes a quarter of an hour with it, as
long again or longer for the public programs, and needs two idle cores.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import subprocess
import tempfile
import timeit
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import _real_runs
import node_host
import numpy as np
import pandas as pd
import yaml
from _figure import Skipped, figure
from _mini_app import ROOT, manynode, options, seconds_per_iteration
from _node_run import need
from validation_host import NETWORK

from manynode import process
from manynode.known_errors.predictive import known_error
from manynode.known_errors.records import NODE, read_records, shipped
from manynode.markers import CPU_TIME, concatenate, read_marker_directory
from manynode.paths import native_program
from phase2_nodesim.segments import segment_table

ROUNDS: Final = 20
# Longer than the delay by which one rank waits for the other, and shorter than a neighbour's pauses.
PIECE_S: Final = 0.01
RANKS: Final = (1, 2)
TECHNIQUES: Final = ["no-ext-const", "no-ext-var"]
CONFIDENCE: Final = 0.9
# Of the public programs: the mean error, and how many must have nearly all of their computation simulated.
MEAN, PROGRAMS = 0.15, 5
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


def native(name: str, size: Mapping[str, int], ranks: int) -> np.ndarray:
    """Return the time of all iterations [s] of a run on this host, as its only part."""
    command = ["mpiexec.mpich", "-n", str(ranks), str(native_program(name)), *options(size)]
    return np.array([seconds_per_iteration(process.run(command, what=name).output) * iterations(size)])


def undisturbed(rounds: Sequence[np.ndarray]) -> float:
    """Return the time [s] of runs of the same parts, from the fastest round of each piece.

    A piece has one part or more: those that begin in the same ``PIECE_S`` of the median round.
    """
    if len({len(one) for one in rounds}) > 1:
        raise ValueError("rounds differ in their numbers of calls: the program polls, or follows the clock")
    times = np.array(rounds)
    ends = np.cumsum(np.median(times, axis=0))
    begins = np.flatnonzero(np.diff(np.r_[-1, np.r_[0, ends[:-1]] // PIECE_S]))
    return float(np.add.reduceat(times, begins, axis=1).min(axis=0).sum())


@dataclass(frozen=True)
class Case:
    """A shorter and a longer run: the ``iterations`` between them, sections ``application``.

    ``native`` times [s] are those of parts, which are the same in each round.
    """

    name: str
    ranks: int
    iterations: int
    native: Sequence[Callable[[], np.ndarray]]
    application: Sequence[Callable[[], dict[str, Any]]]


def mini_app(name: str, ranks: int) -> Case:
    """Return the runs of a mini-app."""
    sizes = (halved(APPLICATIONS[name]), APPLICATIONS[name])
    return Case(
        name,
        ranks,
        iterations(sizes[1]) - iterations(sizes[0]),
        [partial(native, name, size, ranks) for size in sizes],
        [partial(dict, name=name, parameters=dict(size)) for size in sizes],
    )


def real_program(name: str, folder: Path) -> Case:
    """Return the runs of a public program, in folders in ``folder``."""
    steps = _real_runs.STEPPED[name].steps
    runs = [_real_runs.Run(name, number, folder / f"{label(name)}-{number}") for number in (steps, 2 * steps)]
    return Case(name, _real_runs.RANKS, steps, [run.native for run in runs], [run.application for run in runs])


def label(name: str) -> str:
    """Return a name as that of a file."""
    return re.sub(r"\W+", "-", name)


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
    title: str, application: Mapping[str, Any], ranks: int, machine: Path, network: Path, folder: Path
) -> tuple[pd.Series, float, float]:
    """Return the projected time of a run [s] by technique, the share of no-ext-var in MPI, and the share covered."""
    recorded = application.get("recorded")
    # Phase 1 at the program's own speed: with one node there is none to choose.
    source = {"source": "processor_time"} if recorded else {}
    content = {
        "name": title,
        "application": application,
        "nodes": [1],
        "ranks_per_node": ranks,
        "techniques": TECHNIQUES,
        "machine": str(machine),
        "network": str(network),
        "profile": {"nodes": [1], "repetitions": 1, **source},
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
    simulated = covered(Path(recorded), results) if recorded else math.nan
    return times, float(1 - parts["compute"] / parts.sum()), simulated


def covered(recording: Path, results: Path) -> float:
    """Return the share of a recorded run's processor time in phases that the node engine has timed, and as often."""
    records = concatenate(read_marker_directory(recording))
    times = records[["rank", "sequence"]].assign(compute_s=records[CPU_TIME] * 1e-9)
    keys = ["rank", "phase"]
    natively = segment_table(records, times).groupby(keys)["compute_s"].agg(["sum", "size"])
    simulated = pd.read_parquet(results / "nodesim" / "no-ext" / "segments.parquet").groupby(keys).size()
    share = (simulated.reindex(natively.index, fill_value=0) / natively["size"]).clip(upper=1)
    return float((share * natively["sum"]).sum() / natively["sum"].sum())


@patch.dict(os.environ, {"OPENBLAS_CORETYPE": "Haswell", "OMP_NUM_THREADS": "1"})
def cases(machine: Path | None, rounds: int, applications: Sequence[str], programs: Sequence[str]) -> pd.DataFrame:
    """Return a row per application and ranks: time of an iteration [s], spread of rounds, share of MPI, errors."""
    need("qemu")
    rows = []
    with tempfile.TemporaryDirectory(prefix="whole-runs.") as scratch:
        folder = Path(scratch)
        if machine is None:
            node_host.calibrated(folder)
            machine = folder / "host.yaml"
        network = host_network(folder)
        wanted = [mini_app(name, ranks) for name in applications for ranks in RANKS]
        wanted += [real_program(name, folder) for name in programs]
        times: list[list[list[np.ndarray]]] = [[] for _ in wanted]
        # In turns, so that a host that changes with time changes all of them.
        for _ in range(rounds):
            for case, own in zip(wanted, times, strict=True):
                own.append([run() for run in case.native])
        for case, own in zip(wanted, times, strict=True):
            half, whole = (undisturbed(turns) for turns in zip(*own, strict=True))
            measured = (whole - half) / case.iterations
            spread = np.median([longer.sum() for _, longer in own]) / whole - 1
            run = partial(projected, ranks=case.ranks, machine=machine.absolute(), network=network, folder=folder)
            title = f"{label(case.name)}-{case.ranks}"
            try:
                first, both = (run(f"{title}-{part}", section()) for part, section in enumerate(case.application))
            except subprocess.CalledProcessError:
                if case.name in APPLICATIONS:
                    raise
                print(f"left out, not projected: {case.name}")
                continue
            row = {"application": case.name, "ranks": case.ranks, "measured_s": measured, "spread": spread}
            row |= {"in_mpi": both[1], "covered": both[2]}
            rows.append(row | {key: (both[0] - first[0])[key] / case.iterations / measured - 1 for key in TECHNIQUES})
    return pd.DataFrame(rows)


def figures(
    machine: Path | None = None,
    rounds: int = ROUNDS,
    applications: Sequence[str] = tuple(APPLICATIONS),
    programs: Sequence[str] = tuple(_real_runs.STEPPED),
) -> list[dict[str, Any]]:
    """Return each technique's mean and worst error, and what the band from the engine's shipped records covers.

    Mini-apps and public programs have figures of their own.
    """
    programs = [name for name in _real_runs.there() if name in programs]
    if not (applications or programs):
        raise Skipped("no application and no program to run")
    table = cases(machine, rounds, applications, programs)
    print(table.to_string(index=False, float_format="{:.4g}".format))
    records = read_records(shipped())
    band = known_error(records[(records["component"] == NODE) & (records["engine"] == "qemu")], CONFIDENCE)
    assert band is not None, "validation/ has records of the engine qemu"
    found = []
    for what, part in table.groupby(table["application"].isin(_real_runs.STEPPED)):
        name = "real programs on this host" if what else "whole runs on this host"
        for technique in TECHNIQUES:
            mean, worst = (float(error) for error in part[technique].abs().agg(["mean", "max"]))
            target = MEAN if what and technique == TECHNIQUES[-1] else None
            found.append(figure(f"{name}, {technique}: mean error", mean, "", target, "<="))
            found.append(figure(f"{name}, {technique}: worst error", worst, "", None, None))
        within = float((-np.log1p(part[TECHNIQUES[-1]])).between(band.low, band.high).mean())
        found.append(figure(f"{name}, {TECHNIQUES[-1]}: covered by the known errors' band", within, "", None, None))
        if what:
            target = node_host.COMPUTATION
            enough = int((part["covered"] >= target).sum())
            found.append(figure(f"{name}: with {target:.0%} of the computation", enough, "", PROGRAMS, ">="))
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("machine", nargs="?", type=Path, help="machine file; default: that of calibrate-node")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="native rounds (default: %(default)s)")
    parser.add_argument(
        "--application", nargs="*", choices=APPLICATIONS, default=list(APPLICATIONS), help="default: all"
    )
    parser.add_argument(
        "--program", nargs="*", choices=_real_runs.STEPPED, default=list(_real_runs.STEPPED), help="default: all"
    )
    arguments = parser.parse_args()
    for entry in figures(arguments.machine, arguments.rounds, arguments.application, arguments.program):
        print(f"{entry['name']}: {entry['value']:.4g}")
