"""Drop-downs and colours of engines, shared by the figures of a comparison."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from manynode.report.figure import COLOURS, TECHNIQUE_STYLE, in_order


def choice(name: str, label: str, values: Sequence[object], chosen: object) -> alt.Parameter:
    """Return a drop-down parameter over ``values``."""
    return alt.param(name=name, value=chosen, bind=alt.binding_select(options=list(values), name=f"{label} "))


def techniques(names: Sequence[str]) -> list[str]:
    """Return the techniques in their usual order."""
    return in_order(sorted(set(names)), list(TECHNIQUE_STYLE))


def engine_colour(names: Sequence[str], field: str = "engine") -> alt.Color:
    """Return a colour for each engine, or each pair of engines."""
    return alt.Color(
        f"{field}:N",
        legend=alt.Legend(title=None, symbolType="stroke", symbolSize=500, symbolOpacity=1),
        scale=alt.Scale(domain=list(names), range=[COLOURS[index % len(COLOURS)] for index in range(len(names))]),
    )
