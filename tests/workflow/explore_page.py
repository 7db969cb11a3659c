"""The page of explore in a browser: what it shows, and how a person works with it."""

from __future__ import annotations

import time
from typing import Any

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

PATIENCE_S = 120

# One look at everything that must belong together; a script is not interrupted.
_SHOWN = """
const card = document.getElementById("card");
const side = card.querySelector(".answer.baseline");
return {
  ...card.dataset,
  asked: document.getElementById("controls").dataset.question,
  side: side ? side.dataset.digest : null,
  details: document.getElementById("details").dataset.digest ?? null,
  address: location.hash.slice(1),
};
"""


# Notes when Enter is pressed and when the card has another answer, by the page's own clock: asking the page again and
# again from outside takes a good part of a core.
_WATCH = """
const card = document.getElementById("card"), before = card.dataset.digest;
window.entered = window.shown = null;
addEventListener("keydown", (event) => {
  if (event.key === "Enter") window.entered ??= performance.now();
}, true);
new MutationObserver((_changes, observer) => {
  if (card.dataset.state !== "answered" || card.dataset.digest === before) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => (window.shown = performance.now())));
}).observe(card, { attributes: true });
"""


class Page:
    """The page in ``browser``."""

    def __init__(self, browser: Any, link: str) -> None:
        self.browser = browser
        browser.get(link)
        self.until(
            lambda: browser.execute_script("return document.documentElement.dataset.ready"), "the page is not ready"
        )

    def until(self, done: Any, words: str, patience_s: float = PATIENCE_S) -> Any:
        """Wait until ``done`` returns something true, and return it."""
        end = time.monotonic() + patience_s
        while time.monotonic() < end:
            if found := done():
                return found
            time.sleep(0.1)
        raise AssertionError(f"{words}: {self.shown()}, {self.text('banner')}")

    def shown(self) -> dict[str, Any]:
        return self.browser.execute_script(_SHOWN)

    def settled(self, patience_s: float = PATIENCE_S) -> dict[str, Any]:
        """Wait until the question is answered, refused or cancelled; return what is shown."""

        def done() -> dict[str, Any] | None:
            shown = self.shown()
            return shown if shown["state"] not in ("empty", "pending") and shown["question"] == shown["asked"] else None

        return self.until(done, "no answer", patience_s)

    def answered(self, patience_s: float = PATIENCE_S) -> dict[str, Any]:
        shown = self.settled(patience_s)
        assert shown["state"] == "answered", self.text("card")
        return shown

    def text(self, name: str) -> str:
        return str(self.browser.find_element(By.ID, name).text)

    def find(self, name: str) -> Any:
        return self.browser.find_element(By.ID, name)

    def click(self, name: str) -> None:
        """Click as a person does; what is out of sight is scrolled into it."""
        element = self.find(name)
        self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def control(self, key: str) -> Any:
        """Return the entry of a key, in sight."""
        element = self.find("control-" + key.replace(".", "-"))
        self.browser.execute_script(
            "for (let fold = arguments[0].closest('details'); fold; fold = fold.parentElement.closest('details'))"
            " fold.open = true; arguments[0].scrollIntoView({block: 'center'})",
            element,
        )
        return element

    def enter(self, key: str, value: str) -> None:
        """Type a value into the control of ``key`` and leave it with Enter, or choose it."""
        element = self.control(key)
        if element.tag_name == "select":
            Select(element).select_by_visible_text(value)
            return
        element.send_keys(Keys.CONTROL, "a")
        element.send_keys(value, Keys.ENTER)

    def seconds_to(self, key: str, value: str) -> float:
        """Return the seconds from entering a value to the painted answer, by the page's clock."""
        self.browser.execute_script(_WATCH)
        self.enter(key, value)
        end = time.monotonic() + PATIENCE_S
        while (took := self.browser.execute_script("return window.shown && window.shown - window.entered")) is None:
            assert time.monotonic() < end, self.shown()
            time.sleep(0.5)
        return float(took) / 1000

    def fill(self, name: str, value: str) -> None:
        """Put a value into a field of a form."""
        element = self.find(name)
        if element.tag_name == "select":
            Select(element).select_by_value(value)
            return
        element.send_keys(Keys.CONTROL, "a")
        element.send_keys(value)

    def view(self, name: str) -> None:
        self.click(f"tab-{name}")

    def drawn(self, name: str) -> None:
        """Wait until a figure is drawn and has marks."""
        script = (
            "const figure = document.getElementById(arguments[0]);"
            "return figure?.dataset.drawn === 'yes' && figure.querySelectorAll('[class*=mark-] path').length > 0"
        )
        self.until(lambda: self.browser.execute_script(script, f"figure-{name}"), f"figure {name} is not drawn", 30)

    def widths(self) -> tuple[int, int]:
        """Return the width of the page and of its window."""
        script = "return [document.documentElement.scrollWidth, window.innerWidth]"
        page, window = self.browser.execute_script(script)
        return page, window
