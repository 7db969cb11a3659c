"""Where a job runs: its nodes on the machine, and the order of its ranks on them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from manynode.config.host_names import expanded
from manynode.config.quantities import MOST_COUNT, NotNegativeInt, PositiveInt, Section


class Placement(Section):
    """Nodes of the machine for a job, and the order of its ranks on them."""

    nodes: Literal["linear", "random", "strided", "fragmented", "folded", "listed"] = Field(
        default="linear",
        description="linear: the next free nodes by number; random: nodes drawn from the seed; strided: every "
        "stride-th node; fragmented: the first free nodes of a machine on which a scheduler has run other jobs, drawn "
        "from the seed; folded: 'shape' laid onto a torus so that neighbours stay neighbours; listed: the nodes in "
        "'hosts'",
    )
    stride: Annotated[int, Field(ge=1, le=MOST_COUNT)] = Field(
        default=1,
        description="With nodes strided: distance from one node to the next; it wraps around after the last node",
    )
    offset: NotNegativeInt = Field(
        default=0, description="With nodes linear, strided or folded: number of the first node"
    )
    busy: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.9,
        description="With nodes fragmented: share of the free nodes that other jobs hold, in jobs of 1 node up to an "
        "eighth of the machine (sizes even on a logarithmic scale), as far as they leave room",
    )
    shape: list[PositiveInt] = Field(
        default_factory=list,
        description="With nodes folded: the job's nodes in each of its dimensions; the first runs fastest",
    )
    axes: list[list[NotNegativeInt]] = Field(
        default_factory=list,
        description="With nodes folded: for each dimension of 'shape' the one or two dimensions of the torus onto "
        "which it is laid, the longer walk first. Default: with as many dimensions one to one; with twice as many, "
        "dimension i of n onto [n + i, i], as x, y, z with a, b, c of Tofu",
    )
    hosts: list[NotNegativeInt | str] = Field(
        default_factory=list,
        description="With nodes listed: the machine's node for each node of the job, in order: numbers, or host lists "
        "such as as05r1b[17-21] where the network file has 'node_names'",
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
        if self.offset and self.nodes in ("random", "fragmented", "listed"):
            raise ValueError(f"offset has no effect with nodes: {self.nodes}; leave it out")
        if "busy" in self.model_fields_set and self.busy != 0.9 and self.nodes != "fragmented":
            raise ValueError(f"busy has no effect with nodes: {self.nodes}; choose nodes: fragmented or leave it out")
        if bool(self.shape) != (self.nodes == "folded"):
            raise ValueError("shape and nodes: folded need each other; shape gives the job's nodes in each dimension")
        if self.axes and len(self.axes) != len(self.shape):
            raise ValueError(f"axes: a shape of {len(self.shape)} dimensions needs as many lists")
        if any(len(axis) not in (1, 2) for axis in self.axes):
            raise ValueError("axes: each list has one or two dimensions of the torus")
        if len({at for axis in self.axes for at in axis}) != sum(map(len, self.axes)):
            raise ValueError("axes: a dimension of the torus is given twice")
        if bool(self.hosts) != (self.nodes == "listed"):
            raise ValueError(
                "hosts and nodes: listed need each other; hosts gives the machine's node for each node of the job"
            )
        flat = [name for entry in self.hosts for name in (expanded(entry) if isinstance(entry, str) else [entry])]
        if len(set(flat)) != len(flat):
            raise ValueError("hosts: a node is given twice")
        if bool(self.slots) != (self.rank_order == "listed"):
            raise ValueError("slots and rank_order: listed need each other; slots gives a slot for each rank")
        if sorted(self.slots) != list(range(len(self.slots))):
            raise ValueError(f"slots: {len(self.slots)} ranks need each slot from 0 to {len(self.slots) - 1} once")
        return self

    def listed_nodes(self) -> int:
        """Return the number of nodes in 'hosts'; host lists count with all of their names."""
        return sum(len(expanded(entry)) if isinstance(entry, str) else 1 for entry in self.hosts)
