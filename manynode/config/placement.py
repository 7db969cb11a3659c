"""Where a job runs: its nodes on the machine, and the order of its ranks on them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from manynode.config.quantities import MOST_COUNT, NotNegativeInt, Section


class Placement(Section):
    """Nodes of the machine for a job, and the order of its ranks on them."""

    nodes: Literal["linear", "random", "strided", "listed"] = Field(
        default="linear",
        description="linear: the next free nodes by number; random: nodes drawn from the seed; strided: every "
        "stride-th node; listed: the nodes in 'hosts'",
    )
    stride: Annotated[int, Field(ge=1, le=MOST_COUNT)] = Field(
        default=1,
        description="With nodes strided: distance from one node to the next; it wraps around after the last node",
    )
    offset: NotNegativeInt = Field(default=0, description="With nodes linear or strided: number of the first node")
    hosts: list[NotNegativeInt] = Field(
        default_factory=list, description="With nodes listed: the machine's node for each node of the job, in order"
    )
    rank_order: Literal["block", "cyclic", "listed"] = Field(
        default="block",
        description="block: ranks fill one node after the other; cyclic: ranks go round the nodes; listed: ranks "
        "take their 'slots'",
    )
    slots: list[NotNegativeInt] = Field(
        default_factory=list,
        description="With rank_order listed: a slot for each rank; slot s is on the job's node s / ranks_per_node",
    )

    @model_validator(mode="after")
    def _no_idle_key(self) -> Placement:
        if self.stride != 1 and self.nodes != "strided":
            raise ValueError(f"stride has no effect with nodes: {self.nodes}; choose nodes: strided or leave it out")
        if self.offset and self.nodes == "random":
            raise ValueError("offset has no effect with nodes: random; leave it out")
        if self.offset and self.nodes == "listed":
            raise ValueError("offset has no effect with nodes: listed; leave it out")
        if bool(self.hosts) != (self.nodes == "listed"):
            raise ValueError(
                "hosts and nodes: listed need each other; hosts gives the machine's node for each node of the job"
            )
        if len(set(self.hosts)) != len(self.hosts):
            raise ValueError("hosts: a node is given twice")
        if bool(self.slots) != (self.rank_order == "listed"):
            raise ValueError("slots and rank_order: listed need each other; slots gives a slot for each rank")
        if sorted(self.slots) != list(range(len(self.slots))):
            raise ValueError(f"slots: {len(self.slots)} ranks need each slot from 0 to {len(self.slots) - 1} once")
        return self
