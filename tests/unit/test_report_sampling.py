"""What the report says of persistent differences, tails and the parts of the interval."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import report_fixture as fixture

from manynode.config.experiment import TailSection
from manynode.report.interval_parts import parts_rows, parts_words
from manynode.report.load import Inputs, load
from manynode.report.persistence import persistence_words
from manynode.report.slowest import slowest_rows, tail_words
from manynode.tables import write_table

SHARE = {"share": 0.25, "low": 0.1, "high": 0.5, "correlation": 0.3}
TAIL = {
    **{"model": "generalised-pareto", "probability": 0.9, "exceedances": 40, "scale_s": 1e-3, "shape": 0.1},
    **{"threshold_s": 1.0, "anderson_darling": 3.0, "p_value": 0.01},
    "others": [{"probability": 0.8, "exceedances": 80, "scale_s": 1e-3, "shape": 0.05}],
}


@pytest.fixture
def inputs(tmp_path: Path) -> Callable[..., Inputs]:
    """The made-up results with changes to each phase of the timing profile, and to the experiment."""
    folder = fixture.write_results(tmp_path)

    def changed(
        phase: Callable[[dict[str, Any]], None] = lambda _: None, nodesim: Any = None, **simulate: Any
    ) -> Inputs:
        path = folder / "nodesim/timing-profile-ext.json"
        profile = json.loads(path.read_text())
        for entry in profile["classes"]:
            for one in entry["phases"]:
                phase(one)
        path.write_text(json.dumps(profile))
        path = folder / "experiment.json"
        experiment = json.loads(path.read_text())
        experiment["experiment"]["simulate"].update(simulate)
        if simulate.get("tail"):
            experiment["experiment"]["nodesim"]["tail"] = TailSection().model_dump()
        path.write_text(json.dumps(experiment))
        return load(fixture.sign(folder))

    return changed


def persists(phase: dict[str, Any], nodes: Any = None) -> None:
    phase["persistence"] = {"ranks": 4, "nodes": 1, "between_ranks": SHARE, "between_nodes": nodes}


def test_what_persists_is_said_with_its_interval(inputs: Callable[..., Inputs]) -> None:
    words = persistence_words(inputs(persists))
    assert "that lies between ranks and persists is 25 % (90 % interval 10 % to 50 %)" in words
    assert "4 simulated ranks" in words
    assert "One simulated node does not show" in words and "The replay keeps" in words and "sensitivity study" in words
    assert "ignores these differences" in persistence_words(inputs(persists, persistent=False))


def test_nodes_are_named_where_they_were_told_apart(inputs: Callable[..., Inputs]) -> None:
    assert "lies between 1 node" in persistence_words(inputs(lambda phase: persists(phase, SHARE)))


def test_what_is_not_known_is_said(inputs: Callable[..., Inputs]) -> None:
    assert "is not known" in persistence_words(inputs())


def test_the_slowest_rank_with_a_tail_is_beyond_the_samples(inputs: Callable[..., Inputs]) -> None:
    def tailed(phase: dict[str, Any]) -> None:
        for cluster in phase["clusters"]:
            cluster["tail"] = {**TAIL, "threshold_s": cluster["cdf"]["time_s"][36]}

    found = inputs(tailed)
    for row in slowest_rows(found):
        assert row.tail_s is not None and row.tail_s > row.empirical_s > row.mean_s
        assert row.others == "0.05 above 0.8"
    words = tail_words(found)
    assert "does not draw from them" in words and "is poor" in words
    assert "The replay draws from them" in tail_words(inputs(tailed, tail=True))


def test_without_parts_the_interval_says_what_it_leaves_out(inputs: Callable[..., Inputs]) -> None:
    found = inputs()
    assert "profile_bootstrap" in parts_words(found) and parts_rows(found) == []


def test_the_parts_of_the_interval_are_told_and_listed(inputs: Callable[..., Inputs], tmp_path: Path) -> None:
    found = inputs()
    assert found.projection is not None
    rows = [
        {
            **{"technique": point.technique, "nodes": point.nodes, "part": part, "error_s": width * point.time_s},
            **{"low_s": (1 - width) * point.time_s, "high_s": (1 + width) * point.time_s, "dof": dof},
            "bias_s": -0.02 * point.time_s,
        }
        for point in found.projection.itertuples()
        for part, width, dof in (("replicas", 0.01, 9), ("profile", 0.03, 1), ("both", 0.04, 1.5))
    ]
    folder = next(path.parent for path in tmp_path.rglob("projection.parquet"))
    write_table(folder / "interval_parts.parquet", "interval-parts/1", pd.DataFrame(rows))
    found = load(folder)
    words = parts_words(found)
    assert "1 % either way from the replicas, 3 % from the limited samples" in words.replace("1.0", "1").replace(
        "3.0", "3"
    )
    assert "So few samples project 2" in words and "hardly known" in words
    assert found.projection is not None
    assert len(parts_rows(found)) == len(found.projection)
