"""Predict OSU results between two nodes of Crossroads (LANL), with nothing fitted and with a half of them fitted.

Nine tests have eleven single results (``tests/data/calibration/crossroads_osu``); the network's host figures are
published or typical ones of Slingshot-11. Predicted are the tests between two nodes: the half round trip, one pair's
bandwidth in both directions at once, the bandwidth of a pair per NIC and of one per core, and a put and a get with
their completion. That a node has two NICs was concluded from the pair per NIC, so that this test is not counted in the
median. Overheads can be fitted to the half round trip and the NIC's bandwidth to both directions at once, for nodes of
one switch; the others are then held out. Left out: the latency of an accumulate (the processor of the target works on
it), and the tests of the full system (some 690,000 ranks; neither the number of nodes nor the algorithms are known).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
from _agreement import need
from _figure import figure

from manynode.config.network import Network
from manynode.config.quantities import RESOLVED
from manynode.config.resolved import read_yaml
from manynode.config.simulate import CollectivesSection
from manynode.paths import ROOT
from phase3_sst.engines.fast.engine import FastEngine
from phase3_sst.point.run_file import run_of

TABLE = ROOT / "tests" / "data" / "calibration" / "crossroads_osu" / "OSU_ats3_results.csv"
NETWORK = ROOT / "configs" / "networks" / "crossroads.yaml"
# Nodes of the first switch, and of the first and the last group: the table does not say where the two were.
PLACES = {"one switch": (0, 1), "two groups": (0, -1)}
ITERATIONS = 50
LATENCY, BANDWIDTH = "osu_latency, 8 B", "osu_bibw, 1 MB"
PER_NIC, PER_CORE = "osu_mbw_mr, 16 KB, a pair per NIC", "osu_mbw_mr, 16 KB, a pair per core"
MIB = 2**20
# OSU's tests of bandwidth have 64 messages under way; a node has two processors of 56 cores.
WINDOW, CORES = 64, 112
MOST_MEDIAN = 10.0


def measured() -> dict[str, float]:
    """Return the measured times [s] of the predicted tests; of a bandwidth, that of one message of each pair or way."""
    table = pd.read_csv(TABLE, skipinitialspace=True).set_index(["Test", "Ranks"])["Result"]
    value = {key: float(text.split()[0]) for key, text in table.items() if "," not in text}
    return {
        LATENCY: value["osu_latency", "1 per node"] * 1e-6,
        BANDWIDTH: 2 * MIB / (value["osu_bibw", "1 per node"] * 1e6),
        PER_NIC: 2 * 2**14 / (value["osu_mbw_mr", "1 per NIC"] * 1e6),
        PER_CORE: CORES * 2**14 / (value["osu_mbw_mr", "1 per core"] * 1e6),
        "osu_put, 8 B": value["osu_put", "1 per node"] * 1e-6,
        "osu_get, 8 B": value["osu_get", "1 per node"] * 1e-6,
    }


def simulated(network: Network, hosts: list[int]) -> dict[str, float]:
    """Return the same times as the engine fast simulates them between two nodes."""

    def per_iteration(pattern: str, size: int, ranks_per_node: int = 1, **more: Any) -> float:
        parameters = {"pattern": pattern, "bytes": size, "iterations": ITERATIONS, **more}
        job = {
            "name": "osu",
            "application": {"name": "patterns", "parameters": parameters},
            "nodes": len(hosts),
            "ranks_per_node": ranks_per_node,
            "hosts": hosts,
        }
        run = run_of(network, CollectivesSection(), [job], seed=1, replicas=[0])
        return FastEngine().measure(run).makespan_s / ITERATIONS

    window: dict[str, Any] = {"messages": WINDOW}
    return {
        LATENCY: per_iteration("ping-pong", 8) / 2,
        BANDWIDTH: per_iteration("multi-pair", MIB, both_ways=True, **window) / WINDOW,
        PER_NIC: per_iteration("multi-pair", 2**14, 2, **window) / WINDOW,
        PER_CORE: per_iteration("multi-pair", 2**14, CORES, **window) / WINDOW,
        "osu_put, 8 B": per_iteration("congestor-incast-rma", 8, messages=1),
        "osu_get, 8 B": per_iteration("congestor-bcast-rma", 8, messages=1),
    }


def fitted(network: Network, known: dict[str, float], hosts: list[int]) -> Network:
    """Return ``network`` with overheads and a NIC's time per byte that give the measured latency and bandwidth."""
    content = network.model_dump(mode="json")

    def scaled(overheads: float, per_byte: float) -> Network:
        host = dict(content["host"])
        for key in ("overhead_send", "overhead_recv"):
            host[key] = [
                {**part, "time": overheads * part["time"], "per_byte": overheads * part["per_byte"]}
                for part in host[key]
            ]
        host["nic_bandwidth"] /= per_byte
        return Network.model_validate({**content, "host": host}, context=RESOLVED)

    # Both times are linear in what is fitted to them, and the second test does not know the overheads.
    overheads = _root(lambda value: simulated(scaled(value, 1.0), hosts)[LATENCY] - known[LATENCY])
    per_byte = _root(lambda value: simulated(scaled(overheads, value), hosts)[BANDWIDTH] - known[BANDWIDTH])
    return scaled(overheads, per_byte)


def _root(miss: Callable[[float], float]) -> float:
    """Return where a line is 0, from its values at 1 and at 1.1: a faster NIC would wait for the link."""
    whole, more = miss(1.0), miss(1.1)
    return 1 - 0.1 * whole / (more - whole)


def compared() -> pd.DataFrame:
    """Return measured and simulated times [s] and the error of each test, place of the two nodes and fit."""
    network = Network.model_validate(read_yaml(NETWORK, "the network"))
    known = measured()
    near = next(iter(PLACES))
    half = fitted(network, known, _hosts(network, near))
    cases = [(place, "nothing", network) for place in PLACES] + [(near, "latency and bandwidth", half)]
    rows = [
        {"test": test, "nodes": place, "fitted_to": what, "measured_s": known[test], "simulated_s": time}
        for place, what, changed in cases
        for test, time in simulated(changed, _hosts(changed, place)).items()
        if changed is network or test not in (LATENCY, BANDWIDTH)
    ]
    frame = pd.DataFrame(rows)
    return frame.assign(error=frame["simulated_s"] / frame["measured_s"] - 1)


def _hosts(network: Network, place: str) -> list[int]:
    return [node % network.room() for node in PLACES[place]]


def figures() -> list[dict[str, Any]]:
    """Print the error of each test; return the medians by place and fit, without the test that told the NICs."""
    need("fast")
    frame = compared()
    print(frame.to_string(index=False))
    frame = frame[frame["test"] != PER_NIC]
    target = {next(iter(PLACES)): (MOST_MEDIAN, "<=")}
    return [
        figure(
            f"Crossroads, {place}, fitted to {what}: median error of {len(size)} tests",
            100 * size.median(),
            "%",
            *target.get(place, (None, None)),
        )
        for (place, what), size in frame["error"].abs().groupby([frame["nodes"], frame["fitted_to"]])
    ]


if __name__ == "__main__":
    print(compared().to_string(index=False))
