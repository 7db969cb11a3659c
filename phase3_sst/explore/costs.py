"""Prices of answers: their bill, power and energy as in a what-if study, and the front of time and cost.

In: answers with their networks and nodes, a price file's content. Out: a row per answer, in which the front is marked.
Rows are kept by digest: a further answer costs one bill. Under weak scaling, answers of different node counts solve
problems of different sizes; each node count has a front of its own then, unless the caller says how many runs of each
make the same work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from manynode.config.network import Network
from manynode.config.prices import Prices
from phase3_sst.explore.answer import Answer
from phase3_sst.studies.what_if.bill import bill, oversized
from phase3_sst.studies.what_if.decide import energy_kwh, maybe_on_front, pareto


@dataclass(frozen=True)
class Priced:
    """An answer with its cost; times in seconds, power in watts, cost in the prices' currency.

    ``life_cost``: price and energy of the machine's years. ``warning``: of a network that is much too large. ``front``:
    no other answer of its group is as fast and as cheap, and better in one of the two. ``maybe_front``: with other
    draws of the replicas it may be on the front.
    """

    digest: str
    group: str
    nodes: int
    time_s: float
    low_s: float
    high_s: float
    cost: float
    life_cost: float
    power_w: float
    energy_kwh: float
    energy_cost: float
    warning: str
    front: bool = False
    maybe_front: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the row for the page."""
        return dict(vars(self))


@dataclass
class Costs:
    """The priced answers of one price file; ``relevant`` is the share up to which gains of time do not count."""

    prices: Prices
    relevant: float
    rows: dict[str, Priced] = field(default_factory=dict)

    def add(self, answer: Answer, network: Network, nodes: int, *, group: str = "", runs: float = 1.0) -> Priced:
        """Price an answer; only rows of one ``group`` are compared. ``runs`` of it make the compared work.

        Nodes that do not fit the network, and prices of unknown cables, are a UsageError.
        """
        items = bill(network, nodes, self.prices)
        cost, power = float(items["cost"].sum()), float(items["power_w"].sum())
        energy = energy_kwh(power, answer.time_s * runs, self.prices)
        row = Priced(
            digest=answer.digest,
            group=group,
            nodes=nodes,
            time_s=answer.time_s * runs,
            low_s=answer.low_s * runs,
            high_s=answer.high_s * runs,
            cost=cost,
            life_cost=self.prices.life_cost(cost, power),
            power_w=power,
            energy_kwh=energy,
            energy_cost=energy * self.prices.energy.price_per_kwh,
            warning=oversized(network, nodes),
        )
        self.rows[answer.digest] = row
        return row

    def front(self) -> list[Priced]:
        """Return all rows, the cheapest first, with the fronts of their groups marked."""
        marked: list[Priced] = []
        for group in dict.fromkeys(row.group for row in self.rows.values()):
            rows = [row for row in self.rows.values() if row.group == group]
            costs = [row.cost for row in rows]
            front = pareto([row.time_s for row in rows], costs, self.relevant)
            maybe = maybe_on_front([row.low_s for row in rows], [row.high_s for row in rows], costs, self.relevant)
            marked += [replace(row, front=on, maybe_front=may) for row, on, may in zip(rows, front, maybe, strict=True)]
        return sorted(marked, key=lambda row: (row.cost, row.time_s, row.digest))


def bill_rows(network: Network, nodes: int, prices: Prices) -> list[Mapping[str, Any]]:
    """Return the bill of materials, a mapping per item."""
    return [dict(row) for row in bill(network, nodes, prices).to_dict("records")]
