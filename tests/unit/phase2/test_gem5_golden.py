"""The parsers on recorded output of a real gem5 (tests/golden/gem5); no gem5 is needed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml

from manynode.config.machine import Machine
from manynode.markers import read_marker_directory
from phase2_nodesim.bridge.gem5_messages import refusal
from phase2_nodesim.engines._interface import ENGINES, NodeRun
from phase2_nodesim.gem5.cpi_stack import COMPONENTS
from phase2_nodesim.gem5.statistics import read_statistics

ROOT = Path(__file__).resolve().parent.parent.parent.parent
GOLDEN = ROOT / "tests" / "golden" / "gem5"
LOADS = 2048
BROADWELL = Machine.model_validate(yaml.safe_load((ROOT / "configs/machines/broadwell.yaml").read_text()))


@pytest.fixture(scope="module")
def segments(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    folder = tmp_path_factory.mktemp("golden") / "node_loads"
    shutil.copytree(GOLDEN / "node_loads", folder)
    simulated = [file for file in read_marker_directory(folder) if file.metadata["rank"] == 0]
    return ENGINES.get("gem5").segments(NodeRun(BROADWELL, 1, folder, crowded=True), simulated)


def test_segments_have_the_times_of_gem5s_clock(segments: pd.DataFrame) -> None:
    seconds = segments.groupby("phase")["compute_s"].sum()
    assert seconds["load l1"] == pytest.approx(3.81e-6)
    assert seconds["load memory"] == pytest.approx(175.849e-6)
    assert seconds["nothing"] == pytest.approx(44e-9)


@pytest.mark.parametrize(
    ("phase", "cycles"),
    [
        ("load l1", BROADWELL.caches.l1d.latency),
        ("load l2", 12.0),
        ("load last level", BROADWELL.caches.last_level.latency),
        ("load memory", BROADWELL.memory_cycles()),
    ],
)
def test_loads_took_as_long_as_the_machine_file_says(segments: pd.DataFrame, phase: str, cycles: float) -> None:
    seconds = segments[segments["phase"] == phase]["compute_s"].sum()
    assert seconds * BROADWELL.frequency / LOADS == pytest.approx(cycles, rel=0.1, abs=0.6)


def test_counts_go_to_the_phases_that_they_belong_to(segments: pd.DataFrame) -> None:
    counts = segments.groupby("phase")[["instructions", "l1d_misses", "l2_misses", "last_level_misses"]].sum()
    assert counts.loc["load l1", "l1d_misses"] < 0.01 * LOADS
    assert counts.loc["load l2", "l2_misses"] <= 1 and counts.loc["load l2", "l1d_misses"] == pytest.approx(
        LOADS, rel=0.02
    )
    assert counts.loc["load memory", "last_level_misses"] == LOADS - 1  # as recorded; a load can begin before the mark
    assert counts.loc["stream", "instructions"] == 20734


def test_misses_of_code_count_in_the_levels_that_both_share(segments: pd.DataFrame) -> None:
    recorded = read_statistics(GOLDEN / "node_loads" / "statistics.jsonl").set_index("sequence")
    first = segments.set_index("sequence").loc[1]  # the program's first piece, whose code is in no cache
    assert recorded.loc[1, "last_level_code_misses"] > 0
    for level in ("l2", "last_level"):
        assert first[f"{level}_misses"] == recorded.loc[1, [f"{level}_misses", f"{level}_code_misses"]].sum()
    assert not [name for name in segments.columns if "code" in name]


def test_stacks_are_whole_and_name_the_level_that_was_waited_for(segments: pd.DataFrame) -> None:
    parts = segments[[f"cycles_{name}" for name in COMPONENTS]]
    assert parts.sum(axis=1).to_numpy() == pytest.approx(segments["cycles"].to_numpy(), rel=1e-9)
    by_phase = segments.set_index("phase")
    assert by_phase.loc["load memory", "cycles_memory"] > 0.9 * by_phase.loc["load memory", "cycles"]
    assert by_phase.loc["load last level", "cycles_last_level"] > 0.8 * by_phase.loc["load last level", "cycles"]
    assert by_phase.loc["load l2", "cycles_l2"] > 0.6 * by_phase.loc["load l2", "cycles"]


def test_the_boards_counts_are_a_row_for_each_call() -> None:
    counts = read_statistics(GOLDEN / "node_loads" / "statistics.jsonl")
    assert counts["sequence"].tolist() == list(range(len(counts))) and len(counts) > 10
    assert (counts["tick"].diff().dropna() >= 0).all()


def test_progress_is_a_line_of_json() -> None:
    lines = (GOLDEN / "node_loads" / "guests-0.log").read_text().splitlines()
    told = [json.loads(line.removeprefix("manynode progress: ")) for line in lines if "manynode progress" in line]
    assert len(told) >= 3 and told[-1]["states"] == [4]
    assert told[-1]["instructions"] >= told[0]["instructions"] >= 0
    assert refusal("\n".join(lines)) is None


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("crash", "the guest crashed: it tried to write the unmapped address 0x40"),
        ("syscall", "the guest made the system call epoll_create1, which gem5 does not emulate"),
        ("ssse3", "gem5 does not have the instruction phaddw_Vdq_Wdq and went on without it"),
    ],
)
def test_what_gem5_could_not_do_is_said(name: str, found: str) -> None:
    said = refusal((GOLDEN / "messages" / f"{name}.log").read_text())
    assert said is not None and said.found.startswith(found) and said.remedy


def test_of_avx_gem5_says_nothing() -> None:
    """Only the check of the guest's instructions before its start (guest_program.py) can detect this."""
    log = (GOLDEN / "messages" / "avx.log").read_text()
    assert "nan" in log and refusal(log) is None
