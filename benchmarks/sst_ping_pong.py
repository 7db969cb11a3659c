"""Show that SST's network obeys its parameters: the link rate it reaches, and how latency follows the links'.

A long message goes back and forth over the longest route of a fat-tree, with links and NICs of 20 to 1000 Gbit/s and
link latencies of 90 and 1000 ns: no crossbar, NIC, host or buffer may be the limit. The figure is bytes over rate over
the simulated time of one direction. A short message (8 B) crosses links of 40 to 1000 ns on three topologies. The slope
of its time over the link latency is the number of links on its route, which the fast engine's slope gives. Skipped by
name without SST.

Usage on its own: ``python benchmarks/sst_ping_pong.py``.
"""

from __future__ import annotations

import sys
from typing import Any

from _agreement import GBIT, makespan, need, run_file
from _figure import figure
from sst_agreement import REFERENCE, TOPOLOGIES

RATES_GBIT = (20, 40, 100, 200, 400, 1000)
LATENCIES_S = (4e-8, 9e-8, 2e-7, 4e-7, 1e-6)
# Time of the long message at the link rate: everything that does not depend on its size is small beside it.
LONG_S = 2e-3
RATE_TARGET, SLOPE_TARGET = 0.95, 0.01
NODES = 64


def one_way_s(engine: str, topology: str, size: int, rate_Bps: float, latency_s: float) -> float:
    """Return half of a round trip [s] between the first and the last node."""
    application = {"name": "patterns", "parameters": {"pattern": "ping-pong", "bytes": size, "iterations": 1}}
    run = run_file(application, TOPOLOGIES[topology], NODES, 1, rate_Bps=rate_Bps, link_latency_s=latency_s)
    return makespan(engine, run)[0] / 2


def rate_share(rate_Gbit: float, latency_s: float) -> float:
    """Return the share of the link rate that the long message reaches."""
    rate = rate_Gbit * GBIT
    size = round(rate * LONG_S)
    return size / rate / one_way_s(REFERENCE, "fat-tree", size, rate, latency_s)


def slope(engine: str, topology: str) -> float:
    """Return the increase of a short message's time per second of link latency, from the ends of the range."""
    first, last = LATENCIES_S[0], LATENCIES_S[-1]
    times = [one_way_s(engine, topology, 8, 100 * GBIT, latency) for latency in (first, last)]
    return (times[1] - times[0]) / (last - first)


def bend(topology: str) -> float:
    """Return the largest deviation of a short message's time over the link latency from a straight line, as a share."""
    times = [one_way_s(REFERENCE, topology, 8, 100 * GBIT, latency) for latency in LATENCIES_S]
    rise = (times[-1] - times[0]) / (LATENCIES_S[-1] - LATENCIES_S[0])
    line = [times[0] + rise * (latency - LATENCIES_S[0]) for latency in LATENCIES_S]
    return max(abs(time / straight - 1) for time, straight in zip(times, line, strict=True))


def figures() -> list[dict[str, Any]]:
    """Return rates, slopes and the slopes' straightness; without SST, skip."""
    need(REFERENCE)
    found = []
    for latency in (9e-8, 1e-6):
        for rate in RATES_GBIT:
            name = f"sst, {rate} Gb/s, links of {latency * 1e9:.0f} ns: share of the rate"
            found.append(figure(name, rate_share(rate, latency), "", RATE_TARGET, ">="))
    for topology in TOPOLOGIES:
        links = round(slope("fast", topology))
        off = abs(slope(REFERENCE, topology) / links - 1)
        found.append(figure(f"sst, {topology}, {links} links: slope off one to one", off, "", SLOPE_TARGET, "<="))
        found.append(figure(f"sst, {topology}: latency off a straight line", bend(topology), "", SLOPE_TARGET, "<="))
    return found


def main() -> int:
    """Print one line per figure; the exit code is 6 if a target does not hold."""
    everything = figures()
    for item in everything:
        print(f"{item['name']:<58} {item['value']:.4%} (target {item['comparison']} {item['target']:.0%})")
    return 0 if all(item["holds"] for item in everything) else 6


if __name__ == "__main__":
    sys.exit(main())
