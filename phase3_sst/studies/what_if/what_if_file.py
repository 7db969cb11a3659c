"""A what-if study's file: a base experiment, prices, and alternatives; checked before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from manynode import input_file
from manynode.config.confirm import ConfirmSection
from manynode.config.counterfactuals import BANDWIDTH, LATENCY
from manynode.config.prices import ItemChange, PartPrices, Prices
from manynode.config.quantities import PositiveInt, Section
from manynode.config.resolved import checked, included, read_yaml
from manynode.errors import UsageError

IDEAL = "ideal network"
# A network that takes no time; only the hosts' processors and messages within a node spend time.
IDEAL_CHANGES: Mapping[str, Any] = {
    "network.contention": False,
    "network.flow_control": "none",
    "network.link_classes": {},
    **{key: value for key, value in (*BANDWIDTH, *LATENCY) if not key.startswith("network.intranode.")},
    "simulate.preflight.enabled": False,
}
AlternativeName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]*$", max_length=60)]


class Alternative(PartPrices):
    """A candidate machine and its changes to the base experiment."""

    nodes: PositiveInt | None = Field(
        default=None, description="nodes of the machine; default: the experiment's largest node count"
    )
    set: dict[str, Any] = Field(
        default_factory=dict,
        description="changes of the base experiment, key: value, such as {network: paper-torus, machine: wide-core}",
    )
    node: ItemChange | None = Field(
        default=None,
        description="price and watts of its nodes, where they differ from the price file; nic, switch, cable and "
        "cables are the same for its other parts",
    )
    runs: Annotated[float, Field(gt=0, le=1e9)] = Field(
        default=1.0,
        description="runs needed for the compared work: 2 if one run on this machine solves half of it",
    )


class WhatIf(Section):
    """A what-if study's file."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80)] = Field(
        description="name of the results folder"
    )
    title: str = Field(default="", description="headline of the page")
    experiment: str = Field(description="the base experiment's file, relative to this one")
    technique: Literal["no-ext-const", "no-ext-var", "ext-const", "ext-var"] = Field(
        default="ext-var", description="technique that projects the times"
    )
    prices: Prices = Field(description="a file of configs/prices/ by name, a path, or the text itself")
    within: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.05,
        description="for the inverse question: the cheapest alternative within this share of the best time",
    )
    ideal: bool = Field(
        default=True,
        description="also simulate each alternative with a network that takes no time, to show the possible gain",
    )
    confirm: ConfirmSection | None = Field(
        default=None,
        description="simulate alternatives on the Pareto front, and those that may be on it, again with another "
        "engine: {engine: sst}",
    )
    alternatives: dict[AlternativeName, Alternative] = Field(
        min_length=2, description="the compared alternatives, by name"
    )

    @field_validator("alternatives", mode="after")
    @classmethod
    def _no_own_nodes(cls, given: dict[str, Alternative]) -> dict[str, Alternative]:
        for name, alternative in given.items():
            for key in alternative.set:
                if key in ("nodes", "techniques", "name", "seed", "relevant_difference", "simulate.replicas"):
                    raise ValueError(
                        f"{name}: set: {key}: the same for all alternatives, or a key of the alternative itself; "
                        "common random numbers need equal seeds and replicas"
                    )
        return given


def read_study(path: Path) -> WhatIf:
    """Return the study of the YAML file ``path``; an invalid file is a :class:`UsageError`."""
    content = read_yaml(path, "the study")
    if isinstance(content.get("prices"), str):
        content["prices"] = included("prices", content["prices"], "prices", path.resolve().parent, str(path))
    study = checked(WhatIf, content, str(path), "the study")
    if not input_file.is_file(path.resolve().parent / study.experiment):
        raise UsageError(
            "the base experiment does not exist",
            where=f"{path}: experiment",
            found=study.experiment,
            allowed="a path relative to the study's file",
        )
    return study
