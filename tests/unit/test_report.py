"""The report of a made-up result folder: its text, its escaping, the same bytes twice, missing parts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
import report_fixture as fixture

from manynode import tables
from manynode.errors import InputError, OutputError
from manynode.phase_names import shorter
from manynode.report import build_report
from manynode.report.figure import Figure, records, thinned
from manynode.report.figures.link_series import merged
from manynode.report.load import load
from manynode.report.markup import contents, linked, without_empty_columns
from manynode.report.page import documentation_from
from manynode.report.picture import picture
from manynode.report.wording import change, duration, interval, pattern, percent, ranges
from manynode.timing_profile import PhaseTimes

ROOT = Path(__file__).resolve().parent.parent.parent
FIGURES = [
    "figure-scaling",
    "figure-efficiency",
    "figure-iterations",
    "figure-breakdown",
    "figure-links",
    "figure-link-series",
    "figure-phases",
    "figure-cpi-stacks",
    "figure-distributions",
    "figure-patterns",
    "figure-classes",
    "figure-rank-map",
]


@pytest.fixture(autouse=True, scope="module")
def _no_vega() -> Iterator[None]:
    """Vega takes seconds: tests/workflow/test_report_browser.py has the bundle, ``whole`` the pictures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("manynode.report.page.vega_bundle", lambda: "window.vegaEmbed = undefined;")
        patch.setattr("manynode.report.page.picture", lambda figure: f"picture of {figure.title}")
        yield


