"""Print the paper's Figures 4 to 12 from the results of the shipped studies, as in docs/validation/paper-figures.md.

``python benchmarks/paper_figures.py RESULTS...`` reads the folders ``scaling-NAME``, ``grid-NAME`` and
``topologies-caffe`` below the given ones and prints Markdown. Figures are those of Eyerman et al. ``smpi_truth.py``
has Table 2, which needs measurements. ``make bench`` reads the folder ``results`` of the checkout.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _figure import Skipped, figure

from manynode.paths import ROOT
from manynode.report.figures import cpi_stacks
from manynode.report.load import load

APPLICATIONS = {"hpcg": "HPCG", "snap": "SNAP", "milc": "MILC", "fft2d": "FFT2d", "caffe": "Caffe"}
TECHNIQUES = ["no-ext-const", "no-ext-var", "ext-const", "ext-var"]
BREAKDOWN_NODES = 64
DEFAULT_LATENCY_S = 90e-9
BANDWIDTHS = [f"{gbits} Gbit/s" for gbits in (20, 50, 100, 200, 500, 1000)]


def scaling(folders: Sequence[Path]) -> str:
    """Figures 4, 5 and 8: time over node count by the four techniques."""
    parts = []
    for name, title in APPLICATIONS.items():
        table = _read(folders, f"scaling-{name}", "projection")
        rows = []
        for nodes, own in table.groupby("nodes"):
            times = own.set_index("technique")["time_s"]
            interval = own.set_index("technique").loc["ext-var", ["low_s", "high_s"]]
            cells = [_ms(times[technique]) for technique in TECHNIQUES]
            rows.append([f"{nodes:,}", *cells, f"{_ms(interval['low_s'])} to {_ms(interval['high_s'])}"])
        parts.append(_markdown([f"{title}, ms; nodes", *TECHNIQUES, "interval of ext-var"], rows))
    return "\n\n".join(parts)


def breakdown(folders: Sequence[Path]) -> str:
    """Figure 6: computation and communication at 64 nodes, milliseconds of a rank."""
    rows = []
    for name, title in APPLICATIONS.items():
        table = _read(folders, f"scaling-{name}", "breakdown")
        own = table[table["nodes"] == BREAKDOWN_NODES]
        cells = []
        for technique in TECHNIQUES:
            seconds = own[own["technique"] == technique].set_index("operation")["seconds"]
            cells.append(f"{_ms(seconds['compute'])} + {_ms(seconds.drop('compute').sum())}")
        # The last technique is the most complete one.
        longest = seconds.drop("compute")
        rows.append([title, *cells, f"`{longest.idxmax()}` {_ms(longest.max())}"])
    return _markdown([f"{BREAKDOWN_NODES} nodes, ms", *TECHNIQUES, "longest operation of ext-var"], rows)


def stacks(folders: Sequence[Path]) -> str:
    """Figure 7: cycles per instruction of the two simulated ranks that differ most, and their parts."""
    rows, parts = [], []
    for name, title in APPLICATIONS.items():
        drawn = cpi_stacks.draw(load(_folder(folders, f"scaling-{name}", "projection")))
        assert drawn is not None, f"{name}: the engine gives no CPI stacks"
        own = drawn.data[drawn.data["phase"] == "all phases"]
        parts = list(dict.fromkeys(own["part"]))
        for (rank, caches), group in own.groupby(["rank", "caches"]):
            cpi = group.set_index("part")["cpi"]
            of = f"{title}, rank {rank}" + (f", {caches} caches" if caches else "")
            rows.append([of, f"{cpi.sum():.3f}", *(f"{cpi[part]:.3f}" for part in parts)])
    return _markdown(["cycles per instruction", "all", *parts], rows)


def bandwidths(folders: Sequence[Path]) -> str:
    """Figure 9: ext-var at the default latency over its time at the highest bandwidth."""
    rows = []
    for name, title in APPLICATIONS.items():
        times = _by_bandwidth(folders, name, "ext-var")
        rows.append([title, *(f"{time / times[-1]:.3f}" for time in times)])
    return _markdown(["ext-var", *BANDWIDTHS], rows)


def misled(folders: Sequence[Path]) -> str:
    """Figure 10: SNAP and FFT2d by bandwidth [ms], simplest and full technique."""
    rows = []
    for name in ("snap", "fft2d"):
        for technique in ("no-ext-const", "ext-var"):
            times = _by_bandwidth(folders, name, technique)
            rows.append([f"{APPLICATIONS[name]}, {technique}", *map(_ms, times)])
    return _markdown(["ms", *BANDWIDTHS], rows)


def latencies(folders: Sequence[Path]) -> str:
    """Figure 11: every application's time by bandwidth and latency, over the shortest at its bandwidth."""
    rows, header = [], ["over the shortest at this bandwidth"]
    for name, title in APPLICATIONS.items():
        for technique in ("no-ext-const", "ext-var") if name == "fft2d" else ("ext-var",):
            table = _grid(folders, name, technique)
            for bandwidth in (min(table["bandwidth"]), 12.5e9, max(table["bandwidth"])):
                own = table[table["bandwidth"] == bandwidth].sort_values("latency")
                header = [header[0], *(f"{1e9 * value:.0f} ns" for value in own["latency"])]
                label = f"{title}, {technique}, {_gbits(bandwidth)}"
                rows.append([label, *(f"{time / own['time_s'].min():.3f}" for time in own["time_s"])])
    return _markdown(header, rows)


