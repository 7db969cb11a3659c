"""Prefetchers of the first and the second level, from loads in orders that they follow or do not follow.

The loads depend on each other, so that nothing but a prefetcher can hide a part of their latency. Which one it is, the
orders tell that it hides (``walk.cpp``). The classes are those of a machine file; a product's prefetcher can be more.
"""

from __future__ import annotations

from collections.abc import Mapping

from phase2_nodesim.calibration.figures import Cycles, Figure, measured
from phase2_nodesim.calibration.plan import Plan, Task

HIDDEN = 0.4
"""A prefetcher follows an order if it hides this share of what the next level takes more. One line ahead hides a half
of a latency: the next load begins when the one before ends."""


def prefetcher_figures(cycles: Cycles, plan: Plan) -> dict[str, Figure]:
    """Return the figures by key (``caches.l1d.prefetcher``)."""
    walks = plan.walks()
    if not walks:
        return {}
    inside = cycles.of(plan.chases()[0])
    first = _hidden(cycles, walks["l1d"], inside)
    second = _hidden(cycles, walks["l2"], cycles.of(walks["l1d"]["random"]))
    own = _of_orders(first)
    # What the first level's prefetcher follows is followed before the second one sees it.
    seen = _of_orders({order: share if order == "uneven" else share - first[order] for order, share in second.items()})
    return {
        "caches.l1d.prefetcher": _figure(cycles, own, first, walks["l1d"]),
        "caches.l2.prefetcher": _figure(cycles, seen, second, walks["l2"]),
    }


def _hidden(cycles: Cycles, orders: Mapping[str, Task], held: float) -> dict[str, float]:
    """Return by order the hidden share of the cycles that random loads take more than ``held`` by the cache."""
    slow = cycles.of(orders["random"])
    return {
        order: (slow - cycles.of(one)) / max(1.0, slow - held) for order, one in orders.items() if order != "random"
    }


def _of_orders(hidden: Mapping[str, float]) -> str:
    """Return the prefetcher that follows these orders."""
    if hidden["uneven"] >= HIDDEN:
        return "stream"
    if hidden["stride"] >= HIDDEN:
        return "stride"
    # Of a pair, only the second line can be known.
    return "next-line" if hidden["next"] >= HIDDEN or hidden["pairs"] >= HIDDEN / 2 else "none"


def _figure(cycles: Cycles, name: str, hidden: Mapping[str, float], orders: Mapping[str, Task]) -> Figure:
    shares = ", ".join(f"{order} {100 * max(0.0, share):.0f}" for order, share in hidden.items())
    return measured(name, cycles.spread(*orders.values()), f"hidden latency by order of loads [%]: {shares}")
