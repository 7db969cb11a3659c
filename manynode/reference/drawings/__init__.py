"""The drawings of the documentation as SVG text; one module per drawing, on the canvas that they share."""

from __future__ import annotations

from manynode.reference.drawings import house, phases, report, rooms


def all_drawings() -> dict[str, str]:
    """Return name -> SVG text of every drawing."""
    return {"phases": phases.draw(), "report": report.draw(), "house": house.draw(), "rooms": rooms.draw()}
