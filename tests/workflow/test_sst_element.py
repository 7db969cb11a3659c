"""The element library in a real SST: the same calls, messages and compute times as with the engine fast."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import sst_element as element

pytestmark = pytest.mark.skipif(element.lacks() is not None, reason=element.lacks() or "")

NANOSECOND = 1e-9
PHASES = ["setup", "initial", "zero", "pack", "symgs", "residual", "dot", "direction", "spmv", "update", "checksum"]
PATTERNS: dict[str, dict[str, Any]] = {
    "ping-pong": {},
    "bisection": {},
    "multi-pair": {"messages": 3},
    "shift": {},
    "incast": {},
    "halo3d": {"neighbours": 26, "allreduce_bytes": 8},
    "halo4d": {"periodic": False},
    "sweep2d": {"chunks": 3},
    "transpose": {},
    "tree-reduce": {},
    "random-ring": {},
}
COLLECTIVES = [
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "gather",
    "allgather",
    "scatter",
    "alltoall",
    "reduce_scatter",
    "scan",
]
ROOTED = ["bcast", "reduce", "gather", "scatter"]


def counts(uses: element.Uses) -> dict[tuple[int, int, str], tuple[int, int]]:
    """Return calls and bytes."""
    return {key: (use.calls, use.bytes) for key, use in uses.items()}


def compare(run: dict[str, Any], folder: Path, **how: Any) -> element.Outcome:
    """Simulate with both engines; all ranks finish, with the same calls, messages and bytes."""
    outcome = element.simulate(run, folder, **how)
    assert outcome.done.returncode == 0, outcome.done.stdout + outcome.done.stderr
    expected, uses = element.fast(run, folder)
    assert counts(outcome.uses()) == counts(uses)
    for number, of in enumerate(expected["jobs"]):
        parts = [part["jobs"][number] for part in outcome.parts()]
        for key in ("messages", "bytes"):
            assert sum(part[key] for part in parts) == of[key], key
        ranks = run["jobs"][number]["nodes"] * run["jobs"][number]["ranks_per_node"]
        assert sum(part["finished"] for part in parts) == sum(part["ranks"] for part in parts) == ranks
        assert len(parts[0]["iteration_end_s"]) == len(of["iteration_end_s"])
    return outcome


@pytest.mark.parametrize("size", [512, 65536])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_sends_what_it_sends_with_fast(pattern: str, size: int, tmp_path: Path) -> None:
    for nodes, ranks_per_node in ((2, 1), (3, 2), (8, 2)):
        parameters = {"pattern": pattern, "bytes": size, "iterations": 2, **PATTERNS[pattern]}
        run = element.run_file(element.job("patterns", parameters, nodes, ranks_per_node))
        compare(run, tmp_path / f"{nodes}x{ranks_per_node}")


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_a_collective_sends_what_it_sends_with_fast_and_sst_has_its_own(collective: str, tmp_path: Path) -> None:
    parameters = {"pattern": "collective", "collective": collective, "bytes": 3000, "iterations": 2}
    if collective in ROOTED:
        parameters["root"] = 4
    for order in ("block", "cyclic"):
        run = element.run_file(element.job("patterns", parameters, 3, 2, rank_order=order))
        compare(run, tmp_path / order)
        own = element.simulate(run, tmp_path / f"{order}-own", collectives="sst")
        assert own.done.returncode == 0, own.done.stdout + own.done.stderr
        assert own.parts()[0]["jobs"][0]["finished"] == 6
        expanded = collective in ("gather", "reduce_scatter", "scan")
        assert (own.parts()[0]["jobs"][0]["messages"] > 0) == expanded
        assert own.done.stderr.count("manynode-note") == (1 if expanded else 0)
        assert {use.calls for use in own.uses().values()} == {2}


def test_communicators_become_groups_of_sst(tmp_path: Path) -> None:
    parameters = {"pattern": "transpose", "bytes": 3000, "iterations": 2, "grid": "4x3"}
    for order in ("block", "cyclic"):
        run = element.run_file(element.job("patterns", parameters, 6, 2, rank_order=order))
        own = element.simulate(run, tmp_path / order, collectives="sst")
        assert own.done.returncode == 0, own.done.stdout + own.done.stderr
        assert own.parts()[0]["jobs"][0]["finished"] == 12
        assert {(key[2], use.calls) for key, use in own.uses().items()} == {("MPI_Alltoall", 4)}


def profile(folder: Path) -> Path:
    """Write a timing profile of two classes, with times that are no whole nanoseconds."""
    classes = []
    for factor in (1.0, 1.37):
        phases = []
        for number, name in enumerate(PHASES):
            low, high = factor * 1.00037e-6 * (number + 1), factor * 3.0011e-6 * (number + 1)
            clusters = [
                {"mean_s": low, "count": 3, "cdf": {"time_s": [low / 2, low], "probability": [0.0, 1.0]}},
                {"mean_s": high, "count": 1, "cdf": {"time_s": [low, high], "probability": [0.0, 1.0]}},
            ]
            phases.append({"name": name, "clusters": clusters, "pattern": {"kind": "weights"}})
        classes.append({"name": f"class{len(classes)}", "phases": phases})
    path = folder / "profile.json"
    path.write_text(json.dumps({"schema": "timing-profile/1", "version": 1, "classes": classes}), encoding="utf-8")
    return path


def hpcg(folder: Path, nodes: int, ranks_per_node: int, **more: Any) -> dict[str, Any]:
    """Return a run of HPCG with compute times."""
    classes = [f"class{rank % 2}" for rank in range(nodes * ranks_per_node)]
    return element.run_file(
        element.job(
            "hpcg",
            {},
            nodes,
            ranks_per_node,
            timing_profile=str(profile(folder)),
            class_of_rank=classes,
            iterations_limit=2,
            **more,
        )
    )


def check_compute_times(run: dict[str, Any], outcome: element.Outcome, folder: Path) -> None:
    """The compute seconds of each rank equal those of fast, to the nanosecond, and all seconds add up to its end."""
    _, expected = element.fast(run, folder)
    uses = outcome.uses()
    for key, use in expected.items():
        if key[2] == "compute":
            assert use.seconds > 0
            assert abs(uses[key].seconds - use.seconds) < NANOSECOND, key
    ends = [part["jobs"][0]["makespan_s"] for part in outcome.parts()]
    sums: dict[int, float] = {}
    for (_, rank, _), use in uses.items():
        sums[rank] = sums.get(rank, 0.0) + use.seconds
    assert max(sums.values()) == pytest.approx(max(ends), abs=NANOSECOND)


@pytest.mark.parametrize("constant", [False, True])
def test_compute_seconds_are_those_of_fast_to_the_nanosecond(constant: bool, tmp_path: Path) -> None:
    for nodes, ranks_per_node in ((2, 1), (4, 3)):
        folder = tmp_path / f"{nodes}x{ranks_per_node}"
        folder.mkdir()
        run = hpcg(folder, nodes, ranks_per_node, constant=constant)
        check_compute_times(run, compare(run, folder), folder)


needs_mpi = pytest.mark.skipif(element.lacks_mpi() is not None, reason=element.lacks_mpi() or "")


@pytest.mark.parametrize(("threads", "processes"), [(2, 1), pytest.param(1, 2, marks=needs_mpi)])
def test_threads_and_processes_change_neither_messages_nor_compute_times(
    threads: int, processes: int, tmp_path: Path
) -> None:
    run = hpcg(tmp_path, 4, 2)
    outcome = compare(run, tmp_path, threads=threads, processes=processes)
    check_compute_times(run, outcome, tmp_path)
    assert len(outcome.parts()) == processes


@needs_mpi
def test_processes_may_have_several_threads(tmp_path: Path) -> None:
    # Short: four threads wait for each other by spinning, and there may be fewer cores.
    run = element.run_file(element.job("patterns", {"pattern": "halo3d", "bytes": 512, "iterations": 1}, 8, 1))
    outcome = compare(run, tmp_path, threads=2, processes=2)
    assert [part["jobs"][0]["ranks"] for part in outcome.parts()] == [4, 4]


def test_a_job_in_the_background_starts_again_until_the_others_have_finished(tmp_path: Path) -> None:
    main = element.job("patterns", {"pattern": "halo3d", "bytes": 4096, "iterations": 20}, 4, 2)
    noise = element.job("patterns", {"pattern": "shift", "bytes": 1024, "iterations": 2}, 3, 1)
    noise |= {"hosts": [9, 5, 7], "background": True, "start_s": 2e-6}
    for threads in (1, 2):
        run = element.run_file({**main, "hosts": [0, 1, 2, 3]}, noise)
        outcome = element.simulate(run, tmp_path / str(threads), threads=threads)
        assert outcome.done.returncode == 0, outcome.done.stdout + outcome.done.stderr
        (part,) = outcome.parts()
        assert part["unfinished"] == [] and part["unfinished_count"] == 0
        assert [job["finished"] for job in part["jobs"]] == [8, 0]
        assert part["jobs"][1]["messages"] > 3 * 2 * 3, "more often than once"
        own = sum(use.seconds for key, use in outcome.uses().items() if key[:2] == (1, 0))
        assert own == pytest.approx(part["jobs"][1]["makespan_s"] - 2e-6, rel=0.2), "it began at its time"


def test_a_late_start_is_waited_for(tmp_path: Path) -> None:
    job = element.job("patterns", {"pattern": "ping-pong", "bytes": 64, "iterations": 1}, 2, 1)
    at_once = element.simulate(element.run_file(job), tmp_path / "at-once").parts()[0]["jobs"][0]
    late = element.simulate(element.run_file({**job, "start_s": 5e-6}), tmp_path / "late").parts()[0]["jobs"][0]
    assert late["makespan_s"] == pytest.approx(at_once["makespan_s"] + 5e-6, abs=NANOSECOND)


def test_ranks_that_never_finish_are_listed_after_the_end(tmp_path: Path) -> None:
    """Few streams and few buffered packets of a NIC let messages from many to one stand still, for ever."""
    parameters = {"pattern": "incast", "bytes": 4096, "iterations": 5}
    run = element.run_file(element.job("patterns", parameters, 60, 4))
    command = element.sst_command(run, tmp_path)
    limits = json.dumps({"maxActiveRecvStreams": 2, "maxPendingRecvPkts": 4, "pqs.maxUnexpectedMsg": 2})
    with subprocess.Popen(
        command, cwd=tmp_path, env=element.environment(FIREFLY=limits), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as running:
        time.sleep(8)
        assert running.poll() is None, "it does not end by itself"
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=30)
    (part,) = element.Outcome(subprocess.CompletedProcess(command, 0, "", ""), tmp_path / "sst").parts()
    assert part["unfinished_count"] >= 1
    assert part["unfinished"][0]["operation"] == "MPI_Waitall"
    assert part["unfinished"][0] | {"since_s": 0} == {
        **{"job": 0, "rank": 0, "operation": "MPI_Waitall"},
        **{"peer": 1, "tag": 0, "bytes": 4096, "since_s": 0},
    }
    assert len(part["unfinished"]) <= 20


@pytest.mark.parametrize("threads", [1, 2])
def test_a_simulation_that_ends_early_leaves_what_there_is(threads: int, tmp_path: Path) -> None:
    run = element.run_file(element.job("patterns", {"pattern": "halo3d", "bytes": 4096, "iterations": 20}, 4, 2))
    outcome = element.simulate(run, tmp_path, threads=threads, options=["--stop-at=20us"])
    assert outcome.done.returncode == 0, outcome.done.stdout + outcome.done.stderr
    (part,) = outcome.parts()
    assert part["unfinished_count"] == 8 and part["jobs"][0]["finished"] == 0
    assert 1 <= len(part["jobs"][0]["iteration_end_s"]) < 20
    assert {key[1] for key in outcome.uses()} == set(range(8))


def error_of(outcome: element.Outcome) -> dict[str, str]:
    """Return the only error line."""
    lines = [line for line in outcome.done.stderr.splitlines() if line.startswith('{"error"')]
    assert len(lines) == 1, outcome.done.stderr
    error: dict[str, str] = json.loads(lines[0])["error"]
    return error


def test_mistakes_end_sst_with_one_line_and_a_code(tmp_path: Path) -> None:
    good = element.job("patterns", {"pattern": "halo3d"}, 2, 2)
    cases: list[tuple[dict[str, Any], int, str]] = [
        (element.run_file({**good, "application": {"name": "halo"}}), 2, "unknown application"),
        (element.run_file(good, replicas=[0, 1]), 2, "one replica at a time"),
        (element.run_file({**good, "timing_profile": "/nowhere.json"}), 3, "profile"),
        (element.run_file(element.job("patterns", {"pattern": "shift", "bytes": 1 << 31}, 2, 1)), 2, "too long"),
    ]
    for number, (run, code, text) in enumerate(cases):
        for threads in (1, 2):
            outcome = element.simulate(run, tmp_path / f"{number}-{threads}", threads=threads)
            assert outcome.done.returncode == code, outcome.done.stderr
            assert text in error_of(outcome)["what"]


def test_progress_is_told_while_ranks_get_on(tmp_path: Path) -> None:
    parameters = {"pattern": "halo3d", "bytes": 4096, "iterations": 800}
    run = element.run_file(element.job("patterns", parameters, 16, 4))
    outcome = element.simulate(run, tmp_path)
    lines = [line.split(" ", 1) for line in outcome.done.stderr.splitlines() if line.startswith("manynode-progress ")]
    told = [json.loads(text) for _, text in lines]
    assert told, "the run takes longer than two seconds"
    assert all(line["of"] == 800 for line in told)
    assert [line["steps"] for line in told] == sorted(line["steps"] for line in told)
    assert 0 < told[-1]["simulated_s"] <= outcome.parts()[0]["jobs"][0]["makespan_s"]
