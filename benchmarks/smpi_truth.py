"""Ground truth on one machine: whole runs of the mini-apps under SMPI, against projections from few native ranks.

SMPI really executes every rank's computation (one rank after the other, timed by the thread's clock), and SimGrid's
network carries the messages. The projection takes compute times (also of the thread's clock) from the representative
rank of a native job of four or eight ranks, which take turns to compute. It replays the skeleton with the engine
simgrid on the same network: crossbar, 100 Gbit/s, half a microsecond per link.

The compared quantity is the mean time of an iteration, which mini-apps print, in the fastest of several rounds. A
shared (virtual) host is slow for half a second to minutes at a time, by a third and more, and never too fast. The
medians are printed beside it. Apart from the method, differences come from the noise of the host, from caches (64 ranks
of SMPI keep less in them than a few native ones) and from FFT2d's rows, which are longer on more ranks. A gate reduces
the noise: a fixed piece of work that knows neither side. Each run waits until the gate is fast, and is repeated if the
gate is slow afterwards.

``python benchmarks/smpi_truth.py [--folder DIR] [APPLICATION...]`` prints every case. It takes half an hour on an idle
host and ends with an error on a busy one. Measurements that DIR already has are not repeated.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from _figure import Skipped, program
from _mini_app import ROOT, at_most, options, seconds_per_iteration

from manynode import tables
from manynode.paths import build_dir

# Seconds of an iteration, by their key.
Times = dict[str, float]
TIMES_SCHEMA = "smpi-truth-times/1"

RANKS = (16, 32, 64)
# Measurement and projection alternate: a slow quarter of an hour of the host affects both.
ROUNDS = 4
# How much longer than at its best the gate's work may take, and how long one run is awaited or repeated [s].
QUIET, PATIENCE_S = 1.25, 900
TECHNIQUES = ["no-ext-const", "no-ext-var", "ext-const", "ext-var"]
# Ranks of the native job, one per node; FFT2d's rows grow with the ranks.
NATIVE = {"hpcg": 4, "snap": 4, "milc": 4, "fft2d": 8, "caffe": 4}
# The data of a few ranks are larger than the host's caches, and phases long beside the time in which a cache is filled
# again: under SMPI the ranks of a job drive each other's data out at every MPI call. FFT2d's elements have small
# factors only and are no power of two: rows and columns of all sizes are transformed about as well.
APPLICATIONS: dict[str, dict[str, int]] = {
    "hpcg": {"nx": 64, "ny": 64, "nz": 64, "levels": 2, "iterations": 4},
    "snap": {"nx": 3200, "ny": 8, "nz": 8, "chunk": 800, "angles": 1, "groups": 8, "outers": 1, "inners": 3},
    "milc": {"nx": 20, "ny": 20, "nz": 20, "nt": 20, "iterations": 5},
    "fft2d": {"elements": 176400, "iterations": 12},
    "caffe": {"images": 64, "side": 16, "filters": 8, "hidden": 64, "iterations": 5},
}
# The native job repeats its few ranks more often if they are short: both sides then sample the host for about as long.
LONGER = {"hpcg": 3, "snap": 1, "milc": 3, "fft2d": 2, "caffe": 3}
NETWORK: dict[str, Any] = {
    "name": "crossbar",
    "topology": {"kind": "fat-tree", "children": [64], "parents": [1], "parallel_links": [1]},
    "link": {"bandwidth": "100 Gbit/s", "latency": "500 ns"},
    "switch_latency": "0 ns",
    "host": {
        **{"overhead_send": "0 ns", "overhead_recv": "0 ns", "gap": "0 ns", "eager_limit": "16 KiB"},
        **{"nic_bandwidth": "100 Gbit/s", "nic_latency": "0 ns"},
    },
}
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="h" suffix="" radical="0-63" speed="1Gf" bw="12.5GBps" lat="500ns"
           sharing_policy="SPLITDUPLEX"/>
</platform>
"""
# The host's second is the simulated one; nothing is too short to count; the network as the engine simgrid has it. What
# is shorter than 16 KiB is sent at once: SMPI copies such messages, which leaves cold memory to the ranks that compute.
OPTIONS = [
    *("smpi/host-speed:1Gf", "smpi/cpu-threshold:0", "network/model:CM02", "network/crosstraffic:0"),
    *("smpi/coll-selector:mpich", "smpi/send-is-detached-thresh:16384", "smpi/async-small-thresh:16384"),
]
LIBRARIES = {"fft2d": ["-lfftw3"], "caffe": ["-fopenmp"]}


