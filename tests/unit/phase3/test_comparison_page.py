"""The page of a comparison from made-up results: figures, tables, hostile names, the same bytes twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from phase3_cases import experiment, point
from waiting_profiles import waiting_profile

from manynode.errors import InputError
from manynode.report.comparison import build_comparison
from phase3_sst.point.point_result import EngineResults
from phase3_sst.studies.compare import comparison_files, markdown
from phase3_sst.studies.compare.comparison_summary import summaries
from phase3_sst.studies.compare.tables_of_pairs import compare

HOSTILE = "</script><img src=x> | {{ 7 * 7 }}"
PAIRS = [("fast", "simgrid")]


@pytest.fixture(autouse=True)
def _short_bundle(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Making the bundle of Vega takes seconds; the browser's test runs the real one."""
    monkeypatch.setattr("manynode.report.page.vega_bundle", lambda: "window.vegaEmbed = undefined;")
    return


def written(folder: Path, replicas: int = 2, profiles: dict[str, Path] | None = None) -> tuple[dict[str, Any], str]:
    """Write a comparison; return its document and its Markdown."""
    results = {}
    for engine, factor in (("fast", 1.0), ("simgrid", 1.1)):
        for nodes in (1, 64):
            place = folder / engine / "simulate" / "ext-var" / f"nodes-{nodes}"
            point(place, [factor * (1 + replica) for replica in range(replicas)], compute=0.5 / factor)
        results[engine] = EngineResults(engine, folder / engine)
    found = compare(results, PAIRS, [("ext-var", 1), ("ext-var", 64)], confidence=0.9, seed=1)
    content = experiment() | {"title": HOSTILE, "techniques": ["ext-var"], "nodes": [1, 64]}
    pairs = summaries(found, PAIRS)
    document = {
        **comparison_files.heading(content, "d" * 16, profiles or {}),
        "engines": [{"name": "fast", "version": HOSTILE}, {"name": "simgrid", "version": "3"}],
        "skipped": [{"name": "sst", "remedy": HOSTILE}],
        "pairs": [comparison_files.finite(vars(pair) | {"sentences": pair.sentences()}) for pair in pairs],
    }
    comparison_files.write(folder, found, document)
    return document, markdown.text(document, found, pairs)


def test_page_and_text_say_that_the_host_was_oversubscribed(tmp_path: Path) -> None:
    profile = waiting_profile(tmp_path / "profile.json", 0.43)
    _, text = written(tmp_path / "a", profiles={"ext": profile})
    build_comparison(tmp_path / "a", tmp_path / "a.html")
    first = (tmp_path / "a.html").read_text().split('<section id="answer">')[1].split("<p")[1]
    for place in (first, text):
        assert "oversubscribed host" in place and "43 % of their compute time (ext)" in place
    _, text = written(tmp_path / "b", profiles={"ext": waiting_profile(profile, 0.01)})
    build_comparison(tmp_path / "b", tmp_path / "b.html")
    assert "oversubscribed" not in text + (tmp_path / "b.html").read_text()


def test_the_page_has_its_figures_and_tables_and_names_what_was_skipped(tmp_path: Path) -> None:
    written(tmp_path)
    build_comparison(tmp_path, tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text()
    for name in ("makespans", "differences", "breakdown", "link-loads"):
        assert f'id="figure-{name}"' in text
    for name in ("table-makespans", "table-breakdown", "table-links"):
        assert f'id="{name}"' in text
    assert "sst is not installed" in text and "9.1 %" in text
    assert "<img" not in text and "49" not in text.partition("<body>")[2].partition("</header>")[0]
    build_comparison(tmp_path, tmp_path / "b.html")
    assert (tmp_path / "b.html").read_bytes() == (tmp_path / "a.html").read_bytes()


def test_one_replica_gives_a_page_without_intervals(tmp_path: Path) -> None:
    _, text = written(tmp_path, replicas=1)
    build_comparison(tmp_path, tmp_path / "a.html")
    assert "unknown" in (tmp_path / "a.html").read_text()
    assert "one replica" in text


def test_the_markdown_has_a_row_for_every_point(tmp_path: Path) -> None:
    document, text = written(tmp_path)
    assert document["largest"] == ["ext-var", 64]
    assert text.count("| ext-var |") == 2 and "-9.09%" in text
    assert "sst: skipped, not installed" in text
    assert "one link only" in text


def test_a_damaged_document_is_an_input_error(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "comparison.json").write_text('{"schema": "engine-comparison/1", "title": 3}')
    with pytest.raises(InputError, match="comparison"):
        build_comparison(tmp_path, tmp_path / "a.html")
