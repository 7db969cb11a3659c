"""One figure of a measurement with its verdict, and the reason why a measurement cannot be made here."""

from __future__ import annotations

import shutil
from typing import Any


class Skipped(SystemExit):
    """The host lacks something that the measurement needs; ``str()`` says what, and how to get it.

    ``run.py`` names it and continues. A measurement that runs alone ends with the reason.
    """


def program(name: str, remedy: str) -> str:
    """Return the path of a program on PATH; if it is missing, skip the measurement."""
    path = shutil.which(name)
    if path is None:
        raise Skipped(f"{name} is not on PATH; {remedy}")
    return path


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
