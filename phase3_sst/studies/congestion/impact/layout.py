"""Which nodes of the machine application and congestor have in the four settings of Zhang et al., figure 2.

The list has 3 N nodes. I, continuous: the application on its first N. II, spaced: on every other one of the first 2 N.
III: as I, the congestor on every other one of the 2 N behind it. IV: as II, the congestor on the nodes between. A
rotation shifts both along the list (figure 3).
"""

from __future__ import annotations

from dataclasses import dataclass

SETTINGS = ("I", "II", "III", "IV")
NAMES = {"I": "continuous", "II": "spaced", "III": "continuous, congestor", "IV": "spaced, congestor"}
CONGESTED = ("III", "IV")


@dataclass(frozen=True)
class Layout:
    """Nodes of the machine; ``congestor`` is empty where there is none."""

    application: list[int]
    congestor: list[int]


def layout(setting: str, nodes: int, rotation: int, rotations: int, first_node: int = 0) -> Layout:
    """Return the nodes of a setting with N = ``nodes``, in rotation 0 to ``rotations`` - 1."""
    length = 3 * nodes
    shift = rotation * length // rotations

    def on_machine(places: range) -> list[int]:
        return [first_node + (place + shift) % length for place in places]

    spaced = setting in ("II", "IV")
    application = range(0, 2 * nodes, 2) if spaced else range(nodes)
    between = range(1, 2 * nodes, 2) if spaced else range(nodes, length, 2)
    return Layout(on_machine(application), on_machine(between) if setting in CONGESTED else [])
