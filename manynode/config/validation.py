"""The validation study of an experiment: measurements to compare with the projection.

The resolved experiment contains the tables themselves (:mod:`manynode.config.measured` reads them). A changed
measurement is therefore a changed experiment.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from manynode.config.measured_collective import AUTO, KEYS, Collective, MeasuredCollective
from manynode.config.placement import Placement
from manynode.config.quantities import NotNegativeInt, PositiveInt, Section
from manynode.errors import nearest

COMPUTE = "compute"
OPERATION = r"^(compute|MPI_[A-Z][A-Za-z_]*)$"
# Largest sum of the parts relative to the run: reports round their figures.
MOST_SUM = 1.02
FOLDED = "folded"
# Kinds of placements that need no further keys.
_KINDS = ("linear", "random", "fragmented", FOLDED)


def _or_path(schema: dict[str, Any]) -> None:
    """Let editors accept the path of a CSV file in place of its rows."""
    kept = {key: schema.pop(key) for key in ("items", "type") if key in schema}
    schema["anyOf"] = [{"type": "string"}, kept]


def _or_paths(schema: dict[str, Any]) -> None:
    """Let editors accept the path of a CSV file in place of each value."""
    schema["additionalProperties"] = {"anyOf": [{"type": "string"}, schema["additionalProperties"]]}


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
        description="Latencies of collectives: a CSV file (collective, bytes, nodes, ranks_per_node, seconds, and "
        "optionally campaign, algorithm, shape, placement, iterations, p10_s, p90_s), or its rows. Each is simulated "
        "on the experiment's network",
        json_schema_extra=_or_path,
    )
    start: Literal["row", "barrier", "together"] = Field(
        default="row",
        description="How the measured executions began. row: one after the other without a barrier, as IMB does with "
        "-sync off; barrier: after a barrier each, and the slowest rank's time counts, as pico and IMB measure; "
        "together: one execution from a common start, as the OSU benchmarks come near",
    )
    iterations: PositiveInt = Field(
        default=10,
        description="Executions of each collective to simulate, where its row has no number of its own. With start: "
        "together it is one",
    )
    algorithm_names: dict[
        Collective, dict[Annotated[str, Field(min_length=1)], Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]]
    ] = Field(
        default_factory=dict,
        description="By collective: name of an algorithm in the table -> its name in this toolkit, such as "
        "{alltoall: {modified-bruck: bruck}}",
    )
    placements: dict[Annotated[str, Field(min_length=1)], Placement] = Field(
        default_factory=dict,
        description="Placements that rows name. Each has the keys of simulate: placement, or is a CSV file of hosts by "
        "rank (rank, host)",
        json_schema_extra=_or_paths,
    )
    machine: str | None = Field(default=None, description="Name of the measured machine, if it is not the experiment's")
    network: str | None = Field(default=None, description="Name of the measured network, if it is not the experiment's")

    @model_validator(mode="after")
    def _something_once(self) -> ValidationSection:
        if not self.measured and not self.collectives:
            raise ValueError("give 'measured' (runs of the application) or 'collectives', with at least one row")
        _once([(run.nodes, run.replica) for run in self.measured], "measured: nodes and replica")
        _once([row.key for row in self.collectives], f"collectives: {', '.join(KEYS)}")
        for number, row in enumerate(self.collectives, start=1):
            self._check_placement(row, f"collectives: row {number} ({row.name})")
        return self

    def _check_placement(self, row: MeasuredCollective, where: str) -> None:
        """Refuse a row whose placement is unknown or of another number of ranks."""
        if not row.placement:
            return
        placement = self.placements.get(row.placement) or _of_kind(row.placement, row.extents)
        if placement is None and row.placement == FOLDED:
            raise ValueError(f"{where}: placement {FOLDED!r} needs a shape; give it in the column shape")
        if placement is None:
            near = nearest(row.placement, [*self.placements, *_KINDS])
            raise ValueError(
                f"{where}: unknown placement {row.placement!r}; known: {', '.join([*self.placements, *_KINDS])}"
                + (f"; did you mean {near!r}?" if near else "; add it to 'placements'")
            )
        if placement.shape and row.extents and placement.shape != row.extents:
            raise ValueError(
                f"{where}: placement {row.placement!r} has the shape {'x'.join(map(str, placement.shape))}, the row "
                f"{row.shape}"
            )
        ranks = (row.nodes, row.nodes * row.ranks_per_node)
        if placement.slots and (placement.listed_nodes() or row.nodes, len(placement.slots)) != ranks:
            on = f" on {placement.listed_nodes()} hosts" if placement.hosts else ""
            raise ValueError(
                f"{where}: placement {row.placement!r} has {len(placement.slots)} ranks{on}; the row has {row.nodes} "
                f"nodes with {row.ranks_per_node} ranks each"
            )

    def placement_of(self, row: MeasuredCollective, default: Placement) -> Placement:
        """Return the placement of a measured collective; ``default`` if it names none."""
        if not row.placement:
            return default
        found = self.placements.get(row.placement) or _of_kind(row.placement, row.extents)
        assert found is not None  # refused by the model
        return found

    def algorithm_of(self, row: MeasuredCollective) -> str | None:
        """Return the toolkit's name of a row's algorithm; None where the experiment chooses."""
        if row.algorithm in ("", AUTO):
            return None
        return self.algorithm_names.get(row.collective, {}).get(row.algorithm, row.algorithm)

    def iterations_of(self, row: MeasuredCollective) -> int:
        """Return how many executions of a row are simulated."""
        return 1 if self.start == "together" else row.iterations or self.iterations

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


def _of_kind(name: str, extents: list[int]) -> Placement | None:
    """Return the placement of a kind that needs no further key but a row's shape; None for any other name."""
    try:
        return Placement.model_validate({"nodes": name, **({"shape": extents} if name == FOLDED else {})})
    except ValidationError:
        return None
