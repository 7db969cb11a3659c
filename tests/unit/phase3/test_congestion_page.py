"""The page of a congestion study: what parts conclude, beside it the tables, and what failed by name."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import altair as alt
import congestion_cases as cases
import pandas as pd
import pytest
from waiting_profiles import waiting_profile

from manynode import tables
from manynode.report.figure import Figure
from phase3_sst.campaign.planned_point import FAILURE_SCHEMA
from phase3_sst.studies.congestion import congestion_page
from phase3_sst.studies.congestion.contract import Findings
from phase3_sst.studies.congestion.rounds import Concluded
from phase3_sst.studies.congestion.study_file import read_study


def findings() -> Findings:
    frame = pd.DataFrame(
        {"name": ["<b>a</b>", "b"], "time_s": [0.0015, float("nan")], "ratio": [1.5, 2.0], "good": [True, False]}
    )
    chart = alt.Chart(alt.NamedData(name="table")).mark_point().encode(x="ratio:Q", y="time_s:Q")
    return Findings(
        ["a is faster than b."], {"rows": ("some-rows/1", frame)}, [Figure("f", "F", "About f.", chart, frame)]
    )


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("manynode.report.page.vega_bundle", lambda: "window.vegaEmbed = undefined;")
    runs, failed = cases.runs(tmp_path), cases.situation("bad")
    tables.write_json(
        runs.folder(failed) / "failure.json", FAILURE_SCHEMA, {"message": "the engine failed\n  where: x"}
    )
    study = read_study(tmp_path / "study.yaml").study
    concluded = [
        Concluded("first", "First part", findings()),
        Concluded("second", "Second part", Findings(()), "too few runs\n  found: 1"),
    ]
    congestion_page.write(study, runs, concluded, [failed], {"study": "abc"})
    return tmp_path / "out"


def test_the_page_has_the_answer_first_then_figures_tables_failures_and_provenance(written: Path) -> None:
    text = (written / "congestion.html").read_text()
    order = ['id="answer"', "a is faster than b.", 'id="part-first"', 'id="figure-first-f"', 'id="table-first-rows"']
    order += ['id="failures"', "the engine failed", 'id="provenance"', "<code>abc</code>"]
    places = [text.index(word) for word in order]
    assert places == sorted(places)
    assert "This part could not conclude." in text and "too few runs" in text
    assert "&lt;b&gt;a&lt;/b&gt;" in text and "<b>a</b>" not in text
    assert '<td class="n" data-value="0.0015">1.5 ms</td>' in text, "times have their unit and sort by their value"
    assert "http" not in text.split("<main>")[1].split("<script")[0], "nothing is loaded from elsewhere"


def test_the_page_says_first_that_a_workload_was_measured_on_an_oversubscribed_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("manynode.report.page.vega_bundle", lambda: "")
    runs = cases.runs(tmp_path)
    profile = waiting_profile(tmp_path / "profile.json", 0.43)
    runs.workloads["measured"] = replace(runs.workloads["ring"], timing_profile=profile)
    runs.workloads["later"] = replace(runs.workloads["ring"], timing_profile=tmp_path / "none.json")
    page = congestion_page.write(read_study(tmp_path / "study.yaml").study, runs, [], [], {})
    first = page.read_text().split('<section id="answer">')[1].split("<p")[1]
    assert "oversubscribed host" in first and "43 % of their compute time (measured)," in first


def test_each_table_lies_beside_the_page_in_both_forms(written: Path) -> None:
    frame = tables.read_table(written / "first/rows.parquet", "some-rows/1", ["name", "time_s"])
    assert list(frame["ratio"]) == [1.5, 2.0]
    assert list(pd.read_csv(written / "first/rows.csv")["ratio"]) == [1.5, 2.0]
    document = json.loads((written / "congestion.json").read_text())
    assert document["schema"] == "congestion-study/1"
    assert document["parts"]["first"]["tables"] == {"rows": "some-rows/1"}
    assert document["failures"] == {"bad": "the engine failed\n  where: x"}
