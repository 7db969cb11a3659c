"""The drop-down of node counts that figures at one node count share."""

from __future__ import annotations

import altair as alt
import pandas as pd


def node_choice(name: str, nodes: pd.Series[int]) -> alt.Parameter:
    """Return a drop-down parameter over the projected node counts; the largest is chosen."""
    values = sorted({int(n) for n in nodes})
    return alt.param(name=name, value=values[-1], bind=alt.binding_select(options=values, name="nodes "))
