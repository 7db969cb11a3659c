"""The figures of the report, in its order: each module turns the inputs into one figure, or None without its data."""

from __future__ import annotations

from manynode.report.figure import Figure
from manynode.report.figures import (
    breakdown,
    classes,
    confirmation,
    cpi_stacks,
    distributions,
    efficiency,
    iterations,
    link_series,
    links,
    losses,
    patterns,
    phases,
    rank_map,
    scaling,
    sensitivity,
    validation,
)
from manynode.report.load import Inputs

PROJECTION = (scaling, efficiency, iterations, breakdown, links, link_series)
TIMINGS = (phases, cpi_stacks, distributions, patterns)
PROFILE = (classes, rank_map)


def projection_figures(inputs: Inputs) -> list[Figure]:
    """Return the figures of phase 3."""
    return [figure for module in PROJECTION if (figure := module.draw(inputs)) is not None]


def loss_figures(inputs: Inputs) -> list[Figure]:
    """Return the figures of the scaling study."""
    return losses.draw(inputs)


def sensitivity_figures(inputs: Inputs) -> list[Figure]:
    """Return the figures of the sensitivity study."""
    return [*sensitivity.draw(inputs), *([figure] if (figure := confirmation.draw(inputs)) is not None else [])]


def validation_figures(inputs: Inputs) -> list[Figure]:
    """Return the figures of the validation study."""
    return validation.draw(inputs)


def timing_figures(inputs: Inputs) -> list[Figure]:
    """Return the figures of phase 2."""
    return [figure for module in TIMINGS if (figure := module.draw(inputs)) is not None]


def profile_figures(inputs: Inputs) -> list[Figure]:
    """Return the figures of phase 1."""
    return [figure for module in PROFILE if (figure := module.draw(inputs)) is not None]
