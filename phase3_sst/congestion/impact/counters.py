"""Router counters of a run and the metrics that 001 makes of them, over the routers that a job's nodes are at.

The one place at which this part meets the counters. Flits are bytes over the flit size; a stall is a flit time in which
a network port could not pass a flit on (001, section II-B).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd

FLIT_BYTES = 8.0
HOST = "host-"


def simulated(links: pd.DataFrame, makespan_s: float, flit_bytes: float = FLIT_BYTES) -> pd.DataFrame:
    """Return router, port_class (network, host), link_class, flits and stalls of every link that carried bytes.

    A link is a port of the router that it leads to, one to a host is a port of the router that it comes from (``host``;
    links from hosts are left out, 001's PTILES_TO_NIC are those towards the hosts).
    """
    used = links[(links["bytes"] > 0) & ~links["source"].str.startswith(HOST)]
    to_host = used["target"].str.startswith(HOST)
    tells = "credit_stall_s" in used and "inq_stall_s" in used
    waited = used["credit_stall_s"].where(to_host, used["inq_stall_s"]) if tells else used["stall_s"]
    flit_s = flit_bytes * used["busy_s"] / used["bytes"]
    return pd.DataFrame(
        {
            "router": used["source"].where(to_host, used["target"]),
            "port_class": np.where(to_host, "host", "network"),
            "link_class": used["class"],
            "peer": used["target"].where(to_host, used["source"]),
            "flits": used["bytes"] / flit_bytes,
            "stalls": np.minimum(waited, makespan_s) / flit_s,
            "seconds": makespan_s,
        }
    ).reset_index(drop=True)


def routers_of(links: pd.DataFrame, hosts: Collection[int]) -> set[str]:
    """Return the routers to which ``hosts`` are attached; a node that sent nothing is on none."""
    names = {f"{HOST}{host}" for host in hosts}
    return set(links["target"][links["source"].isin(names)])


def thresholds(counters: Sequence[pd.DataFrame]) -> dict[str, float]:
    """Return by class of network links the median of the stalls per second over all runs (001, section II-B)."""
    rates = [frame[frame["port_class"] == "network"] for frame in counters]
    every = pd.concat(rates, ignore_index=True)
    medians = (every["stalls"] / every["seconds"]).groupby(every["link_class"]).median()
    return {str(name): float(value) for name, value in medians.items()}


def metrics(
    counters: pd.DataFrame, routers: Collection[str], hosts: Collection[int], least: Mapping[str, float]
) -> dict[str, float]:
    """Return the metrics of a run: means over ``routers``, of each over its ports that carried traffic.

    stall_flit_ratio (ports with fewer stalls per second than ``least`` count as 0), network_stalls_per_s, and of the
    ports to ``hosts`` host_stalls_per_s and host_flits_per_s.
    """
    own = counters[counters["router"].isin(list(routers))]
    network = own[own["port_class"] == "network"]
    host = own[(own["port_class"] == "host") & own["peer"].isin([f"{HOST}{one}" for one in hosts])]
    rate = network["stalls"] / network["seconds"]
    counts = rate >= network["link_class"].map(dict(least)).astype("float64").fillna(0.0)
    ratio = (network["stalls"] / network["flits"]).where(counts, 0.0)
    return {
        "stall_flit_ratio": _mean(ratio, network),
        "network_stalls_per_s": _mean(rate, network),
        "host_stalls_per_s": _mean(host["stalls"] / host["seconds"], host),
        "host_flits_per_s": _mean(host["flits"] / host["seconds"], host),
    }


def _mean(values: pd.Series[float], rows: pd.DataFrame) -> float:
    return float(values.groupby(rows["router"]).mean().mean()) if len(values) else 0.0
