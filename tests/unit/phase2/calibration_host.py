"""A host that does not exist: how long each microbenchmark takes there, for tests of the calibration."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np
from calibration_curves import KIB, MIB, Hierarchy

from phase2_nodesim.calibration.figures import Cycles
from phase2_nodesim.calibration.host import Host, HostCache
from phase2_nodesim.calibration.measurements import Series
from phase2_nodesim.calibration.plan import CLOCK, WINDOWS, Plan, Task, plan_for

FREQUENCY = 3.2e9
HIERARCHY = Hierarchy()
FIRST_TLB, SECOND_TLB = 64, 2048
SECOND_LATENCY, WALK = 7.0, 22.0
BUFFERS, PENALTY, SUSTAINED = 16, 18.0, 4.8
ENTRIES = {"nop": 352, "dependent": 160, "load": 128, "store": 80}
FAST_LINES = [(512 * KIB, 2.0), (32 * MIB, 2.5), (2**40, 6.0)]
LINE_FILL, WRITE_INTERVAL, END_OF_PASS = 0.8, 2.6, 60.0
ONE_CORE_BPS, NODE_BPS = 12e9, 40e9
READING = 0.7
"""Reading alone reaches this share of what one core moves when it also writes."""
CACHED_BYTES, CACHED_BPS = 4 * MIB, 100e9
"""A core that streams no more than these bytes has them from the caches."""

HOST = Host(
    "Test 9000",
    4,
    1,
    1,
    4096,
    2**36,
    32,
    True,
    {
        "l1i": HostCache(32 * KIB, 8, 64, 1),
        "l1d": HostCache(48 * KIB, 12, 64, 1),
        "l2": HostCache(1 * MIB, 16, 64, 1),
        "last_level": HostCache(32 * MIB, 16, 64, 4),
    },
)
# Two sockets of 64 cores, as an EPYC 7742: four cores share a last-level cache.
MANY_CORES = dataclasses.replace(
    HOST,
    cores=128,
    sockets=2,
    domains=2,
    memory_bytes=2**38,
    caches={
        **HOST.caches,
        "l2": HostCache(512 * KIB, 8, 64, 1),
        "last_level": HostCache(16 * MIB, 16, 64, 4),
    },
)
_RATES = {
    **{("load", 1): 3, ("store", 1): 2, ("vector-load", 1): 2, ("vector-store", 1): 1},
    **{("free", 8): 4, ("fused", 14): 2, ("add", 14): 2, ("multiply", 14): 2},
}
_LATENCIES = {
    ("integer", "add"): 1,
    ("integer", "multiply"): 3,
    # With the or that keeps the quotient long.
    ("integer", "divide"): 19,
    ("float", "add"): 4,
    ("float", "multiply"): 4,
    ("float", "fused"): 5,
    ("float", "divide"): 14,
}
_INTERVALS = {"integer": 10, "float": 5}


def cycles_of(task: Task) -> float:
    """Return the cycles per operation of a task on the host."""
    values = dict(task.values)
    kind, chains = values.get("kind", ""), int(values.get("chains", 1))
    if task.name in ("integer", "float") and chains == 1:
        return _LATENCIES[task.name, kind]
    if kind == "divide":
        return _INTERVALS[task.name]
    if kind == "mix":
        return 1 / 3
    if task.name == "lines":
        written = WRITE_INTERVAL if kind == "store" else 0
        return written + next(cycles for capacity, cycles in FAST_LINES if float(values["bytes"]) <= capacity)
    if task.name == "transfer":
        return {"round": 6, "load": 3 + 7}[kind]
    if task.name == "fetch":
        return 2.0 if values["place"] == "across-64" else 1.0
    if task.name == "forward":
        return {"general": 1 + 0, "vector": 4 + 6}[kind]
    if task.name == "width":
        return 1 / 5.8
    if task.name == "mixed":
        return 1 / SUSTAINED
    if task.name == "branch":
        return 1.5 + (PENALTY / 2 if values["pattern"] == "random" else 0)
    if task.name == "window":
        return 620 if int(values["fillers"]) < ENTRIES[kind] else 1200
    if task.name == "walk":
        return _walk(float(values["bytes"]), values["order"], int(values.get("step", 1)))
    if task.name == "chase":
        return HIERARCHY.latency(float(values["bytes"])) / min(chains, BUFFERS)
    if task.name == "pages":
        return _page(int(values["count"]))
    if task.name == "stream" and "pages" in values:
        return _from_caches(int(values["bytes"]) // 64)
    if task.name == "stream":
        return _element(task.operations, values)
    return 1 / _RATES[kind, chains]


def _walk(size: float, order: str, step: int) -> float:
    """Return the cycles of a load where the first level fetches the next line, and the second one streams."""
    latency = HIERARCHY.latency(size)
    if size <= 1 * MIB:
        return latency / 2 if order == "even" and step == 1 else latency
    return latency if order == "pairs" else 0.2 * latency


def _page(count: int) -> float:
    missed = 0.0 if count <= FIRST_TLB else SECOND_LATENCY
    if count > SECOND_TLB:
        missed += WALK + HIERARCHY.latency(8 * count)
    return HIERARCHY.latency(64 * count) + missed


def _from_caches(lines: int) -> float:
    """Return the cycles of an element: loads of two at a time, two a cycle, lines that come in, the end of a pass."""
    return (2 + (LINE_FILL if 64 * lines > 48 * KIB else 0) + END_OF_PASS / lines) / 8


def _element(elements: int, values: dict[str, str]) -> float:
    arrays, moved = {"read": (1, 8), "copy": (2, 24), "triad": (3, 32)}[values["kernel"]]
    if 8 * elements * arrays <= CACHED_BYTES:
        return moved / CACHED_BPS * FREQUENCY
    one_core = ONE_CORE_BPS * (READING if values["kernel"] == "read" else 1)
    return moved / min(one_core, NODE_BPS / int(values["workers"])) * FREQUENCY


def measured(tasks: Iterable[Task], noise: float = 0.02, seed: int = 1) -> dict[str, Series]:
    """Return seven noisy rounds of each task."""
    generator = np.random.default_rng(seed)
    found = {}
    for task in tasks:
        workers = int(dict(task.values).get("workers", 1))
        rounds = cycles_of(task) / FREQUENCY * (1 + noise * generator.random(7))
        large = int(dict(task.values).get("bytes", 0)) if ("pages", "large") in task.values else 0
        found[task.label()] = Series(workers, [float(value) for value in rounds], large, 1 / FREQUENCY)
    return found


def groups_of(plan: Plan) -> list[list[Task]]:
    """Return the tasks of a plan, by the process that runs them."""
    groups = [plan.core(), plan.chases(), plan.pages(), plan.parallel(), plan.streams()]
    groups += [[*plan.lines().values(), *plan.written_lines()], plan.fast_lines(), list(plan.fills().values())]
    groups += [plan.window(kind, range(0, 769, 16)) for kind in WINDOWS.values()]
    return [*groups, [one for orders in plan.walks().values() for one in orders.values()]]


def calibrated(host: Host = HOST, noise: float = 0.02, seed: int = 1) -> tuple[Plan, Cycles]:
    """Return a plan for the host and its measurements."""
    plan = plan_for(host, host.cores, quick=False)
    return plan, Cycles(measured([CLOCK, *[task for group in groups_of(plan) for task in group]], noise, seed))