def build(name: str, folder: Path) -> None:
    """Compile a mini-app for SMPI into ``folder``, without its app_guest files."""
    source = ROOT / "skeletons" / name
    files = [path for path in sorted(source.glob("app*.cpp")) if not path.name.startswith("app_guest")]
    # SMPI has no MPI_Pcontrol; the labels of phases are not needed here.
    stub = folder / "pcontrol.cpp"
    stub.write_text('extern "C" int MPI_Pcontrol(const int, ...) { return 0; }\n')
    # The build generates declared/<name>.hpp.
    folders = [ROOT / "skeletons/include", build_dir() / "skeletons", source]
    options = ["-O2", "-g", "-std=c++20", *(f"-I{include}" for include in folders)]
    libraries = list(LIBRARIES.get(name, []))
    if name == "caffe":
        (library,) = sorted(Path("/usr/lib").glob("*/openblas-openmp/libopenblas.a"))
        (include,) = sorted(Path("/usr/include").glob("*/openblas-openmp"))
        options += ["-isystem", str(include)]
        libraries += [str(library), "-lgfortran"]
    sources = [*files, ROOT / "skeletons/source/parameters.cpp", stub]
    subprocess.run(["smpicxx", *options, *map(str, sources), "-o", str(folder / name), *libraries], check=True)


