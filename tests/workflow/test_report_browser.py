"""A report in headless Chromium, offline: no console errors, every figure drawn, its data available.

One report of made-up results, which has every figure and hostile names, and one of a run of the demo.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import OF_LOOKS, PATIENCE_S, chromium, needs_chromium, requested, severe, violations

from manynode.report import build_report

ROOT = Path(__file__).resolve().parent.parent.parent

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def fixture_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sys.path.insert(0, str(ROOT / "tests" / "unit"))
    try:
        from report_fixture import write_results
    finally:
        sys.path.pop(0)
    directory = write_results(tmp_path_factory.mktemp("results"))
    build_report(directory, directory / "report.html")
    return directory / "report.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Chromium with an empty profile and no network."""
    with chromium(tmp_path_factory.mktemp("chromium")) as driver:
        yield driver


def open_report(browser: Any, report: Path) -> list[Any]:
    """Open ``report``, wait until its figures are drawn, and return them."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get_log("browser")  # what earlier pages left
    browser.get_log("performance")
    browser.get(report.resolve().as_uri())
    WebDriverWait(browser, PATIENCE_S).until(
        lambda driver: driver.execute_script("return document.documentElement.dataset.figures"),
        "the figures were not drawn in time",
    )
    return list(browser.find_elements(By.CLASS_NAME, "figure"))


def check_report(browser: Any, report: Path, *rules: str) -> list[str]:
    """Check the common content of reports, by ``rules`` of axe-core or all, and return the ids of the figures."""
    from selenium.webdriver.common.by import By

    figures = open_report(browser, report)
    assert severe(browser) == []
    assert "http" not in "".join(requested(browser))
    assert figures, "the report has no figure"
    for figure in figures:
        name = figure.get_attribute("id")
        drawn = figure.find_elements(By.CSS_SELECTOR, ".chart svg, .chart canvas")
        assert len(drawn) == 1, f"{name} is not drawn"
        assert drawn[0].size["width"] > 100 and drawn[0].size["height"] > 40, f"{name} is {drawn[0].size}"
        marks = browser.execute_script("return arguments[0].querySelectorAll('[class*=mark-] path').length", drawn[0])
        assert marks > 0, f"{name} has no marks"
        link = figure.find_element(By.CLASS_NAME, "csv")
        assert link.get_attribute("href").startswith(("blob:", "data:")), f"{name} offers no CSV file"
        assert link.get_attribute("download").endswith(".csv")
        assert not figure.find_element(By.CLASS_NAME, "failure").is_displayed()
    width = browser.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
    assert width[0] <= width[1], "the page is wider than its window"
    assert violations(browser, *rules) == []
    return [str(figure.get_attribute("id")) for figure in figures]


def test_every_figure_of_the_fixture_report_is_drawn(browser: Any, fixture_report: Path) -> None:
    assert len(check_report(browser, fixture_report)) == 12


def test_axe_finds_what_is_wrong(browser: Any) -> None:
    """The other tests' empty lists mean something."""
    browser.get(
        "data:text/html,<title>x</title><main><h1>x</h1><img src='data:,'><p style='color:%23ccc'>pale words</p>"
    )
    assert [found.split(":")[0] for found in violations(browser)] == ["color-contrast", "html-has-lang", "image-alt"]


@pytest.mark.long
def test_the_report_is_readable_in_the_dark(browser: Any, fixture_report: Path) -> None:
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": dark})
    try:
        open_report(browser, fixture_report)
        browser.execute_script("for (const hidden of document.querySelectorAll('.failure')) {"
                               " hidden.hidden = false; hidden.textContent = 'an error'; }")  # fmt: skip
        # Nothing but colours differs from the light report.
        assert violations(browser, *OF_LOOKS) == []
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_without_javascript_the_pictures_and_the_data_are_there(browser: Any, fixture_report: Path) -> None:
    from selenium.webdriver.common.by import By

    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(fixture_report.resolve().as_uri())
        figures = browser.find_elements(By.CLASS_NAME, "figure")
        assert len(figures) == 12
        for figure in figures:
            drawn = figure.find_element(By.CSS_SELECTOR, ".chart > svg")
            assert drawn.size["width"] > 500 and drawn.size["height"] > 40
            figure.find_element(By.CSS_SELECTOR, "details > summary").click()
            assert figure.find_element(By.CSS_SELECTOR, "table tbody td").is_displayed()
            assert not figure.find_element(By.CLASS_NAME, "csv").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_the_demo_report_is_drawn(browser: Any, demo: Path) -> None:
    """The report of a real run of the demo."""
    ids = check_report(browser, demo / "report.html")
    assert {"figure-scaling", "figure-breakdown", "figure-distributions", "figure-patterns", "figure-classes"} <= set(
        ids
    )


