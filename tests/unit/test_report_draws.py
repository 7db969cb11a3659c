"""A skeleton that computes something else than the simulated node did is said before the answer."""

from __future__ import annotations

from pathlib import Path

import pytest
import report_fixture as fixture
from waiting_profiles import waiting_profile

from manynode import tables
from manynode.report.documents import Draws
from manynode.report.draws import other_computation
from manynode.report.headline import lines
from manynode.report.load import load
from manynode.report.overview.gather import gather
from manynode.report.page import render
from manynode.timing_profile import read_timing_profile
from phase3_sst.checks.draws import DRAWS_SCHEMA, computed

FOUND = {"mode": "ext", "nodes": 1, "ranks": 4, "refused": "other", "computed_s": 1.08e-3, "skeleton_s": 0.32e-3}
WORDS = "These times are not those of the measured program. Its ranks computed for 1.08 ms"


@pytest.mark.parametrize(("times", "skeleton_s"), [(4, 8.0), (20, 40.0), (0, 0.0)])
def test_the_skeletons_computation_is_its_executions_at_the_nodes_own_times(
    times: int, skeleton_s: float, tmp_path: Path
) -> None:
    """The node executed the phase four times, with 2 s in the mean; what the skeleton names otherwise has no times."""
    simulated = read_timing_profile(waiting_profile(tmp_path / "profile.json", 0.0))
    found = computed(simulated, {0: {"work": times, "other": 3}, 1: {"work": 9}})
    assert found == {"computed_s": 8.0, "skeleton_s": skeleton_s}
    assert computed(simulated, {}) == {"computed_s": None, "skeleton_s": None}


@pytest.mark.parametrize(
    ("skeleton_s", "said"), [(1.08e-3, ""), (1.03e-3, ""), (1.2e-3, "(+11 %)"), (0.32e-3, "(-70 %)"), (None, "")]
)
def test_a_difference_above_five_percent_is_said(skeleton_s: float | None, said: str) -> None:
    text = other_computation({"ext": Draws.model_validate({**FOUND, "skeleton_s": skeleton_s})})
    assert (text == "") if said == "" else (text.startswith(WORDS) and said in text), text


def test_report_terminal_and_front_page_begin_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("manynode.report.page.vega_bundle", lambda: "")
    results = fixture.write_results(tmp_path / "one")
    tables.write_json(results / "simulate/draws-ext.json", DRAWS_SCHEMA, FOUND)
    fixture.sign(results)
    answer = render(load(results)).split('<section id="answer">')[1]
    assert answer.split(">", 1)[1].startswith(WORDS), answer[:300]
    assert lines(load(results))[0].startswith(f"warning: {WORDS}")
    assert gather(tmp_path, "one").sentences[0].startswith(WORDS)
