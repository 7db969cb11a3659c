"""The report of the user's own compute times: the times as they were given, and nothing of a node that was measured."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import report_fixture as fixture
from test_report_band import NETWORK

from manynode.config.loader import resolve
from manynode.config.resolved import read_yaml, write_resolved
from manynode.report.answer import answer
from manynode.report.band import Band, band, band_words
from manynode.report.figures import phases, profile_figures, timing_figures
from manynode.report.load import Inputs, load
from manynode.report.own_times import own_rows
from manynode.report.page import render
from manynode.report.sureness import sureness
from manynode.timing_profile import write_timing_profile
from phase2_nodesim import own_times
from phase3_sst.studies.compare.comparison_files import heading

CLASSES = {"inner": {"share": 0.75}, "outer": {"share": 0.25, "ranks": [0, -1]}}
TIMES = {"setup": "5 us", "spmv": "348 us", "dot": "0 s"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of an experiment with own times of two modes, and with classes of ranks that nobody profiled."""
    place = fixture.write_results(tmp_path_factory.mktemp("own"), parts=("3",))
    example = fixture.ROOT / "configs" / "own-times.yaml"
    content: dict[str, Any] = read_yaml(example, "the experiment")
    names = [row.phase for row in resolve(content, where="test", base=example.parent).own_times.phases]  # type: ignore[union-attr]
    plain = [{"phase": name, "mean": TIMES.get(name, "10 us")} for name in names if name != "symgs"]
    both = [{"phase": "symgs", "mean": mean, "spread": 0.1, "class": of} for of, mean in
            (("inner", "60 us"), ("outer", "66 us"))]  # fmt: skip
    own = {"classes": CLASSES, "phases": [*plain, *both], "alone": [*plain, {"phase": "symgs", "mean": "50 us"}]}
    content |= {"nodes": fixture.NODES, "ranks_per_node": fixture.RANKS_PER_NODE, "own_times": own}
    content["own_times"]["machine"] = "our cluster"
    techniques = ["ext-const", "ext-var", "no-ext-const", "no-ext-var"]
    resolved = resolve({**content, "techniques": techniques}, where="test", base=example.parent)
    write_resolved(place / "experiment.json", resolved)
    classes = {"schema": "rank-classes/1", **own_times.rank_classes(resolved)}
    (place / "profile").mkdir(exist_ok=True)
    (place / "profile/rank-classes.json").write_text(json.dumps(classes))
    for mode in ("ext", "no-ext"):
        profile = own_times.timing_profile(resolved, external=mode == "ext", provenance={})
        write_timing_profile(place / f"nodesim/timing-profile-{mode}.json", profile)
    return fixture.sign(place)


@pytest.fixture
def inputs(folder: Path) -> Inputs:
    return replace(load(folder), records=NETWORK)


def test_phases_have_the_times_that_were_given(inputs: Inputs) -> None:
    rows = [(row.phase, row.class_, round(1e6 * row.mean)) for row in own_rows(inputs)]
    assert rows[:3] == [("spmv", None, 348), ("symgs", "outer", 66), ("symgs", "inner", 60)]
    assert rows[-1] == ("dot", None, 0)
    figure = phases.draw(inputs)
    assert figure is not None
    shown = figure.data.set_index("phase")["mean_s"]
    assert (
        shown["spmv"] == pytest.approx(348e-6)
        and shown["symgs (class inner)"] == pytest.approx(60e-6)
        and "dot" not in shown
    )
    assert "executions_per_rank" not in figure.data


def test_nothing_is_drawn_or_said_of_what_was_not_measured(inputs: Inputs) -> None:
    assert [figure.name for figure in timing_figures(inputs)] == ["phases", "distributions"]
    assert profile_figures(inputs) == []
    page = render(inputs)
    page = page[: page.index('id="provenance"')]
    text = re.sub(r"<[^>]+>", " ", re.sub(r"(?s)<(style|script).*?</\1>", "", page))
    text += " ".join(figure.caption + figure.note for figure in timing_figures(inputs))
    for word in ("simulated node", "external rank", "broadwell", "doublings beyond", "representative", "warm-up"):
        assert word not in text, word
    assert "node: our cluster" in text and 'id="table-own-times"' in page and 'id="table-slowest"' not in page
    said = dict(sureness(inputs))
    assert "the user's own, from the experiment itself" in said["Compute times"]
    assert not {"Rank classes", "Variability", "Persistent differences", "Node model"} & set(said)
    assert "timings, ext" in render(inputs) and "own ,  1 node" not in " ".join(render(inputs).split())


def test_the_band_does_not_call_the_error_of_the_times_zero(inputs: Inputs) -> None:
    found = band(inputs)
    assert isinstance(found, Band) and found.low_s is not None
    assert "error of your own compute times not counted" in found.headline() and "times 0 %" not in found.headline()
    assert "samples" not in found.headline()
    share = found.parts[1].share
    assert f"An error of 10 % in these times changes the projected time by about {share * 10:.2g} %" in band_words(
        inputs
    )
    said = answer(inputs)
    assert said is not None
    assert said.facts[0][0] == "known errors, without those of your compute times"
    assert "with the times of a node that runs alone" in " ".join(said.sentences)


def test_the_scale_of_own_times_counts_where_their_job_is_known(inputs: Inputs) -> None:
    assert "doublings" not in band_words(inputs)
    known = json.loads(json.dumps(inputs.resolved))
    known["own_times"]["nodes"] = 4
    assert "4 doublings beyond the measured one" in band_words(replace(inputs, resolved=known, records=NETWORK))


def test_other_pages_name_the_machine_of_the_times(inputs: Inputs) -> None:
    assert "node: our cluster" in heading(inputs.resolved, "d", {})["subtitle"]
