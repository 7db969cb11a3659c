"""Projection and measurements -> errors, by arithmetic that can be checked by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from phase3_cases import experiment

from manynode import tables
from manynode.config.resolved import resolve_json
from manynode.config.studies import study_named
from phase3_sst.point.contract import Measurement
from phase3_sst.studies.validation import collectives
from phase3_sst.studies.validation.error_tables import (
    ALL_MPI,
    Tables,
    analyse,
    by_file,
    doublings_beyond,
    rank_correlation,
    trend,
)


def projected(*rows: tuple[str, int, float, float, float]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["technique", "nodes", "time_s", "low_s", "high_s"])


def operations(*rows: tuple[str, int, str, float]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["technique", "nodes", "operation", "seconds"])


NO_OPERATIONS = operations()


def run(nodes: int, replica: int, seconds: float, **parts: float) -> dict[str, Any]:
    return {"nodes": nodes, "replica": replica, "seconds": seconds, "operations": parts}


def study(
    projection: pd.DataFrame, runs: list[dict[str, Any]], parts: pd.DataFrame = NO_OPERATIONS, **section: Any
) -> Tables:
    content = experiment()
    content["validation"] = {"measured": runs, "collectives": [], "machine": None, "network": None, **section}
    return analyse(content, projection, parts)


# Errors of ext-var: 0, +10 % and +21 %; of ext-const: -50 %, -50 % and -50 %.
THREE_SIZES = projected(
    ("ext-const", 1, 5, 5, 5),
    ("ext-const", 2, 10, 10, 10),
    ("ext-const", 4, 20, 20, 20),
    ("ext-const", 64, 40, 40, 40),
    ("ext-var", 1, 10, 9, 11),
    ("ext-var", 2, 22, 21, 23),
    ("ext-var", 4, 48.4, 47.4, 49.4),
    ("ext-var", 64, 90, 80, 99),
)
ONE_RUN_EACH = [run(1, 0, 10), run(2, 0, 20), run(4, 0, 40)]


def test_errors_are_projection_over_measurement_less_one() -> None:
    points = study(THREE_SIZES, ONE_RUN_EACH).points
    own = points[points["technique"] == "ext-var"]
    assert list(own["nodes"]) == [1, 2, 4]
    assert list(own["error"]) == pytest.approx([0, 0.1, 0.21])
    assert list(own["error_low"]) == pytest.approx([-0.1, 0.05, 0.185])
    assert list(own["covers"]) == [True, False, False]
    # One run each: the measurement's interval has no width, and both questions have the same answer.
    assert list(own["overlaps"]) == [True, False, False]
    assert (own["measured_low_s"] == own["measured_high_s"]).all()


def test_the_summary_has_mean_and_worst_and_the_best_technique_first() -> None:
    summary = study(THREE_SIZES, ONE_RUN_EACH).summary
    assert list(summary["technique"]) == ["ext-var", "ext-const"]
    best, other = summary.iloc[0], summary.iloc[1]
    assert best["mean_absolute"] == best["mean_error"] == pytest.approx((0.1 + 0.21) / 3)
    assert best["worst_absolute"] == pytest.approx(0.21) and best["worst_nodes"] == 4
    assert (best["points"], best["covered"], best["overlapping"]) == (3, 1, 1)
    assert best["error_per_doubling"] == pytest.approx(0.1)
    assert other["mean_error"] == pytest.approx(-0.5) and other["mean_absolute"] == pytest.approx(0.5)
    assert other["error_per_doubling"] == pytest.approx(0, abs=1e-12)
    assert list(summary["rank_correlation"]) == [1, 1]


def test_the_region_tells_the_doublings_and_what_the_trend_would_give() -> None:
    region = study(THREE_SIZES, ONE_RUN_EACH).region
    own = region[region["technique"] == "ext-var"].set_index("nodes")
    assert list(own["doublings"]) == [0, 0, 0, 4]
    assert list(own["measured"]) == [True, True, True, False]
    assert own.loc[64, "error_if_trend"] == pytest.approx(1.1**6 - 1)  # +10 % per doubling, six of them
    assert own["same_machine"].all()


def test_the_region_tells_another_machine() -> None:
    region = study(THREE_SIZES, ONE_RUN_EACH, machine="our-cluster").region
    assert not region["same_machine"].any()
    assert set(region["machine_measured"]) == {"our-cluster"} and set(region["machine"]) == {"broadwell"}
    assert (region["network_measured"] == region["network"]).all()


def test_several_runs_give_an_interval_around_their_mean() -> None:
    runs = [run(1, replica, seconds) for replica, seconds in enumerate((8, 9, 10, 11, 12))]
    row = study(projected(("ext-var", 1, 10.7, 10.6, 10.8)), runs).points.iloc[0]
    assert row["measured_s"] == pytest.approx(10) and row["runs"] == 5
    assert 8 < row["measured_low_s"] < 10 < row["measured_high_s"] < 12
    # The mean lies outside the projection's interval, but the intervals have times in common.
    assert not row["covers"] and row["overlaps"]


def test_two_equal_measurements_twice_give_the_same_bytes(tmp_path: Path) -> None:
    runs = [run(1, replica, seconds) for replica, seconds in enumerate((8, 9, 10))]
    for name in ("a", "b"):
        found = by_file(study(projected(("ext-var", 1, 10, 9, 11)), runs))
        study_named("validation").write(found, tmp_path / name)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
    assert len(tables.read_table(tmp_path / "a" / "validation.parquet", "validation/1")) == 1


PARTS = operations(
    ("ext-var", 2, "compute", 7.0),
    ("ext-var", 2, "MPI_Allreduce", 1.0),
    ("ext-var", 2, "MPI_Send", 0.5),
)


def test_operations_are_compared_one_by_one() -> None:
    runs = [run(2, 0, 10, compute=8, MPI_Allreduce=1.5, MPI_Test=0.2), run(2, 1, 10.5)]
    found = study(projected(("ext-var", 2, 8.5, 8, 9)), runs, PARTS).breakdown.set_index("operation")
    assert list(found.index) == ["compute", "MPI_Allreduce", "MPI_Send", "MPI_Test", ALL_MPI]
    assert found.loc["compute", "difference_s"] == pytest.approx(-1)
    assert found.loc["compute", "error"] == pytest.approx(-0.125)
    assert found.loc["compute", "share"] == pytest.approx(-0.1)  # of the run whose parts were measured
    assert found.loc["MPI_Test", "projected_s"] == 0 and found.loc["MPI_Test", "error"] == pytest.approx(-1)
    assert math.isnan(found.loc["MPI_Send", "measured_s"]) and math.isnan(found.loc["MPI_Send", "error"])
    assert found.loc[ALL_MPI, "measured_s"] == pytest.approx(1.7)
    assert found.loc[ALL_MPI, "projected_s"] == pytest.approx(1.5)


def test_what_was_not_measured_follows_from_the_rest() -> None:
    projection = projected(("ext-var", 2, 8.5, 8, 9))
    by_compute = study(projection, [run(2, 0, 10, compute=8)], PARTS).breakdown.set_index("operation")
    assert by_compute.loc[ALL_MPI, "measured_s"] == pytest.approx(2)
    by_calls = study(projection, [run(2, 0, 10, MPI_Allreduce=3)], PARTS).breakdown.set_index("operation")
    assert by_calls.loc["compute", "measured_s"] == pytest.approx(7)
    assert len(study(projection, [run(2, 0, 10)], PARTS).breakdown) == 0


def test_distances_are_powers_of_two() -> None:
    assert doublings_beyond(64, [4, 8]) == 3
    assert doublings_beyond(12, [4, 8]) == pytest.approx(math.log2(1.5))
    assert [doublings_beyond(n, [4, 8]) for n in (4, 6, 8)] == [0, 0, 0]
    assert doublings_beyond(1, [4, 8]) == -2


def test_a_trend_needs_two_node_counts_and_an_order_three() -> None:
    # Ratios of 1/2 and 2, two doublings apart: a factor of two for each, and 1/4 at one node.
    assert trend([2, 8], [-0.5, 1.0]) == (pytest.approx(math.log(2)), pytest.approx(math.log(1 / 4)))
    assert all(math.isnan(value) for value in trend([4], [0.1]))
    assert math.isnan(rank_correlation([1, 2], [1, 2]))
    assert rank_correlation([3, 2, 1], [1, 2, 3]) == -1
    # Two of three pairs are in the same order, one is not.
    assert rank_correlation([1, 3, 2], [1, 2, 3]) == pytest.approx(1 / 3)


class Ruler:
    """An engine for which a collective of s bytes on n nodes takes (s + n) us."""

    def __init__(self) -> None:
        self.jobs: list[dict[str, Any]] = []

    def measure(self, run: dict[str, Any], timeout_s: float | None = None) -> Measurement:
        (job,) = run["jobs"]
        self.jobs.append(job)
        parameters = job["application"]["parameters"]
        time = parameters["iterations"] * (parameters["bytes"] + job["nodes"]) * 1e-6
        return Measurement(time, frozenset())


def test_collectives_are_simulated_as_often_as_the_experiment_says() -> None:
    content = experiment()
    rows = [{"collective": "allreduce", "bytes": 8, "nodes": 4, "ranks_per_node": 3, "seconds": 16e-6}]
    content["validation"] = {"measured": [], "collectives": rows, "iterations": 7}
    engine = Ruler()
    found = collectives.compare(resolve_json(content, "test"), engine)  # type: ignore[arg-type]
    assert found.loc[0, "simulated_s"] == pytest.approx(12e-6)
    assert found.loc[0, "error"] == pytest.approx(-0.25)
    assert engine.jobs[0]["ranks_per_node"] == 3 and len(set(engine.jobs[0]["hosts"])) == 4
