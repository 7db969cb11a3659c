"""A price file, ``configs/prices/NAME.yaml``: what the parts of a machine cost, and what they draw."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from manynode.config.quantities import Section

Amount = Annotated[float, Field(ge=0, le=1e12)]


class Item(Section):
    """One part."""

    price: Amount = Field(description="of one, in the file's currency")
    watts: Amount = Field(default=0.0, description="that one draws under load, from the wall")


class Energy(Section):
    """What the machine's energy costs."""

    price_per_kwh: Amount = Field(default=0.0, description="in the file's currency")
    overhead: Annotated[float, Field(ge=1, le=100)] = Field(
        default=1.0, description="power usage effectiveness: what the building draws for each watt of the machine"
    )


class Prices(Section):
    """Prices of the parts that a topology needs; a class of cables without a price of its own has that of ``cable``."""

    name: str = Field(min_length=1, description="shown in tables and in the report")
    description: str = Field(default="", description="where the prices come from, and of which day")
    currency: str = Field(default="EUR", max_length=12, description="of all prices of the file")
    node: Item = Field(description="without its network adapters")
    nic: Item = Field(description="a network adapter; a node has one for each rail")
    switch: Item = Field(description="a switch or router with its power supplies")
    cable: Item = Field(description="any other cable")
    cables: dict[str, Item] = Field(
        default_factory=dict,
        description="cables by class: host, leaf, level2 ... of trees, dim0 ... of tori, local, global of dragonflies",
    )
    energy: Energy = Field(default_factory=Energy, description="cost of energy")

    def cable_of(self, kind: str) -> Item:
        """Return the price of a cable of a class."""
        return self.cables.get(kind, self.cable)
