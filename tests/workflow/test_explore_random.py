"""Random interactions with the page: every answer belongs to the shown question and to the right baseline.

There are 50 of them, and 200 with ``MANYNODE_FUZZ=all``. The sequence is seeded. What a person does is done by the
page's own buttons and entries; the answers arrive while it goes on.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import explore_bases
import explore_site
import pytest
from chromium import chromium, needs_chromium, severe
from conftest import made_once
from explore_page import Page

pytestmark = needs_chromium

INTERACTIONS, SEED = 200 if os.environ.get("MANYNODE_FUZZ") == "all" else 50, 25
VALUES: dict[str, list[str]] = {
    "network.link.bandwidth": ["10 Gbit/s", "50 Gbit/s", "200 Gbit/s", "fast", ""],
    "network.link.latency": ["10 ns", "1 us", "-1 ns"],
    "network.switch_latency": ["50 ns", "500 ns"],
    "nodes": ["1", "2", "4", "8", "0", "99999"],
    "technique": ["ext-const", "ext-var"],
    "simulate.replicas": ["2", "3"],
    "network": ["opa100-fat-tree", "fugaku", "paper-torus"],
    "simulate.slow_node.factor": ["1.5", "0"],
}
# Clicks on what is there and in sight; a button that has gone is no mistake.
_CLICK = """
const found = [...document.querySelectorAll(arguments[0])].filter((each) => each.offsetParent && !each.disabled);
const chosen = found[arguments[1] % Math.max(1, found.length)];
chosen?.click();
return Boolean(chosen);
"""
_ENTER = """
const entry = document.getElementById("control-" + arguments[0].replaceAll(".", "-"));
if (!entry) return false;
if (entry.tagName === "SELECT") {
  const option = [...entry.options].find((each) => each.textContent === arguments[1]);
  if (!option) return false;
  entry.value = option.value;
} else entry.value = arguments[1];
entry.dispatchEvent(new Event("change", { bubbles: true }));
return true;
"""
BUTTONS = {
    "undo": "#undo",
    "redo": "#redo",
    "reset": "#reset",
    "pin": "#pin",
    "unpin": "#unpin",
    "cancel": "#cancel, #running-list button",
    "again": "#ask-again",
    "losses": "#ask-losses",
    "theme": "#theme",
    "view": "[role=tab]",
    "half or double": ".step",
    "as the base": ".control button:not(.step)",
    "map": "#map-start, #map-cancel",
    "inverse": "#inverse-start, #inverse-cancel",
    "cell": "#figure-map .mark-rect path",
    "show": "#view-questions button, #figure-cost button",
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = made_once(tmp_path_factory, "explore-small", explore_bases.run_small) / "results" / "small"
    return explore_bases.copied(made, tmp_path_factory.mktemp("random"))


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with chromium(tmp_path_factory.mktemp("chromium"), loopback=True) as driver:
        yield driver


class Truth:
    """What the server says of questions, asked apart from the page."""

    def __init__(self, site: explore_site.Site) -> None:
        self._site = site
        self._digests: dict[str, str] = {}
        self._times: dict[str, float] = {}
        self._base = site.get("/api/state")["baseline"]["digest"]

    def digest(self, question: dict[str, Any] | None) -> str:
        if question is None:
            return self._base
        key = json.dumps(question, sort_keys=True)
        if key not in self._digests:
            self._digests[key] = self._site.post("/api/check", {"question": question})["digest"]
        return self._digests[key]

    def time(self, digest: str) -> float:
        if digest not in self._times:
            self._times[digest] = self._site.get(f"/api/answer/{digest}")["answer"]["time_s"]
        return self._times[digest]

    def check(self, shown: dict[str, Any]) -> bool:
        """Check all that is shown; return whether an answer is."""
        if shown["state"] != "answered":
            assert shown["side"] is None and "digest" not in shown, "what is not answered shows no number"
            return False
        assert shown["question"] == shown["asked"], "the answer is to the question that is shown"
        state = json.loads(unquote(shown["address"])) if shown["address"] else None
        question = json.loads(shown["question"])
        baseline = self.digest(state["b"] if state else None)
        if state:
            assert self.digest(state["q"]) == self.digest(question), "the question is that of the address"
        assert shown["digest"] == self.digest(question) == shown["details"]
        assert shown["baseline"] == baseline, "the baseline is the pinned one"
        assert shown["side"] == (baseline if baseline != shown["digest"] else None)
        assert float(shown["time"]) == self.time(shown["digest"])
        assert float(shown["baselineTime"]) == self.time(baseline)
        return True


def act(browser: Any, chance: random.Random) -> str:
    """Do something; return what it was."""
    if chance.random() < 0.45:
        key = chance.choice(list(VALUES))
        value = chance.choice(VALUES[key])
        browser.execute_script(_ENTER, key, value)
        return f"{key} = {value!r}"
    name = chance.choice(list(BUTTONS))
    done = browser.execute_script(_CLICK, BUTTONS[name], chance.randrange(1000))
    return name if done else f"{name} (not there)"


def until_answered(page: Page, check: Callable[[dict[str, Any]], bool]) -> None:
    """Go back to a question that can be answered, and wait for it."""
    page.browser.execute_script("document.getElementById('reset').click(); document.getElementById('unpin')?.click()")
    assert check(page.answered())


@pytest.mark.long
def test_random_interactions(browser: Any, results: Path) -> None:
    chance = random.Random(SEED)
    done: list[str] = []
    answers = 0
    with explore_site.exploring(results) as site:
        truth = Truth(site)
        page = Page(browser, site.link)
        page.answered()
        browser.get_log("browser")
        for number in range(INTERACTIONS):
            done.append(act(browser, chance))
            # Sometimes the answer is waited for, mostly the page goes on before it.
            if number % 4 == 3:
                page.settled()
            else:
                time.sleep(chance.choice([0.0, 0.02, 0.1]))
            try:
                answers += truth.check(page.shown())
            except AssertionError as error:
                raise AssertionError(
                    f"after {number + 1} interactions, the last of them {done[-8:]}: {error}"
                ) from error
            assert severe(browser) == [], f"after {done[-8:]}"
        until_answered(page, truth.check)
        print(f"{answers} of {INTERACTIONS} looks found an answer; {sum('not there' in each for each in done)} idle")
        assert answers > INTERACTIONS / 10, "looks must find something to check"
        browser.get("about:blank")
    # exploring() has checked that the server ended by itself and left no process behind
