"""Explore in headless Chromium, on the demo and on a small base: what a person does, and that the numbers are right."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import explore_bases
import explore_site
import pandas as pd
import pytest
from chromium import OF_LOOKS, chromium, needs_chromium, requested, severe, violations
from conftest import made_once
from explore_page import Page

pytestmark = needs_chromium

ROOT = Path(__file__).resolve().parent.parent.parent
# The pictures of docs/how-to/explore.md; with MANYNODE_PICTURES=1 in the environment this test makes them.
PICTURES = ROOT / "docs" / "assets"
WINDOW = (1200, 1000)
# Values on each axis of the map, and the most cells to simulate.
LARGE = bool(os.environ.get("MANYNODE_PICTURES")) or os.environ.get("MANYNODE_FUZZ") == "all"
SIDE, MOST = (8, 20) if LARGE else (4, 12)
KEY = "network.link.bandwidth"
BOTH = "network.link.bandwidth+network.host.nic_bandwidth"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with chromium(tmp_path_factory.mktemp("chromium"), loopback=True) as driver:
        driver.set_window_size(*WINDOW)
        yield driver


@pytest.fixture(scope="module")
def demo_site(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[explore_site.Site]:
    with explore_site.exploring(explore_bases.copied(demo, tmp_path_factory.mktemp("demo-explored"))) as site:
        yield site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[explore_site.Site]:
    made = made_once(tmp_path_factory, "explore-small", explore_bases.run_small) / "results" / "small"
    with explore_site.exploring(explore_bases.copied(made, tmp_path_factory.mktemp("small"))) as running:
        yield running


@pytest.fixture
def quiet(browser: Any) -> Iterator[Any]:
    """A browser whose console stays without errors, and which asks nobody but the server."""
    severe(browser)
    requested(browser)
    yield browser
    assert severe(browser) == []
    assert [url for url in requested(browser) if not url.startswith("http://127.0.0.1:")] == []


def picture(page: Page, name: str) -> None:
    """Take the picture ``name`` of the documentation, or compare its size with the one that is there."""
    page.browser.execute_script("document.activeElement?.blur(); scrollTo(0, 0)")
    time.sleep(0.3)
    taken, kept = page.browser.get_screenshot_as_png(), PICTURES / f"explore-{name}.png"
    if os.environ.get("MANYNODE_PICTURES"):
        kept.write_bytes(taken)
    shape = kept.read_bytes()[16:24]
    assert shape == taken[16:24], f"{kept} has another size: make it again with MANYNODE_PICTURES=1"


def projection(results: Path) -> pd.DataFrame:
    return pd.read_parquet(results / "projection.parquet").set_index(["technique", "nodes"])


def test_the_browser_of_this_test_reaches_the_loopback_address_alone(browser: Any) -> None:
    from selenium.common.exceptions import WebDriverException

    for address in ("http://192.0.2.1/", "http://manynode.example/", "http://127.0.0.2:8099/"):
        with pytest.raises(WebDriverException, match="ERR_"):
            browser.get(address)


def test_the_demo_is_explored_and_the_bandwidth_changed(quiet: Any, demo_site: explore_site.Site, demo: Path) -> None:
    """Bar 1: the answer for 64 nodes beside the baseline, and its numbers are those of the tables."""
    page = Page(quiet, demo_site.link)
    assert "token" not in quiet.current_url
    first = page.answered()
    own = projection(demo).loc[("ext-var", 64)]
    assert float(first["time"]) == own["time_s"] and first["digest"] == first["baseline"]
    print(f"answer for 64 nodes shown after {page.seconds_to(KEY, '50 Gbit/s'):.2f} s")
    changed = page.answered()
    assert changed["digest"] != first["digest"] == changed["baseline"] == changed["side"]
    answer = demo_site.get(f"/api/answer/{changed['digest']}")
    table = projection(Path(answer["answer"]["results"])).loc[("ext-var", 64)]
    assert float(changed["time"]) == answer["answer"]["time_s"] == table["time_s"]
    assert float(changed["baselineTime"]) == own["time_s"]
    # Half the bandwidth costs the demo less than 1 %.
    assert answer["paired"]["settled"] and answer["paired"]["verdict"] == "irrelevant"
    assert "No difference that matters" in page.text("card") and "slower than the baseline" in page.text("card")
    for figure in ("breakdown", "links"):
        page.drawn(figure)
    picture(page, "answer")


def test_undo_redo_and_the_link_restore_the_question(quiet: Any, demo_site: explore_site.Site) -> None:
    page = Page(quiet, demo_site.link)
    first = page.answered()
    page.enter(KEY, "50 Gbit/s")
    second = page.answered()
    address = quiet.current_url
    page.click("undo")
    assert page.answered()["digest"] == first["digest"]
    page.click("redo")
    assert page.answered()["digest"] == second["digest"]
    page.click("pin")
    page.until(lambda: page.shown().get("baseline") == second["digest"], "the pinned baseline is not shown")
    quiet.get("about:blank")
    quiet.get(address)
    again = page.answered()
    assert (again["digest"], again["baseline"]) == (second["digest"], first["digest"])
    page.click("unpin") if page.find("unpin").is_enabled() else None
    demo_site.post("/api/pin", {"digest": None})


@pytest.mark.long
def test_a_large_point_shows_its_progress_and_can_be_cancelled(quiet: Any, demo_site: explore_site.Site) -> None:
    page = Page(quiet, demo_site.link)
    page.answered()
    page.enter("network", "opa100-fat-tree-4608")
    page.settled()
    page.enter("nodes", "4096")
    row = page.until(lambda: quiet.find_elements("css selector", "#running-list li"), "nothing runs")[0]
    assert "4096 nodes" in row.text
    page.until(
        lambda: quiet.execute_script("return document.querySelector('#running-list progress')?.position > 0"),
        "no progress is shown",
    )
    page.until(lambda: demo_site.left(), "no process simulates")
    page.click("cancel")
    assert page.settled(30)["state"] == "cancelled"
    page.until(lambda: not page.find("running").is_displayed(), "it is still said to run", 30)
    assert demo_site.get("/api/state")["running"] == []
    # the fork server alone stays
    page.until(lambda: len(demo_site.left()) <= 1, f"processes are left: {demo_site.left()}", 30)
    page.click("undo")
    page.settled()


@pytest.mark.long
def test_a_map_fills_itself_and_marks_what_is_interpolated(quiet: Any, demo_site: explore_site.Site) -> None:
    """4 x 4 cells from at most 12 simulated points, with an error below 2 %.

    8 x 8 from at most 20 (bar 1) with the pictures and ``MANYNODE_FUZZ=all``; test_explore_map.py has them always.
    """
    page = Page(quiet, demo_site.link)
    page.answered()
    page.enter("nodes", "8")
    page.answered()
    page.view("map")
    page.fill("map-x-key", KEY)
    page.fill("map-x-low", "5 Gbit/s")
    page.fill("map-y-key", "network.link.latency")
    page.fill("map-x-n", str(SIDE))
    page.fill("map-y-n", str(SIDE))
    page.fill("map-most", str(MOST))
    page.click("map-start")
    result = page.find("map-result")
    page.until(lambda: result.get_attribute("data-state") == "finished", "the map is not finished", 300)
    simulated, error = int(result.get_attribute("data-simulated")), float(result.get_attribute("data-error"))
    print(f"map: {simulated} cells simulated, cross-validated error {error:.2%}")
    assert int(result.get_attribute("data-asked")) <= MOST and error < 0.02
    page.drawn("map")
    rows = quiet.execute_script(
        "return [...document.querySelectorAll('#figure-map table tbody tr')].map((row) =>"
        " [...row.cells].map((cell) => cell.textContent))"
    )
    kinds = [row[2] for row in rows]
    assert len(rows) == SIDE**2 > simulated == kinds.count("simulated")
    assert kinds.count("interpolated") == len(rows) - simulated
    assert all((row[5] == "") == (row[2] == "simulated") for row in rows), "an interpolated time comes with its error"
    rings = quiet.execute_script(
        "return [...document.querySelectorAll('#figure-map .mark-symbol path')]"
        ".filter((path) => path.getAttribute('stroke') === '#111111').length"
    )
    assert rings == simulated, "each simulated cell has a ring, and no other cell"
    quiet.set_window_size(WINDOW[0], 1500)
    picture(page, "map")
    quiet.set_window_size(*WINDOW)


@pytest.mark.long
def test_an_inverse_question_is_answered_with_its_interval(quiet: Any, site: explore_site.Site) -> None:
    page = Page(quiet, site.link)
    page.answered()
    page.view("inverse")
    page.fill("inverse-a-key", BOTH)
    page.fill("inverse-a-low", "1 Gbit/s")
    page.fill("inverse-value", "5")
    page.fill("inverse-most", "6")
    page.click("inverse-start")
    result = page.find("inverse-result")
    page.until(lambda: result.get_attribute("data-state") in ("finished", "failed"), "no answer", 200)
    assert result.get_attribute("data-state") == "finished", result.text
    said = page.text("inverse-answer")
    assert "least bandwidth and nic_bandwidth" in said and "between" in said and "Gbit/s" in said, said
    for part in ("missed at", "kept at", "what binds"):
        assert part in result.text.lower()
    page.drawn("inverse")
    picture(page, "inverse")


@pytest.mark.long
def test_the_waterfall_is_shown_on_demand_and_adds_up(quiet: Any, site: explore_site.Site) -> None:
    page = Page(quiet, site.link)
    page.answered()
    page.click("ask-losses")
    shown = page.answered()
    page.drawn("losses")
    losses = site.get(f"/api/answer/{shown['digest']}")["answer"]["losses"]
    assert sum(row["seconds"] for row in losses) == pytest.approx(float(shown["time"]), rel=1e-9)
    parts = quiet.execute_script(
        "return [...document.querySelectorAll('#figure-losses tbody tr')].map((row) => row.cells[0].textContent)"
    )
    assert parts == [row["part"] for row in losses] and "contention" in parts


def test_a_page_that_was_hidden_shows_what_has_happened(quiet: Any, site: explore_site.Site) -> None:
    """Events are missed while nobody looks, also those of the question that the page waits for."""
    page = Page(quiet, site.link)
    page.answered()
    hide = (
        "Object.defineProperty(document, 'visibilityState', { value: arguments[0], configurable: true });"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
    quiet.execute_script(hide, "hidden")
    page.enter(KEY, "17 Gbit/s")
    page.until(lambda: page.shown()["state"] == "pending", "nothing is asked")
    page.until(lambda: site.get("/api/state")["running"] == [], "it does not end")
    time.sleep(0.5)
    assert page.shown()["state"] == "pending", "a hidden page hears nothing"
    quiet.execute_script(hide, "visible")
    assert page.answered(30)["digest"]


def test_cost_and_the_list_of_questions_follow_every_answer(quiet: Any, site: explore_site.Site) -> None:
    page = Page(quiet, site.link)
    page.answered()
    page.view("cost")
    figure = page.find("cost-figure")
    page.until(lambda: figure.get_attribute("data-rows"), "no cost is shown")
    page.drawn("cost")
    before = int(figure.get_attribute("data-rows"))
    page.enter(BOTH, "33 Gbit/s")
    asked = json.loads(page.answered()["question"])["changes"]
    assert {key: asked[key] for key in BOTH.split("+")} == dict.fromkeys(BOTH.split("+"), "33 Gbit/s")
    page.until(lambda: int(figure.get_attribute("data-rows")) == before + 1, "the new answer has no cost", 30)
    page.view("questions")
    page.until(lambda: "33 Gbit/s" in page.text("view-questions"), "the question is not listed", 30)
    # The list is drawn again at any moment, but not while somebody writes in it.
    quiet.execute_script("document.querySelector('#view-questions tbody tr input.note').focus()")
    quiet.switch_to.active_element.send_keys("a note <b>as text</b>")
    page.click("tab-answer")
    page.until(lambda: any(entry["note"] for entry in site.get("/api/questions")["questions"]), "the note is lost", 30)
    page.view("questions")
    values = "return [...document.querySelectorAll('input.note')].map((input) => input.value)"
    page.until(lambda: "a note <b>as text</b>" in quiet.execute_script(values), "the note is not shown", 30)


def test_what_is_wrong_is_said_at_the_control(quiet: Any, site: explore_site.Site) -> None:
    page = Page(quiet, site.link)
    page.answered()
    for key, value, words in ((KEY, "fast", "quantity"), (KEY, "1 bit/s", ""), ("nodes", "99999", "fit")):
        page.enter(key, value)
        assert page.settled()["state"] == "refused"
        entry = page.control(key)
        assert entry.get_attribute("aria-invalid") == "true"
        problem = page.find(f"{entry.get_attribute('id')}-problem").text
        assert "Not possible" in problem and words in problem, problem
        page.click("undo")
        page.answered()
        assert page.control(key).get_attribute("aria-invalid") is None


def test_the_exported_experiment_is_the_question(quiet: Any, site: explore_site.Site, tmp_path: Path) -> None:
    page = Page(quiet, site.link)
    page.answered()
    page.enter(KEY, "44 Gbit/s")
    shown = page.answered()
    quiet.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    for button, ending in (("export-experiment", "yaml"), ("export-page", "html")):
        page.click(button)
        file = page.until(lambda: next(tmp_path.glob(f"*.{ending}"), None), f"no {ending} file")  # noqa: B023
        assert "44 Gbit/s" in file.read_text() or "5500000000" in file.read_text()
        assert shown["digest"][:12] in file.name


def test_everything_has_a_name_and_the_keyboard_is_enough(quiet: Any, site: explore_site.Site) -> None:
    from selenium.webdriver.common.keys import Keys

    page = Page(quiet, site.link)
    page.answered()
    for view in ("answer", "map", "inverse", "cost", "questions"):
        page.view(view)
        nameless = quiet.execute_script(
            "return [...document.querySelectorAll('input, select, textarea, button, summary')].filter((each) =>"
            " each.offsetParent && !each.labels?.length && !each.getAttribute('aria-label') &&"
            " !each.textContent.trim()).map((each) => each.outerHTML)"
        )
        assert nameless == [], view
        assert violations(quiet) == [], view
    # tabs follow the arrow keys, and the one that is chosen says so
    page.find("tab-questions").send_keys(Keys.ARROW_RIGHT)
    assert page.find("tab-answer").get_attribute("aria-selected") == "true"
    assert quiet.switch_to.active_element.get_attribute("id") == "tab-answer"
    outline = "return getComputedStyle(document.activeElement).outlineStyle"
    assert quiet.execute_script(outline) == "solid", "the focus is visible"
    # from the entry to its buttons with the tabulator, and by space a question is asked
    before = page.answered()
    page.control(KEY).send_keys(Keys.TAB)
    assert "halve" in quiet.switch_to.active_element.get_attribute("aria-label")
    quiet.switch_to.active_element.send_keys(Keys.SPACE)
    page.until(lambda: page.shown().get("digest") not in (None, before["digest"]), "no other question is asked")
    assert page.answered()["digest"] != before["digest"]
    assert page.find("said").get_attribute("aria-live") == "polite" and "answer" in quiet.execute_script(
        "return document.getElementById('said').textContent"
    )


@pytest.mark.long
def test_a_phone_shows_every_view_without_sideways_scrolling_in_light_and_dark(
    quiet: Any, site: explore_site.Site
) -> None:
    phone = {"width": 400, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    quiet.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    try:
        page = Page(quiet, site.link)
        page.answered()
        for theme in ("dark", "light"):
            colours = quiet.execute_script("return getComputedStyle(document.body).backgroundColor")
            page.click("theme")
            assert quiet.execute_script("return getComputedStyle(document.body).backgroundColor") != colours, theme
            for view in ("answer", "map", "inverse", "cost", "questions"):
                page.view(view)
                time.sleep(0.2)
                width, window = page.widths()
                assert width <= window == 400, f"{view} is {width} wide"
                # The test of names has looked at the light theme, on a wide window.
                assert theme == "light" or violations(quiet, *OF_LOOKS) == [], view
    finally:
        quiet.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_two_pages_see_one_store(quiet: Any, site: explore_site.Site) -> None:
    """What another page asks appears in the list, and its answer is there without a simulation."""
    page = Page(quiet, site.link)
    page.answered()
    question = {"changes": {KEY: "22 Gbit/s"}, "nodes": 8, "technique": "ext-var", "losses": False}
    other = site.answered(question, tab="another0tab")
    page.view("questions")
    page.until(lambda: "22 Gbit/s" in page.text("view-questions"), "the other page's question is not listed", 30)
    state = {"v": 1, "q": question, "b": None, "view": "answer", "map": None, "inverse": None, "prices": None}
    quiet.execute_script("location.hash = encodeURIComponent(arguments[0])", json.dumps(state))
    assert page.answered()["digest"] == other["digest"]
