"""Which points of a study are simulated a second time, with an engine that is believed more."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from manynode.config.quantities import PositiveInt, Section


class ConfirmSection(Section):
    """Multi-fidelity: the study with a quick engine, what it turns on with another one."""

    engine: Literal["sst", "simgrid", "fast"] = Field(
        default="sst", description="that simulates these points again; where it is not installed, that is said"
    )
    replicas: PositiveInt | None = Field(
        default=None, description="of these points, the first ones of the study's; empty: all of them"
    )


class SensitivityConfirmSection(ConfirmSection):
    """Points of the study that are simulated a second time, with an engine that is believed more."""

    points: Literal["corners", "all"] = Field(
        default="corners",
        description="the variants in which every parameter has its least or its largest value (of texts, any), or all",
    )
