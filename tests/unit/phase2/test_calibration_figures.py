"""Figures of a calibration: a host with known properties gives them back, and says what it cannot give."""

from __future__ import annotations

import dataclasses

import calibration_host
import pandas as pd
import pytest
from calibration_curves import KIB
from calibration_host import (
    BUFFERS,
    ENTRIES,
    FAST_LINES,
    FREQUENCY,
    HOST,
    LINE_FILL,
    MANY_CORES,
    NODE_BPS,
    ONE_CORE_BPS,
    PENALTY,
    SUSTAINED,
    WRITE_INTERVAL,
    calibrated,
    groups_of,
    measured,
)

from manynode.errors import InputError
from manynode.units import parse
from phase2_nodesim.calibration import calibration
from phase2_nodesim.calibration.core_figures import core_figures, entries
from phase2_nodesim.calibration.figures import Cycles, Figure
from phase2_nodesim.calibration.host import Host, HostCache
from phase2_nodesim.calibration.in_engine import series_of_segments
from phase2_nodesim.calibration.measurements import Series, read_lines
from phase2_nodesim.calibration.memory_figures import memory_figures
from phase2_nodesim.calibration.plan import MIB, STREAMED, Plan, plan_for, task
from phase2_nodesim.calibration.prefetcher_figures import prefetcher_figures


def figures(host: Host = HOST, seed: int = 1) -> tuple[dict[str, Figure], list[str]]:
    plan, cycles = calibrated(host, seed=seed)
    notes: list[str] = []
    found = {**core_figures(cycles, plan, host, notes), **memory_figures(cycles, plan, host, notes)}
    return {**found, **prefetcher_figures(cycles, plan)}, notes


@pytest.fixture(scope="module")
def found() -> dict[str, Figure]:
    return figures()[0]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("core.dispatch_width", 6),
        ("core.reorder_buffer", ENTRIES["nop"]),
        ("core.scheduler", ENTRIES["dependent"]),
        ("core.load_queue", ENTRIES["load"]),
        ("core.store_queue", ENTRIES["store"]),
        ("core.load_ports", 3),
        ("core.store_ports", 2),
        ("core.vector_load_ports", 2),
        ("core.vector_store_ports", 1),
        ("core.fetch_block", "64 B"),
        ("core.forward_latency", 0),
        ("core.vector_forward_latency", 6),
        ("core.integer_units", 4),
        ("core.multiply_latency", 3),
        ("core.divide_latency", 18),
        ("core.divide_interval", 10),
        ("core.float_units", 2),
        ("core.float_add_units", 2),
        ("core.float_latency", 4),
        ("core.float_divide_latency", 14),
        ("core.float_divide_interval", 5),
        ("core.vector_bytes", 32),
        ("caches.l1d.size", "48 KiB"),
        ("caches.l1d.associativity", 12),
        ("caches.l1d.prefetcher", "next-line"),
        ("caches.l2.size", "1 MiB"),
        ("caches.l2.prefetcher", "stream"),
        ("caches.last_level.size", "32 MiB"),
        ("caches.last_level.shared_by", 4),
        ("tlbs.l1d.entries", 64),
        ("tlbs.l2.entries", 2048),
        ("tlbs.page", "4 KiB"),
    ],
)
def test_a_whole_number_is_found_exactly(found: dict[str, Figure], key: str, value: object) -> None:
    assert found[key].value == value


@pytest.mark.parametrize(
    ("key", "value", "within"),
    [
        ("core.outstanding_misses", BUFFERS, 0.1),
        ("core.float_issue", 3, 0.05),
        ("core.sustained_width", SUSTAINED, 0.05),
        ("core.transfer_latency", 3, 0.05),
        ("core.vector_load_latency", 7, 0.05),
        ("core.frontend_depth", PENALTY - 2, 0.1),
        ("caches.l1d.latency", 4, 0.05),
        ("caches.l1d.line_fill", LINE_FILL, 0.15),
        # Of what one core moves, the triad fetches three words of four. 600 cycles pass until a line comes.
        ("caches.l2.outstanding_misses", 0.75 * ONE_CORE_BPS * 600 / FREQUENCY / 64 / 0.78, 0.05),
        ("caches.l2.line_interval", 2.0, 0.05),
        ("caches.last_level.line_interval", 2.5, 0.05),
        ("caches.l2.write_interval", WRITE_INTERVAL, 0.05),
        ("caches.l2.latency", 14, 0.05),
        ("caches.last_level.latency", 50, 0.05),
        ("tlbs.l2_latency", 7, 0.1),
        # The entry is loaded at the latency of the caches, which is subtracted.
        ("tlbs.walk_latency", 22, 0.35),
    ],
)
def test_a_latency_is_found_through_the_noise(found: dict[str, Figure], key: str, value: float, within: float) -> None:
    assert float(found[key].value) == pytest.approx(value, rel=within)


