"""The section ``impact`` of a study."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from manynode.config.quantities import Bytes, PositiveInt, Section, written

Parameters = dict[str, int | float | str | bool]


class Congestor(Section):
    """The job that makes the congestion: a pattern that begins again and again."""

    pattern: str = Field(default="congestor-bcast-rma", description="a pattern of skeletons/patterns (its README)")
    bytes: Annotated[Bytes, Field(ge=0)] = Field(default=written("4 KiB"), description="of a message")
    parameters: Parameters = Field(
        default_factory=dict,
        description="further ones of the pattern: how hard it presses (messages, pause_us, roots of the congestors)",
    )
    ranks_per_node: PositiveInt = Field(default=1, description="MPI ranks of the congestor on each of its nodes")

    def described(self) -> dict[str, Any]:
        """Return the parameters of the skeleton ``patterns``."""
        return {"pattern": self.pattern, "bytes": round(self.bytes), **self.parameters}


class Canary(Section):
    """The job that tells how much slower the network has become."""

    pattern: str = Field(default="random-ring", description="a pattern of skeletons/patterns")
    bytes: Annotated[Bytes, Field(ge=0)] = Field(
        default=written("128 KiB"), description="of a message: 128 KiB tells bandwidth, 8 B latency"
    )
    iterations: Annotated[int, Field(ge=2, strict=True)] = Field(default=100, description="how often")
    parameters: Parameters = Field(default_factory=dict, description="further ones of the pattern")

    def described(self) -> dict[str, Any]:
        """Return the parameters of the skeleton ``patterns``."""
        return {"pattern": self.pattern, "bytes": round(self.bytes), "iterations": self.iterations, **self.parameters}


class Intensity(Section):
    """The congestor without applications: how its pressure shows in the counters (Zhang et al., section IV-C)."""

    nodes: list[Annotated[int, Field(ge=5, strict=True)]] = Field(
        default=[16, 32, 64, 86, 106, 128], min_length=1, description="of congestor and canary together"
    )
    share: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.8, description="of the nodes that the congestor has; the others run the canary"
    )
    levels: list[Parameters] = Field(
        default=[{}],
        min_length=1,
        description="changes of the congestor's parameters, each a level of its own, such as [{}, {messages: 1}]",
    )
    repetitions: PositiveInt = Field(default=3, description="with other nodes drawn for the canary")
    canary: Canary = Field(default_factory=Canary, description="the job that is slowed down")

    def canary_nodes(self, nodes: int) -> int:
        """Return how many of ``nodes`` nodes run the canary: at least two, as a ring needs."""
        return max(2, nodes - round(self.share * nodes))


class ImpactSection(Section):
    """Applications with and without a congestor beside them (Zhang et al., figure 2)."""

    applications: list[str] = Field(default_factory=list, description="of the workloads; empty: all of them")
    nodes: Annotated[int, Field(ge=2, strict=True)] = Field(
        default=64, description="N: of the application, and as many of the congestor, on a list of 3 N nodes"
    )
    first_node: Annotated[int, Field(ge=0, strict=True)] = Field(
        default=0, description="of the machine at which the list begins"
    )
    rotations: Annotated[int, Field(ge=1, strict=True)] = Field(
        default=10, description="runs of each setting, on the list shifted by a tenth (1/rotations) of it each time"
    )
    congestor: Congestor = Field(default_factory=Congestor, description="what runs beside the application")
    intensity: Intensity | None = Field(
        default_factory=Intensity, description="the congestor with a canary in place of the applications; null: none"
    )
