"""The section ``impact`` of a study."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from manynode.config.quantities import MOST_COUNT, MOST_RUNS, Bytes, NotNegativeInt, PositiveInt, Section, written

Parameters = dict[str, int | float | str | bool]


class Congestor(Section):
    """The job that causes congestion: a pattern that repeats."""

    pattern: str = Field(default="congestor-bcast-rma", description="a pattern of skeletons/patterns (its README)")
    bytes: Annotated[Bytes, Field(ge=0)] = Field(default=written("4 KiB"), description="size of a message")
    parameters: Parameters = Field(
        default_factory=dict,
        description="other parameters of the pattern, for its intensity (messages, pause_us, roots of the congestors)",
    )
    ranks_per_node: PositiveInt = Field(default=1, description="MPI ranks of the congestor on each of its nodes")

    def described(self) -> dict[str, Any]:
        """Return the parameters of the skeleton ``patterns``."""
        return {"pattern": self.pattern, "bytes": round(self.bytes), **self.parameters}


class Canary(Section):
    """The job that measures the slowdown of the network."""

    pattern: str = Field(default="random-ring", description="a pattern of skeletons/patterns")
    bytes: Annotated[Bytes, Field(ge=0)] = Field(
        default=written("128 KiB"), description="size of a message: 128 KiB for bandwidth, 8 B for latency"
    )
    iterations: Annotated[int, Field(ge=2, le=MOST_COUNT)] = Field(default=100, description="number of iterations")
    parameters: Parameters = Field(default_factory=dict, description="other parameters of the pattern")

    def described(self) -> dict[str, Any]:
        """Return the parameters of the skeleton ``patterns``."""
        return {"pattern": self.pattern, "bytes": round(self.bytes), "iterations": self.iterations, **self.parameters}


class Intensity(Section):
    """The congestor without applications: its effect on the counters (Zhang et al., section IV-C)."""

    nodes: list[Annotated[int, Field(ge=5, le=MOST_COUNT)]] = Field(
        default=[16, 32, 64, 86, 106, 128], min_length=1, description="nodes of congestor and canary together"
    )
    share: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.8, description="share of the nodes that run the congestor; the others run the canary"
    )
    levels: list[Parameters] = Field(
        default=[{}],
        min_length=1,
        description="levels, each a set of changes to the congestor's parameters, such as [{}, {messages: 1}]",
    )
    repetitions: Annotated[int, Field(ge=1, le=MOST_RUNS)] = Field(
        default=3, description="repetitions with other drawn nodes of the canary"
    )
    canary: Canary = Field(default_factory=Canary, description="the job that measures the slowdown")

    def canary_nodes(self, nodes: int) -> int:
        """Return how many of ``nodes`` nodes run the canary: at least two, as a ring needs."""
        return max(2, nodes - round(self.share * nodes))


class ImpactSection(Section):
    """Applications with and without a congestor beside them (Zhang et al., figure 2)."""

    applications: list[str] = Field(default_factory=list, description="workloads to study; empty: all")
    nodes: Annotated[int, Field(ge=2, le=MOST_COUNT)] = Field(
        default=64, description="N: nodes of the application, and of the congestor, on a list of 3 N nodes"
    )
    first_node: NotNegativeInt = Field(default=0, description="node of the machine where the list begins")
    rotations: Annotated[int, Field(ge=1, le=MOST_RUNS)] = Field(
        default=10, description="runs of each setting; each run shifts the list by 1/rotations of its length"
    )
    congestor: Congestor = Field(default_factory=Congestor, description="the job beside the application")
    intensity: Intensity | None = Field(
        default_factory=Intensity, description="the congestor with a canary in place of the applications; null: none"
    )