def test_quantities_have_their_units(found: dict[str, Figure]) -> None:
    # The median round, which takes 1 % longer than the fastest one.
    assert parse(str(found["frequency"].value), "frequency") == pytest.approx(FREQUENCY / 1.01, rel=0.01)
    assert parse(str(found["memory.latency"].value), "time") == pytest.approx(600 / FREQUENCY, rel=0.03)
    assert parse(str(found["memory.bandwidth"].value), "bandwidth") == pytest.approx(NODE_BPS, rel=0.03)


def test_a_clock_that_is_higher_now_and_then_is_not_the_frequency() -> None:
    cycles, plan = calibrated()[1], plan_for(HOST, 4, quick=False)
    label = task("integer", 1, kind="add", workers=4).label()
    often = Series(4, [1 / 3.0e9] * 5 + [1 / 3.2e9] * 2, clock_s=1 / 3.2e9)
    found = core_figures(Cycles({**cycles.measurements, label: often}), plan, HOST, [])["frequency"]
    assert parse(str(found.value), "frequency") == pytest.approx(3.0e9, rel=0.001)


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_another_measurement_gives_the_same_machine(found: dict[str, Figure], seed: int) -> None:
    again = figures(seed=seed)[0]
    whole = [key for key, figure in found.items() if isinstance(figure.value, int) and "misses" not in key]
    assert {key: again[key].value for key in whole} == {key: found[key].value for key in whole}


def test_every_measured_figure_says_its_noise(found: dict[str, Figure]) -> None:
    for key, figure in found.items():
        if figure.source.startswith("measured"):
            assert figure.spread is None or (0 <= figure.spread < 0.05 and "apart" in figure.source), key


def test_a_capacity_far_from_the_hosts_description_is_the_measured_one() -> None:
    caches = {**HOST.caches, "last_level": HostCache(256 * 1024 * KIB, 16, 64, 4)}
    found, notes = figures(dataclasses.replace(HOST, caches=caches))
    size = parse(str(found["caches.last_level.size"].value), "size")
    assert size == pytest.approx(33 * 1024 * KIB, rel=0.1) and size % (16 * 64) == 0
    assert any(note.startswith("caches.last_level.size") for note in notes)


def test_what_others_load_into_the_last_level_is_told_by_what_slow_and_fast_loads_keep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    host = dataclasses.replace(HOST, caches={**HOST.caches, "last_level": HostCache(256 * MIB, 16, 64, 4)})
    # A chase steps at 33 of 256 MiB, where a quarter of its loads come from memory: 600 cycles in place of 50. What
    # others load meanwhile leaves so much to loads that take 2.5 to 37.5 cycles.
    others = 64 / (50 + 550 / 4) * (256 / 33 - 1)
    fast = 256 * MIB / (1 + others / (64 / 20))
    monkeypatch.setattr(calibration_host, "FAST_LINES", [FAST_LINES[0], (fast, 2.5), (2**40, 37.5)])
    found, notes = figures(host)
    size, traffic = found["caches.last_level.size"], found["caches.last_level.other_traffic"]
    assert size.value == "256 MiB" and "independent loads steps at" in size.source
    assert "latency steps at 3" in size.source
    assert parse(str(traffic.value), "bandwidth") == pytest.approx(others * FREQUENCY, rel=0.15)
    assert any(note.startswith("caches.last_level.other_traffic") and "256 MiB" in note for note in notes)
    # As fast from memory as from the cache: only the latency shows where the cache ends.
    monkeypatch.setattr(calibration_host, "FAST_LINES", [*FAST_LINES[:2], (2**40, 3.0)])
    assert parse(str(figures(host)[0]["caches.last_level.size"].value), "size") == pytest.approx(33 * MIB, rel=0.1)


