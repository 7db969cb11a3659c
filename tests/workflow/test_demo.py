"""The demo experiment, on fewer ranks: a new user's first result is right."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from manynode.rank_classes import read_rank_classes
from manynode.timing_profile import read_timing_profile


@pytest.mark.parametrize("mode", ["ext", "no-ext"])
def test_the_multigrid_pattern_is_found_in_the_recorded_series(demo: Path, mode: str) -> None:
    """Four levels: 0 1 2 3 2 1 0 in each of the 8 V-cycles, found by the tool (Eyerman et al., section 3.4)."""
    profile = read_timing_profile(demo / "nodesim" / f"timing-profile-{mode}.json")
    phase = next(phase for phase in profile.classes[0].phases if phase.name == "symgs")
    assert phase.pattern.kind == "sequence"
    assert phase.pattern.sequence == [0, 1, 2, 3, 2, 1, 0]
    assert phase.pattern.repeat == 8 and phase.pattern.agreement == 1.0


def test_the_profiled_sizes_agree_on_the_classes(demo: Path) -> None:
    classes = read_rank_classes(demo / "profile" / "rank-classes.json")
    assert classes["nodes_profiled"] == [1, 2, 4]
    assert classes["stability"]["stable"] is True


def test_external_ranks_and_more_nodes_never_make_it_faster(demo: Path) -> None:
    """Weak scaling on a network: the time does not fall with the nodes, and packing for neighbours costs time."""
    frame = pd.read_parquet(demo / "projection.parquet").pivot(index="nodes", columns="technique", values="time_s")
    assert list(frame.index) == [1, 2, 4, 8, 16, 32, 64]
    for technique in frame.columns:
        assert frame[technique].is_monotonic_increasing
    assert (frame["ext-var"] > frame["no-ext-var"]).all()