class Page(HTMLParser):
    """Collects elements, ids, texts outside scripts and the JSON blocks of the figures."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.specs: list[str] = []
        self.text = ""
        self._script: dict[str, str | None] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self._script = dict(attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._script = None

    def handle_data(self, data: str) -> None:
        if self._script is None:
            self.text += re.sub(r"\s+", " ", data)
        elif self._script.get("class") == "spec":
            self.specs.append(data)

    @property
    def ids(self) -> list[str]:
        return [str(attributes["id"]) for _, attributes in self.elements if "id" in attributes]


def build(directory: Path) -> tuple[str, Page]:
    output = directory / "report.html"
    build_report(directory, output)
    text = output.read_text(encoding="utf-8")
    return text, Page(text)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, Page]:
    directory = fixture.write_results(tmp_path_factory.mktemp("results"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("manynode.report.page.picture", picture)
        return directory, *build(directory)


def test_every_figure_is_there_once_with_data_and_csv_link(whole: tuple[Path, str, Page]) -> None:
    page = whole[2]
    assert [name for name in page.ids if name.startswith("figure-")] == FIGURES
    assert len(page.ids) == len(set(page.ids))
    links = [attributes for _, attributes in page.elements if attributes.get("class") == "csv"]
    assert [link["download"] for link in links] == [f"{name.removeprefix('figure-')}.csv" for name in FIGURES]
    for text in page.specs:
        rows = json.loads(text)["datasets"]["table"]
        assert 0 < len(rows) <= 2000


def test_without_javascript_every_picture_is_there_and_every_table_is_filled(whole: tuple[Path, str, Page]) -> None:
    _, text, page = whole
    figures = re.findall(r'<figure id="(figure-[^"]+)".*?</figure>', text, re.DOTALL)
    assert figures == FIGURES
    for figure in re.findall(r"<figure.*?</figure>", text, re.DOTALL):
        assert len(re.findall(r"<svg\b", figure)) == 1 and re.search(r"mark-[^>]*>\s*<path", figure)
        rows = json.loads(re.findall(r'class="spec">(.*?)</script>', figure)[0])["datasets"]["table"]
        body = figure.split("<tbody>")[1]
        assert len(re.findall("<tr>", body)) == min(200, len(rows))
        assert 'class="links" hidden' in figure, "links that only JavaScript fills"
    for found in re.findall(r"url\(#([^)]+)\)", text):
        assert page.ids.count(found) == 1, found


def test_the_list_of_contents_leads_to_every_section_and_figure(whole: tuple[Path, str, Page]) -> None:
    _, text, page = whole
    listed = re.findall(r'<a href="#([^"]+)">', text.split("</nav>")[0])
    assert listed[:3] == ["answer", "sureness", "projection"] and listed[-1] == "provenance"
    assert set(FIGURES) < set(listed) <= set(page.ids)
    body = '<section id="a"><h2>A</h2><figure id="b" class="x"><h3>B</h3></figure></section>'
    (entry,) = contents(body + '<section id="empty"></section>')
    assert (entry.name, entry.heading, entry.figures[0].name) == ("a", "A", "b")


def test_how_sure_is_a_table_of_one_line_each_with_the_paragraphs_folded_below(whole: tuple[Path, str, Page]) -> None:
    section = re.findall(r'<section id="sureness">.*?</section>', whole[1], re.DOTALL)[0]
    lines = re.findall(r"<tr><th>([^<]+)</th><td>([^<]+)</td><td>([^<]+)</td></tr>", section)
    said = {what: (figure, basis) for what, figure, basis in lines}
    assert list(said) == ["all known errors", "draws", "samples", "node model", "network", "scale", "measurements"]
    assert said["draws"] == ("±0.71 %", "10 replicas") and said["samples"][0] == "not known"
    assert said["scale"][0] == "4 doublings of nodes" and re.match(r"-\d+ % to \+\d+ %", said["network"][0])
    assert all(len(figure + basis) < 100 for figure, basis in said.values())
    assert section.count('<details class="statement"><summary>') >= 10
    assert "<details open" not in section


def test_techniques_are_explained_beside_their_times(whole: tuple[Path, str, Page]) -> None:
    table = re.findall(r'<table id="table-techniques".*?</table>', whole[1], re.DOTALL)[0]
    rows = re.findall(r"<tr><th>(\S+)</th><td>([^<]+)</td>", table)
    assert rows[0] == ("ext-var", "with external ranks, variable compute times")
    assert rows[-1] == ("no-ext-const", "without external ranks, constant compute times")
    assert "External ranks run natively" in whole[2].text


def test_no_time_is_in_us(whole: tuple[Path, str, Page]) -> None:
    assert "µs" in whole[2].text and not re.search(r"\d us\b", whole[2].text)


def test_columns_without_any_text_are_left_out() -> None:
    head = '<thead><tr><th>a</th><th class="n">b</th><th>c</th></tr></thead>\n<tbody>'
    rows = '<tr><td>1</td>\n<td class="n" title="x"></td><td></td></tr><tr><td></td><td> </td><td>2</td></tr>'
    assert without_empty_columns(f"{head}{rows}</tbody>") == (
        "<thead><tr><th>a</th><th>c</th></tr></thead>\n<tbody>"
        "<tr><td>1</td>\n<td></td></tr><tr><td></td><td>2</td></tr></tbody>"
    )
    whole_row = '<tr><th colspan="3">group</th></tr>'
    assert whole_row in without_empty_columns(f"{head}{whole_row}{rows}</tbody>")
    assert without_empty_columns(f"{head}</tbody>") == f"{head}</tbody>"


def test_addresses_and_documents_become_links_and_nothing_else_does(tmp_path: Path) -> None:
    text = "See docs/limits.md (https://example.org/a.html), <b> & co."
    assert linked(text, None) == (
        'See docs/limits.md (<a href="https://example.org/a.html">https://example.org/a.html</a>), &lt;b&gt; &amp; co.'
    )
    assert '<a href="../../docs/limits.md">docs/limits.md</a>' in linked(text, "../../docs")
    assert documentation_from(ROOT / "results" / "demo" / "report.html") == "../../docs"
    assert documentation_from(tmp_path / "report.html") is None


def test_the_answer_comes_first_and_names_time_interval_and_efficiency(whole: tuple[Path, str, Page]) -> None:
    directory, text, _ = whole
    projection = tables.read_table(directory / "projection.parquet", "projection/1")
    row = projection.query("technique == 'ext-var' and nodes == 64").iloc[0]
    time, limits = interval(row["time_s"], row["low_s"], row["high_s"])
    head = Page(text.split("<main>")[1].split("</section>")[0]).text
    assert time in head and limits in head and percent(row["efficiency"]) in head
    assert "projected run time of hpcg on 64 nodes with 128 ranks" in head and "ext-var" in head
    assert "Computation dominates" in head and "MPI_Allreduce" in head
    assert "no-ext-var" in head and "ext-const" in head


def test_how_sure_speaks_of_interval_techniques_stability_gaps_and_variance(whole: tuple[Path, str, Page]) -> None:
    text = whole[2].text
    for words in ("bootstrap", "10 replicas", "NOT stable", "4 nodes have two", "between ranks", "docs/limits.md"):
        assert words in text
    assert "25 % lies between ranks and 75 % within" in text
    assert "3.0 % of the simulated node's compute time" in text


def test_the_pattern_is_told_in_words(whole: tuple[Path, str, Page]) -> None:
    assert "0 1 2 3 2 1 0, repeated 20 times (98 % agree)" in whole[2].text


def test_jobs_have_their_times_and_their_part_of_the_links(whole: tuple[Path, str, Page]) -> None:
    page = whole[2]
    assert {"table-jobs", "table-link-jobs"} <= set(page.ids)
    assert "until the others end" in page.text and "Load of the links by job" in page.text


def test_with_one_job_and_no_counters_over_time_neither_is_shown(tmp_path: Path) -> None:
    fixture.write_results(tmp_path)
    (tmp_path / "series.parquet").unlink()
    for name, schema in (("jobs", "jobs/1"), ("link_jobs", "link-job-summary/1")):
        frame = tables.read_table(tmp_path / f"{name}.parquet", schema)
        tables.write_table(tmp_path / f"{name}.parquet", schema, frame[frame["job"] == "main"])
    _, page = build(fixture.sign(tmp_path))
    assert not {"figure-link-series", "table-jobs", "table-link-jobs"} & set(page.ids)
    assert "figure-links" in page.ids


def test_intervals_beyond_what_a_figure_draws_are_brought_together_without_losing_work(
    whole: tuple[Path, str, Page],
) -> None:
    series = tables.read_table(whole[0] / "series.parquet", "link-series-summary/1")
    own = series.query("technique == 'ext-var' and nodes == 64")
    drawn = merged(own, 1000)
    assert len(own) == 2400 and len(drawn) == 1200
    for frame_class, group in own.groupby("class"):
        kept = drawn[drawn["class"] == frame_class]
        assert work(kept) == pytest.approx(work(group))
        assert kept["stall_s"].sum() == pytest.approx(group["stall_s"].sum())


def work(frame: pd.DataFrame) -> float:
    return float((frame["busy_share"] * (frame["end_s"] - frame["start_s"])).sum())


def test_hostile_names_stay_text(whole: tuple[Path, str, Page]) -> None:
    _, text, page = whole
    assert fixture.HOSTILE not in text
    assert "<img" not in text
    assert fixture.HOSTILE in page.text
    assert "{{ 7 * 7 }}" in page.text
    scripts = [attributes for tag, attributes in page.elements if tag == "script"]
    assert len(scripts) == len(FIGURES) + 3
    assert any(fixture.HOSTILE in json.dumps(json.loads(spec)) for spec in page.specs)


def test_nothing_is_loaded_from_elsewhere(whole: tuple[Path, str, Page]) -> None:
    _, _, page = whole
    policies = [a["content"] for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy"]
    assert len(policies) == 1
    assert "default-src 'none'" in str(policies[0]) and "unsafe-eval" not in str(policies[0])
    for _, attributes in page.elements:
        for name in ("src", "href", "srcset", "action"):
            assert re.match(r"(#|data:)", attributes.get(name) or "#")
    for spec in page.specs:
        assert '"url"' not in spec


def test_no_place_of_this_host_is_in_the_page(whole: tuple[Path, str, Page]) -> None:
    assert str(whole[0]) not in whole[1]
    assert "/somewhere/hpcg" not in whole[1]


def test_the_same_results_give_the_same_bytes(
    whole: tuple[Path, str, Page], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("manynode.report.page.picture", picture)
    again = fixture.write_results(tmp_path / "elsewhere")
    build_report(again, again / "report.html")
    assert (again / "report.html").read_text(encoding="utf-8") == whole[1]


def test_an_application_without_skeleton_ends_after_phase_2(tmp_path: Path) -> None:
    _, page = build(fixture.write_results(tmp_path, skeleton=False))
    assert "phase 3 needs a skeleton" in page.text
    assert "figure-scaling" not in page.ids
    assert {"figure-phases", "figure-patterns", "figure-classes", "table-phases", "missing"} <= set(page.ids)


@pytest.mark.parametrize(
    ("parts", "sentence", "figures"),
    [
        ((), "There are no rank classes", []),
        (("1",), "There is no timing profile", ["figure-classes", "figure-rank-map"]),
        (("1", "2"), "phase 3 has not ended", FIGURES[6:]),
        (("3",), "There is no timing profile", FIGURES[:6]),
    ],
)
def test_whatever_is_missing_is_said(tmp_path: Path, parts: tuple[str, ...], sentence: str, figures: list[str]) -> None:
    _, page = build(fixture.write_results(tmp_path, parts=parts))
    assert sentence in page.text
    assert [name for name in page.ids if name.startswith("figure-")] == figures


def test_the_best_technique_that_is_there_answers(tmp_path: Path) -> None:
    fixture.write_results(tmp_path)
    projection = tables.read_table(tmp_path / "projection.parquet", "projection/1")
    left = projection[projection["technique"].isin(["no-ext-var", "no-ext-const"]) & (projection["nodes"] == 8)]
    tables.write_table(tmp_path / "projection.parquet", "projection/1", left)
    _, page = build(fixture.sign(tmp_path))
    assert load(tmp_path).technique == "no-ext-var"
    assert "Not yet projected: ext-const and ext-var" in page.text


def test_timings_without_segments_and_profile_without_counters_are_shown(tmp_path: Path) -> None:
    fixture.write_results(tmp_path)
    for path in ("nodesim/ext/segments.parquet", "nodesim/no-ext/segments.parquet", "profile/counters.parquet"):
        (tmp_path / path).unlink()
    _, page = build(tmp_path)
    assert {"figure-patterns", "figure-phases", "figure-rank-map"} <= set(page.ids)
    assert "figure-classes" not in page.ids


def test_a_folder_without_experiment_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no experiment to report on"):
        build_report(tmp_path, tmp_path / "report.html")


@pytest.mark.parametrize(
    ("path", "content", "match"),
    [
        ("profile/rank-classes.json", {"schema": "rank-classes/1", "source": "x"}, "rank-classes.json: key 'classes'"),
        ("nodesim/timing-profile-ext.json", {"schema": "timing-profile/2"}, "timing-profile/1"),
        ("experiment.json", {"schema": "experiment/1", "experiment": {"name": "x"}}, "application"),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, path: str, content: dict[str, object], match: str) -> None:
    fixture.write_results(tmp_path)
    (tmp_path / path).write_text(json.dumps(content))
    fixture.sign(tmp_path)
    with pytest.raises(InputError, match=match):
        build_report(tmp_path, tmp_path / "report.html")


def test_an_output_that_cannot_be_written_is_an_output_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError):
        build_report(fixture.write_results(tmp_path / "results"), tmp_path / "file" / "report.html")


def test_many_points_are_thinned_and_the_note_says_so() -> None:
    frame, note = thinned(pd.DataFrame({"x": range(10_000)}), "points")
    assert len(frame) == 2000 and frame["x"].iloc[0] == 0 and frame["x"].iloc[-1] == 9999
    assert note == "2,000 of 10,000 points are shown, evenly spaced."
    assert thinned(frame, "points")[1] == ""


def test_values_that_json_does_not_know_become_null() -> None:
    frame = pd.DataFrame({"a": [1.0, float("nan"), float("inf")], "b": ["x", None, "y"]})
    assert [row["a"] for row in records(frame)] == [1.0, None, None]
    assert Figure.__dataclass_fields__.keys() >= {"name", "data", "note"}


def test_numbers_have_sensible_digits() -> None:
    assert duration(0) == "0 s"
    assert duration(1.2345e-5) == "12.3 µs"
    assert duration(12345.6) == "12,346 s"
    assert interval(1.23456, 1.2340, 1.2350) == ("1.2346 s", "1.234 s to 1.235 s")
    assert interval(2.0, 2.0, 2.0) == ("2 s", "2 s to 2 s")
    assert [percent(x) for x in (0, 0.00123, 0.0345, 0.912, float("nan"))] == [
        "0 %",
        "0.12 %",
        "3.5 %",
        "91 %",
        "unknown",
    ]
    assert change(0.9, 1.0) == "10 % lower" and change(1.0, 1.0) == "the same"
    assert ranges([3, 1, 2, 7]) == "1-3, 7"
    assert ranges(range(0, 100, 2), most=2) == "0, 2 and 48 more"
    assert shorter("x" * 100, 20) == "x" * 9 + "…" + "x" * 10


def test_patterns_are_written_as_people_say_them() -> None:
    variance = {"between_ranks_s2": 0.0, "within_rank_s2": 0.0, "total_s2": 0.0}
    cluster = {"mean_s": 1.0, "count": 1, "weight": 0.5, "cdf": {"time_s": [1.0], "probability": [1.0]}}
    phase = {
        "name": "p",
        "count": 2,
        "mean_s": 1.0,
        "clusters": [cluster, cluster],
        "pattern": {"kind": "weights"},
        "variance": variance,
    }
    assert pattern(PhaseTimes.model_validate(phase)) == "no pattern, drawn by weight: 50 % cluster 0 and 50 % cluster 1"
    phase["pattern"] = {"kind": "sequence", "sequence": [0, 1, 0], "repeat": 20, "agreement": 1.0, "prefix": 3}
    assert pattern(PhaseTimes.model_validate(phase)) == "after 3 executions: 0 1 0, repeated 20 times"
    phase["pattern"] = {"kind": "sequence", "sequence": [0, 1, 1], "repeat": 1, "agreement": 1.0}
    assert pattern(PhaseTimes.model_validate(phase)) == "0 1 1, on all ranks alike"
