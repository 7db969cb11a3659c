"""One figure of a measurement with its verdict."""

from __future__ import annotations

from typing import Any


def figure(name: str, value: float, unit: str, target: float | None, comparison: str | None) -> dict[str, Any]:
    """Return one figure with its verdict."""
    holds = target is None or (value <= target if comparison == "<=" else value >= target)
    return {
        "name": name,
        "value": value,
        "unit": unit,
        "target": target,
        "comparison": comparison,
        "holds": holds,
    }