def test_a_host_that_describes_no_caches_gets_capacities_that_are_powers_of_two_or_three() -> None:
    found = figures(dataclasses.replace(HOST, caches={}))[0]
    assert [found[f"caches.{name}.size"].value for name in ("l1d", "l2", "last_level")] == [
        "48 KiB",
        "1 MiB",
        "32 MiB",
    ]


def test_misses_that_do_not_saturate_are_said_to() -> None:
    plan = dataclasses.replace(plan_for(HOST, 4, quick=False), counts=(1, 2, 4, 8))
    cycles = Cycles(measured([*plan.core(), *plan.chases(), *plan.parallel(), *plan.streams(), *plan.window("nop")]))
    cycles = Cycles({**cycles.measurements, **calibrated()[1].measurements})
    notes: list[str] = []
    core_figures(cycles, plan, HOST, notes)
    assert any("outstanding_misses: " in note and "or more" in note for note in notes)


def test_a_quick_trial_names_what_it_cannot_measure() -> None:
    plan = plan_for(HOST, 4, quick=True)
    tasks = [*plan.core(), *plan.chases(), *plan.pages(), *plan.parallel(), *plan.streams(), *plan.window("nop")]
    cycles = Cycles({**calibrated()[1].measurements, **measured(tasks)})
    notes: list[str] = []
    found = memory_figures(cycles, plan, HOST, notes)
    assert "memory.bandwidth" not in found and "memory.latency" not in found
    assert [note.partition(":")[0] for note in notes] == ["memory.latency", "tlbs.l2", "memory.bandwidth"]


def test_a_host_without_fused_multiply_adds_runs_none() -> None:
    plan = Plan(2**28, 2, 4096, fused=False)
    assert not any(("kind", "fused") in task.values for task in plan.core())


@pytest.mark.parametrize("width", [6, 8])
def test_a_core_that_reaches_its_width_or_the_rate_of_its_only_store_port_sustains_it(width: int) -> None:
    plan, cycles = calibrated()
    rates = {"width": width - 0.2, "mixed": 5.8}
    reached = {name: Series(1, [1 / (rate * FREQUENCY)], clock_s=1 / FREQUENCY) for name, rate in rates.items()}
    found = core_figures(Cycles({**cycles.measurements, **reached}), plan, HOST, [])
    assert found["core.dispatch_width"].value == width and found["core.vector_store_ports"].value == 1
    assert "core.sustained_width" not in found


def test_a_loop_buffer_that_helps_at_times_is_told() -> None:
    plan, cycles = calibrated()
    rounds = [turns / FREQUENCY for turns in (1.0, 2.0, 2.1)]
    known = {**cycles.measurements, "fetch place=across-64": Series(1, rounds, clock_s=1 / FREQUENCY)}
    notes: list[str] = []
    assert "core.fetch_block" not in core_figures(Cycles(known), plan, HOST, notes)
    told = [note for note in notes if note.startswith("fetch_block")]
    assert len(told) == 1 and "across 64 bytes took 1.0 cycles" in told[0] and "2.0 in the median one" in told[0]


@pytest.mark.parametrize(("units", "chains", "told"), [(1.7, 1.03, True), (1.7, 1.5, False), (1.05, 1.0, False)])
def test_neighbours_that_take_units_of_the_cores_are_told(units: float, chains: float, told: bool) -> None:
    plan, cycles = calibrated()
    slower = {}
    for label, one in cycles.measurements.items():
        if label.startswith(("width", "ports", "integer", "float")):
            factor = units if "chains" in label or label.startswith(("width", "ports")) else chains
            slower[label] = dataclasses.replace(one, seconds=[one.best, one.best * factor, one.best * factor])
    notes: list[str] = []
    core_figures(Cycles({**cycles.measurements, **slower}), plan, HOST, notes)
    assert any("hardware threads" in note for note in notes) == told


def test_a_queue_is_measured_in_finer_steps_around_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENTRIES, "dependent", 150)
    monkeypatch.setattr(calibration, "measure_groups", lambda groups, _: measured(groups[0][1]))
    known: dict[str, Series] = {}
    calibration._measure_window(plan_for(HOST, 4, quick=False), "scheduler", "dependent", known, 3, lambda _: None)
    found = entries(Cycles(known), "scheduler", "dependent", [])
    assert found is not None and 0 <= int(found.value) - ENTRIES["dependent"] < 4
    assert len(known) < 40, "not all sizes in such steps"


