"""What result.json says about its iterations, for tables: whether a point was extrapolated, from what, the error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def extrapolated(document: Mapping[str, Any]) -> bool:
    """Return whether a result was extrapolated from fewer iterations."""
    return bool(document.get("iterations", {}).get("extrapolated", False))


def growth(document: Mapping[str, Any]) -> float:
    """Return the ratio of all iterations to simulated ones: 1 unless the result was extrapolated."""
    return document["iterations"]["of"] / document["iterations"]["simulated"] if extrapolated(document) else 1.0


def columns(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns of a table of points: ``extrapolated``, ``iterations`` (in words), ``extrapolation_s``.

    ``extrapolation_s`` is the half width that the extrapolation adds to the mean makespan [s].
    """
    note = document.get("iterations")
    if not note:
        words = "all"
    elif note["extrapolated"]:
        words = f"{note['simulated']} of {note['of']}, the others extrapolated"
    else:
        words = f"all {note['of']}: {note['reasons']}"
    added = float(note["added_s"]) if note and note["extrapolated"] else 0.0
    return {"extrapolated": extrapolated(document), "iterations": words, "extrapolation_s": added}


def widened(low: float, high: float, mean: float, document: Mapping[str, Any]) -> tuple[float, float]:
    """Return the interval of a mean makespan [s], at least as wide as the extrapolation's own interval.

    Each replica is extrapolated from its own iterations. The interval over the replicas therefore includes their
    uncertainty, as far as a few replicas show it.
    """
    added = columns(document)["extrapolation_s"]
    return min(low, mean - added), max(high, mean + added)
