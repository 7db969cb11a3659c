"""Where a job runs: which nodes of the machine it gets, and how its ranks are dealt out to them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from manynode.config.quantities import Section


class Placement(Section):
    """Nodes of the machine for a job, and the order of its ranks on them."""

    nodes: Literal["linear", "random", "strided"] = Field(
        default="linear",
        description="the next free nodes by number, nodes drawn from the seed, or every stride-th node",
    )
    stride: Annotated[int, Field(ge=1, strict=True)] = Field(
        default=1, description="of strided: between one node and the next; past the last node it goes on at the first"
    )
    offset: Annotated[int, Field(ge=0, strict=True)] = Field(
        default=0, description="of linear and strided: number of the first node"
    )
    rank_order: Literal["block", "cyclic"] = Field(
        default="block", description="ranks fill one node after the other, or are dealt out over the nodes in turns"
    )

    @model_validator(mode="after")
    def _no_idle_key(self) -> Placement:
        if self.stride != 1 and self.nodes != "strided":
            raise ValueError(f"stride has no effect with nodes: {self.nodes}; choose nodes: strided or leave it out")
        if self.offset and self.nodes == "random":
            raise ValueError("offset has no effect with nodes: random; leave it out")
        return self
