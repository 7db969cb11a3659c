"""Ranks under a real gem5: times, counts, waiting, injected traffic, endings. Skipped by name without a gem5."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import bridge_programs
import gem5_jobs
import pandas as pd
import pytest
from bridge_parties import ENOUGH_S, a_proxy, alive, an_external_rank, program, started_by, wait_until
from bridge_programs import Programs
from gem5_jobs import machine, node_job, progress, simulate

from manynode.errors import EngineFailedError, InputError
from manynode.markers import read_marker_directory
from phase2_nodesim.engines._interface import ENGINES, NodeJob, NodeRun
from phase2_nodesim.gem5.cpi_stack import COMPONENTS

LOADS = 2048


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    gem5_jobs.gem5_or_skip()
    return bridge_programs.programs_of("mpich", tmp_path_factory)


@pytest.fixture(scope="module")
def loads(programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    return simulate(node_job(programs, "node_loads.c", LOADS, 256), tmp_path_factory.mktemp("loads"), "broadwell")


def of_phase(segments: pd.DataFrame, name: str) -> pd.DataFrame:
    return segments[segments["phase"] == name]


def test_loads_take_as_long_as_the_machine_file_says(loads: pd.DataFrame) -> None:
    node = machine("broadwell")
    wanted = {
        "load l1": node.caches.l1d.latency,
        "load l2": node.caches.l2.latency if node.caches.l2 else 0.0,
        "load last level": node.caches.last_level.latency,
        "load memory": node.memory_cycles(),
    }
    for name, cycles in wanted.items():
        measured = float(of_phase(loads, name)["compute_s"].sum()) * node.frequency / LOADS
        assert measured == pytest.approx(cycles, rel=0.1, abs=0.6), name


def test_adjacent_calls_are_next_to_each_other(loads: pd.DataFrame) -> None:
    assert of_phase(loads, "nothing")["compute_s"].max() <= 100e-9


def test_every_segment_has_its_counts_and_a_whole_stack(loads: pd.DataFrame) -> None:
    stack = loads[[f"cycles_{name}" for name in COMPONENTS]].sum(axis=1)
    assert stack.to_numpy() == pytest.approx(loads["cycles"].to_numpy(), rel=1e-9)
    memory = of_phase(loads, "load memory").iloc[0]
    assert memory["last_level_misses"] == pytest.approx(LOADS, rel=0.02)
    assert memory["cycles_memory"] > 0.8 * memory["cycles"]
    near = of_phase(loads, "load l1").iloc[0]
    assert near["l1d_misses"] < 0.02 * LOADS


def test_ranks_that_begin_together_have_the_whole_of_their_last_levels(programs: Programs, tmp_path: Path) -> None:
    """Each has one of its own, of which gem5's frames, given in turns, would fill every second set."""
    node, lines = machine("broadwell"), 4096
    last = node.caches.last_level.model_copy(update={"size": 1.5 * 64 * lines, "associativity": 12})
    small = node.model_copy(update={"caches": node.caches.model_copy(update={"last_level": last})})
    segments = simulate(node_job(programs, "node_loads.c", lines, 256, lines, ranks=2), tmp_path, small)
    misses = of_phase(segments, "load last level")["last_level_misses"]
    assert len(misses) == 2 and misses.max() < 0.05 * lines


@pytest.mark.parametrize("inject", ["none", "flush", "nic"])
def test_what_comes_from_outside_is_found_where_injection_leaves_it(
    programs: Programs, tmp_path: Path, inject: str
) -> None:
    size = 256 << 10
    segments = simulate(node_job(programs, "bridge_ping_pong.c", size, 4, inject=inject), tmp_path)
    touched = of_phase(segments, "first touch")
    assert len(touched) == 2
    lines = size / 64
    for misses in touched["last_level_misses"]:
        if inject == "none":
            assert misses < 0.05 * lines
        else:
            assert misses == pytest.approx(lines, rel=0.05)


def test_a_long_wait_costs_neither_the_host_nor_simulated_time(programs: Programs, tmp_path: Path) -> None:
    """Two simulated ranks wait for an external one, which is 5 s late."""
    simulate(node_job(programs, "bridge_endings.cpp", "delay", ranks=2, progress="200 ms"), tmp_path)
    records = pd.concat([file.records for file in read_marker_directory(tmp_path) if file.metadata["rank"] < 2])
    waits = records[records["operation"] == "MPI_Barrier"].groupby("rank").head(1)
    assert len(waits) == 2
    assert (waits["time_out_s"] - waits["time_in_s"]).max() < 1e-3
    told = progress(tmp_path)
    asleep = [
        (b["processor_s"] - a["processor_s"]) / (b["host_s"] - a["host_s"])
        for a, b in itertools.pairwise(told)
        if b["slept_s"] - a["slept_s"] > 0.9 * (b["host_s"] - a["host_s"])
    ]
    assert len(asleep) >= 3 and max(asleep) < 0.2


