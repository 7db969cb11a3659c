"""A measured latency of a collective: a row of the table ``collectives`` of a validation study.

A campaign of hundreds of such rows is one table. Each row may name its algorithm, its placement and its shape.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field, model_validator

from manynode.config.quantities import PositiveInt, Section

Collective = Literal[
    "barrier", "bcast", "reduce", "allreduce", "gather", "allgather", "scatter", "alltoall", "reduce_scatter"
]
AUTO = "auto"
SHAPE = r"^([1-9][0-9]{0,8}(x[1-9][0-9]{0,8})*)?$"
Time = Annotated[float, Field(gt=0, le=1e9)]
# Identify a measurement; two rows never agree in all of them.
KEYS = ("campaign", "collective", "algorithm", "bytes", "nodes", "ranks_per_node", "shape", "placement")


class MeasuredCollective(Section):
    """A measured latency of a collective operation over all ranks."""

    collective: Collective = Field(description="Name of the collective")
    bytes: Annotated[int, Field(ge=0, le=10**15)] = Field(
        description="One rank's contribution [bytes]; 0 for a barrier"
    )
    nodes: PositiveInt = Field(description="Nodes that took part")
    ranks_per_node: PositiveInt = Field(description="Ranks per node that took part")
    seconds: Time = Field(description="Time of one execution [s]")
    campaign: Annotated[str, Field(max_length=200)] = Field(
        default="", description="What the measurement belongs to, such as a job; rows of several may be in one table"
    )
    algorithm: Annotated[str, Field(max_length=200)] = Field(
        default="",
        description="Name of the algorithm: one of this toolkit, or one that 'algorithm_names' translates. auto or "
        "empty: the experiment's choice (simulate: collectives)",
    )
    shape: Annotated[str, Field(pattern=SHAPE, max_length=100)] = Field(
        default="",
        description="The job's logical shape in nodes, such as 4x4x4; the first dimension runs fastest. On a torus, a "
        "row with a shape of several dimensions and no placement is folded",
    )
    placement: Annotated[str, Field(max_length=500)] = Field(
        default="",
        description="A name in 'placements', a kind of placement (linear, random, fragmented; folded with the row's "
        "shape), or a CSV file of hosts by rank; empty: the experiment's (simulate: placement)",
    )
    iterations: PositiveInt | None = Field(
        default=None, description="Executions to simulate; empty: the section's 'iterations'"
    )
    p10_s: Time | None = Field(default=None, description="10th percentile of the measured times [s]")
    p90_s: Time | None = Field(default=None, description="90th percentile of the measured times [s]")

    @property
    def key(self) -> tuple[str | int, ...]:
        """What identifies the measurement."""
        return tuple(getattr(self, name) for name in KEYS)

    @property
    def name(self) -> str:
        """The measurement in words, for messages."""
        parts = [self.campaign, " ".join(word for word in (self.collective, self.algorithm) if word)]
        return ", ".join([part for part in parts if part] + [f"{self.bytes} bytes on {self.nodes} nodes"])

    @model_validator(mode="after")
    def _consistent(self) -> MeasuredCollective:
        if self.shape and math.prod(self.extents) != self.nodes:
            raise ValueError(
                f"shape {self.shape} has {math.prod(self.extents)} places, the row {self.nodes} nodes; give a shape of "
                "as many nodes"
            )
        if (self.p10_s is None) != (self.p90_s is None):
            raise ValueError("p10_s and p90_s need each other; give both or neither")
        if self.p10_s is not None and self.p90_s is not None and not self.p10_s <= self.seconds <= self.p90_s:
            raise ValueError(
                f"seconds {self.seconds:g} is not between p10_s {self.p10_s:g} and p90_s {self.p90_s:g}; all three "
                "are in seconds, and 'seconds' is the median"
            )
        return self

    @property
    def extents(self) -> list[int]:
        """The extents of the shape; empty if it is unknown."""
        return [int(word) for word in self.shape.split("x")] if self.shape else []