def test_the_page_of_a_comparison_is_drawn_and_redrawn(browser: Any, compared: Path) -> None:
    """The page of a real comparison of two engines."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select

    page = compared / "comparison.html"
    names = ["figure-makespans", "figure-differences", "figure-breakdown", "figure-link-loads"]
    assert check_report(browser, page) == names
    assert "fast against simgrid" in browser.find_element(By.ID, "answer").text
    figure = browser.find_element(By.ID, "figure-breakdown")
    before = figure.find_element(By.CSS_SELECTOR, ".chart svg").get_attribute("innerHTML")
    Select(figure.find_elements(By.TAG_NAME, "select")[0]).select_by_index(0)
    assert figure.find_element(By.CSS_SELECTOR, ".chart svg").get_attribute("innerHTML") != before


def test_the_front_page_of_several_is_drawn_and_its_table_sorts(browser: Any, fixture_report: Path) -> None:
    from selenium.webdriver.common.by import By

    from manynode.report.overview import build_overview

    results = fixture_report.parent.parent
    name = fixture_report.parent.name
    build_overview(results, [name, "missing"], results / "index.html")
    assert check_report(browser, results / "index.html") == [f"figure-time-{name}", "figure-efficiency"]
    head = browser.find_elements(By.CSS_SELECTOR, "#table-overview th")[5]
    assert head.text == "time"
    for direction in ("ascending", "descending"):
        head.find_element(By.TAG_NAME, "button").click()
        assert head.get_attribute("aria-sort") == direction
        cells = browser.find_elements(By.CSS_SELECTOR, "#table-overview tbody tr td:nth-child(6)")
        times = [float(cell.get_attribute("data-value")) for cell in cells]
        assert len(times) == 4 and times == sorted(times, reverse=direction == "descending")


def test_hostile_names_do_nothing(browser: Any, fixture_report: Path) -> None:
    from selenium.webdriver.common.by import By

    open_report(browser, fixture_report)
    assert browser.find_elements(By.TAG_NAME, "img") == []
    scripts = browser.execute_script("return [...document.scripts].map((s) => s.type)")
    assert scripts.count("") == 2
    assert "<script>alert(1)</script>" in browser.find_element(By.TAG_NAME, "h1").text


def test_a_drop_down_redraws_its_figure(browser: Any, fixture_report: Path) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select

    open_report(browser, fixture_report)
    for name in ("figure-breakdown", "figure-distributions", "figure-patterns"):
        figure = browser.find_element(By.ID, name)
        before = figure.find_element(By.CSS_SELECTOR, ".chart svg").get_attribute("innerHTML")
        select = Select(figure.find_element(By.TAG_NAME, "select"))
        for index in range(len(select.options)):
            select.select_by_index(index)
        select.select_by_index(1)
        after = figure.find_element(By.CSS_SELECTOR, ".chart svg").get_attribute("innerHTML")
        assert before != after
    assert severe(browser) == []


def test_the_data_is_one_click_away(browser: Any, fixture_report: Path) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    folder = fixture_report.parent / "downloads"
    folder.mkdir()
    open_report(browser, fixture_report)
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})
    figure = browser.find_element(By.ID, "figure-scaling")
    figure.find_element(By.CSS_SELECTOR, "details.data > summary").click()
    wait = WebDriverWait(browser, PATIENCE_S)
    rows = wait.until(lambda _: figure.find_elements(By.CSS_SELECTOR, "details.data tbody tr"), "the table stays empty")
    assert len(rows) == 28

    table, drawing = folder / "scaling.csv", folder / "scaling.svg"
    figure.find_element(By.CLASS_NAME, "csv").click()
    wait.until(lambda _: table.is_file(), "no CSV file was saved")
    lines = table.read_text().splitlines()
    assert lines[0] == "technique,nodes,ranks,replicas,time_s,low_s,high_s"
    assert len(lines) == 29
    figure.find_element(By.CLASS_NAME, "svg").click()
    wait.until(lambda _: drawing.is_file(), "no SVG file was saved")
    assert drawing.read_text().startswith("<svg")


@pytest.mark.long
def test_a_phone_shows_everything_without_sideways_scrolling(browser: Any, fixture_report: Path) -> None:
    phone = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    try:
        check_report(browser, fixture_report, *OF_LOOKS)
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
