"""Settings of the engine sst in an experiment: how it runs, and what only it has."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from manynode.config.engine_section import CHANGES_NO_RESULT, EngineSection
from manynode.config.quantities import BufferBytes, Duration, PositiveBytes, Quantity, written

FlitBytes = Annotated[float, Quantity("size", least=1, most=65_536)]
Scalar = int | float | str | bool

# Partitioners of sst-core that place components themselves; sst.self uses the machine description's placement.
PARTITIONERS = ("sst.self", "sst.simple", "sst.linear", "sst.roundrobin")


class SstSection(EngineSection):
    """Settings of the engine sst; other engines ignore them."""

    threads: Annotated[int, Field(ge=1, le=4096)] = Field(default=1, description="Threads of each process of sst")
    processes: Annotated[int, Field(ge=1, le=65_536)] = Field(
        default=1, description="MPI processes of sst that share one simulation, for machines too large for one host"
    )
    launcher: Annotated[Annotated[list[str], Field(min_length=1)] | None, CHANGES_NO_RESULT] = Field(
        default=None,
        description="Command that starts MPI processes, as a list, such as [srun, --mpi=pmix]; '-n PROCESSES sst "
        "...' is appended. Empty: the launcher of the MPI that sst is linked with",
    )
    partitioner: str = Field(
        default="auto",
        description="Assigns routers and nodes to threads and processes: auto, or a partitioner of SST "
        f"({', '.join(PARTITIONERS)}, or LIBRARY.NAME). sst.self keeps neighbours together, as manynode placed them",
    )
    collectives: Literal["expanded", "sst"] = Field(
        default="expanded",
        description="expanded: the algorithms of 'simulate: collectives', as in every other engine; sst: SST's own "
        "(firefly has one per collective)",
    )
    flit: FlitBytes = Field(default=written("8 B"), description="Flow control digit: the routers' unit of transfer")
    input_buffer: BufferBytes | None = Field(
        default=None,
        description="Input buffer of each router port; empty: derived from bandwidth and delay of the links",
    )
    output_buffer: BufferBytes | None = Field(
        default=None, description="Output buffer of each router port; empty: same as input_buffer"
    )
    hang_limit: Annotated[Duration, CHANGES_NO_RESULT] = Field(
        default=written("10 min"),
        description="Wall-clock time after which a simulation fails if its simulated time stands still",
    )
    memory: Annotated[PositiveBytes | None, CHANGES_NO_RESULT] = Field(
        default=None,
        description="Memory of all processes of a simulation above which it fails; empty: the host's memory",
    )
    executable: str = Field(default="sst", min_length=1, description="SST program, if not on PATH")
    config_program: str = Field(default="sst-config", min_length=1, description="sst-config program, if not on PATH")
    library: str | None = Field(default=None, description="Folder of libmanynode.so; empty: that of the native build")
    extra_parameters: dict[str, dict[str, Scalar]] = Field(
        default_factory=dict,
        description="Parameters of SST's elements, by element; they override those of manynode. Example: "
        "{merlin.hr_router: {xbar_arb: merlin.xbar_arb_rr}}",
    )

    @field_validator("partitioner", mode="after")
    @classmethod
    def _a_partitioner(cls, value: str) -> str:
        library, dot, name = value.partition(".")
        if value != "auto" and not (library and dot and name):
            raise ValueError(f"{value!r} is not a partitioner: write auto, {', '.join(PARTITIONERS)} or LIBRARY.NAME")
        if value == "sst.single":
            raise ValueError("sst.single puts everything on one thread; choose another one")
        return value

    @model_validator(mode="after")
    def _consistent(self) -> SstSection:
        for name in ("input_buffer", "output_buffer"):
            size = getattr(self, name)
            if size is not None and size < self.flit:
                raise ValueError(f"{name}: {size:g} B is less than one flit of {self.flit:g} B")
        if self.launcher is not None and self.processes == 1:
            raise ValueError("launcher: has no effect with 'processes: 1'")
        return self

    def cores(self) -> int:
        """Return the number of cores that one simulation keeps busy."""
        return self.threads * self.processes

    def has_own_collectives(self) -> bool:
        """Return whether SST's own collectives are used."""
        return self.collectives == "sst"
