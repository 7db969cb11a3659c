"""The figures of the report, in its order: each module turns the inputs into one figure, or None without its data."""

from __future__ import annotations

from manynode.report.figure import Figure
from manynode.report.figures import (
    breakdown,
    classes,
    cpi_stacks,
    distributions,
    efficiency,
    iterations,
    link_series,
    links,
    patterns,
    phases,
    rank_map,
    scaling,
)
from manynode.report.load import Inputs

PROJECTION = (scaling, efficiency, iterations, breakdown, links, link_series)
TIMINGS = (phases, cpi_stacks, distributions, patterns)
PROFILE = (classes, rank_map)


def projection_figures(inputs: Inputs) -> list[Figure]:
    """Return the figures of phase 3."""
    return [figure for module in PROJECTION if (figure := module.draw(inputs)) is not None]


def timing_figures(inputs: Inputs) -> list[Figure]:
    """Return the figures of phase 2."""
    return [figure for module in TIMINGS if (figure := module.draw(inputs)) is not None]


def profile_figures(inputs: Inputs) -> list[Figure]:
    """Return the figures of phase 1."""
    return [figure for module in PROFILE if (figure := module.draw(inputs)) is not None]
