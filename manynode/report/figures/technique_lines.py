"""The axis of nodes and the look of the four techniques, shared by the figures over nodes."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from manynode.report.figure import COLOURS, PALE, TECHNIQUE_STYLE, in_order


def nodes_axis(nodes: pd.Series[int]) -> alt.X:
    """Return a base-2 logarithmic axis with a tick at each projected node count."""
    values = sorted({int(n) for n in nodes})
    low, high = values[0], values[-1]
    domain = [low, high] if high > low else [low / 2, high * 2]
    return alt.X(
        "nodes:Q",
        title="nodes",
        scale=alt.Scale(type="log", base=2, domain=domain, nice=False, padding=12),
        axis=alt.Axis(values=values, format="d", grid=False, labelOverlap=True),
    )


def technique_channels(names: list[str]) -> dict[str, Any]:
    """Return colour and dash for the techniques that are there, with one common legend."""
    present = in_order(sorted(set(names)), list(TECHNIQUE_STYLE))
    styles = [TECHNIQUE_STYLE.get(name, (COLOURS[-1], [6, 2])) for name in present]
    legend = alt.Legend(title=None, symbolType="stroke", symbolSize=500, symbolOpacity=1)
    return {
        "color": alt.Color(
            "technique:N", legend=legend, scale=alt.Scale(domain=present, range=[colour for colour, _ in styles])
        ),
        "strokeDash": alt.StrokeDash(
            "technique:N", legend=legend, scale=alt.Scale(domain=present, range=[dash for _, dash in styles])
        ),
    }


def technique_fill(names: list[str]) -> alt.Color:
    """Return the techniques' colours for filled marks: paler without external ranks."""
    present = in_order(sorted(set(names)), list(TECHNIQUE_STYLE))
    styles = [TECHNIQUE_STYLE.get(name, (COLOURS[-1], [])) for name in present]
    colours = [
        colour if name.startswith("ext") else PALE.get(colour, colour)
        for name, (colour, _) in zip(present, styles, strict=True)
    ]
    return alt.Color("technique:N", legend=alt.Legend(title=None), scale=alt.Scale(domain=present, range=colours))
