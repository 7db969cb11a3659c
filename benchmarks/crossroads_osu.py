"""Predict OSU results between two nodes of Crossroads (LANL), with nothing fitted and with a half of them fitted.

Nine tests have eleven single results (``tests/data/calibration/crossroads_osu``); the network's host figures are
published or typical ones of Slingshot-11. Predicted are the tests between two nodes whose configuration is known: the
half round trip, one pair's bandwidth in both directions at once, and a put and a get with their completion. Overheads
can be fitted to the first and the NIC's bandwidth to the second, for nodes of one switch; the others are then held out.
Left out:
one pair per NIC or per core (the number of NICs of a node is not published, and the results exceed one NIC), the
latency of an accumulate (the processor of the target works on it), and the tests of the full system (some 690,000
ranks; neither the number of nodes nor the algorithms are known).
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
MIB = 2**20


def measured() -> dict[str, float]:
    """Return the measured times [s] of the predicted tests; of a bandwidth, that of a message each way."""
    table = pd.read_csv(TABLE, skipinitialspace=True).set_index("Test")["Result"]
    value = {test: float(text.split()[0]) for test, text in table.items() if "," not in text}
    return {
        LATENCY: value["osu_latency"] * 1e-6,
        BANDWIDTH: 2 * MIB / (value["osu_bibw"] * 1e6),
        "osu_put, 8 B": value["osu_put"] * 1e-6,
        "osu_get, 8 B": value["osu_get"] * 1e-6,
    }


def simulated(network: Network, hosts: list[int]) -> dict[str, float]:
    """Return the same times as the engine fast simulates them between two nodes."""

    def per_iteration(pattern: str, size: int) -> float:
        parameters = {"pattern": pattern, "bytes": size, "iterations": ITERATIONS}
        if pattern.endswith("rma"):
            parameters["messages"] = 1
        job = {
            "name": "osu",
            "application": {"name": "patterns", "parameters": parameters},
            "nodes": len(hosts),
            "ranks_per_node": 1,
            "hosts": hosts,
        }
        run = run_of(network, CollectivesSection(), [job], seed=1, replicas=[0])
        return FastEngine().measure(run).makespan_s / ITERATIONS

    return {
        LATENCY: per_iteration("ping-pong", 8) / 2,
        BANDWIDTH: per_iteration("bisection", MIB),
        "osu_put, 8 B": per_iteration("congestor-incast-rma", 8),
        "osu_get, 8 B": per_iteration("congestor-bcast-rma", 8),
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

    # Both times are linear in what is fitted to them, and the second test hardly knows the overheads.
    overheads = _root(lambda value: simulated(scaled(value, 1.0), hosts)[LATENCY] - known[LATENCY])
    per_byte = _root(lambda value: simulated(scaled(overheads, value), hosts)[BANDWIDTH] - known[BANDWIDTH])
    return scaled(overheads, per_byte)


def _root(miss: Callable[[float], float]) -> float:
    """Return where a line is 0, from its values at 1 and nearby."""
    whole, less = miss(1.0), miss(0.9)
    return 1 - 0.1 * whole / (whole - less)


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
    """Print the error of each test; return the medians by place and fit. Four tests are no sample: no target."""
    need("fast")
    frame = compared()
    print(frame.to_string(index=False))
    return [
        figure(f"Crossroads, {place}, fitted to {what}: median error", 100 * size.median(), "%", None, None)
        for (place, what), size in frame["error"].abs().groupby([frame["nodes"], frame["fitted_to"]])
    ]


if __name__ == "__main__":
    print(compared().to_string(index=False))
