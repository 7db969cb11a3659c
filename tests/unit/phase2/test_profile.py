"""Segments -> timing profile: patterns, classes, warm-up, variance, and a replay that keeps the mean."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from phase2_cases import rank_classes, segments

from manynode.errors import InputError
from manynode.tables import write_json, write_table
from manynode.timing_profile import SequencePattern, WeightsPattern, read_timing_profile
from phase2_nodesim.parameters import FitParameters
from phase2_nodesim.phases import fit_phase, variance_split
from phase2_nodesim.profile import class_of_ranks, fit_classes, without_warmup
from phase2_nodesim.segments import SCHEMA
from phase2_nodesim.steps import fit_profile, read_segments

DEFAULT = FitParameters()
ORIGIN: dict[str, Any] = {
    "engine": "valgrind",
    "engine_version": "3.19.0",
    "machine": "broadwell",
    "external": True,
    "nodes": 2,
    "ranks": 4,
    "ranks_per_node": 2,
    "application": {"name": "hpcg"},
}


def written(folder: Path, frame: pd.DataFrame, name: str = "segments", **changes: Any) -> Path:
    path = folder / f"{name}.parquet"
    write_table(path, SCHEMA, frame, {**ORIGIN, **changes})
    return path


def classes_file(folder: Path, *classes: str) -> Path:
    path = folder / "rank-classes.json"
    write_json(path, "rank-classes/1", rank_classes(list(classes)))
    return path


def test_the_multigrid_comes_out_as_in_the_paper() -> None:
    frame = segments([0, 1], 50)
    phase = fit_phase("symgs", frame[frame["phase"] == "symgs"], DEFAULT)
    assert isinstance(phase.pattern, SequencePattern)
    assert (phase.pattern.sequence, phase.pattern.repeat) == ([0, 1, 2, 2, 2, 1, 0], 50)
    assert [cluster.count for cluster in phase.clusters] == [200, 200, 300]
    assert phase.clusters[0].mean_s > phase.clusters[1].mean_s > phase.clusters[2].mean_s


def test_a_replay_of_the_pattern_has_the_mean_of_the_profile_in_spite_of_outliers() -> None:
    frame = segments([0, 1], 50)
    frame = frame[frame["phase"] == "symgs"].reset_index(drop=True)
    slow = np.random.default_rng(4).choice(len(frame), 14, replace=False)
    frame.loc[slow, "compute_s"] *= 7.5  # operating-system noise: a short phase looks like a longer one
    phase = fit_phase("symgs", frame, DEFAULT)
    assert isinstance(phase.pattern, SequencePattern)
    assert phase.pattern.sequence == [0, 1, 2, 2, 2, 1, 0]
    replay = [phase.clusters[index].mean_s for index in phase.pattern.sequence]
    assert math.fsum(replay) / len(replay) == pytest.approx(phase.mean_s, rel=1e-12)
    assert phase.mean_s == pytest.approx(frame["compute_s"].mean(), rel=1e-12)


@given(st.lists(st.floats(1e-8, 10), min_size=1, max_size=80), st.integers(1, 4))
@settings(deadline=None, max_examples=50)
def test_every_phase_keeps_its_mean(values: list[float], ranks: int) -> None:
    frame = pd.DataFrame({"compute_s": values, "rank": sorted(index % ranks for index in range(len(values)))})
    frame["node"] = 0
    phase = fit_phase("p", frame, DEFAULT)
    weighted = math.fsum(cluster.weight * cluster.mean_s for cluster in phase.clusters)
    assert weighted == pytest.approx(phase.mean_s, rel=1e-12)
    for cluster in phase.clusters:
        time, probability = np.array(cluster.cdf.time_s), np.array(cluster.cdf.probability)
        mean = math.fsum((np.diff(probability) * (time[1:] + time[:-1]) / 2).tolist())
        assert mean == pytest.approx(cluster.mean_s, rel=1e-12)


def test_noise_that_splits_a_cluster_does_not_hide_the_pattern() -> None:
    frame = segments([0, 1], 40)
    frame = frame[frame["phase"] == "symgs"].reset_index(drop=True)
    shortest = np.flatnonzero(frame["compute_s"] < 0.5e-3)
    interrupted = np.random.default_rng(2).choice(shortest, len(shortest) // 4, replace=False)
    frame.loc[interrupted, "compute_s"] *= 2.0
    phase = fit_phase("symgs", frame, DEFAULT)
    assert isinstance(phase.pattern, SequencePattern)
    assert phase.pattern.sequence == [0, 1, 2, 2, 2, 1, 0]
    assert len(phase.clusters) == 3


def test_two_modes_in_random_order_keep_their_clusters() -> None:
    times = np.random.default_rng(6).choice([1e-3, 2e-3, 3e-3], 300)
    phase = fit_phase("p", pd.DataFrame({"compute_s": times, "rank": 0, "node": 0}), DEFAULT)
    assert isinstance(phase.pattern, WeightsPattern)
    assert len(phase.clusters) == 3


def test_one_value_has_weights() -> None:
    frame = segments([0], 30)
    phase = fit_phase("dot", frame[frame["phase"] == "dot"], DEFAULT)
    assert isinstance(phase.pattern, WeightsPattern)
    assert len(phase.clusters) == 1


def test_variance_splits_between_and_within_ranks() -> None:
    times = np.array([1.0, 1.0, 3.0, 3.0])
    none = np.zeros(4, dtype=np.int64)
    between = variance_split(times, none, np.array([0, 0, 1, 1]))
    within = variance_split(times, none, np.array([0, 1, 0, 1]))
    assert (between.between_ranks_s2, between.within_rank_s2) == (1.0, 0.0)
    assert (within.between_ranks_s2, within.within_rank_s2) == (0.0, 1.0)
    clusters = variance_split(times, np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]))
    assert clusters.total_s2 == 0.0


def test_warmup_leaves_out_the_first_executions_of_each_phase_and_rank() -> None:
    frame = segments([0, 1], 5)
    kept = without_warmup(frame, 2)
    assert kept.groupby(["rank", "phase"]).size().unstack().loc[0].to_dict() == {
        "MPI_A@x -> MPI_B@y": 3,
        "dot": 3,
        "symgs": 33,
    }
    assert len(without_warmup(frame, 5)[lambda rows: rows["phase"] == "dot"]) == 10  # it must not vanish


def test_what_the_application_marks_as_warm_up_is_left_out_first() -> None:
    frame = segments([0, 1], 5)
    frame["warm_up"] = (frame["rank"] == 1) & (frame["sequence"] <= 9)  # the first iteration of rank 1
    kept = without_warmup(frame, 2)
    assert not kept["warm_up"].any()
    assert kept[kept["phase"] == "dot"].groupby("rank").size().to_dict() == {0: 3, 1: 2}
    assert len(without_warmup(frame, 0)) == len(frame) - 9


def test_each_class_has_its_own_times() -> None:
    frame = segments([0, 1], 20, slower={0: 2.0})
    root, rest = fit_classes(frame, rank_classes(["0", "1", "1", "1"]), DEFAULT, ranks=4, ranks_per_node=2)
    assert (root.name, root.share, root.simulated_ranks) == ("0", 0.25, [0])
    assert root.phases[1].mean_s == pytest.approx(2 * rest.phases[1].mean_s, rel=0.01)


def test_a_class_that_was_not_simulated_names_the_nodes() -> None:
    classes = rank_classes(["0", "0", "0", "0", "0", "1"])
    with pytest.raises(InputError, match="simulate one of the nodes 2 as well"):
        fit_classes(segments([0, 1], 20), classes, DEFAULT, ranks=6, ranks_per_node=2)
    _, borrowed = fit_classes(segments([0, 1], 20), classes, DEFAULT, ranks=2, ranks_per_node=2, borrow=True)
    assert borrowed.borrowed and borrowed.simulated_ranks == [0, 1]


def test_ranks_of_another_job_size_have_the_class_of_their_place() -> None:
    classes = rank_classes(["0", "1", "1", "2"], fixed={"0": "0", "-1": "2"})
    classes["assignment"]["shares"] = {"1": 1.0}
    assert class_of_ranks(classes, [0, 1, 3, 6, 7], 8) == {0: "0", 1: "1", 3: "2", 6: "1", 7: "2"}
    with pytest.raises(InputError, match="profile a job"):
        class_of_ranks(rank_classes(["0", "1"]), [5], 8)


def test_the_whole_step_writes_a_profile_that_can_be_read(tmp_path: Path) -> None:
    paths = [written(tmp_path, segments([0, 1], 20), "node-0"), written(tmp_path, segments([2, 3], 20, 1), "node-1")]
    classes = classes_file(tmp_path, "0", "0", "0", "0")
    output, table = tmp_path / "profile.json", tmp_path / "all.parquet"
    profile = fit_profile(paths, classes, output, FitParameters(warmup=1), table=table, provenance={"seed": 1})
    assert read_timing_profile(output) == profile
    assert profile.simulated_ranks == [0, 1, 2, 3]
    assert 0 < profile.skipped_s < profile.compute_s
    first = output.read_bytes(), table.read_bytes()
    fit_profile(paths, classes, output, FitParameters(warmup=1), table=table, provenance={"seed": 1})
    assert (output.read_bytes(), table.read_bytes()) == first


def test_the_table_of_all_nodes_names_all_their_ranks(tmp_path: Path) -> None:
    """What reads it later (resamples, series) refuses a table that lacks ranks or has others."""
    first = written(tmp_path, segments([0, 1], 5), "node-0", simulated_ranks=[0, 1])
    second = written(tmp_path, segments([2, 3], 5, 1), "node-1", simulated_ranks=[2, 3])
    table = tmp_path / "all.parquet"
    fit_profile([first, second], classes_file(tmp_path, "0", "0", "0", "0"), tmp_path / "p.json", table=table)
    found, origin = read_segments([table])
    assert sorted(found["rank"].unique()) == origin["simulated_ranks"] == [0, 1, 2, 3]


def test_segments_of_different_runs_are_refused(tmp_path: Path) -> None:
    one = written(tmp_path, segments([0, 1], 5), "one")
    other = written(tmp_path, segments([2, 3], 5), "other", machine="wide-core")
    with pytest.raises(InputError, match=r"other\.parquet: machine"):
        fit_profile([one, other], classes_file(tmp_path, "0", "0", "0", "0"), tmp_path / "p.json")


def test_a_rank_in_two_tables_is_refused(tmp_path: Path) -> None:
    one, other = (written(tmp_path, segments([0, 1], 5), name) for name in ("one", "other"))
    with pytest.raises(InputError, match="rank 0"):
        fit_profile([one, other], classes_file(tmp_path, "0", "0", "0", "0"), tmp_path / "p.json")


def test_a_table_without_origin_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    write_table(path, SCHEMA, segments([0], 5))
    with pytest.raises(InputError, match="engine_version"):
        fit_profile([path], classes_file(tmp_path, "0"), tmp_path / "p.json")


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda table: table[table["rank"] == 0], r"segments of ranks \[0\]"),
        (lambda table: pd.concat([table, table]), "twice"),
        (lambda table: table[table["sequence"] % 7 != 3], "after a gap"),
    ],
)
def test_a_table_that_lacks_segments_or_has_them_twice_is_refused(change: Any, found: str, tmp_path: Path) -> None:
    path = written(tmp_path, change(segments([0, 1], 20)), simulated_ranks=[0, 1])
    with pytest.raises(InputError, match=rf"(?s)segments\.parquet.*{found}"):
        fit_profile([path], classes_file(tmp_path, "0", "0", "0", "0"), tmp_path / "p.json")
