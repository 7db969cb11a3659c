"""What the report says of extrapolated points."""

from __future__ import annotations

import json
from pathlib import Path

import report_fixture as fixture

from manynode import tables
from manynode.report.answer import answer
from manynode.report.load import Inputs, load
from manynode.report.sureness import sureness


def results(folder: Path, extrapolated: list[bool]) -> Inputs:
    """A result folder whose points, the largest node counts last, were extrapolated or not."""
    fixture.write_results(folder)
    document = json.loads((folder / "experiment.json").read_text())
    document["experiment"]["simulate"]["converge"] = {"width": 0.005}
    (folder / "experiment.json").write_text(json.dumps(document))
    projection = tables.read_table(folder / "projection.parquet", "projection/1").sort_values("nodes")
    chosen = [extrapolated[index * len(extrapolated) // len(projection)] for index in range(len(projection))]
    projection["extrapolated"] = chosen
    projection["iterations"] = ["16 of 500, the others extrapolated" if it else "all 500: too odd" for it in chosen]
    projection["extrapolation_s"] = 0.002 * projection["time_s"].where(projection["extrapolated"], 0.0)
    tables.write_table(folder / "projection.parquet", "projection/1", projection)
    return load(fixture.sign(folder))


def said(inputs: Inputs) -> tuple[str, str]:
    """The paragraph about iterations and the sentences of the answer."""
    found = answer(inputs)
    assert found is not None
    return dict(sureness(inputs)).get("Iterations", ""), " ".join(found.sentences)


def test_extrapolated_points_are_counted_and_the_others_have_their_reason(tmp_path: Path) -> None:
    paragraph, sentences = said(results(tmp_path, [False, True]))
    assert "14 of 28 points of the projection were extrapolated from fewer iterations." in paragraph
    assert "at most 0.2 % of the time" in paragraph and "“too odd”" in paragraph
    assert "The time is extrapolated (simulated: 16 of 500, the others extrapolated)." in sentences


def test_a_headline_that_was_simulated_whole_says_nothing(tmp_path: Path) -> None:
    paragraph, sentences = said(results(tmp_path, [True, False]))
    assert "14 of 28 points" in paragraph and "extrapolated" not in sentences


def test_results_without_it_have_no_paragraph(tmp_path: Path) -> None:
    paragraph, sentences = said(load(fixture.write_results(tmp_path)))
    assert paragraph == "" and "extrapolated" not in sentences
