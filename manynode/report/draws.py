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


def other_computation(draws: Mapping[str, Draws]) -> str:
    """Return a warning if the skeleton computes something else than the simulated ranks did; else an empty text."""
    for found in draws.values():
        if not found.computed_s or found.skeleton_s is None:
            continue
        difference = found.skeleton_s / found.computed_s - 1
        if abs(difference) > MOST_ERROR:
            return (
                "These times are not those of the measured program. Its ranks computed for "
                f"{duration(found.computed_s, 3)} on the simulated nodes, and the skeleton has them compute for "
                f"{duration(found.skeleton_s, 3)} ({signed(difference)}): it is of another program, or of other "
                "arguments, or leaves phases out. 'manynode conformance' compares the two."
            )
    return ""


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
