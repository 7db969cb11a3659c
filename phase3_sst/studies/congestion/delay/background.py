"""Draws congestion: an endless job on some of the nodes that an application leaves free.

In: congestors of a study's file, a stream of random numbers. Out: a job of a situation, and its draws as text.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

import numpy as np
from pydantic import Field, model_validator

from manynode.config.quantities import Bytes, PositiveInt, Section, written
from manynode.config.simulate import SkeletonChoice
from manynode.config.skeleton import resolve_skeleton
from manynode.errors import UsageError
from phase3_sst.studies.congestion.situation import Member

CONGESTOR = "congestor"
# Fewer nodes than this cause no significant traffic.
LEAST_NODES = 2

Share = Annotated[float, Field(ge=0, le=1)]


class CongestorSection(Section):
    """A skeleton that fills the network, with its message sizes."""

    application: SkeletonChoice = Field(description="a skeleton with a parameter bytes, such as patterns")
    ranks_per_node: PositiveInt = Field(default=1, description="MPI ranks on each node")
    sizes: Annotated[list[Bytes], Field(min_length=1)] = Field(
        default=[written("16 KiB"), written("128 KiB")], description="message sizes; one is drawn for each situation"
    )


def _pattern(name: str, **parameters: Any) -> Any:
    return {"application": {"name": "patterns", "parameters": {"pattern": name, "iterations": 1000, **parameters}}}


class CongestionSection(Section):
    """The congestion of a part: its congestors, and their share of the free nodes."""

    congestors: Annotated[dict[str, CongestorSection], Field(min_length=1)] = Field(
        default={
            "alltoall": _pattern("collective", collective="alltoall"),
            "incast": _pattern("incast"),
            "bisection": _pattern("bisection"),
        },
        description="congestors by name; one is drawn for each situation",
    )
    share: Annotated[list[Share], Field(min_length=2, max_length=2)] = Field(
        default=[0.2, 1.0], description="range of the congestor's share of the free nodes; drawn uniformly"
    )

    @model_validator(mode="after")
    def _rising(self) -> CongestionSection:
        if self.share[0] > self.share[1]:
            raise ValueError(f"share: the first value is above the second (found {self.share[0]} and {self.share[1]})")
        return self


@dataclass(frozen=True)
class Congestion:
    """The draws: the congestor's name (empty: none), the size of its messages, and its nodes."""

    congestor: str
    size_bytes: int
    nodes: tuple[int, ...]
    member: Member | None

    @property
    def members(self) -> list[Member]:
        """The jobs that it adds to a situation."""
        return [] if self.member is None else [self.member]


NO_CONGESTION = Congestion("", 0, (), None)


def drawn(
    section: CongestionSection,
    room: int,
    taken: Collection[int],
    rng: np.random.Generator,
    *,
    background: bool = True,
    changes: Mapping[str, Any] | None = None,
    name: str | None = None,
) -> Congestion:
    """Return congestion on free nodes of a machine of ``room`` nodes; ``changes`` are of the skeleton's parameters.

    ``name`` is that of the congestor, None: drawn.
    """
    if name is None:
        name = sorted(section.congestors)[int(rng.integers(len(section.congestors)))]
    congestor = section.congestors[name]
    size = round(congestor.sizes[int(rng.integers(len(congestor.sizes)))])
    free = sorted(set(range(room)) - set(taken))
    # An even number, because patterns of pairs leave one node of an odd number idle.
    count = round(float(rng.uniform(section.share[0], section.share[1])) * len(free) / 2) * 2
    count -= 2 * (count > len(free))
    nodes = tuple(int(node) for node in rng.permutation(free)[:count])
    if count < LEAST_NODES:
        return NO_CONGESTION
    parameters = {**congestor.application.parameters, "bytes": size, **(changes or {})}
    member = Member(
        CONGESTOR,
        congestor.application.name,
        resolved(congestor.application.name, tuple(sorted(parameters.items()))),
        nodes,
        congestor.ranks_per_node,
        background=background,
    )
    return Congestion(name, size, nodes, member)


@lru_cache(maxsize=1000)
def resolved(name: str, parameters: tuple[tuple[str, Any], ...]) -> Mapping[str, Any]:
    """Return all parameters of a skeleton, with the given ones."""
    return resolve_skeleton(name, dict(parameters), "congestors")


def check_congestion(section: CongestionSection, room: int, taken: int, where: str) -> None:
    """Raise :class:`UsageError` when a congestor's skeleton is invalid, or no node is left for it."""
    for name, congestor in section.congestors.items():
        given = {**congestor.application.parameters, "bytes": round(congestor.sizes[0])}
        resolve_skeleton(congestor.application.name, given, f"{where}: congestors: {name}")
    check_room(taken, LEAST_NODES, room, where)


def check_room(taken: int, beside: int, room: int, where: str) -> None:
    """Raise :class:`UsageError` where ``taken`` nodes leave fewer than ``beside`` of the machine's ``room``."""
    if taken + beside > room:
        raise UsageError(
            "the machine has no room for congestion beside the application",
            where=where,
            found=f"{taken} nodes of {room}",
            allowed=f"at most {room - beside}",
            remedy="lower the nodes or choose a larger network",
        )


def placed(room: int, count: int, rng: np.random.Generator, taken: Collection[int] = ()) -> list[int]:
    """Return ``count`` free nodes of the machine, drawn."""
    free: Sequence[int] = sorted(set(range(room)) - set(taken))
    return [int(node) for node in rng.permutation(free)[:count]]
