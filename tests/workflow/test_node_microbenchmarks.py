"""Microbenchmarks in the engine qemu give back what the machine file says: latencies, units, branches, bandwidths."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mini_apps
import pandas as pd
import pytest
import qemu_jobs
import yaml
from bridge_programs import ROOT

from manynode.config.experiment import NodesimSection
from manynode.config.machine import Machine
from manynode.markers import read_marker_directory
from phase2_nodesim.calibration.core_figures import OF_THE_BRANCH, entries
from phase2_nodesim.calibration.figures import Cycles
from phase2_nodesim.calibration.in_engine import PROGRAM, series_of_segments, words
from phase2_nodesim.calibration.last_level_figures import kept_by_fast_loads
from phase2_nodesim.calibration.memory_figures import l2_outstanding, line_fill
from phase2_nodesim.calibration.plan import KIB, MIB, WINDOWS, Plan, Task, task
from phase2_nodesim.calibration.prefetcher_figures import prefetcher_figures
from phase2_nodesim.engines._interface import ENGINES, NodeRun

WITHIN = 0.05
LAST_LEVEL = 4 * MIB


def node(of_caches: Mapping[str, Mapping[str, object]] | None = None, **changes: Any) -> Machine:
    """The generic machine with a smaller last level, so that chases and streams through memory are short."""
    content = yaml.safe_load((ROOT / "configs" / "machines" / "generic.yaml").read_text(encoding="utf-8"))
    content["caches"]["last_level"] |= {"size": f"{LAST_LEVEL // MIB} MiB", "associativity": 16}
    for cache, values in (of_caches or {}).items():
        content["caches"][cache] |= values
    return Machine.model_validate({**content, **changes})


def simulated(build_dir: Path, folder: Path, machine: Machine, tasks: list[Task], ranks: int) -> pd.DataFrame:
    """Return the segments of ``tasks`` on ``ranks`` simulated cores."""
    qemu_jobs.qemu_or_skip()
    qemu_jobs.mpi_or_skip("mpich")
    job = qemu_jobs.node_job(mini_apps.program(build_dir, PROGRAM), *words(tasks), ranks=ranks, timeout_s=600)
    run = NodeRun(machine, ranks, folder, crowded=True, settings=NodesimSection(engine="qemu"))
    engine = ENGINES.get("qemu")
    engine.run(run, job)
    return engine.segments(run, read_marker_directory(folder))


def measured(build_dir: Path, folder: Path, machine: Machine, tasks: list[Task]) -> Cycles:
    """Return the measurements of ``tasks`` on one simulated core, in cycles."""
    segments = simulated(build_dir, folder, machine, tasks, 1)
    return Cycles(series_of_segments(segments, (folder / "job.log").read_text()))


CORE = {
    "dispatch_width": task("width", 100_000),
    "integer_units": task("integer", 100_000, kind="free", chains=8),
    "load_ports": task("ports", 100_000, kind="load"),
    "store_ports": task("ports", 100_000, kind="store"),
    "vector_load_ports": task("ports", 100_000, kind="vector-load"),
    "vector_store_ports": task("ports", 100_000, kind="vector-store"),
    "float_units": task("float", 100_000, kind="multiply", chains=14),
    "float_add_units": task("float", 100_000, kind="add", chains=14),
    # Longer than the others: the loop's start takes its share, and this one ends nearest to its bound.
    "float_issue": task("float", 400_000, kind="mix", chains=14),
}
CHAINS = {
    "multiply_latency": task("integer", 50_000, kind="multiply"),
    "float_latency": task("float", 50_000, kind="multiply"),
    "float_add_latency": task("float", 50_000, kind="add"),
    "divide_interval": task("integer", 10_000, kind="divide", chains=8),
    "float_divide_latency": task("float", 10_000, kind="divide"),
    "float_divide_interval": task("float", 10_000, kind="divide", chains=14),
}
FETCHED = {place: task("fetch", 20_000, place=place) for place in ("inside", "across-32", "across-64")}
FORWARDED = {kind: task("forward", 20_000, kind=kind) for kind in ("general", "vector")}
TRANSFERRED = {kind: task("transfer", 20_000, kind=kind) for kind in ("round", "load")}
BRANCHES = {pattern: task("branch", 64_000, pattern=pattern) for pattern in ("alternating", "random")}


def test_units_chains_and_branches_take_what_the_machine_file_says(build_dir: Path, tmp_path: Path) -> None:
    changes = {
        **{"load_ports": 3, "store_ports": 2, "vector_load_ports": 2, "vector_store_ports": 1},
        **{"forward_latency": 2, "vector_forward_latency": 9, "transfer_latency": 3, "vector_load_latency": 7},
        **{"fetch_block": "64 B", "float_add_units": 2, "float_issue": 3, "float_add_latency": 3},
    }
    machine = node(core={**node().core.model_dump(exclude_none=True), **changes})
    divided = task("integer", 10_000, kind="divide")
    several = [CORE, CHAINS, FORWARDED, FETCHED, TRANSFERRED, BRANCHES]
    tasks = [divided, *[one for group in several for one in group.values()]]
    cycles = measured(build_dir, tmp_path / "core", machine, tasks)
    assert 1 / cycles.clock.best == pytest.approx(machine.frequency, rel=WITHIN)
    core = machine.core
    for name, one in CORE.items():
        wanted = getattr(core, name) or core.dispatch_width
        # As `calibrate-node` rounds it: loops have operations of their own.
        assert round(cycles.rate(one)) == wanted and cycles.rate(one) > 0.9 * wanted, name
    for name, one in CHAINS.items():
        assert cycles.of(one) == pytest.approx(getattr(core, name), rel=WITHIN), name
    # The or that keeps the quotient long takes one cycle.
    assert cycles.of(divided) - 1 == pytest.approx(core.divide_latency, rel=WITHIN)
    # Each turn has an addition.
    for kind, wanted in (("general", 1 + 2), ("vector", core.float_add_latency + 9)):
        assert cycles.of(FORWARDED[kind]) == pytest.approx(wanted, rel=WITHIN), kind
    for kind, wanted in (("round", 2 * 3), ("load", 7 + 3)):
        assert cycles.of(TRANSFERRED[kind]) == pytest.approx(wanted, rel=WITHIN), kind
    for place, wanted in (("inside", 1), ("across-32", 1), ("across-64", 2)):
        assert cycles.of(FETCHED[place]) == pytest.approx(wanted, rel=WITHIN), place
    penalty = 2 * (cycles.of(BRANCHES["random"]) - cycles.of(BRANCHES["alternating"]))
    # Somewhat more than half of the random ones are mispredicted.
    assert penalty - OF_THE_BRANCH == pytest.approx(core.frontend_depth, rel=0.1)


@pytest.mark.parametrize(("sustained", "wanted"), [(None, 6), (4.5, 4.5)])
def test_a_mixed_loop_takes_the_sustained_width(
    build_dir: Path, tmp_path: Path, sustained: float | None, wanted: float
) -> None:
    changes = {"dispatch_width": 6, "sustained_width": sustained, "load_ports": 3, "store_ports": 2}
    machine = node(core={**node().core.model_dump(exclude_none=True), **changes})
    mixed, width = task("mixed", 200_000), task("width", 100_000)
    cycles = measured(build_dir, tmp_path / "core", machine, [mixed, width])
    assert cycles.rate(mixed) == pytest.approx(wanted, rel=WITHIN)
    assert cycles.rate(width) == pytest.approx(wanted, rel=0.1)


def test_chases_take_the_latency_of_the_level_that_holds_them(build_dir: Path, tmp_path: Path) -> None:
    # Translation has a test of its own. Half of the last level: sets are chosen by a hash, and few have too many lines.
    machine = node(tlbs=None)
    caches = machine.caches
    assert caches.l2 is not None
    wanted = {
        16 * KIB: caches.l1d.latency,
        512 * KIB: caches.l2.latency,
        2 * MIB: caches.last_level.latency,
        32 * MIB: machine.memory.latency * machine.frequency,
    }
    tasks = {size: task("chase", 20_000, bytes=size, warm=size // 64) for size in wanted}
    cycles = measured(build_dir, tmp_path / "chases", machine, list(tasks.values()))
    # What a chase beyond the private caches finds in them is a known share.
    above = {2 * MIB: (int(caches.l2.size), caches.l2.latency), 32 * MIB: (LAST_LEVEL, caches.last_level.latency)}
    for size, latency in wanted.items():
        found = cycles.of(tasks[size])
        assert found <= latency * (1 + WITHIN), size
        held, faster = above.get(size, (0, 0.0))
        assert found >= (latency - (latency - faster) * held / size) * (1 - WITHIN), size


def test_lines_come_at_the_rate_of_the_cache_that_holds_them(build_dir: Path, tmp_path: Path) -> None:
    # More than the latencies over the misses in flight, which are the limit else.
    intervals = {"l2": 2.5, "last_level": 6.0}
    tasks = {name: task("lines", 60_000, bytes=size) for name, size in (("l2", 256 * KIB), ("last_level", 2 * MIB))}
    paths: dict[str, dict[str, object]] = {name: {"line_interval": cycles} for name, cycles in intervals.items()}
    paths["l2"]["write_interval"] = 4.0
    written = task("lines", 60_000, kind="store", bytes=256 * KIB)
    cycles = measured(build_dir, tmp_path / "lines", node(paths, tlbs=None), [*tasks.values(), written])
    for name, one in tasks.items():
        assert cycles.of(one) == pytest.approx(intervals[name], rel=WITHIN), name
    assert cycles.of(written) == pytest.approx(intervals["l2"] + 4.0, rel=WITHIN)


@pytest.mark.long
def test_streams_tell_what_keeps_loads_waiting(build_dir: Path, tmp_path: Path) -> None:
    """Lines that come to the first level, and the buffers of the second one for lines from memory."""
    for fill, buffers in ((0.0, 24), (0.8, 48)):
        l2 = {"prefetcher": "stream", "outstanding_misses": buffers}
        memory = {"latency": "90 ns", "bandwidth": "100 GB/s", "domains": 1}
        # Wide enough that loads limit the streams.
        core = {**node().core.model_dump(exclude_none=True), "dispatch_width": 6}
        machine = node({"l1d": {"line_fill": fill}, "l2": l2}, tlbs=None, memory=memory, core=core)
        l1d, l2_bytes = int(machine.caches.l1d.size), int(machine.caches.l2.size)
        plan = Plan(
            64 * MIB, 1, 4096, operations=60_000, first_cache=l1d, private_cache=l2_bytes, last_level=LAST_LEVEL
        )
        streams = {one.values[0][1]: Task(one.name, one.values[:2], one.operations) for one in plan.streams()[1:]}
        cycles = measured(build_dir, tmp_path / f"{buffers}", machine, [*plan.fills().values(), *streams.values()])
        assert float(line_fill(cycles, plan, 64).value) == pytest.approx(fill, abs=0.1)
        latency = machine.memory.latency * machine.frequency
        found = l2_outstanding(cycles, streams, 64, latency)
        assert int(found.value) == pytest.approx(buffers, rel=0.15)


def test_fast_loads_show_the_capacity_of_the_last_level(build_dir: Path, tmp_path: Path) -> None:
    machine = node({"last_level": {"size": "8 MiB"}}, tlbs=None)
    plan = Plan(32 * MIB, 1, 4096, operations=10_000, private_cache=1 * MIB, last_level=8 * MIB)
    found = kept_by_fast_loads(measured(build_dir, tmp_path / "lines", machine, plan.fast_lines()), plan)
    assert found is not None and found.bytes == pytest.approx(8 * MIB, rel=0.1)


def test_loads_keep_of_the_last_level_what_others_leave_them(build_dir: Path, tmp_path: Path) -> None:
    machine = node({"last_level": {"size": "8 MiB", "other_traffic": "5 GB/s"}}, tlbs=None)
    plan = Plan(32 * MIB, 1, 4096, operations=10_000, private_cache=1 * MIB, last_level=8 * MIB)
    chase = task("chase", 40_000, bytes=4 * MIB, warm=4 * MIB // 64)
    cycles = measured(build_dir, tmp_path / "lines", machine, [*plan.fast_lines(), chase])
    found = kept_by_fast_loads(cycles, plan)
    assert found is not None
    own = 64 / found.cycles * machine.frequency
    wanted = 8 * MIB / (1 + 5e9 / own)
    assert 5 * MIB < wanted < 6.5 * MIB
    assert found.bytes == pytest.approx(wanted, rel=0.1)
    # Of the same size, loads that depend on each other keep nothing.
    memory = machine.memory.latency * machine.frequency
    assert cycles.of(chase) == pytest.approx(memory, rel=0.05)


def test_pages_beyond_the_first_level_of_the_tlb_take_its_second_level(build_dir: Path, tmp_path: Path) -> None:
    machine = node()
    tlbs = machine.tlbs
    assert tlbs is not None
    few, many = (task("pages", 20_000, count=count, page=4096) for count in (tlbs.l1d.entries // 2, 400))
    lines = task("chase", 20_000, bytes=400 * 64, warm=400)
    cycles = measured(build_dir, tmp_path / "pages", machine, [few, many, lines])
    assert cycles.of(few) == pytest.approx(machine.caches.l1d.latency, rel=WITHIN)
    assert cycles.of(many) - cycles.of(lines) == pytest.approx(tlbs.l2_latency, rel=WITHIN)


@pytest.mark.long
def test_misses_overlap_with_as_many_instructions_between_them_as_buffers_and_queues_hold(
    build_dir: Path, tmp_path: Path
) -> None:
    wanted = {"reorder_buffer": 320, "scheduler": 64, "load_queue": 160, "store_queue": 96}
    machine = node(tlbs=None, core={**node().core.model_dump(exclude_none=True), **wanted})
    plan = Plan(16 * MIB, 1, 4096, operations=10_000)
    tasks = {
        key: plan.window(kind, range(max(0, wanted[key] - 64), wanted[key] + 80, 16)) for key, kind in WINDOWS.items()
    }
    cycles = measured(build_dir, tmp_path / "windows", machine, [one for some in tasks.values() for one in some])
    for key, kind in WINDOWS.items():
        notes: list[str] = []
        found = entries(cycles, key, kind, notes)
        assert found is not None, notes
        # They are counted in steps of 16, and the loads that miss take entries themselves.
        assert abs(int(found.value) - wanted[key]) <= 16, (key, found)


@pytest.mark.long
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("none", "none"),
        ("next-line", "none"),
        ("stride", "none"),
        ("none", "next-line"),
        ("none", "stride"),
        ("none", "stream"),
        ("next-line", "stream"),
        ("stride", "stream"),
    ],
)
def test_walks_tell_the_prefetchers_of_the_machine_file(
    build_dir: Path, tmp_path: Path, first: str, second: str
) -> None:
    machine = node({"l1d": {"prefetcher": first}, "l2": {"prefetcher": second}}, tlbs=None)
    plan = Plan(16 * MIB, 1, 4096, operations=25_000, private_cache=1 * MIB)
    tasks = [plan.chases()[0], *[one for orders in plan.walks().values() for one in orders.values()]]
    found = prefetcher_figures(measured(build_dir, tmp_path / "walks", machine, tasks), plan)
    assert [found[f"caches.{name}.prefetcher"].value for name in ("l1d", "l2")] == [first, second], found


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_streams_reach_the_bandwidth_of_the_cores_or_of_the_memory(build_dir: Path, tmp_path: Path, ranks: int) -> None:
    """A core reads as many lines at a time as it has fill buffers; all lines together are limited by the memory."""
    bandwidth = 32e9
    memory = {"latency": "90 ns", "bandwidth": f"{bandwidth / 1e9:g} GB/s", "domains": 1}
    machine = node(tlbs=None, memory=memory)
    # Clocks are up to a quantum apart, which must be short beside the stream.
    stream = task("stream", 400_000 // min(ranks, 4), kernel="read", bytes=max(4 * MIB, 4 * LAST_LEVEL // ranks))
    rows = simulated(build_dir, tmp_path, machine, [stream], ranks)
    rows = rows[rows["phase"] == stream.label()]
    line = machine.caches.last_level.line
    # The rank that this host runs ahead of the others finds more room: they do not end together. To the last one's end
    # nothing may exceed the limits; to the mean of the ends they must be reached.
    whole, usual = rows["compute_s"].max(), rows["compute_s"].mean()
    read = ranks * 8 * stream.operations
    # The arrays were written before: each line that is read drives out one that has to be written back.
    moved = rows["memory_lines"].sum() * line
    of_the_cores = ranks * machine.core.outstanding_misses * line / machine.memory.latency
    assert read <= of_the_cores * (1 + WITHIN) * whole and moved <= bandwidth * (1 + WITHIN) * whole
    if ranks == 2:  # Both limits are near: lines also wait for each other, as in a queue.
        assert moved >= 0.75 * bandwidth * usual
    else:
        assert max(read / of_the_cores, moved / bandwidth) >= (1 - WITHIN) * usual
