"""Headless Chromium for tests of pages: an empty profile, no network, or the loopback address and nothing else."""

from __future__ import annotations

import importlib.resources
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
PATIENCE_S = 60
# The rules of axe-core whose outcome depends on colours and on the width of the window.
OF_LOOKS = ("color-contrast", "link-in-text-block", "scrollable-region-focusable")

needs_chromium = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None,
    reason="chromium or chromedriver is not installed (apt: chromium chromium-driver)",
)


@contextmanager
def chromium(profile: Path, *, loopback: bool = False) -> Iterator[Any]:
    """Yield a browser with the empty folder ``profile``; it can reach no host, or 127.0.0.1 alone."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for argument in (
        "--headless=new",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-dev-shm-usage",
        # every host name is unknown, whatever the machine's network would say
        "--host-resolver-rules=MAP * ~NOTFOUND" + (", EXCLUDE 127.0.0.1" if loopback else ""),
        # whatever is not on the loopback address is asked of a proxy that does not exist
        *(["--proxy-server=http://127.0.0.1:1"] if loopback else []),
        "--window-size=1100,900",
        f"--user-data-dir={profile}",
        *(["--no-sandbox"] if os.geteuid() == 0 else []),
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
    driver.execute_cdp_cmd("Network.enable", {})
    if not loopback:
        driver.execute_cdp_cmd(
            "Network.emulateNetworkConditions",
            {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1},
        )
    try:
        yield driver
    finally:
        driver.quit()


def violations(browser: Any, *only: str) -> list[str]:
    """Return the rules of axe-core that the page breaks, each with the elements that break it; ``only`` some."""
    # The package is there for its copy of axe-core; its Python part drives a browser that no test uses.
    axe = importlib.resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    browser.set_script_timeout(PATIENCE_S)
    browser.execute_script(axe)
    return list(
        browser.execute_async_script(
            "const [options, done] = arguments;"
            # No preload: pages of the file system may not load their styles again.
            "axe.run({ resultTypes: ['violations'], preload: false, ...options }).then((found) =>"
            " done(found.violations.map((rule) =>"
            " `${rule.id}: ${rule.help}: ${rule.nodes.map((node) => node.target.join(' ')).join(', ')}`)),"
            " (error) => done([String(error)]))",
            {"runOnly": only} if only else {},
        )
    )


def severe(browser: Any) -> list[str]:
    """Return the errors in the browser's console since the last call."""
    return [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


def requested(browser: Any) -> list[str]:
    """Return the addresses outside the file system that pages asked for since the last call."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    return [url for url in sent if not url.startswith(("data:", "blob:", "file:", "chrome:", "about:"))]
