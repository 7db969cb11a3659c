"""perf output as recorded with perf 6.1.187 in a virtual machine without PMU, and lines of other processors."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manynode.errors import InputError
from phase1_profile.perf_csv import parse_perf_stat, seconds

DATA = Path(__file__).resolve().parents[2] / "data" / "perf"


def test_a_virtual_machine_says_not_supported_and_task_clock_is_still_there() -> None:
    counts = parse_perf_stat((DATA / "not-supported-vm-6.1.187.csv").read_text(), "recorded")
    assert list(counts) == ["instructions", "cycles", "branches", "branch-misses", "L1-dcache-loads", "task-clock"]
    assert math.isnan(counts["instructions"].value)
    assert counts["instructions"].absent == "not supported"
    assert seconds(counts["task-clock"]) == pytest.approx(1.08e-3)


def test_the_separator_that_the_source_uses_is_read() -> None:
    counts = parse_perf_stat((DATA / "rank-not-supported-6.1.187.csv").read_text(), "recorded", ";")
    assert counts["cycles"].absent == "not supported"
    assert seconds(counts["task-clock"]) == pytest.approx(46.44e-3)


def test_counted_events_have_values_and_a_full_share() -> None:
    counts = parse_perf_stat((DATA / "software-events-6.1.187.csv").read_text(), "recorded")
    assert counts["page-faults"].value == 150
    assert counts["context-switches"].value == 879
    assert counts["page-faults"].counted_share == 1.0
    assert counts["page-faults"].absent == ""


def test_a_program_that_never_started_leaves_only_comments() -> None:
    with pytest.raises(InputError, match="only comments"):
        parse_perf_stat((DATA / "comments-only-6.1.187.csv").read_text(), "recorded")


def test_multiplexed_hybrid_and_uncounted_events() -> None:
    text = (
        "1000,,cpu_core/instructions/u,900,60.00,,\n"
        "<not counted>,,cpu_atom/instructions/u,0,0.00,,\n"
        "300,,cpu_core/branches:u/,900,60.00,,\n"
        "200,,cpu_atom/branches:u/,900,40.00,,\n"
        "<not counted>,,cycles:u,0,0.00,,\n"
    )
    counts = parse_perf_stat(text, "text")
    assert counts["instructions"].value == 1000
    assert counts["instructions"].counted_share == pytest.approx(0.6)
    assert (counts["branches"].value, counts["branches"].counted_share) == (500, pytest.approx(0.4))
    assert counts["cycles"].absent == "not counted"


def test_a_decimal_comma_is_read_where_the_separator_allows_it() -> None:
    counts = parse_perf_stat("12,50;msec;task-clock;12500000;100,00;0,9;CPUs utilized\n", "text", ";")
    assert seconds(counts["task-clock"]) == pytest.approx(0.0125)


@pytest.mark.parametrize(
    "line", ["Error: no permission", "1,2", "-5,,cycles,1,100.00,,", "nan,,cycles,1,100.00,,", "1,,,1"]
)
def test_a_line_that_is_no_event_is_named_by_number(line: str) -> None:
    with pytest.raises(InputError, match="line 2"):
        parse_perf_stat("# started\n" + line + "\n", "some.csv")


@given(st.text(max_size=200))
def test_any_text_gives_events_or_an_error_of_ours(text: str) -> None:
    try:
        counts = parse_perf_stat(text, "text")
    except InputError:
        return
    assert all(math.isnan(count.value) or count.value >= 0 for count in counts.values())
