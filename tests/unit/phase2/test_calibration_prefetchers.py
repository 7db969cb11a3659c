"""Prefetchers of a host, from the share of a latency that loads in several orders do not see."""

from __future__ import annotations

import pytest
from calibration_host import HOST, calibrated

from phase2_nodesim.calibration.figures import Cycles, Figure
from phase2_nodesim.calibration.measurements import Series
from phase2_nodesim.calibration.plan import plan_for
from phase2_nodesim.calibration.prefetcher_figures import prefetcher_figures

ORDERS = ("uneven", "pairs", "next", "stride")
FIRST, SECOND, MEMORY = 5.0, 15.0, 450.0
# Cycles of a load in each order, from the second level and from memory: of nothing, and of a guest of a Xeon.
NOTHING = ((15, 15, 15, 15), (450, 450, 450, 450))
XEON = ((13.3, 14.4, 7.7, 13.0), (80, 433, 54, 206))


def figures(first: tuple[float, ...], second: tuple[float, ...]) -> dict[str, Figure]:
    plan = plan_for(HOST, 4, quick=False)
    found = {plan.chases()[0].label(): FIRST}
    for orders, times, random in zip(plan.walks().values(), (first, second), (SECOND, MEMORY), strict=True):
        cycles = dict(zip(ORDERS, times, strict=True)) | {"random": random}
        found |= {orders[order].label(): value for order, value in cycles.items()}
    return prefetcher_figures(Cycles({label: Series(1, [value], clock_s=1.0) for label, value in found.items()}), plan)


@pytest.mark.parametrize(
    ("times", "wanted"),
    [
        (NOTHING, ("none", "none")),
        (XEON, ("next-line", "stream")),
        # A line ahead hides a half; what the first level's prefetcher hides is none of the second one's.
        (((15, 10, 9, 15), (450, 230, 230, 450)), ("next-line", "none")),
        (((15, 15, 9, 8), (450, 450, 230, 230)), ("stride", "none")),
        (((15, 15, 15, 15), (450, 235, 230, 450)), ("none", "next-line")),
        (((15, 15, 15, 15), (450, 450, 160, 160)), ("none", "stride")),
        (((7, 10, 7, 7), (100, 430, 60, 100)), ("stream", "stream")),
    ],
)
def test_the_orders_that_are_followed_tell_the_prefetchers(
    times: tuple[tuple[float, ...], tuple[float, ...]], wanted: tuple[str, str]
) -> None:
    found = figures(*times)
    assert tuple(found[f"caches.{name}.prefetcher"].value for name in ("l1d", "l2")) == wanted


def test_a_figure_says_what_each_order_hides() -> None:
    assert "uneven 85, pairs 4, next 91, stride 56;" in figures(*XEON)["caches.l2.prefetcher"].source


def test_a_quick_trial_measures_none() -> None:
    assert prefetcher_figures(calibrated()[1], plan_for(HOST, 4, quick=True)) == {}
