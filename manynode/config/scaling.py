"""The scaling study of an experiment: the node counts and techniques for which it separates the losses."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from manynode.config.quantities import PositiveInt, Section


class ScalingSection(Section):
    """What costs time as the machine grows: counterfactual simulations with the same draws."""

    nodes: list[PositiveInt] = Field(
        default_factory=list, description="Node counts of the study, among the experiment's; empty: all of them"
    )
    techniques: list[Literal["no-ext-var", "ext-var"]] = Field(
        default_factory=list,
        description="Techniques of the study, among the experiment's with variable times; empty: the most complete one",
    )
    broken: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.8, description="Efficiency below which the report says that scaling breaks"
    )

    @field_validator("nodes", "techniques", mode="after")
    @classmethod
    def _no_repetition(cls, values: list[object]) -> list[object]:
        if len(set(values)) != len(values):
            raise ValueError(f"an entry is given twice: {values}")
        return values
