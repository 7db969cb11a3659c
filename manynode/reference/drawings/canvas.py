"""A canvas for drawings of boxes, arrows and text: coordinates in pixels in, SVG text out.

Drawings stand on a light card of their own: they can be read on light and on dark pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

INK, SOFT, LINE, CARD = "#1f2937", "#4b5563", "#9ca3af", "#fbfbfd"
BLUE, GREEN, AMBER, VIOLET, GREY = "#dbe7fb", "#d9f0e1", "#fdebc8", "#e8dff6", "#eef0f3"
EDGES = {BLUE: "#3f6fc4", GREEN: "#2f8a57", AMBER: "#b7791f", VIOLET: "#7a55b3", GREY: "#8b95a3"}
_FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Arial, sans-serif"


class Canvas:
    """An SVG drawing of ``width`` x ``height`` pixels; ``title`` is its text for readers that see no pictures."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self._head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" role="img" font-family="{escape(_FONT)}">\n<title>{escape(title)}</title>\n'
            '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" '
            f'orient="auto-start-reverse"><path d="M0 1 L9 5 L0 9 z" fill="{SOFT}"/></marker></defs>\n'
        )
        self._parts: list[str] = []
        self.rectangle(1, 1, width - 2, height - 2, CARD, edge="#d5d9e0", radius=12)

    def rectangle(
        self, x: float, y: float, width: float, height: float, fill: str, *, edge: str = "", radius: float = 8
    ) -> None:
        """Draw a box; ``edge`` is the colour of its border, by default the one that goes with ``fill``."""
        self._parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius:g}" fill="{fill}" '
            f'stroke="{edge or EDGES.get(fill, LINE)}" stroke-width="1.5"/>'
        )

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: int = 14,
        bold: bool = False,
        colour: str = INK,
        at: str = "start",
    ) -> None:
        """Write one line; ``at`` is start, middle or end of the line, which is put at ``x``."""
        weight = ' font-weight="600"' if bold else ""
        anchor = "" if at == "start" else f' text-anchor="{at}"'
        self._parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size}"{weight}{anchor} fill="{colour}">{escape(words)}</text>'
        )

    def lines(self, x: float, y: float, words: Sequence[str], *, size: int = 13, colour: str = SOFT) -> None:
        """Write several lines beneath each other."""
        for number, line in enumerate(words):
            self.text(x, y + number * (size + 6), line, size=size, colour=colour)

    def arrow(self, points: Sequence[tuple[float, float]], *, dashed: bool = False) -> None:
        """Draw an arrow along ``points``."""
        path = " L".join(f"{x:g} {y:g}" for x, y in points)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self._parts.append(
            f'<path d="M{path}" fill="none" stroke="{SOFT}" stroke-width="1.8"{dash} marker-end="url(#head)"/>'
        )

    def line(self, points: Sequence[tuple[float, float]], *, colour: str = LINE, width: float = 1.5) -> None:
        """Draw a line along ``points``."""
        path = " L".join(f"{x:g} {y:g}" for x, y in points)
        self._parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="{width:g}"/>')

    def svg(self) -> str:
        """Return the drawing as SVG text."""
        return self._head + "\n".join(self._parts) + "\n</svg>\n"
