"""Persistent differences, tails and resamples of the timing profile in one run, from profile to report."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pipeline
import pytest

from manynode.profile_resamples import read_resamples
from manynode.timing_profile import read_timing_profile

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sampling")
    content = pipeline.tiny(
        name="sampling",
        # In a row of three ranks the middle one has more neighbours: as one class they differ on every machine.
        ranks_per_node=3,
        techniques=["ext-const", "ext-var"],
        profile={"source": pipeline.source(), "nodes": [2], "repetitions": 1, "max_classes": 1},
        nodesim={"engine": "valgrind", "nodes": 2, "tail": {"threshold": 0.7, "min_exceedances": 10}},
        simulate={"replicas": 3, "profile_bootstrap": 4, "tail": True},
        sensitivity={
            "techniques": ["ext-var"],
            "parameters": {"persistent": {"keys": ["simulate.persistent"], "values": [True, False]}},
        },
    )
    done = pipeline.run(pipeline.write(folder, content), folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "results" / "sampling"


def test_the_timing_profile_says_what_persists_and_what_lies_beyond_it(results: Path) -> None:
    profile = read_timing_profile(results / "nodesim/timing-profile-ext.json")
    phases = [phase for entry in profile.classes for phase in entry.phases]
    known = [phase.persistence for phase in phases if phase.persistence is not None]
    assert known and all(found.ranks == 3 and found.nodes == 1 for found in known)
    assert any(cluster.tail is not None for phase in phases for cluster in phase.clusters)
    resamples = read_resamples(results / "nodesim/resamples-ext.json")
    assert len(resamples.profiles) == 4 and resamples.groups == 3


def test_every_point_has_the_parts_of_its_interval(results: Path) -> None:
    parts = pd.read_parquet(results / "interval_parts.parquet")
    projection = pd.read_parquet(results / "projection.parquet")
    assert len(parts) == 3 * len(projection)
    by_part = parts.pivot(index=["technique", "nodes"], columns="part", values="error_s")
    assert (by_part["both"] ** 2).to_numpy() == pytest.approx(
        (by_part["replicas"] ** 2 + by_part["profile"] ** 2).to_numpy()
    )
    assert (by_part["profile"] > 0).all()


def test_the_study_pairs_persistent_and_independent_draws(results: Path) -> None:
    study = pd.read_parquet(results / "sensitivity.parquet").set_index("persistent")
    assert set(study.index) == {"True", "False"}
    assert study.loc["True", "time_s"] != study.loc["False", "time_s"]
    assert study.loc["True", "time_s"] == pytest.approx(study.loc["False", "time_s"], rel=0.2)
    # The study's persistent variant is what the experiment itself simulates.
    projection = pd.read_parquet(results / "projection.parquet").set_index(["technique", "nodes"])
    assert projection.loc[("ext-var", 4), "time_s"] == study.loc["True", "time_s"]


def test_the_report_has_it_all(results: Path) -> None:
    page = (results / "report.html").read_text()
    for text in ("Parts of the intervals", "Persistent differences", "The slowest of 12 ranks", "Ignoring them"):
        assert text in page, text