def topologies(folders: Sequence[Path]) -> str:
    """Figure 12: training on the three networks."""
    table = _read(folders, "topologies-caffe", "sensitivity")
    rows = []
    for nodes, own in table[table["technique"] == "ext-var"].groupby("nodes"):
        times = own.set_index("topology")["time_s"].sort_values()
        rows.append([f"{nodes:,}", *(f"{_ms(times[name])}" for name in sorted(times.index)), " < ".join(times.index)])
    return _markdown(["nodes; ms", *sorted(set(table["topology"])), "order"], rows)


def _by_bandwidth(folders: Sequence[Path], name: str, technique: str) -> list[float]:
    """Return the times [s] from the least bandwidth to the highest, at the default latency."""
    own = _grid(folders, name, technique).sort_values("bandwidth")
    own = own[np.isclose(own["latency"], DEFAULT_LATENCY_S, atol=0)]
    times = [float(time) for time in own["time_s"]]
    assert len(times) == len(BANDWIDTHS), f"grid-{name}: other bandwidths than the paper's"
    return times


def _grid(folders: Sequence[Path], name: str, technique: str) -> pd.DataFrame:
    table = _read(folders, f"grid-{name}", "sensitivity")
    assert table["nodes"].nunique() == 1, f"grid-{name}: several node counts"
    return table[table["technique"] == technique]


def _read(folders: Sequence[Path], experiment: str, table: str) -> pd.DataFrame:
    return pd.read_parquet(_folder(folders, experiment, table) / f"{table}.parquet")


def _folder(folders: Sequence[Path], experiment: str, table: str) -> Path:
    """Return the experiment's folder of results, which must have the table."""
    for folder in folders:
        if (folder / experiment / f"{table}.parquet").is_file():
            return folder / experiment
    raise Skipped(
        f"{experiment}/{table}.parquet is in none of {', '.join(map(str, folders))}; run the shipped studies first, as "
        "docs/validation/paper-figures.md says (hours)"
    )


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.4g}"


def _gbits(bytes_per_s: float) -> str:
    return f"{8e-9 * bytes_per_s:.0f} Gbit/s"


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def print_tables(folders: Sequence[Path]) -> None:
    """Print every figure of the paper as a table."""
    for drawn in (scaling, breakdown, stacks, bandwidths, misled, latencies, topologies):
        print(f"{(drawn.__doc__ or '').splitlines()[0]}\n")
        print(f"{drawn(folders)}\n")


def figures() -> list[dict[str, Any]]:
    """Print the tables; return how much external ranks and variability add on the most nodes (Figures 4, 5 and 8)."""
    folders = [ROOT / "results"]
    found = []
    for name, title in APPLICATIONS.items():
        table = _read(folders, f"scaling-{name}", "projection")
        most = table[table["nodes"] == table["nodes"].max()].set_index("technique")["time_s"]
        ratio = float(most["ext-var"] / most["no-ext-const"])
        found.append(figure(f"{title}, {table['nodes'].max():,} nodes: ext-var / no-ext-const", ratio, "", None, None))
    print_tables(folders)
    return found


if __name__ == "__main__":
    print_tables([Path(word) for word in sys.argv[1:]] or [Path("results")])
