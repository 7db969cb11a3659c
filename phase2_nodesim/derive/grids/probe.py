"""Which hypotheses are one and the same: those that agree at all numbers of ranks that are tried here.

Several expressions may fit all that was recorded. Those that never differ are one hypothesis, of which the first
remains; the others are doubts, compared again at the number of ranks that a verdict is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from phase2_nodesim.derive.grids.patterns import GridRule
from phase2_nodesim.derive.grids.points import Points, Truths

# All small numbers, and larger ones with many and with few factors.
_COUNTS = (*range(1, 65), 72, 80, 81, 96, 97, 100, 108, 120, 125, 128, 144, 169, 180, 192, 216, 243, 256)


class Probe:
    """All ranks of many jobs of different sizes, with the same grid rule and parameters."""

    def __init__(self, rule: GridRule | None, parameters: Mapping[str, int]) -> None:
        self.points = Points([(count, parameters) for count in _COUNTS], rule)

    def distinct(self, texts: Iterable[str], where: Truths | None = None) -> list[str]:
        """Return the first of all texts that have the same value at each point (of ``where``, if given)."""
        seen: dict[bytes, str] = {}
        for text in texts:
            values = self.points.values(text)
            if values is None:
                seen.setdefault(text.encode(), text)
                continue
            seen.setdefault((values if where is None else np.where(where, values, 0)).tobytes(), text)
        return list(seen.values())
