"""Predict OSU results between two nodes of Crossroads (LANL), with nothing fitted and with every half of them fitted.

Nine tests have eleven single results (``tests/data/calibration/crossroads_osu``); the network's host figures are
published or typical ones of Slingshot-11. Predicted are the tests between two nodes: the half round trip, one pair's
bandwidth in both directions at once, the bandwidth of a pair per NIC and of one per core, and a put and a get with
their completion. That a node has two NICs was concluded from the pair per NIC, so that this test is not counted in the
median, and is in each half that is fitted. With it go two of the other five, and three are held out: ten ways, for
nodes of one switch. Fitted are one factor of all overheads and one of the NIC's time per byte, by least squares of the
logarithms. Left out: the latency of an accumulate (the processor of the target works on it), and the tests of the full
system (some 690,000 ranks; neither the number of nodes nor the algorithms are known).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from _agreement import need
from _figure import figure
from scipy.optimize import least_squares

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
PUT, GET = "osu_put, 8 B", "osu_get, 8 B"
MIB = 2**20
# OSU's tests of bandwidth have 64 messages under way; a node has two processors of 56 cores.
WINDOW, CORES = 64, 112
_PAIRS = {"pattern": "multi-pair", "messages": WINDOW, "parts": WINDOW}
# The pattern of each test, and the parts of an iteration whose time is measured.
TESTS: dict[str, dict[str, Any]] = {
    LATENCY: {"pattern": "ping-pong", "bytes": 8, "parts": 2},
    BANDWIDTH: {**_PAIRS, "bytes": MIB, "both_ways": True},
    PER_NIC: {**_PAIRS, "bytes": 2**14, "ranks_per_node": 2},
    PER_CORE: {**_PAIRS, "bytes": 2**14, "ranks_per_node": CORES},
    PUT: {"pattern": "congestor-incast-rma", "bytes": 8, "messages": 1, "parts": 1},
    GET: {"pattern": "congestor-bcast-rma", "bytes": 8, "messages": 1, "parts": 1},
}
NOTHING = "nothing"
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
        PUT: value["osu_put", "1 per node"] * 1e-6,
        GET: value["osu_get", "1 per node"] * 1e-6,
    }


def simulated(network: Network, hosts: list[int], tests: Sequence[str] = tuple(TESTS)) -> dict[str, float]:
    """Return the times [s] of ``tests`` as the engine fast simulates them between two nodes."""
    return {test: _simulated(network, hosts, **TESTS[test]) for test in tests}


def _simulated(network: Network, hosts: list[int], parts: int, ranks_per_node: int = 1, **parameters: Any) -> float:
    """Return the time [s] of one of ``parts`` of an iteration."""
    job = {
        "name": "osu",
        "application": {"name": "patterns", "parameters": {"iterations": ITERATIONS, **parameters}},
        "nodes": len(hosts),
        "ranks_per_node": ranks_per_node,
        "hosts": hosts,
    }
    run = run_of(network, CollectivesSection(), [job], seed=1, replicas=[0])
    return FastEngine().measure(run).makespan_s / ITERATIONS / parts


def fitted(network: Network, known: dict[str, float], hosts: list[int], tests: Sequence[str]) -> Network:
    """Return ``network`` with overheads and a NIC's time per byte, each times a factor, that fit ``tests`` best."""
    content = network.model_dump(mode="json")

    def scaled(factors: Iterable[float]) -> Network:
        overheads, per_byte = factors
        host = dict(content["host"])
        for key in ("overhead_send", "overhead_recv"):
            host[key] = [
                {**part, "time": overheads * part["time"], "per_byte": overheads * part["per_byte"]}
                for part in host[key]
            ]
        host["nic_bandwidth"] /= per_byte
        return Network.model_validate({**content, "host": host}, context=RESOLVED)

    def misses(factors: Iterable[float]) -> list[float]:
        times = simulated(scaled(factors), hosts, tests)
        return [float(np.log(times[test] / known[test])) for test in tests]

    # Steps of 2 %, since times are whole picoseconds and a NIC that waits for its link tells nothing of its rate.
    found = least_squares(misses, [1.0, 1.0], diff_step=0.02, bounds=([0.1, 0.5], [10.0, 2.0]))
    return scaled(found.x)


def compared() -> pd.DataFrame:
    """Return measured and simulated times [s] and the error of each test, place of the two nodes and fit."""
    network = Network.model_validate(read_yaml(NETWORK, "the network"))
    known = measured()
    cases = [(place, NOTHING, list(known), network) for place in PLACES]
    near = next(iter(PLACES))
    counted = [test for test in known if test != PER_NIC]
    for two in itertools.combinations(counted, 2):
        half = fitted(network, known, _hosts(network, near), (PER_NIC, *two))
        cases.append((near, " and ".join(two), [test for test in counted if test not in two], half))
    rows = [
        {"nodes": place, "fitted_to": fit, "test": test, "measured_s": known[test], "simulated_s": time}
        for place, fit, tests, changed in cases
        for test, time in simulated(changed, _hosts(changed, place), tests).items()
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
    what = frame["fitted_to"].where(frame["fitted_to"] == NOTHING, "each half")
    target = {next(iter(PLACES)): (MOST_MEDIAN, "<=")}
    return [
        figure(
            f"Crossroads, {place}, fitted to {fit}: median error of {len(size)} predictions",
            100 * size.median(),
            "%",
            *target.get(place, (None, None)),
        )
        for (place, fit), size in frame["error"].abs().groupby([frame["nodes"], what])
    ]


if __name__ == "__main__":
    print(compared().to_string(index=False))
