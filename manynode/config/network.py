"""The network of the target machine: topology, links, hosts (LogGPS), the path inside a node."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from manynode.config.quantities import Bytes, BytesPerSecond, Seconds, SecondsPerByte, Section, written


class FatTree(Section):
    """A parallel-ports generalised fat-tree (Zahavi's PGFT, as in SimGrid): level 1 is next to the nodes."""

    kind: Literal["fat-tree"] = "fat-tree"
    children: list[Annotated[int, Field(ge=1)]] = Field(
        description="per level: how many nodes or switches below one switch of that level"
    )
    parents: list[Annotated[int, Field(ge=1)]] = Field(
        description="per level: how many switches of that level above one node or switch below it"
    )
    parallel_links: list[Annotated[int, Field(ge=1)]] = Field(
        description="per level: how many links between a switch of that level and one below it"
    )

    @model_validator(mode="after")
    def _same_length(self) -> FatTree:
        lengths = {len(self.children), len(self.parents), len(self.parallel_links)}
        if len(lengths) != 1 or not self.children:
            raise ValueError(
                "children, parents and parallel_links must have one entry per level "
                f"(found {len(self.children)}, {len(self.parents)} and {len(self.parallel_links)})"
            )
        return self

    def hosts(self) -> int:
        """Return how many nodes the machine has room for."""
        product = 1
        for children in self.children:
            product *= children
        return product

    def switches(self) -> list[int]:
        """Return the number of switches per level, level 1 (leaf switches) first."""
        counts = []
        for level in range(len(self.children)):
            above = 1
            for children in self.children[level + 1 :]:
                above *= children
            for parents in self.parents[: level + 1]:
                above *= parents
            counts.append(above)
        return counts


class Link(Section):
    """Every link of the network, between a node and a switch as between switches."""

    bandwidth: BytesPerSecond = Field(default=written("100 Gbit/s"), gt=0, description="per direction")
    latency: Seconds = Field(default=written("90 ns"), ge=0, description="of the wire, one way")


class Host(Section):
    """What the host adds to a message: LogGPS (Ino, Fujimoto, Hagihara 2005; Hoefler et al. 2010)."""

    overhead_send: Seconds = Field(default=written("300 ns"), ge=0, description="o: CPU time of starting a send")
    overhead_recv: Seconds = Field(default=written("300 ns"), ge=0, description="o: CPU time of taking a message")
    overhead_per_byte: SecondsPerByte = Field(
        default=written("0 ns/B"), ge=0, description="O: CPU time per byte, both ends"
    )
    gap: Seconds = Field(default=written("50 ns"), ge=0, description="g: least time between two messages of one NIC")
    eager_limit: Bytes = Field(
        default=written("8 KiB"), gt=0, description="S: larger messages wait for the receiver (rendezvous)"
    )
    nic_bandwidth: BytesPerSecond = Field(
        default=written("100 Gbit/s"), gt=0, description="of the node's NIC, per direction, shared by its ranks"
    )
    nic_latency: Seconds = Field(default=written("200 ns"), ge=0, description="of the NIC and its bus, at each end")
    reduce_bandwidth: BytesPerSecond = Field(
        default=written("5 GB/s"), gt=0, description="at which a rank combines buffers within a reduction"
    )


class Intranode(Section):
    """Messages between ranks of one node (a copy through shared memory)."""

    latency: Seconds = Field(default=written("300 ns"), ge=0, description="of a message within the node")
    bandwidth: BytesPerSecond = Field(default=written("8 GB/s"), gt=0, description="of the copy")


class Network(Section):
    """A network file, ``configs/networks/NAME.yaml``."""

    name: str = Field(min_length=1, description="shown in tables and in the report")
    description: str = Field(default="", description="what it models, and where its figures come from")
    topology: FatTree = Field(description="how nodes and switches are wired")
    link: Link = Field(default_factory=Link, description="links")
    switch_latency: Seconds = Field(
        default=written("100 ns"), ge=0, description="of a switch, port to port, without load"
    )
    chunk: Bytes = Field(default=written("2 KiB"), gt=0, description="messages occupy links in chunks of this size")
    host: Host = Field(default_factory=Host, description="hosts and NICs")
    intranode: Intranode = Field(default_factory=Intranode, description="within a node")
