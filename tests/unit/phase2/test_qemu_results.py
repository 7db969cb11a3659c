"""What the engine qemu makes of the ranks' reports and counters: failures, sums, CPI stacks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from phase2_cases import machine, marker_file, records

from manynode.errors import EngineFailedError
from manynode.qemu.report import check_releases, check_threads, read_reports, summary
from manynode.report.figures import cpi_stacks
from phase2_nodesim.engines._interface import ENGINES, NodeRun
from phase2_nodesim.qemu.cpi_stack import COMPONENTS, cycles_of

WHAT = "the application under qemu"


def report(rank: int, released: int = 0, synchronisations: int = 1000, **more: Any) -> dict[str, Any]:
    clocks = {"synchronisations": synchronisations, "waits": 10, "released_by_time_out": released, "waited_s": 0.1}
    return {
        **{"schema": "node-report/1", "rank": rank, "phases": 5, "threads": 1, "threads_too_many": 0},
        **{"unknown_instructions": 0},
        **{"injected_bytes": 64, "clocks": clocks, "lost_recalls": 0, "broken_locks": 0, **more},
    }


def test_a_missing_report_names_the_rank(tmp_path: Path) -> None:
    (tmp_path / "node-report.4.json").write_text(json.dumps(report(4)))
    assert [found["rank"] for found in read_reports(tmp_path, [4], WHAT)] == [4]
    with pytest.raises(EngineFailedError, match="left no report") as caught:
        read_reports(tmp_path, [4, 5], WHAT)
    assert "rank 5" in str(caught.value.found) and "MPI_Finalize" in str(caught.value.remedy)


def test_a_report_that_is_cut_off_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "node-report.0.json").write_text(json.dumps(report(0))[:40])
    with pytest.raises(EngineFailedError, match="cannot be read") as caught:
        read_reports(tmp_path, [0], WHAT)
    assert caught.value.where == str(tmp_path / "node-report.0.json")


def test_the_summary_adds_up_the_ranks() -> None:
    found = summary([report(0, released=1), report(1, released=2, lost_recalls=3)])
    assert (found["synchronisations"], found["released_by_time_out"]) == (2000, 3)
    assert (found["lost_recalls"], found["injected_bytes"], found["threads_too_many"]) == (3, 128, 0)


def test_more_releases_than_the_allowed_share_fail_the_run() -> None:
    check_releases([report(0, released=10), report(1, released=10)], 0.01, WHAT)
    with pytest.raises(EngineFailedError, match="waited without looking") as caught:
        check_releases([report(2, released=9), report(3, released=12)], 0.01, WHAT)
    assert "21 of 2000 synchronisations" in str(caught.value.found)
    with pytest.raises(EngineFailedError):
        check_releases([report(0, released=1)], 0.0, WHAT)


def test_more_threads_than_the_experiment_says_fail_the_run() -> None:
    with pytest.raises(EngineFailedError, match="more threads") as caught:
        check_threads([report(0, threads=2), report(1, threads=2, threads_too_many=3)], 2, WHAT)
    assert caught.value.where == "rank 1" and "5 threads" in str(caught.value.found)


def test_threads_that_are_not_timed_fail_the_run() -> None:
    """Those that start before MPI_Init; the run would look as fast as if their work were done by nobody."""
    with pytest.raises(EngineFailedError, match="fewer threads") as caught:
        check_threads([report(0, threads=4), report(1, threads=1)], 4, WHAT)
    assert caught.value.where == "rank 1" and "call MPI_Init first" in str(caught.value.remedy)


def counted(seed: int = 1) -> pd.DataFrame:
    """Records of a rank with the node model's counters: ticks, and their causes."""
    rng = np.random.default_rng(seed)
    frame = records(0, [("MPI_Init", "m", 0.0, "", False), ("MPI_Send", "a", 1e-3, "x", False)] * 3)
    for name in COMPONENTS:
        frame[f"ticks_{name}"] = rng.integers(0, 1000, len(frame))
    return frame.assign(
        ticks=frame[[f"ticks_{name}" for name in COMPONENTS]].sum(axis=1), instructions=4000, last_level_misses=7
    )


def test_every_part_of_a_stack_has_a_colour_of_its_own() -> None:
    assert len(set(cpi_stacks._COLOURS)) >= len(COMPONENTS)


@pytest.mark.parametrize("name", ["broadwell", "wide-core"])
def test_the_parts_of_a_cpi_stack_add_up_to_the_cycles(name: str) -> None:
    node = machine(name)
    frame = counted()
    cycles = cycles_of(frame, node)
    parts = cycles[[f"cycles_{part}" for part in COMPONENTS]].sum(axis=1)
    assert parts.to_numpy() == pytest.approx(cycles["cycles"].to_numpy(), rel=1e-12)
    assert cycles["cycles"].to_numpy() == pytest.approx(frame["ticks"].to_numpy() / node.core.dispatch_width)
    assert cycles["compute_s"].to_numpy() == pytest.approx(cycles["cycles"].to_numpy() / node.frequency)


def test_segments_have_times_counts_and_stacks(tmp_path: Path) -> None:
    frame = counted()
    segments = ENGINES.get("qemu").segments(NodeRun(machine(), 1, tmp_path), [marker_file(frame)])
    assert len(segments) == len(frame) - 1
    assert segments["compute_s"].to_numpy() == pytest.approx(frame["ticks"].to_numpy()[1:] / 4 / 2.3e9)
    assert {"instructions", "last_level_misses", "cycles", "cycles_bandwidth"} <= set(segments.columns)
    assert "ticks" not in segments.columns


def test_markers_without_the_models_counters_are_an_error(tmp_path: Path) -> None:
    file = marker_file(records(0, [("MPI_Init", "m", 0.0, "", False), ("MPI_Send", "a", 1e-3, "x", False)]))
    with pytest.raises(EngineFailedError, match="no times of the node model"):
        ENGINES.get("qemu").segments(NodeRun(machine(), 1, tmp_path), [file])
