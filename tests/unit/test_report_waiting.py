"""What the report says of compute times during which ranks waited for a core."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import report_fixture as fixture
from waiting_profiles import waiting_profile

from manynode.errors import InputError
from manynode.report.load import load
from manynode.report.overview.gather import gather
from manynode.report.page import render
from manynode.report.sureness import sureness
from manynode.report.waiting import oversubscribed_study

OVERSUBSCRIBED = {"share": 0.43, "counted": True}


class Paragraphs(HTMLParser):
    """The texts of all paragraphs, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._open = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "p":
            self._open = True
            self.texts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._open = self._open and tag != "p"

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts[-1] += data


def results(folder: Path, waiting: dict[str, Any] | None, *, skeleton: bool = True) -> Path:
    """A result folder whose times with external ranks come from the engine native, with its record of waiting."""
    directory = fixture.write_results(folder, skeleton=skeleton)
    path = directory / "nodesim/timing-profile-ext.json"
    content = json.loads(path.read_text())
    content |= {"engine": "native", "waiting": waiting}
    phase = content["classes"][0]["phases"][0]
    phase["waited_s"] = None if waiting is None or waiting["share"] is None else 0.5 * phase["mean_s"]
    path.write_text(json.dumps(content))
    return fixture.sign(directory)


@pytest.fixture(autouse=True)
def _short_bundle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("manynode.report.page.vega_bundle", lambda: "")


@pytest.mark.parametrize("skeleton", [True, False])
def test_the_first_paragraph_says_that_the_host_was_oversubscribed(tmp_path: Path, skeleton: bool) -> None:
    page = render(load(results(tmp_path, OVERSUBSCRIBED, skeleton=skeleton)))
    first = Paragraphs(page.split('<section id="answer">')[1]).texts[0]
    assert first.startswith("These times are those of an oversubscribed host and not of the machine")
    assert "43 % of their compute time (ext)" in first


def test_a_study_names_its_oversubscribed_measurements(tmp_path: Path) -> None:
    shares = {"tree": 0.43, "torus": 0.43, "quiet": 0.02, "mesh": 0.2}
    profiles = {name: waiting_profile(tmp_path / f"{name}.json", share) for name, share in shares.items()}
    text = oversubscribed_study(profiles)
    assert text.startswith("These times are those of an oversubscribed host and not of the machine")
    assert "43 % of their compute time (tree, torus) and 20 % of their compute time (mesh)" in text
    assert "quiet" not in text and oversubscribed_study({"quiet": profiles["quiet"]}) == oversubscribed_study({}) == ""
    profiles["mesh"].write_text("{}")
    with pytest.raises(InputError, match=r"mesh\.json"):
        oversubscribed_study(profiles)


@pytest.mark.parametrize("waiting", [None, {"share": 0.02, "counted": True}, {"share": 0.9, "counted": False}])
def test_other_times_are_not_called_those_of_an_oversubscribed_host(
    tmp_path: Path, waiting: dict[str, Any] | None
) -> None:
    assert "oversubscribed" not in render(load(results(tmp_path, waiting)))


@pytest.mark.parametrize(
    ("waiting", "words", "hosts_own"),
    [
        ({"share": 0.02, "counted": True}, "waited for a core for 2.0 % of them", True),
        (OVERSUBSCRIBED, "ranks waited for a core for 43 % of them; most in 1 phase: smoother (50 %)", False),
        ({"share": 0.9, "counted": False}, "processor time on this host", False),
        ({"share": None, "counted": True}, "It is not known whether ranks waited for a core meanwhile", True),
        (None, "It is not known whether ranks waited for a core meanwhile", True),
    ],
)
def test_the_node_model_says_whose_times_these_are(
    tmp_path: Path, waiting: dict[str, Any] | None, words: str, hosts_own: bool
) -> None:
    text = dict(sureness(load(results(tmp_path, waiting))))["Node model"]
    assert words in text
    assert ("were measured on this host and hold for this host's processor" in text) == hosts_own


def test_the_front_page_of_several_experiments_says_it_too(tmp_path: Path) -> None:
    results(tmp_path / "one", OVERSUBSCRIBED)
    assert gather(tmp_path, "one").sentences[0].startswith("These times are those of an oversubscribed host")