def test_labels_are_unique_in_a_plan() -> None:
    plan = plan_for(HOST, 4, quick=False)
    for group in groups_of(plan):
        labels = [task.label() for task in group]
        assert len(set(labels)) == len(labels)


def test_a_plan_stays_within_the_memory_of_the_host() -> None:
    small = dataclasses.replace(HOST, memory_bytes=400 * 1024**2)
    assert plan_for(small, 4, quick=False).largest <= 100 * 1024**2


def test_streams_of_many_cores_are_larger_than_their_caches() -> None:
    plan = plan_for(MANY_CORES, 128, quick=False)
    for one in plan.streams()[1:]:
        values = dict(one.values)
        workers, arrays = int(values["workers"]), {"read": 1, "copy": 2, "triad": 3}[values["kernel"]]
        of_the_caches = 512 * KIB + min(16 * MIB, 128 // 4 * 16 * MIB // workers)
        timed = 8 * arrays * one.operations
        assert timed >= 4 * of_the_caches - 8 * arrays and timed <= int(values["bytes"]) // 2, one
        assert workers * int(values["bytes"]) <= MANY_CORES.memory_bytes // 4, one


def test_many_cores_show_the_bandwidth_of_the_memory_not_of_the_caches() -> None:
    found = figures(MANY_CORES)[0]
    assert parse(str(found["memory.bandwidth"].value), "bandwidth") == pytest.approx(NODE_BPS, rel=0.03)


@pytest.mark.parametrize(("cores", "reached"), [(2, 2 * ONE_CORE_BPS), (4, NODE_BPS)])
def test_cores_that_do_not_hinder_each_other_tell_only_a_lower_bound(cores: int, reached: float) -> None:
    found, notes = figures(dataclasses.replace(HOST, cores=cores))
    assert parse(str(found["memory.bandwidth"].value), "bandwidth") == pytest.approx(reached, rel=0.03)
    told = [note for note in notes if note.startswith("memory.bandwidth")]
    assert ["a lower bound, because 2 cores reach 2.0" in note for note in told] == [True] * (cores == 2)


def test_without_memory_for_streams_beyond_the_caches_there_is_no_bandwidth() -> None:
    found, notes = figures(dataclasses.replace(MANY_CORES, memory_bytes=2**33))
    assert "memory.bandwidth" not in found
    told = next(note for note in notes if note.startswith("memory.bandwidth: not measured"))
    # A quarter of 8 GiB for 128 cores, of which half is timed.
    assert "8 MiB on each of 128 cores" in told and "18 MiB are needed" in told
    assert any(note.startswith("bandwidth of 1 core ") for note in notes)
    assert not any(note.startswith("bandwidth of 128 cores") for note in notes)


def test_a_host_that_describes_no_caches_still_streams_beyond_them() -> None:
    plan = plan_for(dataclasses.replace(MANY_CORES, caches={}), 128, quick=False)
    assert plan.stream_size(128).timed == STREAMED and plan.stream_size(128).from_memory
    small = dataclasses.replace(plan, affordable=2**31)
    assert not small.stream_size(128).from_memory


def test_the_programs_lines_become_series() -> None:
    series = read_lines("\n".join([LINE % (0, 4e-8), "noise", LINE % (1, 2e-8), LINE % (2, 3e-8), "checksum: 1"]))
    assert series["width"].best == pytest.approx(2e-9)
    assert series["width"].spread == pytest.approx(0.5)
    assert (series["width"].workers, series["width"].operations) == (2, 10)


LINE = '{"round": %d, "label": "width", "workers": 2, "operations": 10, "seconds": %g, "large_page_bytes": 0}'


def test_segments_of_an_engine_become_series_of_the_slowest_rank() -> None:
    rows = [(0, "setup", 9.0), (0, "width", 1e-8), (0, "width", 5e-8), (1, "width", 3e-8), (1, "width", 4e-8)]
    frame = pd.DataFrame(rows, columns=["rank", "phase", "compute_s"])
    series = series_of_segments(frame, "\n".join(LINE % (index, 1.0) for index in range(2)))
    assert series["width"].seconds == pytest.approx([3e-9, 5e-9])


def test_a_region_without_a_phase_is_an_error_that_names_it() -> None:
    frame = pd.DataFrame([(0, "setup", 9.0)], columns=["rank", "phase", "compute_s"])
    with pytest.raises(InputError, match="no phase 'width'"):
        series_of_segments(frame, LINE % (0, 1.0))
