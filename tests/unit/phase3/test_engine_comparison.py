"""Comparing two engines: the arithmetic of differences, intervals, breakdowns, compute times, and who is compared."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from phase3_cases import ROOT, point

from manynode import seeds
from manynode.config.loader import load_experiment
from manynode.config.simulate import SimulateSection
from manynode.errors import EngineMissingError, InputError, UsageError
from manynode.probe import Probe
from phase3_sst.point.point_result import EngineResults
from phase3_sst.studies.compare import choice
from phase3_sst.studies.compare.comparison_summary import summaries
from phase3_sst.studies.compare.makespans import difference, relative_difference
from phase3_sst.studies.compare.paired_runs import Runs
from phase3_sst.studies.compare.rank_times import breakdown_differences, compute_difference
from phase3_sst.studies.compare.tables_of_pairs import compare


def by_replica(values: list[float]) -> dict[int, float]:
    return dict(enumerate(values))


def test_the_difference_is_that_of_the_means_relative_to_the_reference() -> None:
    found = difference(by_replica([1.0, 3.0]), by_replica([2.0, 2.0]), 0.95, seeds.generator(1))
    assert (found.time_s, found.reference_s, found.difference, found.replicas) == (2.0, 2.0, 0.0, 2)
    assert found.low <= 0 <= found.high


def test_pairs_make_the_interval_narrow_although_replicas_differ_widely() -> None:
    """What the draws do to both engines cancels: 3 % more in every replica is 3 %, whatever the replicas' spread."""
    rng = np.random.default_rng(3)
    references = rng.lognormal(0, 0.5, 10)
    exact = difference(by_replica(list(1.03 * references)), by_replica(list(references)), 0.95, seeds.generator(1))
    assert exact.low == exact.high == pytest.approx(0.03)
    noisy = references * (1.03 + rng.normal(0, 0.001, 10))
    found = difference(by_replica(list(noisy)), by_replica(list(references)), 0.95, seeds.generator(1))
    assert found.low < 0.03 < found.high and found.high - found.low < 0.004


def test_the_paired_interval_covers_the_true_difference_as_often_as_it_says() -> None:
    rng = np.random.default_rng(5)
    held = 0
    for trial in range(200):
        references = rng.lognormal(0, 0.3, 12)
        times = references * 1.1 * (1 + rng.normal(0, 0.02, 12))
        found = difference(by_replica(list(times)), by_replica(list(references)), 0.9, seeds.generator(1, trial))
        held += found.low <= 0.1 <= found.high
    assert 160 <= held <= 196


def test_one_replica_has_a_difference_and_no_interval() -> None:
    found = difference({0: 1.1}, {0: 1.0}, 0.95, seeds.generator(1))
    assert found.difference == pytest.approx(0.1)
    assert math.isnan(found.low) and math.isnan(found.high)


def test_replicas_that_only_one_engine_has_are_no_pairs() -> None:
    with pytest.raises(ValueError, match="replicas differ"):
        difference({0: 1.0}, {1: 1.0}, 0.95, seeds.generator(1))


def test_a_reference_of_no_time_is_no_division_by_zero() -> None:
    assert relative_difference(0.0, 0.0) == 0
    assert relative_difference(1.0, 0.0) == math.inf


