"""In words: whether draws of the timing profile reproduce the simulated node.

:mod:`phase3_sst.checks.draws` made the comparison.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from manynode.report.documents import Draws
from manynode.report.wording import count, duration, signed

# More is a fault of the fit rather than chance in a few draws.
MOST_ERROR = 0.05
_NODE = {"ext": "The simulated node beside external ranks", "no-ext": "The simulated node alone"}


def draws_words(draws: Mapping[str, Draws]) -> str:
    """Return sentences about the comparisons ``draws``, by mode."""
    return " ".join(_words(draws[mode]) for mode in _NODE if mode in draws)


def _words(found: Draws) -> str:
    node = _NODE[found.mode] if found.nodes == 1 else f"The {found.nodes} simulated nodes"
    if found.refused is not None or not found.own_s or not found.drawn_s or found.constant_s is None:
        return f"{node} cannot be replayed with its own times: {found.refused or 'it computes nothing'}."
    error = float(np.mean(found.drawn_s)) / found.own_s - 1
    text = (
        f"{node}, as a job of {count(found.ranks, 'rank')} where each execution takes its own simulated time, takes "
        f"{duration(found.own_s, 4)}. With drawn times it takes {signed(error)} (mean of {len(found.drawn_s)} draws), "
        f"with constant times {signed(found.constant_s / found.own_s - 1)}."
    )
    if abs(error) > MOST_ERROR:
        text += (
            " So draws do NOT reproduce this node: the executions have an order, or the ranks something in common, "
            "that the fit did not find. Projections with variable times err in the same direction."
        )
    return text
