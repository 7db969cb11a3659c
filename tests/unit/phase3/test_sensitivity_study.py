"""Points of a sensitivity study -> times, knees, indices."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from phase3_cases import ROOT, point

from manynode.config.loader import resolve
from manynode.config.variants import study_techniques, variants
from manynode.report.figures import heat_map
from manynode.report.load import with_micro
from manynode.report.sensitivity import sensitivity_sentences
from manynode.report.wording import duration
from phase3_sst.studies.sensitivity.effect_tables import Tables, analyse, enough, knee


def analysed(folder: Path, section: dict[str, Any], time_of: Any) -> Tables:
    """Analyse a study of the demo whose times [s] are a function of the variant's resolved network."""
    given = yaml.safe_load((ROOT / "configs" / "demo.yaml").read_text())
    given["sensitivity"] = {"techniques": ["ext-var"], **section}
    experiment = resolve(given, where="test", base=ROOT / "configs")
    for variant in variants(experiment):
        network = variant.applied(experiment).content["network"]
        for technique in study_techniques(experiment):
            point(folder / variant.name / technique / "nodes-64", [time_of(network), 1.02 * time_of(network)])
    return analyse(experiment, folder)


BANDWIDTH = {"keys": ["network.link.bandwidth"], "values": ["20 Gbit/s", "50 Gbit/s", "100 Gbit/s", "200 Gbit/s"]}
LATENCY = {"keys": ["network.link.latency"], "values": ["40 ns", "1 us"]}


def rate_bound(network: dict[str, Any]) -> float:
    """One second of computing and a transfer."""
    return float(1 + 1e9 / network["link"]["bandwidth"] + 1e4 * network["link"]["latency"])


def test_a_grid_becomes_a_table_with_the_parameters_as_columns(tmp_path: Path) -> None:
    found = analysed(tmp_path, {"parameters": {"bandwidth": BANDWIDTH, "latency": LATENCY}}, rate_bound)
    points = found.points
    assert len(points) == 8
    first = points.iloc[0]
    assert first["bandwidth"] == pytest.approx(2.5e9) and first["bandwidth, written"] == "20 Gbit/s"
    assert first["time_s"] == pytest.approx(1.01 * rate_bound({"link": {"bandwidth": 2.5e9, "latency": 40e-9}}))
    assert first["compute_s"] == pytest.approx(0.75 * first["time_s"])
    assert points["relative"].min() == 1 and (points["low_s"] <= points["time_s"]).all()


def test_a_grid_of_two_parameters_is_a_heat_map_with_a_cell_per_combination(tmp_path: Path) -> None:
    latency = {"keys": ["network.link.latency"], "values": ["1 us", "40 ns"]}
    size = {"keys": ["network.chunk"], "values": ["1 KiB", "2 KiB"]}
    parameters = {"bandwidth": BANDWIDTH, "latency": latency, "chunk": size}
    points = with_micro(analysed(tmp_path, {"parameters": parameters}, rate_bound).points)
    assert points is not None
    figure = heat_map.draw(points, list(parameters))
    assert figure is not None and figure.title == "Time over bandwidth and latency"
    assert len(figure.data) == 16 and figure.data.groupby(["across", "up", "other0"]).size().eq(1).all()
    cells, times = figure.spec()["layer"]
    assert cells["mark"]["type"] == "rect" and cells["encoding"]["color"]["field"] == "time_s"
    assert times["mark"]["type"] == "text" and times["encoding"]["text"]["field"] == "time"
    assert cells["encoding"]["x"]["sort"] == BANDWIDTH["values"], "by their size, not by their letters"
    assert cells["encoding"]["y"]["sort"] == ["1 µs", "40 ns"], "the largest value is the highest"
    assert [one["name"] for one in figure.spec()["params"]] == ["heat_other0"]
    row = figure.data.iloc[0]
    assert duration(row["time_s"]) == row["time"]
    assert heat_map.draw(points, ["bandwidth"]) is None


def test_knees_are_found_along_each_parameter(tmp_path: Path) -> None:
    knees = analysed(tmp_path, {"parameters": {"bandwidth": BANDWIDTH, "latency": LATENCY}}, rate_bound).knees
    along = knees[knees["parameter"] == "bandwidth"]
    assert list(along["others"]) == ["latency = 40 ns", "latency = 1 us"]
    assert set(along["knee"]) == {"50 Gbit/s"} and set(along["enough"]) == {"100 Gbit/s"}
    assert len(knees[knees["parameter"] == "latency"]) == 4


