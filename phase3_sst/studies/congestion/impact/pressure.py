"""Router counters of a run and the metrics that 001 makes of them, over the routers that a job's nodes are attached to.

Counters are those of the whole run, ports without traffic included. A sample of 001 is a second of a run of minutes; a
simulated run is one sample, so that its low-stall threshold is the median over the ports of all runs that are compared.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd

from phase3_sst.point.point_result import PointResult
from phase3_sst.studies.congestion.counters import metrics
from phase3_sst.studies.congestion.counters.counter_table import NETWORK
from phase3_sst.studies.congestion.counters.simulated import router_of_host, simulated

METRICS = ("stall_flit_ratio", "network_stalls_per_s", "host_stalls_per_s", "host_flits_per_s")
_OF_THRESHOLDS = ["port_class", "link_class", "stalls", "start_s", "end_s"]


class RouterCounters:
    """The counters of one run after the other on one machine, kept in the order in which they are added."""

    def __init__(self, topology: Mapping[str, Any]) -> None:
        self._topology = topology
        self._router = router_of_host(topology)
        self._own: list[tuple[pd.DataFrame, Sequence[int]]] = []
        self._network: list[pd.DataFrame] = []

    def routers(self, hosts: Collection[int]) -> set[str]:
        """Return the routers to which ``hosts`` are attached."""
        return {self._router[host] for host in hosts}

    def add(self, result: PointResult, hosts: Sequence[int]) -> None:
        """Take in the counters of a run and the nodes whose routers count; they are counted until its last job ends."""
        whole_s = float(result.document["replicas"][0]["makespan_s"])
        table = simulated(result.links(), whole_s, topology=self._topology)
        self._own.append((metrics.of_routers(table, self.routers(hosts)), hosts))
        self._network.append(table.loc[table["port_class"] == NETWORK, _OF_THRESHOLDS])

    def metrics(self) -> pd.DataFrame:
        """Return a row of :data:`METRICS` for each run; host ports are those towards the nodes that count."""
        least = metrics.stall_thresholds(pd.concat(self._network, ignore_index=True)) if self._network else {}
        rows = []
        for table, hosts in self._own:
            names = {f"host-{host}" for host in hosts}
            rows.append(
                {
                    "stall_flit_ratio": metrics.stall_flit_ratio(table, None, least),
                    "network_stalls_per_s": metrics.network_stalls_per_s(table),
                    "host_stalls_per_s": metrics.host_stalls_per_s(table, hosts=names),
                    "host_flits_per_s": metrics.host_flits_per_s(table, hosts=names),
                }
            )
        return pd.DataFrame(rows, columns=list(METRICS))
