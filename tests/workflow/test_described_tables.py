"""Every column of the demo's tables, and of a comparison's, is described in the reference, and the other way round."""

from __future__ import annotations

from pathlib import Path

from described_tables import described


def test_the_tables_of_the_demo_are_described(demo: Path) -> None:
    wanted = {"counters/1", "segments/1", "projection/1", "breakdown/1", "rank-times/2", "link-load/3", "jobs/1"}
    assert wanted <= described(demo)


def test_the_tables_of_a_comparison_are_described(compared: Path) -> None:
    wanted = {"engine-makespans/1", "engine-breakdown/1", "engine-compute/1", "engine-links/1", "engine-cost/1"}
    assert wanted <= described(compared)
