"""The network of the target machine: topology, links, hosts (LogGPS) and messages inside a node."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union

from pydantic import Discriminator, Field, Tag, TypeAdapter, model_serializer, model_validator

from manynode.config.host_names import all_expanded
from manynode.config.quantities import (
    RESOLVED,
    BufferBytes,
    Bytes,
    BytesPerSecond,
    Latency,
    PositiveBytes,
    PositiveInt,
    Quantity,
    SecondsPerByte,
    Section,
    written,
)
from manynode.config.topology import Topology, link_names, topologies
from manynode.errors import nearest

# The kinds are found by their files, which a type checker cannot know.
if TYPE_CHECKING:
    AnyTopology = Topology
else:
    AnyTopology = Annotated[Union[tuple(topologies())], Field(discriminator="kind")]  # noqa: UP007

# Larger chunks than this are whole messages.
ChunkBytes = Annotated[float, Quantity("size", least=1, most=2.0**30)]


class Link(Section):
    """Every link of the network, from node to switch and between switches."""

    bandwidth: BytesPerSecond = Field(
        default=written("100 Gbit/s"), description="Bandwidth of each link, per direction"
    )
    latency: Latency = Field(default=written("90 ns"), description="Latency of each wire, one way")


class LinkClass(Section):
    """A class of links that differs from the others."""

    bandwidth: BytesPerSecond = Field(description="Bandwidth of each link of the class, per direction")
    latency: Latency = Field(description="Latency of each wire of the class, one way")


class SlowLink(Section):
    """A cable that is slower than its class in both directions, for example after a lane failed."""

    between: Annotated[list[str], Field(min_length=2, max_length=2)] = Field(
        description="The cable's two ends as tables name them: [host-0, leaf-0]. Naming the same pair again means "
        "its next parallel cable"
    )
    bandwidth_share: Annotated[float, Field(gt=0, le=1)] = Field(
        description="Remaining bandwidth, as a share of the class's bandwidth"
    )


class OverheadSegment(Section):
    """Processor time of messages from one size up to the next segment: time + per_byte x size."""

    from_: Bytes = Field(
        alias="from",
        description="Smallest message size of the segment; 0 B in the first, increasing from segment to segment",
    )
    time: Latency = Field(description="Processor time to send or receive one message, for every size in the segment")
    per_byte: SecondsPerByte = Field(
        default=written("0 ns/B"), description="Additional processor time for each byte of the message"
    )

    @model_serializer
    def _as_written(self) -> dict[str, float]:
        return {"from": self.from_, "time": self.time, "per_byte": self.per_byte}


class BandwidthSegment(Section):
    """Rate for buffers of one size up to the next segment."""

    from_: Bytes = Field(
        alias="from",
        description="Smallest buffer of the segment; 0 B in the first, increasing from segment to segment",
    )
    bandwidth: BytesPerSecond = Field(description="Rate for every size in the segment")

    @model_serializer
    def _as_written(self) -> dict[str, float]:
        return {"from": self.from_, "bandwidth": self.bandwidth}


def _form(value: Any) -> str:
    return "segments" if isinstance(value, list) else "value"


Overhead = Annotated[
    Annotated[Latency, Tag("value")] | Annotated[list[OverheadSegment], Field(min_length=1), Tag("segments")],
    Discriminator(_form),
]


Bandwidth = Annotated[
    Annotated[BytesPerSecond, Tag("value")] | Annotated[list[BandwidthSegment], Field(min_length=1), Tag("segments")],
    Discriminator(_form),
]


class Host(Section):
    """Costs of a message at the host: LogGPS (Ino, Fujimoto, Hagihara 2005; Hoefler et al. 2010)."""

    overhead_send: Overhead = Field(
        default=written("300 ns"),
        description="o: processor time to start a send; one value, or segments by message size",
    )
    overhead_recv: Overhead = Field(
        default=written("300 ns"),
        description="o: processor time to receive a message; one value, or segments by message size",
    )
    overhead_per_byte: SecondsPerByte = Field(
        default=written("0 ns/B"),
        description="O: additional processor time per byte, at each end whose overhead is one value",
    )
    gap: Latency = Field(default=written("50 ns"), description="g: shortest time between two messages of one NIC")
    eager_limit: PositiveBytes = Field(
        default=written("8 KiB"),
        description="S: largest eager message; larger messages wait for the receiver (rendezvous)",
    )
    eager_copy: Literal["none", "receiver", "both"] = Field(
        default="none",
        description="Ends whose processor copies an eager message (within a node, too) between the library's buffer "
        "and the user's, at copy_bandwidth and beyond the overhead: both where the library sends from a buffer of its "
        "own, as UCX does on InfiniBand; none where the NIC matches messages, or where overheads per byte contain the "
        "copies",
    )
    nic_bandwidth: BytesPerSecond = Field(
        default=written("100 Gbit/s"), description="Bandwidth of one NIC per direction, shared by the node's ranks"
    )
    nic_latency: Latency = Field(
        default=written("200 ns"), description="Latency of the NIC and its bus, added at each end"
    )
    message_latency: Overhead = Field(
        default=written("0 ns"),
        description="Latency of a message by its size, once and beyond nic_latency; one value, or segments: what does "
        "not fit into its command is fetched from memory by the NIC. It occupies neither processor nor NIC. Engine "
        "fast only",
    )
    reduce_bandwidth: Bandwidth = Field(
        default=written("5 GB/s"),
        description="Rate at which a rank combines buffers in a reduction; one value, or segments by size (caches, "
        "memory)",
    )
    copy_bandwidth: Bandwidth | None = Field(
        default=None,
        description="Rate at which a rank copies between its own buffers in a collective; one value, or segments by "
        "size; null: copies take no time",
    )
    fresh_bandwidth: Bandwidth | None = Field(
        default=None,
        description="Rate at which the temporary buffers of a collective become usable where the C library gave their "
        "memory back after the last call (page faults, clearing, registering with the NIC); one value, or segments by "
        "size; null: no time. Which buffers: skeletons/collectives/README.md",
    )
    collective_call: Latency = Field(
        default=written("0 ns"),
        description="Processor time of each rank at the entry of a collective: checks, choice of the algorithm, "
        "temporary buffers",
    )
    collective_step: Latency = Field(
        default=written("0 ns"),
        description="Processor time of each step of a collective beyond the overheads of its messages: posting, "
        "matching, progress; once for the messages that are waited for together",
    )
    rails: Annotated[int, Field(ge=1, le=64)] = Field(
        default=1, description="NICs per node; each NIC is one host of the topology, which leaves room for fewer nodes"
    )
    rail_stride: PositiveInt = Field(
        default=1,
        description="With several NICs: hosts of the topology from one NIC of a node to the next. 1: the NICs of a "
        "node are neighbours, on one switch; the hosts of a switch: on as many switches as rails (Slingshot, "
        "rail-optimised trees); the number of nodes: in a plane each",
    )
    rail_choice: Literal["by-rank", "by-message", "by-direction", "striped"] = Field(
        default="by-rank",
        description="With several NICs: by-rank gives each rank one NIC; by-message lets the messages of a rank take "
        "turns over all; by-direction (tori) chooses by the direction in which a message leaves its switch; striped "
        "spreads the chunks of a message over all. simgrid and sst know by-rank only",
    )
    receive: Literal["in-call", "on-arrival"] = Field(
        default="in-call",
        description="in-call: the NIC takes messages, and the waiting call pays the overhead; on-arrival: the CPU "
        "pays it when a message arrives (LogGOPS as in LogGOPSim)",
    )

    @model_validator(mode="after")
    def _segments(self) -> Host:
        overheads = {"overhead_send": self.overhead_send, "overhead_recv": self.overhead_recv}
        rates = {
            "reduce_bandwidth": self.reduce_bandwidth,
            "copy_bandwidth": self.copy_bandwidth,
            "fresh_bandwidth": self.fresh_bandwidth,
        }
        for key, values in {**overheads, "message_latency": self.message_latency, **rates}.items():
            if not isinstance(values, list):
                continue
            starts = [segment.from_ for segment in values]
            if starts[0] != 0 or any(a >= b for a, b in pairwise(starts)):
                raise ValueError(
                    f"{key}: the first segment must begin at 0 B and each next one at a larger size (found "
                    f"{', '.join(f'{start:g} B' for start in starts)})"
                )
        if self.overhead_per_byte and all(isinstance(overhead, list) for overhead in overheads.values()):
            raise ValueError("overhead_per_byte has no effect with segments; leave it out and use their per_byte")
        if self.eager_copy != "none" and self.copy_bandwidth is None:
            raise ValueError(
                f"eager_copy: {self.eager_copy}: copies have no rate; give copy_bandwidth, or eager_copy: none"
            )
        return self


class Intranode(Section):
    """Messages between ranks of one node (a copy through shared memory)."""

    latency: Latency = Field(default=written("300 ns"), description="Latency of a message within the node")
    bandwidth: BytesPerSecond = Field(default=written("8 GB/s"), description="Bandwidth of the copy within the node")


class Network(Section):
    """A network file, ``configs/networks/NAME.yaml``."""

    name: str = Field(min_length=1, description="Name in tables and in the report")
    description: str = Field(default="", description="Network that the file models and source of its figures")
    fitted_to: str = Field(
        default="",
        description="Measurements of this machine to which the file's figures were fitted; empty: none. It chooses the "
        "validations from which the report's band is made",
    )
    topology: AnyTopology = Field(description="How nodes and switches are wired")
    link: Link = Field(default_factory=Link, description="Properties of every link without a class of its own")
    link_classes: dict[str, LinkClass] = Field(
        default_factory=dict,
        description=f"Classes of links that differ from 'link', by name: {link_names()}",
    )
    slow_links: list[SlowLink] = Field(
        default_factory=list, description="Cables that are slower than their class (engines fast and simgrid)"
    )
    switch_latency: Latency = Field(default=written("100 ns"), description="Latency of an idle switch, port to port")
    chunk: ChunkBytes = Field(default=written("2 KiB"), description="Size of the chunks in which messages occupy links")
    contention: bool = Field(default=True, description="Whether chunks wait for links that others use")
    most_chunks: Annotated[int, Field(ge=1, le=128)] | None = Field(
        default=None,
        description="Engine fast: chunks of a message; longer messages have larger chunks. Default: 64, or 128 where "
        "the check of flow_control: auto finds that it matters",
    )
    flow_control: Literal["auto", "none", "credits"] = Field(
        default="auto",
        description="Engine fast. none: switch buffers are unlimited; credits: finite buffers, virtual channels and "
        "back-pressure. auto: none where the first iterations take the same time within 1 % with both, else credits. "
        "sst always has credits, simgrid never",
    )
    input_buffer: BufferBytes | None = Field(
        default=None,
        description="Buffer behind each link, per virtual channel. Default: twice the bandwidth-delay product plus "
        "128 chunks",
    )
    output_buffer: BufferBytes | None = Field(
        default=None,
        description="Buffer before each link, per virtual channel. Default: twice the bandwidth-delay product plus "
        "128 chunks",
    )
    host: Host = Field(
        default_factory=Host, description="Hosts and NICs; 'manynode calibrate' fits these values to measurements"
    )
    intranode: Intranode = Field(default_factory=Intranode, description="Messages within a node")
    node_names: list[str] = Field(
        default_factory=list,
        description="Names of the nodes in the order of their numbers, as host lists such as as[01-07]r[1-5]b[01-32]; "
        "placements may then list nodes by name",
    )

    @model_validator(mode="after")
    def _belongs_together(self) -> Network:
        known = self.topology.link_classes()
        for name in self.link_classes:
            if name not in known:
                near = nearest(name, known)
                raise ValueError(
                    f"link_classes: {name}: a {self.topology.kind} of this shape has no such class of links; it has "
                    f"{', '.join(known)}" + (f"; did you mean {near!r}?" if near else "")
                )
        for key, size in (("input_buffer", self.input_buffer), ("output_buffer", self.output_buffer)):
            if size is not None and size < self.chunk:
                raise ValueError(f"{key}: {size:g} B cannot hold a chunk of {self.chunk:g} B; enlarge it")
        if self.flow_control == "credits" and not self.contention:
            raise ValueError("flow_control: needs contention: true; set that, or flow_control: none")
        if self.flow_control == "credits" and self.host.receive == "on-arrival":
            raise ValueError(
                "flow_control: host: receive: on-arrival does not cut messages into chunks, and finite buffers cannot "
                "hold whole messages; choose flow_control: none, or receive: in-call"
            )
        self._check_rails()
        try:
            named = len(all_expanded(self.node_names))
        except ValueError as error:
            raise ValueError(f"node_names: {error}") from None
        if named > self.topology.hosts() // self.host.rails:
            raise ValueError(
                f"node_names: {named} names for a machine of {self.topology.hosts() // self.host.rails} nodes; leave "
                "some out, or enlarge the topology"
            )
        if self.host.rail_choice == "by-direction" and not self.topology.has_directions:
            raise ValueError(
                f"host: rail_choice: by-direction: routes of a {self.topology.kind} leave in no directions; choose "
                "by-rank, by-message or striped, or a torus"
            )
        return self

    def can_have_credits(self) -> bool:
        """Return whether finite buffers can be simulated: messages are cut into chunks that wait for links."""
        return self.contention and self.host.receive != "on-arrival"

    def _check_rails(self) -> None:
        hosts, rails, stride = self.topology.hosts(), self.host.rails, self.host.rail_stride
        if hosts % rails:
            raise ValueError(
                f"host: rails: {rails} NICs per node do not divide the {hosts} hosts of the topology; choose a "
                "divisor, or another number of hosts"
            )
        if rails == 1 and stride > 1:
            raise ValueError("host: rail_stride has no effect with one rail; leave it out")
        if hosts // rails % stride:
            raise ValueError(
                f"host: rail_stride: {stride} does not divide the {hosts // rails} nodes; choose a divisor, such as "
                "the hosts of a switch"
            )
        planes = self.topology.plane_count()
        if planes > 1 and (rails, stride) != (planes, hosts // planes):
            raise ValueError(
                f"host: the {planes} planes of the topology need nodes with a NIC in each: rails {planes} and "
                f"rail_stride {hosts // planes} (found {rails} and {stride})"
            )

    def bisection_links(self) -> int:
        """Return the minimum cut between the halves of the nodes, in links of one direction, or an upper bound of it.

        The topology's cut is between the halves of its hosts. Where these part the NICs of a block of nodes otherwise,
        the hosts on the other side add their own links.
        """
        stride, rails, half = self.host.rail_stride, self.host.rails, self.room() // 2
        if self.topology.plane_count() > 1:
            return self.topology.bisection_links()
        of_host = self.topology.cables()["host"] // self.topology.hosts()
        apart = 2 * rails * min(half % stride, stride - half % stride) * of_host
        return min(self.topology.bisection_links() + apart, half * rails * of_host)

    def room(self) -> int:
        """Return how many nodes the machine has room for."""
        return self.topology.hosts() // self.host.rails


def nic_of(host: Mapping[str, Any], node: int, rail: int) -> int:
    """Return the host of the topology that is a NIC of a node; ``host`` is a resolved section or that of a run file."""
    rails, stride = int(host.get("rails", 1)), int(host.get("rail_stride", 1))
    return (node // stride * rails + rail) * stride + node % stride


def topology_of(resolved: Mapping[str, Any]) -> Topology:
    """Return the topology of a resolved section, or of a run file."""
    found: Topology = TypeAdapter(AnyTopology).validate_python(dict(resolved), context=RESOLVED)
    return found
