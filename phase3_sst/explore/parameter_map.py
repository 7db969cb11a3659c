"""A map: the times over two parameters, each cell either simulated or interpolated, and never the one as the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from phase3_sst.explore.axis import Axis, Written
from phase3_sst.explore.surrogate import Surrogate

State = Literal["simulated", "interpolated", "unknown", "refused", "failed"]


_NUMBERS = ("simulated", "asked", "target", "error", "worst", "spread", "good", "finished", "words")


@dataclass(frozen=True)
class Cell:
    """A cell of a map.

    ``simulated``: the answer's time and interval (from its draws), its digest, and ``expected_s``: what the surrogate
    says without this point. ``interpolated``: the surrogate's time with its relative standard ``error``. ``refused``
    and ``failed``: why, in words. ``unknown``: nothing yet. The point of a ``pending`` cell is on its way.
    """

    row: int
    column: int
    x: Written
    y: Written
    state: State
    pending: bool = False
    time_s: float | None = None
    low_s: float | None = None
    high_s: float | None = None
    error: float | None = None
    expected_s: float | None = None
    digest: str | None = None
    words: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the cell for the page."""
        return dict(vars(self))


@dataclass(frozen=True)
class Map:
    """A map in the making, or a finished one; ``cells`` go row by row, and a row has one value of ``y``."""

    x: Axis
    y: Axis
    cells: Sequence[Cell]
    simulated: int  # points of the map that are simulated
    asked: int  # of them, how many were simulated for it
    target: float
    error: float | None  # cross-validated: root mean square of the relative errors of points left out
    worst: float | None  # the largest of them
    spread: float | None  # root mean square of the standard errors of interpolated cells
    good: bool  # both are below the target
    finished: bool
    words: str
    surrogate: Surrogate | None = None

    def ended(self, words: str) -> Map:
        """Return the map as the last one of its search."""
        return replace(self, finished=True, words=words)

    def as_json(self) -> dict[str, Any]:
        """Return the map for the page, without lines and knees."""
        return {
            "x": _axis(self.x),
            "y": _axis(self.y),
            "cells": [cell.as_json() for cell in self.cells],
            **{name: getattr(self, name) for name in _NUMBERS},
        }


def _axis(axis: Axis) -> dict[str, Any]:
    return {
        "keys": list(axis.keys),
        "label": axis.label,
        "kind": axis.kind,
        "scale": axis.scale,
        "values": list(axis.written),
        "numbers": [axis.number(value) for value in axis.written] if axis.ordered else None,
    }