def ranks(rows: list[tuple[int, int, int, str, float]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["replica", "job", "rank", "operation", "seconds"])


def test_the_breakdown_has_every_operation_of_either_engine_in_shares_of_the_reference_makespan() -> None:
    one = ranks([(0, 0, 0, "compute", 1.0), (0, 0, 1, "compute", 3.0), (0, 0, 0, "MPI_Send", 0.5)])
    other = ranks([(0, 0, 0, "compute", 2.0), (0, 0, 1, "compute", 2.0), (0, 0, 0, "MPI_Wait", 1.0)])
    noise = ranks([(0, 1, 0, "MPI_Send", 9.0)])
    found = breakdown_differences(pd.concat([one, noise]), other, 4.0).set_index("operation")
    assert found.loc["compute", "difference_s"] == 0
    assert found.loc["MPI_Send", ["seconds", "reference_seconds", "share"]].tolist() == [0.25, 0, 0.0625]
    assert found.loc["MPI_Wait", "difference_s"] == -0.5


def test_the_compute_times_are_compared_rank_by_rank_and_not_in_the_mean() -> None:
    one = ranks([(0, 0, 0, "compute", 1.0), (0, 0, 1, "compute", 2.0), (0, 0, 1, "MPI_Send", 5.0)])
    other = ranks([(0, 0, 0, "compute", 2.0), (0, 0, 1, "compute", 1.0)])
    found = compute_difference(one, other, [0])
    assert (found.compared, found.largest_s, found.whose) == (2, 1.0, "replica 0, job 0, rank 0")


def test_a_rank_that_one_engine_lacks_and_a_background_job_in_the_compute_times() -> None:
    one = ranks([(0, 0, 0, "compute", 1.0), (0, 1, 0, "compute", 7.0)])
    other = ranks([(0, 0, 0, "compute", 1.0), (0, 1, 0, "compute", 3.0)])
    assert compute_difference(one, other, [0]).largest_s == 0
    assert compute_difference(one, other.iloc[1:], [0]).largest_s == 1.0
    assert compute_difference(one.iloc[:0], other.iloc[:0], [0]).compared == 0


def results(folder: Path, engine: str, makespans: list[float], compute: float) -> EngineResults:
    for nodes in (1, 4):
        point(folder / engine / "simulate" / "ext-var" / f"nodes-{nodes}", makespans, compute=compute)
    return EngineResults(engine, folder / engine)


def test_all_tables_of_two_engines(tmp_path: Path) -> None:
    engines = {
        "fast": results(tmp_path, "fast", [1.0, 2.0], 0.5),
        "simgrid": results(tmp_path, "simgrid", [2.0, 4.0], 0.25),
    }
    points = [("ext-var", 1), ("ext-var", 4)]
    found = compare(engines, [("fast", "simgrid")], points, confidence=0.9, seed=1)
    for frame in (found.makespans, found.breakdown, found.compute, found.links, found.link_pairs):
        assert list(frame.columns[:4]) == ["engine", "reference", "technique", "nodes"]
        assert sorted(set(frame["nodes"])) == [1, 4]
    assert found.makespans["difference"].tolist() == [-0.5, -0.5]
    # Both compute for 0.5 s and 1 s: half of a makespan of 1 and 2 s, a quarter of 2 and 4 s.
    assert found.compute["equal"].all() and (found.compute["compared"] == 4).all()
    assert "one link only" in found.links["remark"].iloc[0]
    assert found.cost.empty
    (summary,) = summaries(found, [("fast", "simgrid")])
    assert (summary.median, summary.worst, summary.points) == (0.5, -0.5, 2)
    assert "equal" in summary.sentences()[1] and "NOT" not in summary.sentences()[1]


def test_engines_that_compute_for_different_times_are_told(tmp_path: Path) -> None:
    engines = {"fast": results(tmp_path, "fast", [1.0], 0.5), "sst": results(tmp_path, "sst", [1.0], 0.4)}
    found = compare(engines, [("fast", "sst")], [("ext-var", 4)], confidence=0.9, seed=1)
    (summary,) = summaries(found, [("fast", "sst")])
    assert not summary.same_compute
    assert "NOT EQUAL" in summary.sentences()[1] and "replica 0, job 0, rank 0" in summary.sentences()[1]


def test_engines_with_different_replicas_are_refused(tmp_path: Path) -> None:
    engines = {"fast": results(tmp_path, "fast", [1.0, 2.0], 0.5), "sst": results(tmp_path, "sst", [1.0], 0.5)}
    with pytest.raises(InputError, match="different replicas"):
        compare(engines, [("fast", "sst")], [("ext-var", 4)], confidence=0.9, seed=1)


def test_the_engine_that_models_more_is_the_reference() -> None:
    assert choice.pairs(["fast", "simgrid", "sst"]) == [("fast", "sst"), ("simgrid", "sst"), ("fast", "simgrid")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fast,simgird", "did you mean 'simgrid'"),
        ("fast", "different engines"),
        ("fast,fast", "each once"),
        ("", "two"),
    ],
)
def test_wrong_engines_are_named(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        choice.named(text)


def test_an_engine_that_is_not_installed_is_skipped_and_one_alone_is_not_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def probe(name: str) -> type:
        there = {"fast": True, "simgrid": True, "absent": False}[name]
        members = {
            "probe": lambda self: Probe(there, "", "", "", "" if there else "install it"),
            "with_settings": classmethod(lambda cls, simulate: cls()),
        }
        return type("E", (), members)

    monkeypatch.setattr(choice.engines, "get", probe)
    chosen = choice.choose(["fast", "absent", "simgrid"], SimulateSection())
    assert chosen.names == ["fast", "simgrid"] and list(chosen.skipped) == ["absent"]
    with pytest.raises(EngineMissingError, match="absent: install it"):
        choice.choose(["fast", "absent"], SimulateSection())


def test_own_compute_times_are_compared_without_measurements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The experiment's table of times lies beside it; no run measures what the next one could reuse."""
    ran = []

    def run(path: Path, *, measurements_from: Path | None, **_: Any) -> None:
        ran.append((load_experiment(path).simulate.engine, measurements_from))

    monkeypatch.setattr("phase3_sst.campaign.experiments.run_experiment", run)
    Runs(ROOT / "configs/own-times.yaml", tmp_path, {}, 2).all(["fast", "simgrid"], lambda text: None)
    assert ran == [("fast", None), ("simgrid", None)]