def test_one_at_a_time_has_one_curve_for_each_parameter(tmp_path: Path) -> None:
    section = {"plan": "one-at-a-time", "parameters": {"bandwidth": BANDWIDTH, "latency": LATENCY}}
    found = analysed(tmp_path, section, rate_bound)
    assert list(found.knees["parameter"]) == ["bandwidth", "latency"]
    assert list(found.points["varied"]) == ["bandwidth"] * 4 + ["latency"] * 2


def test_sobol_indices_are_those_of_a_known_function(tmp_path: Path) -> None:
    """For a ln b + c ln l, with ln b and ln l uniform over equal widths, the parts of the variance are as a² to c²."""
    parameters = {
        "bandwidth": {"keys": ["network.link.bandwidth"], "low": "20 Gbit/s", "high": "200 Gbit/s"},
        "latency": {"keys": ["network.link.latency"], "low": "100 ns", "high": "1 us"},
    }

    def time_of(network: dict[str, Any]) -> float:
        link = network["link"]
        return 100 - 2 * math.log(link["bandwidth"]) + math.log(link["latency"])

    found = analysed(tmp_path, {"plan": "sobol", "samples": 64, "parameters": parameters}, time_of)
    indices = found.indices.set_index("parameter")
    assert indices.loc["bandwidth", "total"] == pytest.approx(0.8, abs=0.08)
    assert indices.loc["latency", "total"] == pytest.approx(0.2, abs=0.05)
    assert indices.loc["bandwidth", "first"] == pytest.approx(0.8, abs=0.15)
    assert len(found.knees) == 0


def said(found: Tables, relevant: float) -> list[str]:
    """The report's sentences on the study."""
    inputs = SimpleNamespace(
        sensitivity=found.points,
        sensitivity_knees=found.knees,
        sensitivity_indices=None,
        experiment=SimpleNamespace(relevant_difference=relevant),
        resolved={"sensitivity": {"enough": 0.05}},
    )
    return sensitivity_sentences(inputs)  # type: ignore[arg-type]


def test_what_changes_the_time_less_than_the_relevant_difference_does_not_matter(tmp_path: Path) -> None:
    found = analysed(tmp_path, {"plan": "grid", "parameters": {"bandwidth": BANDWIDTH, "latency": LATENCY}}, rate_bound)
    # Bandwidth adds up to 36 % and latency 0.7 %.
    bandwidth, latency = said(found, 0.01)[1:]
    assert bandwidth.startswith("bandwidth: moves the time by up to") and "latency: the values change" in latency
    assert "latency: moves the time" in said(found, 0.005)[2]
    assert said(found, 0.5)[1:] == ["No parameter of the study makes a difference that matters."]


def test_a_knee_is_where_a_curve_bends() -> None:
    rates = np.array([20.0, 50, 100, 200, 500, 1000])
    assert knee(rates, np.maximum(1.0, 100 / rates), log=True, relevant=0.01) == 100
    assert math.isnan(knee(rates, np.full(6, 3.0), log=True, relevant=0.01))
    assert math.isnan(knee(rates[:2], [2.0, 1.0], log=True, relevant=0.01))
    assert math.isnan(knee(rates, -np.log(rates) + 10, log=True, relevant=0.01))


def test_enough_is_the_cheapest_value_that_nothing_beats_by_more() -> None:
    rates = [20.0, 50, 100, 200]
    assert enough(rates, [5.0, 2.0, 1.04, 1.0], 0.05) == 100
    assert enough(rates, [1.0, 1.0, 1.01, 1.2], 0.05) == 100  # of a latency: the highest that costs little
    assert enough(rates, [1.0, 1.0, 1.0, 1.0], 0.05) == 20


def test_choices_have_no_knee(tmp_path: Path) -> None:
    parameters = {"order": {"keys": ["simulate.placement.rank_order"], "values": ["block", "cyclic"]}}
    found = analysed(tmp_path, {"parameters": parameters}, rate_bound)
    assert len(found.knees) == 0 and isinstance(found.points, pd.DataFrame)
    assert list(found.points["order"]) == ["block", "cyclic"]
