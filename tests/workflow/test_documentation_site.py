"""The documentation site: it builds without a warning; in headless Chromium no link is broken and no figure missing.

``MANYNODE_FUZZ=all`` checks all rules of axe-core on all pages.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from chromium import PATIENCE_S, chromium, needs_chromium, requested, severe, violations

ROOT = Path(__file__).resolve().parent.parent.parent
# The theme gives every page its colours and its frame: all rules of axe-core are checked on every sixth page, and on
# the others those for what an author writes.
ALL_RULES_OF = 1 if os.environ.get("MANYNODE_FUZZ") == "all" else 6
OF_CONTENT = (
    *("image-alt", "svg-img-alt", "object-alt", "link-name", "empty-heading", "heading-order", "page-has-heading-one"),
    *("list", "listitem", "definition-list", "dlitem", "duplicate-id-aria", "valid-lang", "document-title"),
    *("td-headers-attr", "th-has-data-cells", "table-duplicate-name", "empty-table-header", "scope-attr-valid"),
    *("summary-name", "scrollable-region-focusable"),
)
# What readers search, and the page that answers.
ANSWERS = {
    "bisection": "set-up-a-network.html",
    "trace": "limits.html",
    "timeline": "limits.html",
    "GPU": "limits.html",
    "cite": "index.html",
    "docker": "install.html",
}
# Sites that pages may link to; the test reaches none of them.
ELSEWHERE = {"doi.org", "sst-simulator.org", "www.gem5.org", "squidfunk.github.io", "jinja.palletsprojects.com"}


class _Places(HTMLParser):
    """Collects the possible targets in a page."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def handle_starttag(self, _tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.names |= {value for key, value in attributes if key in ("id", "name") and value}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site as ``make site`` does."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr + done.stdout
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with chromium(tmp_path_factory.mktemp("chromium")) as driver:
        yield driver


def pages(site: Path) -> list[Path]:
    """Return the pages of the site; 404.html is for servers and has absolute links."""
    return sorted(path for path in site.rglob("*.html") if path.name != "404.html")


def test_every_page_of_the_documentation_is_built(site: Path) -> None:
    built = {str(path.relative_to(site).with_suffix("")) for path in pages(site)}
    written = {str(path.relative_to(ROOT / "docs").with_suffix("")) for path in (ROOT / "docs").rglob("*.md")}
    assert built == written


def check_widths(browser: Any, name: Path) -> None:
    """The page is no wider than the window of the browser, nor than a phone."""
    phone = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    sizes = "return [document.documentElement.scrollWidth, window.innerWidth]"
    page, window = browser.execute_script(sizes)
    assert page <= window, name
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    try:
        page, window = browser.execute_script(sizes)
        assert page <= window == phone["width"], name
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.long
@needs_chromium
def test_no_link_is_broken_no_figure_missing_no_page_too_wide_and_nothing_fails(browser: Any, site: Path) -> None:
    places: dict[Path, set[str]] = {}
    for page in pages(site):
        parser = _Places()
        parser.feed(page.read_text(encoding="utf-8"))
        places[page] = parser.names
    broken, figures, hosts = [], 0, set()
    for number, page in enumerate(places):
        name = page.relative_to(site)
        browser.get(page.as_uri())
        assert severe(browser) == [], f"errors on {name}"
        assert requested(browser) == [], f"{name} asks other hosts"
        # axe-core needs seconds for the long generated pages, whose tables are like those of other pages.
        if page.stat().st_size < 150_000:
            assert violations(browser, *(() if number % ALL_RULES_OF == 0 else OF_CONTENT)) == [], name
        for href in browser.execute_script("return [...document.querySelectorAll('a[href]')].map((a) => a.href)"):
            parts = urlsplit(href)
            if parts.scheme in ("http", "https"):
                hosts.add(parts.hostname)
                continue
            target = Path(unquote(parts.path))
            if target not in places or (parts.fragment and unquote(parts.fragment) not in places[target]):
                broken.append(f"{name}: {href}")
        drawn = browser.execute_script(
            "return [...document.querySelectorAll('article img')].map((i) => [i.src, i.complete && i.naturalWidth])"
        )
        assert [source for source, width in drawn if not width] == [], f"figures missing on {name}"
        figures += len(drawn)
        check_widths(browser, name)
    assert broken == []
    assert figures >= 3
    assert hosts <= ELSEWHERE


@needs_chromium
def test_the_search_finds_a_page_from_the_file_system(browser: Any, site: Path) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get((site / "concepts" / "index.html").as_uri())
    browser.find_element(By.CSS_SELECTOR, "label.md-header__button[for=__search]")
    browser.execute_script("document.getElementById('__search').click()")
    field = browser.find_element(By.CSS_SELECTOR, ".md-search__input")
    for word, page in ANSWERS.items():
        browser.execute_script("arguments[0].value = ''", field)
        field.send_keys(word)
        WebDriverWait(browser, PATIENCE_S).until(
            lambda driver, page=page: any(
                urlsplit(link).path.endswith(page)
                for link in driver.execute_script(
                    "return [...document.querySelectorAll('.md-search-result__item a')].map((link) => link.href)"
                )
            ),
            f"a search for {word} does not find {page}",
        )
    assert severe(browser) == []
