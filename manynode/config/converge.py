"""Simulating only as many iterations as it takes, in an experiment: when the rest may be extrapolated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from manynode.config.application import ApplicationDescription, read_application
from manynode.config.quantities import PositiveInt, Section
from manynode.errors import UsageError


class ConvergeSection(Section):
    """Some iterations are simulated, the remaining ones extrapolated, where checks allow it (docs/studies.md)."""

    iterations: PositiveInt | None = Field(
        default=None,
        description="that are projected; without one, as many as application: parameters say, which phases 1 and 2 run",
    )
    width: Annotated[float, Field(gt=0, lt=0.5)] = Field(
        default=0.005,
        description="half width of the interval of the mean iteration time, as a share of it, at which enough is "
        "simulated; the checks let no larger deviation pass either",
    )
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = Field(default=0.95, description="of that interval")
    first: Annotated[int, Field(ge=8, le=1_000_000)] = Field(
        default=16, description="iterations of the first simulation; each further one has twice as many"
    )
    otherwise: Literal["full", "error"] = Field(
        default="full",
        description="what a point comes to whose iterations do not converge or cannot be extrapolated: all of them are "
        "simulated, or the point fails",
    )


def iterations_of(content: Mapping[str, Any]) -> tuple[str, int]:
    """Return the parameter that counts the application's iterations, and how many a resolved experiment projects.

    An application that does not name the parameter, or cannot have so many iterations, is a :class:`UsageError`.
    """
    application = content["application"]
    description: ApplicationDescription = read_application(application["name"])
    counter = description.iterations
    if counter is None:
        raise UsageError(
            "it is not known which parameter counts the application's iterations",
            where=f"simulate: converge: application {description.name}",
            remedy="name it in its application.yaml ('iterations: PARAMETER'), or leave 'converge' out",
        )
    wanted = content["simulate"]["converge"]["iterations"]
    given = application["parameters"] if wanted is None else {**application["parameters"], counter: wanted}
    return counter, int(description.resolve(given, "simulate: converge: iterations: application")[counter])
