"""The front page of several experiments: its text, its table, missing results, the same bytes twice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
import report_fixture as fixture

from manynode import tables
from manynode.report.overview import build_overview, experiments_in


@pytest.fixture(autouse=True, scope="module")
def _short_bundle() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("manynode.report.page.vega_bundle", lambda: "window.vegaEmbed = undefined;")
        yield


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two finished experiments, one that was only profiled, one without a skeleton."""
    folder = tmp_path_factory.mktemp("results")
    for name in ("one", "two"):
        (fixture.write_results(folder / name) / "report.html").write_text("a report")
    fixture.write_results(folder / "begun", parts=("1",))
    fixture.write_results(folder / "program", skeleton=False, parts=("1", "2"))
    return folder


def test_it_shows_every_experiment_with_its_answer_and_a_link(results: Path) -> None:
    page = results / "index.html"
    build_overview(results, ["two", "one"], page)
    text = page.read_text()
    assert text.index('<a href="two/report.html">') < text.index('<a href="one/report.html">')
    projection = tables.read_table(results / "one/projection.parquet", "projection/1")
    row = projection[(projection["technique"] == "ext-var") & (projection["nodes"] == 64)].iloc[0]
    assert (
        f"{1000 * row['time_s']:.0f} ms: projected run time of hpcg on 64 nodes with 128 ranks (ext-var, efficiency"
        in text
    )
    assert "dominates: ranks spend" in text
    assert re.findall(r'id="(figure-[^"]+)"', text) == ["figure-time-two", "figure-time-one", "figure-efficiency"]
    assert fixture.HOSTILE not in text and "default-src 'none'" in text.replace("&#39;", "'")


def test_the_table_holds_every_point_and_the_page_those_of_the_largest_node_count(results: Path) -> None:
    build_overview(results, ["one", "two"], results / "index.html")
    frame = tables.read_table(results / "overview.parquet", "overview/1")
    assert len(frame) == 2 * 4 * len(fixture.NODES)
    own = tables.read_table(results / "two/projection.parquet", "projection/1").set_index(["technique", "nodes"])
    for row in frame[frame["experiment"] == "two"].itertuples():
        assert row.time_s == own.loc[(row.technique, row.nodes), "time_s"]
    written = pd.read_csv(results / "overview.csv")
    assert list(written.columns) == list(frame.columns)
    assert written["efficiency"].tolist() == pytest.approx(frame["efficiency"].tolist())
    table = (results / "index.html").read_text().split('id="table-overview"')[1].split("</table>")[0]
    assert table.count("<tr>") == 1 + 2 * 4


def test_what_has_no_projection_says_why(results: Path) -> None:
    names = ["one", "begun", "program", "gone"]
    build_overview(results, names, results / "index.html", {"gone": "a step failed"})
    text = (results / "index.html").read_text()
    for words in ("begun: not finished", "program: no skeleton", "gone: a step failed"):
        assert words in text
    assert set(pd.read_csv(results / "overview.csv")["experiment"]) == {"one"}


def test_a_failure_is_shown_beside_what_an_earlier_run_left(results: Path) -> None:
    build_overview(results, ["one"], results / "index.html", {"one": "the workflow failed"})
    text = (results / "index.html").read_text()
    assert "one: the workflow failed" in text and "figure-time-one" in text


def test_without_any_projection_there_is_a_page_all_the_same(results: Path) -> None:
    build_overview(results, ["begun"], results / "index.html")
    assert "begun: not finished" in (results / "index.html").read_text()


def test_the_same_results_give_the_same_bytes(results: Path) -> None:
    contents = []
    for _ in range(2):
        build_overview(results, ["one", "two"], results / "index.html")
        contents.append([(results / f).read_bytes() for f in ("index.html", "overview.parquet", "overview.csv")])
    assert contents[0] == contents[1]


def test_a_folder_of_experiments_is_told_from_an_experiment(results: Path) -> None:
    assert experiments_in(results) == ["begun", "one", "program", "two"]
    assert experiments_in(results / "one") == []
    assert experiments_in(results / "nowhere") == []
