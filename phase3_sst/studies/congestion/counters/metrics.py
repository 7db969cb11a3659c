"""Metrics of router counters as Chunduri et al. and Zhang et al. define them.

In: the table ``router-counters/1``, and the routers that count (None: all). Both papers take those to which the
job's nodes are attached, the local view. Out: one number, a mean over those routers and over time; NaN where the table
does not know the quantity.

Zhang, Groves, Cook, Wright, Coskun: Quantifying the impact of network congestion on application performance and
network metrics (CLUSTER 2020), section II-B. Chunduri et al.: A generalized statistics-based model for predicting
network-induced variability (PMBS 2019), table III.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd

from phase3_sst.studies.congestion.counters.counter_table import HOST, IN, NETWORK, OUT

Routers = Collection[str] | None
Threshold = float | Mapping[str, float] | None


def of_routers(table: pd.DataFrame, routers: Routers) -> pd.DataFrame:
    """Return the rows of ``routers``."""
    return table if routers is None else table[table["router"].isin(list(routers))]


def stall_thresholds(table: pd.DataFrame) -> dict[str, float]:
    """Return per class of network links the median of the stalls per second of all samples of the system.

    Zhang et al. take it from three months of the whole machine, for electrical and for optical links apart. For runs
    that are compared, take it from all of them together (``pandas.concat``).
    """
    network = table[table["port_class"] == NETWORK]
    rate = network["stalls"] / _seconds(network)
    return {str(name): float(value) for name, value in rate.groupby(network["link_class"]).median().items()}


def stall_flit_ratio(table: pd.DataFrame, routers: Routers = None, threshold: Threshold = None) -> float:
    """Return the network-tile stall/flit ratio (Zhang et al., II-B): per router the mean over its network ports.

    A sample whose stalls per second are below ``threshold`` is ignored, because a few stalls over still fewer flits
    make a large ratio that no application feels. The mean stays one over all the router's ports (the equation's Avg
    over r and c), so an ignored sample counts as 0, as does one without flits. ``threshold`` is a number for all, one
    per class of links, or None: the median of each class in ``table`` (all its routers, also those not counted).
    """
    limits = stall_thresholds(table) if threshold is None else threshold
    network = of_routers(table[table["port_class"] == NETWORK], routers)
    if network.empty:
        return float("nan")
    seconds = _seconds(network)
    least = network["link_class"].map(limits).fillna(0.0) if isinstance(limits, Mapping) else limits
    counts = (network["stalls"] / seconds >= least) & (network["flits"] > 0)
    ratio = (network["stalls"] / network["flits"]).where(counts, 0.0)
    ratio = ratio.mask(network["stalls"].isna() | network["flits"].isna())
    return _over_routers_and_time(network, ratio)


def network_stalls_per_s(table: pd.DataFrame, routers: Routers = None) -> float:
    """Return the stalls per second of a network port [flit times per s] (Zhang et al., figure 6)."""
    network = of_routers(table[table["port_class"] == NETWORK], routers)
    return _over_routers_and_time(network, network["stalls"] / _seconds(network))


def host_flits_per_s(
    table: pd.DataFrame, routers: Routers = None, direction: str = OUT, hosts: Collection[str] | None = None
) -> float:
    """Return the flits per second of a host port; ``out``: those that a node receives (Zhang et al.'s PTILES_TO_NIC).

    ``hosts`` are the peers that count, such as the job's own nodes (None: all of the routers, as Chunduri et al.).
    """
    rows = _host(table, routers, direction, hosts)
    return _over_routers_and_time(rows, rows["flits"] / _seconds(rows))


def host_stalls_per_s(
    table: pd.DataFrame, routers: Routers = None, direction: str = OUT, hosts: Collection[str] | None = None
) -> float:
    """Return the stalls per second of a host port [flit times per s] (Zhang et al., figure 6 c and d)."""
    rows = _host(table, routers, direction, hosts)
    return _over_routers_and_time(rows, rows["stalls"] / _seconds(rows))


def network_host_flit_ratio(table: pd.DataFrame, routers: Routers = None, direction: str = IN) -> float:
    """Return the mean flits of a network port over those of a host port (Chunduri et al., table III)."""
    rows = of_routers(table, routers)
    network = rows[rows["port_class"] == NETWORK].groupby(["router", "port"])["flits"].sum()
    host = _host(rows, None, direction, None).groupby(["router", "port"])["flits"].sum()
    if network.empty or host.empty or host.mean() == 0:
        return float("nan")
    return float(network.mean() / host.mean())


def _host(table: pd.DataFrame, routers: Routers, direction: str, hosts: Collection[str] | None) -> pd.DataFrame:
    rows = of_routers(table[(table["port_class"] == HOST) & (table["direction"] == direction)], routers)
    return rows if hosts is None else rows[rows["peer"].isin(list(hosts))]


def _seconds(rows: pd.DataFrame) -> pd.Series[float]:
    return rows["end_s"] - rows["start_s"]


def _over_routers_and_time(rows: pd.DataFrame, value: pd.Series[float]) -> float:
    """Return the mean over a router's ports, then over routers and time; longer intervals weigh more."""
    frame = pd.DataFrame({"router": rows["router"], "start_s": rows["start_s"], "s": _seconds(rows), "value": value})
    frame = frame[frame["value"].notna()]
    if frame.empty:
        return float("nan")
    each = frame.groupby(["router", "start_s"]).agg(value=("value", "mean"), s=("s", "mean"))
    return float(np.average(each["value"], weights=each["s"]))
