"""The statistics of a run's counters that Chunduri et al. learn from: five metrics x five statistics, and the nodes.

In: the table ``router-counters/1`` of a run and the routers to which its nodes are attached (the local view). Out: 25
numbers by name. A metric has one value per port of the run, ports of all those routers pooled (table III; section
III-C: all tiles weigh the same):

- host_flits_per_s: flits per second of a host port (``processor tile flits per second``)
- network_stall_flit_ratio: stalls over flits of a network port; 0 where nothing flowed
- network_host_flit_ratio: a router's mean flits per network port over its mean flits per host port, one per router. Its
  mean is the ratio of the averages over all routers, as section IV-A names the feature.
- network_stalls: stalls of a network port in the whole run [flit times]
- network_flits: flits of a network port in the whole run

and the statistics are mean, var (population variance), p75, p95, p99 (linear interpolation). Host ports are those
into the router, because Chunduri et al. count what comes into the processor tiles' input queues; where a source has
counted only those towards the hosts, they are taken, and :func:`host_direction` says so.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt
import pandas as pd

from manynode.errors import InputError
from phase3_sst.studies.congestion.counters.counter_table import HOST, IN, NETWORK, OUT
from phase3_sst.studies.congestion.counters.metrics import of_routers

METRICS = (
    "host_flits_per_s",
    "network_stall_flit_ratio",
    "network_host_flit_ratio",
    "network_stalls",
    "network_flits",
)
STATISTICS = ("mean", "var", "p75", "p95", "p99")
NAMES = tuple(f"{metric}_{statistic}" for metric in METRICS for statistic in STATISTICS)
NODES = "nodes"

# Chunduri et al., section IV-A, the most important first.
PAPER_FEATURES = (
    "network_host_flit_ratio_mean",
    "host_flits_per_s_mean",
    "network_stall_flit_ratio_p75",
    "network_stalls_p95",
    "network_flits_mean",
    "network_stalls_mean",
    NODES,
)

Values = npt.NDArray[np.float64]


def host_direction(table: pd.DataFrame) -> str:
    """Return the direction of the host ports that are counted: into the router, else towards the hosts."""
    host = table[table["port_class"] == HOST]
    return IN if host.empty or bool((host["direction"] == IN).any()) else OUT


def features(table: pd.DataFrame, routers: Collection[str], where: str = "counters") -> dict[str, float]:
    """Return the 25 statistics by name; a table without network or host ports there is an :class:`InputError`."""
    rows = of_routers(table, routers)
    rows = rows[rows["flits"].notna()]
    network = _ports(rows[rows["port_class"] == NETWORK])
    host = rows[(rows["port_class"] == HOST) & (rows["direction"] == host_direction(table))]
    host = _ports(host)
    for name, ports, column in (("network", network, "stalls"), ("host", host, "flits")):
        if ports.empty or bool(ports[column].isna().all()):
            raise InputError(
                f"the counters tell no {column} of {name} ports",
                where=where,
                found=f"{len(set(rows['router']))} of {len(set(routers))} routers of the run have counters",
                remedy="name the run's own nodes, and record these counters: "
                "INQ_PRF_INCOMING_FLIT_VCv and INQ_PRF_ROWBUS_STALL_CNT of the network tiles, and those of host ports",
            )
    flits, stalls = _array(network["flits"]), _array(network["stalls"].fillna(0.0))
    per_port = {
        "host_flits_per_s": _array(host["flits"] / host["seconds"]),
        "network_stall_flit_ratio": np.divide(stalls, flits, out=np.zeros_like(flits), where=flits > 0),
        "network_host_flit_ratio": _per_router(network, host),
        "network_stalls": stalls,
        "network_flits": flits,
    }
    found = {f"{metric}_{name}": value for metric in METRICS for name, value in statistics(per_port[metric]).items()}
    mean = float(_array(host["flits"]).mean())
    found["network_host_flit_ratio_mean"] = float(flits.mean()) / mean if mean > 0 else 0.0
    return found


def statistics(values: Values) -> dict[str, float]:
    """Return the five statistics of a distribution, zeros of an empty one."""
    if not len(values):
        return dict.fromkeys(STATISTICS, 0.0)
    p75, p95, p99 = np.percentile(values, [75, 95, 99])
    return dict(zip(STATISTICS, map(float, (values.mean(), values.var(), p75, p95, p99)), strict=True))


def _ports(rows: pd.DataFrame) -> pd.DataFrame:
    """Return flits, stalls and seconds of each port over all its intervals."""
    own = rows.assign(seconds=rows["end_s"] - rows["start_s"])
    groups = own.groupby(["router", "port"], sort=True)
    return pd.DataFrame(
        {
            "flits": groups["flits"].sum(),
            "stalls": groups["stalls"].sum(min_count=1),
            "seconds": groups["seconds"].sum(),
        }
    ).reset_index()


def _per_router(network: pd.DataFrame, host: pd.DataFrame) -> Values:
    ratio = network.groupby("router")["flits"].mean() / host.groupby("router")["flits"].mean()
    return _array(ratio[np.isfinite(ratio)])


def _array(series: pd.Series[float]) -> Values:
    return np.asarray(series, dtype=np.float64)
