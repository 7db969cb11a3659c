"""Drawn times against the simulated node's own: in a whole run, and with times that ranks have in common."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from manynode import tables
from manynode.config.resolved import read_resolved
from manynode.errors import InputError
from manynode.report.documents import Draws
from manynode.report.draws import draws_words
from manynode.timing_profile import read_timing_profile, write_timing_profile
from phase2_nodesim.parameters import FitParameters
from phase2_nodesim.series import series_profile
from phase2_nodesim.steps import fit_profile
from phase3_sst.checks.draws import compare
from phase3_sst.engines.fast.engine import FastEngine

# On a node of the fixture `demo`.
RANKS = 4


def segments_of(results: Path) -> pd.DataFrame:
    return pd.read_parquet(results / "nodesim/no-ext/segments.parquet")


def compared(
    results: Path, folder: Path, segments: pd.DataFrame, parameters: FitParameters | None = None
) -> dict[str, Any]:
    """Return the comparison after a fit to other segments of the same run."""
    origin = tables.read_provenance(results / "nodesim/no-ext/segments.parquet", "segments/1")
    place, profile, series = (folder / name for name in ("segments.parquet", "profile.json", "series.json"))
    tables.write_table(place, "segments/1", segments, origin)
    fitted = fit_profile([place], results / "profile/rank-classes.json", profile, parameters)
    write_timing_profile(series, series_profile(fitted, segments, FitParameters()))
    return compare(read_resolved(results / "experiment.json"), profile, series, FastEngine())


def words_of(found: dict[str, Any]) -> str:
    return draws_words({"no-ext": Draws.model_validate(found)})


def error_of(found: dict[str, Any]) -> float:
    assert found["refused"] is None
    return float(np.mean(found["drawn_s"]) / found["own_s"] - 1)


@pytest.mark.long
def test_a_run_replays_the_simulated_node_and_the_report_says_what_draws_make_of_it(demo: Path) -> None:
    found = tables.read_json(demo / "simulate/draws-no-ext.json", "draws/1")
    assert found["nodes"] == 1 and found["ranks"] == RANKS and abs(error_of(found)) < 0.05
    assert found["skeleton_s"] == pytest.approx(found["computed_s"], rel=1e-9)
    segments = segments_of(demo)
    computed = segments[segments["labelled"]].groupby("rank")["compute_s"].sum()
    # Ranks wait for each other: no rank's own computation takes longer, all ranks' together do.
    assert computed.max() < found["own_s"] < computed.sum()
    report = re.sub(r"\s+", " ", (demo / "report.html").read_text())
    assert f"The simulated node alone, as a job of {RANKS} ranks" in report


@pytest.mark.parametrize(
    ("common", "levels", "low", "high"),
    [(False, True, -0.1, 0.1), (True, True, -0.04, 0.04), (True, False, 0.15, 1.0)],
    ids=["each rank's own", "in common", "in common and not looked for"],
)
def test_what_ranks_have_in_common_is_kept_and_would_be_missed(
    demo: Path, tmp_path: Path, common: bool, levels: bool, low: float, high: float
) -> None:
    """The same spread of times, once for each rank by itself and once for all ranks at the same executions."""
    segments = segments_of(demo).sort_values(["rank", "sequence"], ignore_index=True)
    rows = segments["phase"] == "symgs"
    executions = int(rows.sum()) // RANKS
    random = np.random.default_rng(1)
    factors = random.lognormal(0, 0.5, (1 if common else RANKS, executions))
    segments.loc[rows, "compute_s"] *= np.broadcast_to(factors, (RANKS, executions)).ravel()
    # Without levels, nor the same clusters on all ranks.
    parameters = FitParameters() if levels else FitParameters(max_levels=1, max_sequence=1)
    found = compared(demo, tmp_path, segments, parameters)
    assert low < error_of(found) < high
    assert ("do NOT reproduce" in words_of(found)) is (high == 1.0)


def test_a_skeleton_that_executes_its_phases_another_number_of_times_is_not_compared(
    demo: Path, tmp_path: Path
) -> None:
    segments = segments_of(demo)
    # One execution of each rank is left out.
    segments.loc[segments[segments["phase"] == "symgs"].groupby("rank").tail(1).index, "warm_up"] = True
    found = compared(demo, tmp_path, segments)
    assert "another number of times" in found["refused"]
    assert "cannot be replayed with its own times" in words_of(found)


def test_the_profile_of_another_application_is_refused(demo: Path, tmp_path: Path) -> None:
    profile = read_timing_profile(demo / "nodesim/timing-profile-no-ext.json")
    other = tmp_path / "profile.json"
    write_timing_profile(other, profile.model_copy(update={"application": {**profile.application, "name": "snap"}}))
    with pytest.raises(InputError, match="another application"):
        compare(read_resolved(demo / "experiment.json"), other, other, FastEngine())
