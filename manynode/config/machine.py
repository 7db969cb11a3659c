"""The node of the target machine: cores, caches, memory. Each file of ``configs/machines/`` describes one.

Cache latencies are in core cycles, from a load's issue to its data. Sizes, the frequency and the memory's latency and
bandwidth are quantities with units. The interval model (docs/concepts/interval-model.md), the node model of the engine
qemu (docs/concepts/node-model.md) and the gem5 board (docs/how-to/gem5.md) explain each key; descriptions name the
engines that use a key if not all do.
"""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from pydantic import Field, model_validator

from manynode.config.caches import Caches, Cycles, Tlbs
from manynode.config.quantities import BytesPerSecond, Hertz, Quantity, Section

Entries = Annotated[int, Field(ge=1, le=4096)]
MemoryLatency = Annotated[float, Quantity("time", least=1e-10, most=1e-3)]
BranchPredictor = Literal["local", "tournament", "gshare", "ltage", "tage-sc-l"]
Units = Annotated[int, Field(ge=1, le=16)]
Latency = Annotated[int, Field(ge=1, le=1000)]
Dram = Literal[
    "DDR3_1600_8x8",
    "DDR4_2400_8x8",
    "DDR4_2400_16x4",
    "DDR5_4400_4x8",
    "DDR5_6400_4x8",
    "DDR5_8400_4x8",
    "HBM_1000_4H_1x64",
    "HBM_2000_4H_1x64",
]
"""gem5's DRAM channels by its own names: standard and rate, number of devices and bits of each."""


class Queues(NamedTuple):
    """Entries of a core's queues, in the processor's operations."""

    scheduler: int
    load: int
    store: int


