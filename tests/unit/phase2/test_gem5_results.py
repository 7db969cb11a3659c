"""What comes out of gem5: statistics of compute phases, CPI stacks, progress, versions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from phase2_cases import machine

from manynode.errors import EngineMissingError, InputError
from manynode.tables import write_table
from phase2_nodesim.engines._interface import NodeJob
from phase2_nodesim.gem5.cpi_stack import COMPONENTS, cpi_stacks
from phase2_nodesim.gem5.estimate import (
    Teller,
    estimate,
    profiled_instructions,
    progress_facts,
    progress_words,
)
from phase2_nodesim.gem5.installation import probed_version
from phase2_nodesim.gem5.statistics import all_misses, read_statistics, without_rows_beyond

BROADWELL = machine()
COUNTS = (
    "cycles",
    "instructions",
    "operations",
    "branch_misses",
    "fetch_icache_stall_cycles",
    "commit_cycles",
    "l1d_misses",
    "l1d_miss_ticks",
    "l2_misses",
    "last_level_misses",
)


def counts(**values: float) -> pd.DataFrame:
    return pd.DataFrame([{**dict.fromkeys(COUNTS, 0.0), **values}])


def stack(**values: float) -> dict[str, float]:
    row = cpi_stacks(counts(**values), BROADWELL).iloc[0]
    return {name: float(row[f"cycles_{name}"]) for name in COMPONENTS}


def test_a_phase_without_events_is_base_and_the_rest() -> None:
    got = stack(cycles=1000, operations=2000, commit_cycles=700)
    assert got["base"] == 500 and got["other"] == 500 and sum(got.values()) == 1000


def test_stalls_of_the_front_end_fit_into_the_cycles_without_a_commit() -> None:
    node = BROADWELL.core
    penalty = node.branch_resolution + node.frontend_depth
    got = stack(cycles=1000, operations=400, commit_cycles=200, branch_misses=10, fetch_icache_stall_cycles=100)
    assert got["branch"] == 10 * penalty and got["icache"] == 100
    got = stack(
        cycles=1000, operations=400, commit_cycles=900, branch_misses=10, fetch_icache_stall_cycles=10 * penalty
    )
    assert got["branch"] == got["icache"] == pytest.approx(50)


def test_waiting_for_memory_is_divided_by_where_the_lines_were() -> None:
    # 1000 misses, half of them in L2, 300 in the last level, 200 in memory, 60 ns each: sometimes one is under way.
    node = BROADWELL
    under_way = 1000 * 60e-9 * node.frequency
    got = stack(
        cycles=1e6,
        operations=4e5,
        commit_cycles=4e5,
        l1d_misses=1000,
        l2_misses=500,
        last_level_misses=200,
        l1d_miss_ticks=1000 * 60e3,
    )
    waited = 6e5 * under_way / 1e6
    weights = {"l2": 50 * 12, "last_level": 30 * 50, "memory": 20 * 90e-9 * 2.3e9}
    for name, weight in weights.items():
        assert got[name] == pytest.approx(waited * weight / sum(weights.values())), name
    assert sum(got.values()) == pytest.approx(1e6)


@given(st.lists(st.just(0.0) | st.floats(1e-3, 1e9), min_size=len(COUNTS), max_size=len(COUNTS)))
def test_the_parts_add_up_to_what_was_measured_whatever_the_counts(values: list[float]) -> None:
    named = dict(zip(COUNTS, values, strict=True))
    got = stack(**named)
    assert sum(got.values()) == pytest.approx(named["cycles"], rel=1e-9, abs=1e-6)
    assert all(value >= 0 for value in got.values())


def statistics_file(path: Path, rows: list[list[float]]) -> Path:
    lines = [json.dumps({"columns": ["rank", "sequence", "tick", "cycles"]}), *(json.dumps(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


def marks(*times_s: float) -> pd.DataFrame:
    return pd.DataFrame({"rank": 3, "sequence": np.arange(len(times_s)), "time_in_s": list(times_s)})


def test_misses_of_code_and_data_are_one_number_for_users() -> None:
    apart = {"l1i_misses": 9, "l1d_misses": 30, "l2_misses": 20, "l2_code_misses": 4, "last_level_misses": 10}
    found = all_misses(pd.DataFrame([{**apart, "last_level_code_misses": 3}])).iloc[0].to_dict()
    assert found == {"l1i_misses": 9, "l1d_misses": 30, "l2_misses": 24, "last_level_misses": 13}
    alone = pd.DataFrame([{"l1d_misses": 30, "last_level_misses": 10, "last_level_code_misses": 3}])  # no second level
    assert all_misses(alone).iloc[0].to_dict() == {"l1d_misses": 30, "last_level_misses": 13}


def test_counts_are_joined_with_the_calls_that_end_their_phases(tmp_path: Path) -> None:
    path = statistics_file(tmp_path / "counts", [[3, 0, 5_000_000, 0], [3, 1, 7_000_500, 40], [3, 2, 9_000_000, 9]])
    got = without_rows_beyond(read_statistics(path), marks(0.0, 2e-6))
    assert got["cycles"].tolist() == [0, 40] and got["sequence"].tolist() == [0, 1]


def test_counts_of_other_calls_are_refused(tmp_path: Path) -> None:
    rows = [[3, 0, 5_000_000, 0], [3, 1, 7_000_000, 40], [3, 2, 17_000_000, 40]]
    path = statistics_file(tmp_path / "counts", rows)
    with pytest.raises(InputError, match="different calls") as caught:
        without_rows_beyond(read_statistics(path), marks(0.0, 2e-6, 4e-6))
    assert caught.value.where == "rank 3, MPI call 2"


@pytest.mark.parametrize("text", ["", "{}\n", '{"columns": ["rank"]}\n[1, 2]\n', "nonsense\n"])
def test_a_broken_statistics_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "counts"
    path.write_text(text)
    with pytest.raises(InputError, match="cannot be read"):
        read_statistics(path)


def job(instructions: float | None, tell: list[str]) -> NodeJob:
    return NodeJob(["app"], "mpich", 0, 2, 2, instructions=instructions, tell=tell.append)


def test_progress_is_told_with_the_time_left() -> None:
    told: list[str] = []
    facts = {"host_s": 30.0, "slept_s": 10.0, "simulated_s": 0.012, "instructions": 4e6, "states": [2, 3]}
    teller = Teller(job(10e6, told))
    teller.see("any other line")
    teller.see("manynode progress: " + json.dumps(facts))
    assert told == [
        "gem5: 4 million instructions of about 10, 12.000 ms simulated in 30 s, 0.20 million a second; 1 of 2 ranks "
        "compute; about 30 s left"
    ]
    assert "left" not in progress_words(facts, None)


def test_the_estimate_needs_a_profile(tmp_path: Path) -> None:
    assert "not known" in estimate(job(None, []))
    assert "300 million instructions on 2 ranks, 25 min" in estimate(job(300e6, []))
    assert profiled_instructions(tmp_path / "absent", 2, [0]) is None
    frame = pd.DataFrame(
        {
            "nodes": 2,
            "repetition": 0,
            "node": 0,
            "rank": [0, 1, 1],
            "phase": ["", "", "x"],
            "instructions": [5.0, 7.0, 1.0],
        }
    )
    write_table(tmp_path / "counters.parquet", "counters/1", frame)
    assert profiled_instructions(tmp_path / "counters.parquet", 2, [0, 1]) == 12.0
    assert profiled_instructions(tmp_path / "counters.parquet", 2, [1, 2]) is None
    assert profiled_instructions(tmp_path / "counters.parquet", 4, [0]) is None


def test_only_the_boards_own_lines_are_progress() -> None:
    assert progress_facts("manynode progress: {}") == {} and progress_facts("x manynode progress: {}") is None


def test_a_build_without_x86_is_told_apart() -> None:
    # As release 24.0 says it.
    said = "info: Standard input is not a terminal, disabling listeners.\nmanynode probe: "
    assert probed_version(said + '{"version": "24.0.0.1", "missing": []}\n', "gem5.opt") == "24.0.0.1"
    with pytest.raises(EngineMissingError, match="not gem5"):
        probed_version("bash: no such thing", "gem5.opt")
    with pytest.raises(EngineMissingError, match="X86O3CPU"):
        probed_version(said + '{"version": "24.0.0.1", "missing": ["X86O3CPU"]}\n', "gem5.opt")
