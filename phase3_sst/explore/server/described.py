"""A control as the page shows it: its bounds in the unit of its key, and the range that is worth a look on a map."""

from __future__ import annotations

import math
from typing import Any

from manynode import units
from phase3_sst.explore.axis import Axis
from phase3_sst.explore.controls import Control

# A map or an inverse question first looks at values from a quarter to four times the present one.
AROUND = 4.0
STEPS = 8
MOST_CHOICES = 24


def described(control: Control) -> dict[str, Any]:
    """Return the control with ``at_least`` and ``at_most`` in words and ``axis``, None where it can be none."""
    return {
        **control.as_json(),
        "at_least": _bound(control, control.least),
        "at_most": _bound(control, control.most),
        "axis": axis_of(control),
    }


def axis_of(control: Control) -> dict[str, Any] | None:
    """Return the suggested axis of a control as :class:`Axis` reads it."""
    if control.kind == "choice":
        choices = [each for each in control.choices if isinstance(each, (str, int, float, bool))]
        return {"kind": "choice", "scale": "linear", "values": choices[:MOST_CHOICES]} if len(choices) > 1 else None
    if control.kind not in ("number", "quantity"):
        return None
    kind = (control.dimension or "") if control.kind == "quantity" else "count" if control.whole else "number"
    # Only for what it says of a kind's values: the range is not used.
    value = control.start if control.start is not None else control.value
    probe = Axis.model_construct(keys=[control.key], kind=kind, scale=control.scale, values=[])  # type: ignore[arg-type]
    try:
        number = probe.number(value)
    except (ValueError, KeyError):
        return (
            {"kind": kind, "scale": control.scale, "n": STEPS}
            if kind in (*units.DIMENSIONS, "count", "number")
            else None
        )
    low, high = (number / AROUND, number * AROUND) if number > 0 else (number, number + 1.0)
    low = max(low, control.least) if control.least is not None else low
    high = min(high, control.most) if control.most is not None else high
    if kind == "count":
        low, high = math.ceil(low), max(math.floor(high), math.ceil(low) + 1)
    return {"kind": kind, "scale": control.scale, "low": probe.text(low), "high": probe.text(high), "n": STEPS}


def _bound(control: Control, bound: float | None) -> str | None:
    if bound is None or not math.isfinite(bound):
        return None
    if control.kind == "quantity" and control.dimension in units.DIMENSIONS:
        return units.render(bound, control.dimension)
    return f"{bound:,.12g}"