class Core(Section):
    """A superscalar out-of-order core."""

    dispatch_width: Annotated[int, Field(ge=1, le=16)] = Field(
        description="Operations that enter the reorder buffer per cycle"
    )
    dispatch_efficiency: Annotated[float, Field(gt=0, le=1)] = Field(
        default=1.0,
        description="Share of the dispatch width reached between miss events. 1: a balanced core on code with enough "
        "instruction-level parallelism; less: long dependence chains and port conflicts",
    )
    sustained_width: Annotated[float, Field(ge=0.5, le=32)] | None = Field(
        default=None,
        description="qemu: operations per cycle of a loop that loads, computes and stores in the first level; empty: "
        "the dispatch width. Cores reach that one with operations of few kinds only",
    )
    reorder_buffer: Annotated[int, Field(ge=1, le=4096)] = Field(description="Entries of the reorder buffer")
    frontend_depth: Cycles = Field(
        description="Cycles from fetch to dispatch: the cost of refilling the front end after a mispredicted branch"
    )
    fetch_block: Annotated[float, Quantity("size", least=16, most=4096)] | None = Field(
        default=None,
        description="qemu: aligned block of code from which the front end fetches in one cycle, up to a taken branch; "
        "a power of two; empty: no limit, as where a loop buffer feeds short loops",
    )
    branch_resolution: Cycles = Field(
        description="Average cycles from a mispredicted branch's dispatch to its execution"
    )
    outstanding_misses: Annotated[int, Field(ge=1, le=1024)] = Field(
        default=10,
        description="Line fill buffers of the first-level data cache: the largest number of misses in flight",
    )
    issue_width: Annotated[int, Field(ge=1, le=32)] | None = Field(
        default=None, description="gem5: operations that start per cycle (ports); empty: twice the dispatch width"
    )
    scheduler: Entries | None = Field(
        default=None, description="gem5, qemu: operations that wait for operands; empty: 5/16 of the reorder buffer"
    )
    load_queue: Entries | None = Field(
        default=None, description="gem5, qemu: loads from dispatch to retirement; empty: 3/8 of the reorder buffer"
    )
    store_queue: Entries | None = Field(
        default=None, description="gem5, qemu: stores in flight; empty: 7/32 of the reorder buffer"
    )
    load_ports: Units = Field(default=2, description="gem5, qemu: loads that start per cycle")
    store_ports: Units = Field(default=1, description="gem5, qemu: stores that start per cycle")
    vector_load_ports: Units | None = Field(
        default=None,
        description="qemu: loads into vector registers, scalar floating-point ones among them, that start per cycle; "
        "empty: load_ports",
    )
    vector_store_ports: Units | None = Field(
        default=None, description="qemu: the same for stores from vector registers; empty: store_ports"
    )
    vector_load_latency: Cycles | None = Field(
        default=None,
        description="qemu: cycles from the issue of a load into a vector register to its data, from the first level; "
        "empty: the latency of l1d",
    )
    forward_latency: Cycles | None = Field(
        default=None,
        description="qemu: cycles from a store's data to that of a load of the same word; 0: renamed memory, as recent "
        "cores have it; empty: the latency of l1d",
    )
    vector_forward_latency: Cycles | None = Field(
        default=None, description="qemu: the same for loads into vector registers; empty: the latency of l1d"
    )
    integer_units: Units | None = Field(
        default=None, description="gem5, qemu: integer operations that start per cycle; empty: the dispatch width"
    )
    multiply_latency: Latency = Field(default=3, description="qemu: latency of an integer multiplication [cycles]")
    divide_latency: Latency = Field(default=24, description="gem5, qemu: latency of an integer division [cycles]")
    divide_interval: Latency = Field(
        default=10, description="qemu: cycles from the start of an integer division to the start of the next one"
    )
    float_units: Units = Field(
        default=2, description="gem5, qemu: floating-point operations, scalar or vector, that start per cycle"
    )
    float_latency: Annotated[int, Field(ge=1, le=100)] = Field(
        default=4,
        description="gem5, qemu: latency of a floating-point multiplication or fused multiply-add [cycles]",
    )
    float_add_latency: Annotated[int, Field(ge=1, le=100)] | None = Field(
        default=None, description="gem5, qemu: latency of a floating-point addition [cycles]; empty: float_latency"
    )
    float_add_units: Annotated[int, Field(ge=0, le=16)] = Field(
        default=0,
        description="qemu: units for floating-point additions and comparisons alone; float_units are for the rest; "
        "0: float_units do all",
    )
    float_issue: Annotated[float, Field(ge=0.5, le=32)] | None = Field(
        default=None,
        description="qemu: floating-point operations of all kinds that start per cycle; empty: float_units and "
        "float_add_units together",
    )
    transfer_latency: Cycles = Field(
        default=1, description="qemu: cycles of a move from a vector register to a general one, or back"
    )
    float_divide_latency: Latency = Field(
        default=14, description="gem5, qemu: latency of a floating-point division or square root [cycles]"
    )
    float_divide_interval: Latency = Field(
        default=5,
        description="gem5, qemu: cycles from the start of a floating-point division or square root to that of the next",
    )
    vector_bytes: Annotated[int, Field(ge=8, le=256)] = Field(
        default=32, description="qemu: width of a vector unit [bytes]; a wider operation takes several"
    )
    branch_predictor: BranchPredictor = Field(
        default="ltage",
        description="gem5, qemu: branch predictor. gem5 lacks gshare; qemu has gshare, and one TAGE for ltage "
        "and tage-sc-l",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Core:
        if self.fetch_block is not None and int(self.fetch_block) & (int(self.fetch_block) - 1):
            raise ValueError(f"fetch_block must be a power of two (found {self.fetch_block:g} bytes)")
        if self.sustained_width is not None and self.sustained_width > self.dispatch_width:
            raise ValueError(
                "sustained_width must be at most dispatch_width "
                f"(found {self.sustained_width:g} and {self.dispatch_width:g})"
            )
        for name in ("load_ports", "store_ports"):
            ports, of_vectors = getattr(self, name), getattr(self, f"vector_{name}")
            if of_vectors is not None and of_vectors > ports:
                raise ValueError(f"vector_{name} must be at most {name} (found {of_vectors} and {ports})")
        return self

    def queues(self) -> Queues:
        """Return the entries of the queues; those that the file does not name follow the reorder buffer."""
        rob = self.reorder_buffer
        return Queues(
            scheduler=self.scheduler or max(8, rob * 5 // 16),
            load=self.load_queue or max(8, rob * 3 // 8),
            store=self.store_queue or max(8, rob * 7 // 32),
        )


class Memory(Section):
    """Main memory of the node."""

    latency: MemoryLatency = Field(description="Latency of a load that misses every cache, on idle memory")
    bandwidth: BytesPerSecond = Field(
        description="Sustained memory bandwidth of the whole node, reads and writes together"
    )
    dram: Dram | None = Field(
        default=None,
        description="gem5: kind of DRAM channel to simulate, with banks, rows and queues, at the idle latency above; "
        "the channels then set the bandwidth. Empty: only the latency and bandwidth above are modelled",
    )
    channels: Annotated[int, Field(ge=1, le=1024)] | None = Field(
        default=None, description="gem5, qemu: number of DRAM channels, a power of two"
    )
    domains: Annotated[int, Field(ge=1, le=64)] | None = Field(
        default=None,
        description="qemu: memory domains, each with an equal part of the cores and of the bandwidth; empty: one per "
        "socket",
    )
    remote_latency: MemoryLatency | None = Field(
        default=None, description="qemu: latency of a load from the memory of another domain; empty: as from the own"
    )
    injection: Literal["memory", "last-level"] = Field(
        default="memory",
        description="qemu: where a network interface writes data that arrives; last-level: as with Intel's DDIO",
    )

    @model_validator(mode="after")
    def _channels(self) -> Memory:
        if (self.dram is None) != (self.channels is None):
            raise ValueError("dram and channels belong together: give both or neither")
        if self.channels is not None and self.channels & (self.channels - 1):
            raise ValueError(f"channels must be a power of two, to spread addresses (found {self.channels})")
        return self


class Machine(Section):
    """A node of the target machine."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80)] = Field(
        description="Name in results and reports"
    )
    description: str = Field(
        default="", description="Product that the file models and source of its figures, in one sentence"
    )
    frequency: Hertz = Field(description="Fixed clock frequency of the cores")
    sockets: Annotated[int, Field(ge=1, le=64)] = Field(description="Processors in the node")
    cores_per_socket: Annotated[int, Field(ge=1, le=4096)] = Field(description="Cores of each processor")
    core: Core = Field(description="Core model")
    caches: Caches = Field(description="Cache hierarchy")
    tlbs: Tlbs | None = Field(default=None, description="qemu: address translation; empty: it takes no time")
    memory: Memory = Field(description="Main memory")

    @model_validator(mode="after")
    def _domains(self) -> Machine:
        domains = self.memory.domains
        if domains is not None and self.cores() % domains:
            raise ValueError(f"memory: domains: {self.cores()} cores cannot be divided into {domains} equal domains")
        return self

    def cores(self) -> int:
        """Return the cores of the node."""
        return self.sockets * self.cores_per_socket

    def memory_cycles(self) -> float:
        """Return the memory's latency in cycles of the core."""
        return self.memory.latency * self.frequency

    def last_level_share(self, ranks: int) -> float:
        """Return the bytes of last-level cache for each of ``ranks`` equal ranks on the node.

        Ranks are spread over all last-level caches of the node; a rank uses at most one of them.
        """
        caches = max(1, self.cores() // self.caches.last_level.shared_by)
        return self.caches.last_level.size * min(1.0, caches / max(1, ranks))
