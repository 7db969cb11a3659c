"""Simulating only as many iterations as it takes, in an experiment: when the rest may be extrapolated."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from manynode.config.quantities import Section


class ConvergeSection(Section):
    """Some iterations are simulated, the remaining ones extrapolated, where checks allow it (docs/studies.md)."""

    width: Annotated[float, Field(gt=0, lt=0.5)] = Field(
        default=0.005,
        description="half width of the interval of the mean iteration time, as a share of it, at which enough is "
        "simulated; the checks let no larger deviation pass either",
    )
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = Field(default=0.95, description="of that interval")
    first: Annotated[int, Field(ge=8, strict=True)] = Field(
        default=16, description="iterations of the first simulation; each further one has twice as many"
    )
    otherwise: Literal["full", "error"] = Field(
        default="full",
        description="what a point comes to whose iterations do not converge or cannot be extrapolated: all of them are "
        "simulated, or the point fails",
    )