def truth(name: str, ranks: int, folder: Path) -> Times:
    """Return the time of an iteration [s] of one whole run, by ``ranks``."""
    (folder / "platform.xml").write_text(PLATFORM)
    (folder / "hosts").write_text("".join(f"h{index}\n" for index in range(ranks)))
    command = [
        *("smpirun", "-np", str(ranks), "-platform", str(folder / "platform.xml"), "-hostfile", str(folder / "hosts")),
        *(f"--cfg={option}" for option in OPTIONS),
        str(folder / name),
        *options(APPLICATIONS[name]),
    ]
    done = subprocess.run(
        ["env", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", *command],
        check=True, capture_output=True, text=True, cwd=folder,
    )  # fmt: skip
    return {str(ranks): seconds_per_iteration(done.stdout)}


class Gate:
    """Runs a measurement when a fixed piece of work is fast, and again if the work is slow afterwards."""

    def __init__(self) -> None:
        """Make the work's data: one part larger than the caches, like the applications' data, and one within them."""
        draws = np.random.default_rng(1)
        self.large = draws.random((3, 8_000_000))
        self.small = draws.random(2**16)
        self.seen: list[np.ndarray[Any, np.dtype[np.float64]]] = []
        self.repeated = 0
        for _ in range(20):
            self.quiet()

    def quiet(self) -> bool:
        """Return whether the work takes hardly longer now than the fastest tenth of its runs."""
        first, second, third = self.large
        start = time.perf_counter()
        for _ in range(30):
            np.multiply(first, 3.0, out=third)
            np.add(third, second, out=third)
        middle = time.perf_counter()
        for _ in range(100):
            np.fft.fft(self.small)
        self.seen.append(np.array([middle - start, time.perf_counter() - middle]))
        return bool(np.all(self.seen[-1] <= QUIET * np.quantile(self.seen, 0.1, axis=0)))

    def run(self, measure: Callable[[], Times]) -> Times:
        """Return the first result of ``measure`` for which the host was quiet before and after."""
        start = time.perf_counter()
        while time.perf_counter() - start < PATIENCE_S:
            if not (self.quiet() and self.quiet()):
                time.sleep(1)
                continue
            result = measure()
            if self.quiet():
                return result
            self.repeated += 1
        raise Skipped(
            f"the host is not quiet: for {PATIENCE_S} s, a fixed piece of work took more than {QUIET} times its best "
            "time before or after each run; stop what else runs on this host, or try again later"
        )


def projected(name: str, scratch: Path, number: int) -> Times:
    """Return the time of an iteration [s] by technique and ranks, projected from the native job of round ``number``.

    Round 0 also counts the features for the rank classes.
    """
    folder = scratch / f"{name}-{number}"
    shutil.rmtree(folder, ignore_errors=True)
    if number:
        # Rank classes depend on counts, which do not change: only times are measured again.
        first = scratch / f"{name}-0/results" / name
        shutil.copytree(first / "profile", folder / "results" / name / "profile")
    parameters, repeated = APPLICATIONS[name], "inners" if name == "snap" else "iterations"
    content = {
        **{
            "name": name,
            "application": {"name": name, "parameters": {**parameters, repeated: LONGER[name] * parameters[repeated]}},
        },
        **{"nodes": list(RANKS), "ranks_per_node": 1, "techniques": TECHNIQUES, "machine": "generic"},
        **{"network": NETWORK, "profile": {"nodes": [NATIVE[name]], "repetitions": 1}},
        "nodesim": {
            **{"engine": "native", "nodes": NATIVE[name], "warmup": 1},
            **{"turns": True, "clock": "processor"},
        },
        "simulate": {"engine": "simgrid", "replicas": 1, "preflight": {"enabled": False}},
    }
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    command = [sys.executable, "-m", "manynode", "run", str(path), "--cores", "2", "--directory", str(folder)]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    table = pd.read_parquet(folder / "results" / name / "projection.parquet")
    return {f"{row.technique} {row.nodes}": float(row.iteration_s) for row in table.itertuples()}


class Kept:
    """Measurements as files of a folder; existing ones are not repeated."""

    def __init__(self, folder: Path) -> None:
        """Keep measurements in ``folder``, separated by settings."""
        settings = [RANKS, APPLICATIONS, NATIVE, LONGER, NETWORK, PLATFORM, OPTIONS]
        self.folder = folder / hashlib.sha256(json.dumps(settings).encode()).hexdigest()[:12]
        self.folder.mkdir(parents=True, exist_ok=True)
        self.gate: Gate | None = None

    def has(self, name: str) -> bool:
        """Return whether ``name`` has been measured."""
        return self._path(name).is_file()

    def times(self, name: str, measure: Callable[[], Times]) -> Times:
        """Return the times of ``name``; if unknown, measure them now on a quiet host."""
        if not self.has(name):
            self.gate = self.gate or Gate()
            found = self.gate.run(measure)
            tables.write_json(self._path(name), TIMES_SCHEMA, {"times": found})
            shown = ", ".join(f"{key}: {1e3 * value:.3g} ms" for key, value in found.items())
            print(f"{name}: {shown}; {self.gate.repeated} runs repeated so far", file=sys.stderr)
        times: Times = tables.read_json(self._path(name), TIMES_SCHEMA)["times"]
        return times

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.json"


def cases(applications: Sequence[str], folder: Path) -> pd.DataFrame:
    """Return a row per application, ranks and technique: measured_s, projected_s (fastest of the rounds), errors."""
    program("smpicxx", "install libsimgrid-dev")
    rows = []
    kept = Kept(folder)
    with tempfile.TemporaryDirectory(prefix="smpi-truth.") as scratch_name:
        scratch = Path(scratch_name)
        for name in applications:
            build(name, scratch)
            numbers = range(1, ROUNDS + 1)
            if not all(kept.has(f"{name}-projected-{number}") for number in numbers):
                # Counts take minutes under valgrind and need no quiet host: the first projection provides them.
                projected(name, scratch, 0)
            runs: dict[int, list[float]] = {ranks: [] for ranks in RANKS}
            projections = []
            for number in numbers:
                measure = partial(projected, name, scratch, number)
                projections.append(kept.times(f"{name}-projected-{number}", measure))
                for ranks in RANKS:
                    found = kept.times(f"{name}-smpi-{ranks}-{number}", partial(truth, name, ranks, scratch))
                    runs[ranks].append(found[str(ranks)])
            for ranks in RANKS:
                measured = min(runs[ranks])
                for technique in TECHNIQUES:
                    times = [found[f"{technique} {ranks}"] for found in projections]
                    projection = min(times)
                    rows.append(
                        {
                            "application": name,
                            "ranks": ranks,
                            "technique": technique,
                            "measured_s": measured,
                            "projected_s": projection,
                            "error": projection / measured - 1,
                            "error_of_medians": statistics.median(times) / statistics.median(runs[ranks]) - 1,
                            "measured_spread": max(runs[ranks]) / measured - 1,
                            "projected_spread": max(times) / projection - 1,
                        }
                    )
            print(pd.DataFrame(rows[-len(TECHNIQUES) * len(RANKS) :]).to_string(index=False), flush=True)
    return pd.DataFrame(rows)


def figures(applications: Sequence[str] | None = None, folder: Path | None = None) -> list[dict[str, Any]]:
    """Return mean and worst absolute error of ext-var over all cases, with measurements kept in ``folder``."""
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="smpi-truth.") as scratch:
            return figures(applications, Path(scratch))
    table = cases(applications or list(APPLICATIONS), folder)
    means = table["error"].abs().groupby(table["technique"]).agg(["mean", "max"])
    print(json.dumps({str(key): value for key, value in means.to_dict("index").items()}), file=sys.stderr)
    own = means.loc["ext-var"]
    return [
        at_most("SMPI ground truth, mean error of ext-var", 100 * float(own["mean"]), "%", 10),
        at_most("SMPI ground truth, worst error of ext-var", 100 * float(own["max"]), "%", 15),
    ]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("applications", nargs="*", metavar="APPLICATION", help="all: " + " ".join(APPLICATIONS))
    arguments = parser.parse_args()
    for name in set(arguments.applications) - set(APPLICATIONS):
        parser.error(f"unknown application {name}; known are {', '.join(APPLICATIONS)}")
    for row in figures(arguments.applications, arguments.folder):
        print(row)


if __name__ == "__main__":
    main()
