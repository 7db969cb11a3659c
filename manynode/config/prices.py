"""A price file, ``configs/prices/NAME.yaml``: prices and power of the parts of a machine."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from manynode.config.quantities import Section
from manynode.config.topology import cable_names

Amount = Annotated[float, Field(ge=0, le=1e12)]


class Item(Section):
    """One part."""

    price: Amount = Field(description="Price of one part, in the file's currency")
    watts: Amount = Field(default=0.0, description="Power of one part under load, at the wall [W]")


class Energy(Section):
    """Cost of the machine's energy."""

    price_per_kwh: Amount = Field(default=0.0, description="Price of one kWh, in the file's currency")
    overhead: Annotated[float, Field(ge=1, le=100)] = Field(
        default=1.0, description="Power usage effectiveness: power of the building for each watt of the machine"
    )


class Prices(Section):
    """Prices of the parts of a topology; a class of cables without its own price costs as much as ``cable``."""

    name: str = Field(min_length=1, description="Name in tables and in the report")
    description: str = Field(default="", description="Source and date of the prices")
    currency: str = Field(default="EUR", max_length=12, description="Currency of all prices in the file")
    node: Item = Field(description="A node without its network adapters")
    nic: Item = Field(description="A network adapter; a node has one per rail")
    switch: Item = Field(description="A switch or router with its power supplies")
    cable: Item = Field(description="A cable of any class without its own price")
    cables: dict[str, Item] = Field(
        default_factory=dict,
        description=f"Cables by class: {cable_names()}",
    )
    energy: Energy = Field(default_factory=Energy, description="Cost of energy")

    def cable_of(self, kind: str) -> Item:
        """Return the price of a cable of a class."""
        return self.cables.get(kind, self.cable)
