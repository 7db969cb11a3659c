"""The file of a strong scaling study: a rank's part at each node count, and the measured sizes.

A program whose arguments state the whole problem divides it itself: its sizes are the node counts. In: a YAML file.
Out: a checked :class:`Strong`; an invalid file is a :class:`UsageError`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from manynode import input_file
from manynode.config.quantities import PositiveInt, Section
from manynode.config.resolved import checked, read_yaml
from manynode.errors import UsageError

# The one key of a size where the program divides the whole problem: the nodes of the measured job.
_WHOLE = "nodes"


def _of_job(given: Any) -> Any:
    return {_WHOLE: given} if isinstance(given, int) else given


def _by_nodes(given: Any) -> Any:
    return {number: number for number in given} if isinstance(given, list) else given


Size = Annotated[dict[str, PositiveInt], BeforeValidator(_of_job)]

# Problems that differ by less count as equal.
_SAME_WORK = 0.01


class Strong(Section):
    """A strong scaling study's file."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80)] = Field(
        description="name of the results folder"
    )
    title: str = Field(default="", description="headline of the page")
    experiment: str = Field(description="the base experiment's file, relative to this one")
    techniques: list[Literal["no-ext-const", "no-ext-var", "ext-const", "ext-var"]] = Field(
        default=["ext-var"], min_length=1, description="techniques that project the times"
    )
    nodes: Annotated[dict[PositiveInt, Size], BeforeValidator(_by_nodes)] = Field(
        min_length=2,
        description="node count -> size of a rank's part: application parameters whose product is its work, such as "
        "{1: {nx: 64, ny: 64, nz: 64}, 8: {nx: 32, ny: 32, nz: 32}}. A list of node counts, if the arguments state the "
        "whole problem",
    )
    measured: list[Size] = Field(
        min_length=2,
        description="sizes at which compute times are measured; those of the nodes must lie in their range. If the "
        "arguments state the whole problem, node counts of the measured jobs; times beyond them are extrapolated",
    )
    held_out: Size | None = Field(
        default=None, description="a size or node count that is measured only to determine the interpolation error"
    )

    @model_validator(mode="after")
    def _belongs_together(self) -> Strong:
        keys = set(self.measured[0])
        for size in [*self.measured, *self.nodes.values(), *([self.held_out] if self.held_out else [])]:
            if set(size) != keys:
                raise ValueError(f"every size has the same parameters: {sorted(size)} is not {sorted(keys)}")
        sizes = sorted(map(work, self.measured))
        if len(set(sizes)) != len(sizes):
            raise ValueError("measured: two sizes have the same work")
        for nodes, size in {} if whole_problem(self.measured[0]) else self.nodes.items():
            if not sizes[0] <= work(size) <= sizes[-1]:
                raise ValueError(
                    f"nodes: {nodes}: {words(size)} is beyond the measured sizes; nothing is extrapolated, measure "
                    "this size"
                )
        if self.held_out is not None and not sizes[0] < work(self.held_out) < sizes[-1]:
            raise ValueError("held_out: choose a size between the measured ones, to determine the error between them")
        if self.held_out is not None and work(self.held_out) in sizes:
            raise ValueError("held_out: this size is one of the measured ones, and nothing is interpolated there")
        totals = {nodes: nodes * work(size) for nodes, size in self.nodes.items()}
        least, most = min(totals.values()), max(totals.values())
        if most / least - 1 > _SAME_WORK:
            raise ValueError(
                f"nodes: the whole problem is the same at every node count in strong scaling; its work, nodes times "
                f"the product of the sizes, is {least:,} to {most:,}"
            )
        return self


def whole_problem(size: Mapping[str, int]) -> bool:
    """Say whether the arguments state the whole problem, which the program divides."""
    return list(size) == [_WHOLE]


def work(size: Mapping[str, int]) -> float:
    """Return the work of a rank's part: the product of its parameters, or its share of the whole problem."""
    return 1 / size[_WHOLE] if whole_problem(size) else math.prod(size.values())


def changes(size: Mapping[str, int]) -> dict[str, Any]:
    """Return the changes of the base experiment with which a size is measured, by key."""
    if not whole_problem(size):
        return {f"application.parameters.{key}": value for key, value in size.items()}
    # Ranks of jobs of several sizes have nothing to tell their classes by.
    return {"nodesim.nodes": size[_WHOLE], "profile.nodes": [size[_WHOLE]], "profile.max_classes": 1}


def words(size: Mapping[str, int]) -> str:
    """Return a size as text, which is also a folder's name."""
    return ",".join(f"{key}={value}" for key, value in sorted(size.items()))


def read_study(path: Path) -> Strong:
    """Return the study of the YAML file ``path``."""
    study = checked(Strong, read_yaml(path, "the study"), str(path), "the study")
    if not input_file.is_file(path.resolve().parent / study.experiment):
        raise UsageError(
            "the base experiment does not exist",
            where=f"{path}: experiment",
            found=study.experiment,
            allowed="a path relative to the study's file",
        )
    return study
