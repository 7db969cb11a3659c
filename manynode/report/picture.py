"""A figure as a still picture in the page: what readers see without JavaScript, and until the figure is drawn.

vl-convert draws it as Vega does in the browser, with the first choice of each drop-down list.
"""

from __future__ import annotations

import re

from markupsafe import Markup

from manynode.report.figure import Figure, vega_lite_version

WIDTH = 760  # pixels; pages scale it


def picture(figure: Figure) -> Markup:
    """Return the figure as an SVG element; the same figure gives the same text."""
    import vl_convert

    spec = figure.spec() | {"width": WIDTH}
    svg: str = vl_convert.vegalite_to_svg(spec, vl_version=vega_lite_version())
    svg = re.sub(r' xmlns(:xlink)?="[^"]*"', "", svg)  # HTML has these name spaces
    # Each picture numbers its clip paths and gradients from 0, and a page has all of them.
    svg = re.sub(r'(\bid="|url\(#)', rf"\g<1>{figure.name}-", svg)
    return Markup(svg)  # noqa: S704 - Vega escapes texts; a test has hostile ones