def test_ten_runs_in_a_row_end(programs: Programs, tmp_path: Path) -> None:
    """The fourth rank is external, all others are simulated together."""
    for number in range(10):
        frame = simulate(node_job(programs, "bridge_ping_pong.c", 4096, 4, ranks=2), tmp_path / str(number))
        assert sorted(frame["rank"].unique()) == [0, 1]


def test_what_sleeps_rests_in_simulated_time(programs: Programs, tmp_path: Path) -> None:
    simulate(node_job(programs, "bridge_endings.cpp", "sleep"), tmp_path)
    said = (tmp_path / "guests-0.log").read_text()
    assert "sleep took 1.00" in said and "usleep took 0.20" in said and "nanosleep took 0.20" in said


def test_openmp_threads_get_cores_of_their_own(programs: Programs, tmp_path: Path) -> None:
    frame = simulate(node_job(programs, "node_threads.c", threads=2, inject="nic"), tmp_path)
    one = float(of_phase(frame, "one thread")["compute_s"].sum())
    two = float(of_phase(frame, "all threads")["compute_s"].sum())
    assert two == pytest.approx(one / 2, rel=0.25)


def test_a_program_with_avx_is_refused_before_it_starts(programs: Programs, tmp_path: Path) -> None:
    job = node_job(programs, "bridge_ping_pong.c")
    source = tmp_path / "avx.c"
    source.write_text((bridge_programs.SOURCES / "bridge_ping_pong.c").read_text() + AVX)
    guest = tmp_path / "avx"
    bridge_programs.run(
        ["gcc", *bridge_programs.GUEST_OPTIONS, "-mavx", "-O1", source, bridge_programs.LIBRARY, "-o", guest],
        what="compiling",
    )
    wrong = NodeJob(job.command, job.flavour, 0, 2, 1, guest=[str(guest)], settings=job.settings)
    with pytest.raises(InputError, match="cannot run as the guest") as caught:
        simulate(wrong, tmp_path / "run")
    assert "AVX" in str(caught.value.found) and "twice" in str(caught.value.found)


AVX = """
#include <immintrin.h>
__attribute__((used)) __m256d twice(__m256d a) { return _mm256_add_pd(a, a); }
"""


@pytest.mark.parametrize(
    ("way", "words"),
    [
        ("code", "ended with exit code 3"),
        ("crash", "it tried to write the unmapped address"),
        ("exit", "ended without MPI_Finalize"),
        ("wrong rank", "Invalid rank has value 7"),
    ],
)
def test_a_guest_that_fails_says_why(programs: Programs, tmp_path: Path, way: str, words: str) -> None:
    with pytest.raises(EngineFailedError) as caught:
        simulate(node_job(programs, "bridge_endings.cpp", way), tmp_path)
    assert words in str(caught.value)


def the_simulator(pids: Sequence[int]) -> int:
    return next(pid for pid in pids if program(pid).startswith("gem5"))


@pytest.mark.parametrize(
    ("victim", "name"),
    [(the_simulator, "gem5"), (a_proxy, "the proxy of rank 2"), (an_external_rank, "external rank 3")],
)
def test_a_killed_party_is_named_and_nothing_stays(
    programs: Programs, tmp_path: Path, victim: Callable[[Sequence[int]], int], name: str
) -> None:
    errors: list[EngineFailedError] = []
    job = node_job(programs, "bridge_endings.cpp", "forever", ranks=3)
    run = NodeRun(machine(), 3, tmp_path, crowded=True)

    def start() -> None:
        try:
            ENGINES.get("gem5").run(run, job)
        except EngineFailedError as error:
            errors.append(error)

    thread = threading.Thread(target=start)
    thread.start()
    try:
        assert wait_until(lambda: any(facts["instructions"] for facts in told_so_far(tmp_path)), 120.0)
        time.sleep(1.0)
        pids = started_by(os.getpid())
        start_s = time.monotonic()
        os.kill(victim(pids), signal.SIGKILL)
        thread.join(2 * ENOUGH_S)
        assert not thread.is_alive() and time.monotonic() - start_s < ENOUGH_S
    finally:
        thread.join()
    assert len(errors) == 1 and errors[0].what.endswith(f"failed: {name}"), errors
    assert "signal 9 (SIGKILL)" in str(errors[0].found)
    assert wait_until(lambda: not any(map(alive, pids)), 5.0), [program(pid) for pid in pids if alive(pid)]


def told_so_far(directory: Path) -> list[dict[str, float]]:
    return progress(directory) if (directory / "guests-0.log").is_file() else []
