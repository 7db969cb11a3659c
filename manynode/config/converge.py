"""Convergence settings of an experiment: how many iterations to simulate before extrapolating the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from manynode.config.application import ApplicationDescription, read_application
from manynode.config.quantities import PositiveInt, Section
from manynode.errors import UsageError


class ConvergeSection(Section):
    """Simulate some iterations and extrapolate the rest where the checks allow it (docs/how-to/run-experiments.md)."""

    iterations: PositiveInt | None = Field(
        default=None,
        description="Iterations to project; empty: as many as phases 1 and 2 run (application: parameters)",
    )
    width: Annotated[float, Field(gt=0, lt=0.5)] = Field(
        default=0.005,
        description="Target half-width of the confidence interval of the mean iteration time, relative to that mean. "
        "Simulation stops there; the checks reject larger deviations",
    )
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = Field(
        default=0.95, description="Confidence level of the interval of the mean iteration time"
    )
    first: Annotated[int, Field(ge=8, le=1_000_000)] = Field(
        default=16, description="Iterations of the first simulation; each further simulation has twice as many"
    )
    otherwise: Literal["full", "error"] = Field(
        default="full",
        description="What to do when a point's iterations do not converge or cannot be extrapolated. full: simulate "
        "all of them; error: the point fails",
    )


def iterations_of(application: str, parameters: Mapping[str, Any], converge: ConvergeSection) -> tuple[str, int]:
    """Return the parameter that counts an application's iterations, and how many of them are projected.

    ``parameters`` are all of the application's. It is a :class:`UsageError` if the application does not name the
    parameter or does not allow that many iterations.
    """
    description: ApplicationDescription = read_application(application)
    counter = description.iterations
    if counter is None:
        raise UsageError(
            "the application does not name the parameter that counts its iterations",
            where=f"simulate: converge: application {description.name}",
            remedy="name it in its application.yaml ('iterations: PARAMETER'), or leave 'converge' out",
        )
    given = {**parameters, counter: converge.iterations} if converge.iterations is not None else dict(parameters)
    return counter, int(description.resolve(given, "simulate: converge: iterations: application")[counter])
