"""Points of a study that a more trusted engine simulates again."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from manynode.config.quantities import PositiveInt, Section


class ConfirmSection(Section):
    """Multi-fidelity: a fast engine runs the study; another engine repeats the points that decide it."""

    engine: Literal["sst", "simgrid", "fast"] = Field(
        default="sst", description="Engine that simulates these points again; the report says when it is not installed"
    )
    replicas: PositiveInt | None = Field(
        default=None,
        description="Replicas of each confirmed point, starting with the study's first; empty: all of them",
    )


class SensitivityConfirmSection(ConfirmSection):
    """Points of the study that a more trusted engine simulates again."""

    points: Literal["corners", "all"] = Field(
        default="corners",
        description="corners: variants in which every parameter has its smallest or largest value (any value for "
        "text); all: every variant",
    )
