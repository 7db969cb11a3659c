"""Resamples of a timing profile: whole ranks with their patterns, and blocks of executions if there is one rank."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from phase2_cases import rank_classes, segments

from manynode.errors import InputError
from manynode.profile_resamples import SCHEMA as SCHEMA_OF_RESAMPLES
from manynode.profile_resamples import read_resamples, write_resamples
from manynode.tables import write_json, write_table
from manynode.timing_profile import SequencePattern
from phase2_nodesim.parameters import FitParameters
from phase2_nodesim.phases import labelled
from phase2_nodesim.resampling import drawn_ranks, make_resamples, resampled_phase
from phase2_nodesim.segments import SCHEMA

DEFAULT = FitParameters()
ORIGIN = {
    **{"engine": "valgrind", "engine_version": "3.19.0", "machine": "broadwell", "external": True, "nodes": 2},
    **{"ranks": 4, "ranks_per_node": 2, "application": {"name": "hpcg"}},
}


def files(folder: Path, ranks: int = 4) -> tuple[Path, Path]:
    table, classes = folder / "segments.parquet", folder / "rank-classes.json"
    slower = {rank: 1 + 0.05 * rank for rank in range(ranks)}
    write_table(table, SCHEMA, segments(range(ranks), 12, slower=slower), {**ORIGIN, "ranks": ranks})
    write_json(classes, "rank-classes/1", rank_classes(["0"] * ranks))
    return table, classes


def test_resamples_differ_and_the_same_seed_gives_the_same(tmp_path: Path) -> None:
    table, classes = files(tmp_path)
    first, again = (make_resamples(table, classes, DEFAULT, count=6, seed=3, borrow=False) for _ in range(2))
    assert first == again and (first.ranks, first.nodes, first.groups) == (4, 2, 2)
    means = {profile[0].phases[-1].mean_s for profile in first.profiles}
    assert len(means) > 1
    for (entry,) in first.profiles:
        pattern = next(phase.pattern for phase in entry.phases if phase.name == "symgs")
        assert isinstance(pattern, SequencePattern) and pattern.sequence == [0, 1, 2, 2, 2, 1, 0]


def test_resamples_survive_the_file_and_a_damaged_one_is_refused(tmp_path: Path) -> None:
    table, classes = files(tmp_path)
    made = make_resamples(table, classes, DEFAULT, count=2, seed=3, borrow=False)
    path = tmp_path / "resamples.json"
    write_resamples(path, made)
    assert read_resamples(path) == made
    write_json(path, SCHEMA_OF_RESAMPLES, {**made.model_dump(mode="json"), "ranks": 0})
    with pytest.raises(InputError, match="ranks"):
        read_resamples(path)


def test_nodes_are_drawn_before_their_ranks() -> None:
    rng = np.random.default_rng(0)
    ranks, nodes = np.arange(12), np.arange(12) // 4
    seen = set()
    for _ in range(50):
        drawn = drawn_ranks(ranks, nodes, rng)
        assert len(drawn) == 12
        for place in range(3):
            assert len({rank // 4 for rank, node in drawn if node == place}) == 1
        seen.add(len({rank // 4 for rank, _ in drawn}))
    assert seen == {1, 2, 3}


def test_a_rank_that_is_drawn_keeps_all_its_executions() -> None:
    frame = segments([0, 1, 2], 10)
    series = labelled("dot", frame[frame["phase"] == "dot"], DEFAULT)
    again = resampled_phase(series, [(2, 0), (2, 0), (0, 0)], np.random.default_rng(0))
    assert again.ranks.tolist() == [0] * 10 + [1] * 10 + [2] * 10
    assert (again.times[:10] == series.times[20:]).all() and (again.times[10:20] == series.times[20:]).all()


def test_of_a_single_rank_whole_periods_are_drawn() -> None:
    frame = segments([5], 20)
    series = labelled("symgs", frame[frame["phase"] == "symgs"], DEFAULT)
    again = resampled_phase(series, [(5, 0)], np.random.default_rng(1))
    assert again.times.size == series.times.size and (again.labels == series.labels).all()
    assert not (again.times == series.times).all()
    periods = {tuple(period) for period in series.times.reshape(20, 7).tolist()}
    assert {tuple(period) for period in again.times.reshape(20, 7).tolist()} < periods
