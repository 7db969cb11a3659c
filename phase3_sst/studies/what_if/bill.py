"""The bill of materials of a machine: nodes, network adapters, switches, cables by class; their cost and power.

In: a network, a number of nodes, prices. Out: a table with a row per item: item, count, price (of one), cost, watts (of
one), power_w. The network is bought completely, as its topology says, even if nodes do not fill it.
"""

from __future__ import annotations

import pandas as pd

from manynode.config.network import Network
from manynode.config.prices import Item, Prices
from manynode.config.topology import cable_names, topologies
from manynode.errors import UsageError


def bill(network: Network, nodes: int, prices: Prices) -> pd.DataFrame:
    """Return the bill of ``nodes`` nodes on ``network``; too many nodes for the network are a UsageError."""
    if not 1 <= nodes <= network.room():
        raise UsageError(
            "the nodes do not fit the network",
            where=network.name,
            found=f"{nodes} nodes",
            allowed=f"1 to {network.room()}",
            remedy="choose another number of nodes, or a larger topology",
        )
    _check_classes(prices)
    topology = network.topology
    cables = topology.cables()
    # A port without a node needs no cable.
    cables["host"] = nodes * network.host.rails
    parts: list[tuple[str, int, Item]] = [
        ("nodes", nodes, prices.node),
        ("network adapters", nodes * network.host.rails, prices.nic),
        ("switches", topology.switch_count(), prices.switch),
        *((f"cables, {kind}", count, prices.cable_of(kind)) for kind, count in cables.items()),
    ]
    frame = pd.DataFrame(
        [
            {"item": name, "count": count, "price": part.price, "cost": count * part.price, "watts": part.watts}
            for name, count, part in parts
        ]
    )
    frame["power_w"] = frame["count"] * frame["watts"]
    return frame


def _check_classes(prices: Prices) -> None:
    """Refuse a price for a cable class that no topology has; classes of other topologies are ignored."""
    for kind in prices.cables:
        if kind != "host" and not any(each.cable_pattern.fullmatch(kind) for each in topologies()):
            raise UsageError(
                "a price belongs to no class of cables",
                where=f"prices {prices.name}: cables",
                found=kind,
                allowed=cable_names(),
            )
