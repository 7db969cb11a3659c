"""The validation study of an experiment: measurements to compare with the projection.

The resolved experiment contains the tables themselves (:mod:`manynode.config.measured` reads them). A changed
measurement is therefore a changed experiment.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from manynode.config.quantities import NotNegativeInt, PositiveInt, Section

Collective = Literal[
    "barrier", "bcast", "reduce", "allreduce", "gather", "allgather", "scatter", "alltoall", "reduce_scatter"
]
COMPUTE = "compute"
OPERATION = r"^(compute|MPI_[A-Z][A-Za-z_]*)$"
# Largest sum of the parts relative to the run: reports round their figures.
MOST_SUM = 1.02


def _or_path(schema: dict[str, Any]) -> None:
    """Let editors accept the path of a CSV file in place of its rows."""
    kept = {key: schema.pop(key) for key in ("items", "type") if key in schema}
    schema["anyOf"] = [{"type": "string"}, kept]


class MeasuredRun(Section):
    """One run of the application on the real machine."""

    nodes: PositiveInt = Field(description="Nodes of the run")
    replica: NotNegativeInt = Field(description="Number of the run among those on as many nodes")
    seconds: Annotated[float, Field(gt=0, le=1e9)] = Field(
        description="Time of the slowest rank, from the end of MPI_Init to the start of MPI_Finalize [s]"
    )
    operations: dict[Annotated[str, Field(pattern=OPERATION)], Annotated[float, Field(ge=0, le=1e9)]] = Field(
        default_factory=dict, description="Mean time per rank in 'compute' and in MPI operations, by name [s]"
    )

    @model_validator(mode="after")
    def _parts_of_a_whole(self) -> MeasuredRun:
        parts = sum(self.operations.values())
        if parts > MOST_SUM * self.seconds:
            raise ValueError(
                f"the operations take longer than the run: {parts:.6g} s in {', '.join(self.operations)}, "
                f"{self.seconds:.6g} s in all; give mean seconds per rank, not sums over the ranks"
            )
        return self


class MeasuredCollective(Section):
    """A measured latency of a collective operation over all ranks."""

    collective: Collective = Field(description="Name of the collective")
    bytes: Annotated[int, Field(ge=0, le=10**15)] = Field(
        description="One rank's contribution [bytes]; 0 for a barrier"
    )
    nodes: PositiveInt = Field(description="Nodes that took part")
    ranks_per_node: PositiveInt = Field(description="Ranks per node that took part")
    seconds: Annotated[float, Field(gt=0, le=1e9)] = Field(description="Time of one execution [s]")


class ValidationSection(Section):
    """Measurements of the real machine to compare with the projection."""

    measured: list[MeasuredRun] = Field(
        default_factory=list,
        description="Runs of the application: a CSV file (nodes, replica, seconds, and optionally compute and one "
        "column per MPI operation), or its rows",
        json_schema_extra=_or_path,
    )
    collectives: list[MeasuredCollective] = Field(
        default_factory=list,
        description="Latencies of collectives: a CSV file (collective, bytes, nodes, ranks_per_node, seconds), or "
        "its rows. Each is simulated on the experiment's network",
        json_schema_extra=_or_path,
    )
    iterations: PositiveInt = Field(
        default=10,
        description="Executions of each collective in a row without a barrier, as IMB measures. 1: one execution "
        "from a common start, as the OSU benchmarks measure",
    )
    machine: str | None = Field(default=None, description="Name of the measured machine, if it is not the experiment's")
    network: str | None = Field(default=None, description="Name of the measured network, if it is not the experiment's")

    @model_validator(mode="after")
    def _something_once(self) -> ValidationSection:
        if not self.measured and not self.collectives:
            raise ValueError("give 'measured' (runs of the application) or 'collectives', with at least one row")
        _once([(run.nodes, run.replica) for run in self.measured], "measured: nodes and replica")
        _once(
            [(row.collective, row.bytes, row.nodes, row.ranks_per_node) for row in self.collectives],
            "collectives: collective, bytes, nodes and ranks_per_node",
        )
        return self

    def check_nodes(self, projected: list[int], room: int) -> None:
        """Raise :class:`ValueError` if no measurement can be compared with the ``projected`` node counts."""
        measured = sorted({run.nodes for run in self.measured})
        if measured and not set(measured) & set(projected):
            raise ValueError(
                f"validation: measured: no measured node count is projected (measured: {measured}, nodes: "
                f"{sorted(projected)}); project at least one of them"
            )
        for row in self.collectives:
            if row.nodes > room:
                raise ValueError(
                    f"validation: collectives: {row.nodes} nodes do not fit the network, which has room for {room}"
                )


def _once(keys: list[Any], what: str) -> None:
    seen: set[Any] = set()
    for key in keys:
        if key in seen:
            raise ValueError(f"{what}: {', '.join(map(str, key))} is given twice")
        seen.add(key)
