"""A price file, ``configs/prices/NAME.yaml``: prices and power of the parts of a machine."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field, field_validator

from manynode.config.quantities import Section
from manynode.config.topology import cable_names
from manynode.units import parse

HOURS_PER_YEAR = 365.25 * 24
Amount = Annotated[float, Field(ge=0, le=1e12)]


class Item(Section):
    """One part."""

    price: Amount = Field(description="Price of one part, in the file's currency")
    watts: Amount = Field(default=0.0, description="Power of one part under load, at the wall [W]")


class ItemChange(Section):
    """A part of which only what is given differs."""

    price: Amount | None = Field(default=None, description="Price of one part")
    watts: Amount | None = Field(default=None, description="Power of one part under load, at the wall [W]")

    def applied(self, item: Item) -> Item:
        """Return ``item`` with what is given here."""
        return item.model_copy(update=self.model_dump(exclude_none=True))


class PartPrices(Section):
    """Parts whose price or watts differ from those of the price file; what is left out stays as it is there."""

    nic: ItemChange | None = Field(default=None, description="A network adapter")
    switch: ItemChange | None = Field(default=None, description="A switch or router")
    cable: ItemChange | None = Field(default=None, description="Cables of every class that is not in 'cables' here")
    cables: dict[str, ItemChange] = Field(default_factory=dict, description="Cables by class")

    def applied(self, part: str, item: Item) -> Item:
        """Return ``item`` with what is given here for ``part``: node, nic, switch, or a class of cables."""
        own = getattr(self, part, None) if part in ("node", "nic", "switch") else self.cables.get(part, self.cable)
        return item if own is None else own.applied(item)


class Energy(Section):
    """Cost of the machine's energy over its life."""

    price_per_kwh: Amount = Field(default=0.0, description="Price of one kWh, in the file's currency")
    overhead: Annotated[float, Field(ge=1, le=100)] = Field(
        default=1.0, description="Power usage effectiveness: power of the building for each watt of the machine"
    )
    years: Annotated[float, Field(gt=0, le=100)] = Field(default=5.0, description="Years that the machine is used")
    use: Annotated[float, Field(ge=0, le=1)] = Field(
        default=1.0, description="Share of these years under load; the rest of the time takes no power here"
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
    speeds: dict[str, PartPrices] = Field(
        default_factory=dict,
        description="Classes of speed, such as 200 Gbit/s: adapters, switches and cables that differ from those above. "
        "A part is of the slowest class that reaches its bandwidth. Default: one price for every speed",
    )
    energy: Energy = Field(default_factory=Energy, description="Cost of energy")

    @field_validator("speeds", mode="after")
    @classmethod
    def _are_bandwidths(cls, given: dict[str, PartPrices]) -> dict[str, PartPrices]:
        for text in given:
            parse(text, "bandwidth")
        return given

    def part(self, name: str, speed_Bps: float = 0.0) -> Item:
        """Return the price of a part: node, nic, switch or a class of cables; ``speed_Bps`` is its bandwidth [B/s].

        A bandwidth beyond every class of speed is a ValueError.
        """
        general: Item = getattr(self, name) if name in ("node", "nic", "switch") else self.cables.get(name, self.cable)
        if not self.speeds or name == "node":
            return general
        return self.speeds[self.speed_class(speed_Bps)].applied(name, general)

    def speed_class(self, speed_Bps: float) -> str:
        """Return the slowest class of speed that reaches a bandwidth [B/s]; ValueError if none does."""
        classes = {parse(text, "bandwidth"): text for text in self.speeds}
        reaching = [speed for speed in classes if speed >= speed_Bps or math.isclose(speed, speed_Bps)]
        if not reaching:
            raise ValueError(", ".join(classes[speed] for speed in sorted(classes)))
        return classes[min(reaching)]

    def life_cost(self, cost: float, power_w: float) -> float:
        """Return what a machine costs over its years: its price and the energy [W] of its time under load."""
        hours = self.energy.years * self.energy.use * HOURS_PER_YEAR
        return cost + power_w / 1000 * hours * self.energy.overhead * self.energy.price_per_kwh
