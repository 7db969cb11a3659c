"""The bill of materials of a machine: nodes, network adapters, switches, cables by class; their cost and power.

In: a network, a number of nodes, prices. Out: a table with a row per item: item, count, price (of one), cost, watts (of
one), power_w. The network is bought completely, as its topology says, even if nodes do not fill it:
:func:`oversized` says where that is more than twice what they need.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from manynode import units
from manynode.config.network import Network
from manynode.config.prices import Item, PartPrices, Prices
from manynode.config.topology import cable_names, topologies
from manynode.errors import UsageError
from manynode.report.wording import count

# More switches than this many times those that the nodes need are worth a warning.
_TOO_MANY = 2


def bill(network: Network, nodes: int, prices: Prices, own: PartPrices | None = None) -> pd.DataFrame:
    """Return the bill of ``nodes`` nodes on ``network``; ``own`` are prices that differ from the price file's.

    Nodes that do not fit, and parts faster than the file's classes of speed, are a UsageError.
    """
    if not 1 <= nodes <= network.room():
        raise UsageError(
            "the nodes do not fit the network",
            where=network.name,
            found=f"{nodes} nodes",
            allowed=f"1 to {network.room()}",
            remedy="choose another number of nodes, or a larger topology",
        )
    own = own or PartPrices()
    speeds = [kind for each in prices.speeds.values() for kind in each.cables]
    _check_classes([*prices.cables, *speeds, *own.cables], prices.name)
    topology = network.topology
    cables = topology.cables()
    # A port without a node needs no cable.
    cables["host"] = nodes * network.host.rails

    def priced(part: str, speed_Bps: float = 0.0) -> Item:
        try:
            item = prices.part(part, speed_Bps)
        except ValueError as error:
            raise UsageError(
                "a part is faster than every class of speed in the prices",
                where=f"prices {prices.name}: speeds",
                found=f"{part} of {units.render(speed_Bps, 'bandwidth')} in the network {network.name}",
                allowed=str(error),
                remedy="add a class of speed to the price file, or correct the bandwidth",
            ) from None
        return own.applied(part, item)

    by_link = link_speeds(network)
    parts: list[tuple[str, int, Item]] = [
        ("nodes", nodes, priced("node")),
        ("network adapters", nodes * network.host.rails, priced("nic", network.host.nic_bandwidth)),
        ("switches", topology.switch_count(), priced("switch", max(by_link.values()))),
        *((f"cables, {kind}", number, priced(kind, by_link[kind])) for kind, number in cables.items()),
    ]
    frame = pd.DataFrame(
        [
            {"item": name, "count": number, "price": part.price, "cost": number * part.price, "watts": part.watts}
            for name, number, part in parts
        ]
    )
    frame["power_w"] = frame["count"] * frame["watts"]
    return frame


def link_speeds(network: Network) -> dict[str, float]:
    """Return the bandwidth [B/s] of each class of cables: that of its faster direction."""
    own = {name: link.bandwidth for name, link in network.link_classes.items()}
    return {
        kind: max(
            own.get(name, network.link.bandwidth)
            for name in network.topology.link_classes()
            if name == kind or name.startswith(f"{kind}-")
        )
        for kind in network.topology.cables()
    }


def oversized(network: Network, nodes: int) -> str:
    """Return a warning where the network has more than twice the switches that the nodes need; else an empty text."""
    topology, rails = network.topology, network.host.rails
    if network.room() <= _TOO_MANY * nodes:
        return ""
    needed, bought = topology.switches_needed(nodes * rails, rails), topology.switch_count()
    if bought <= _TOO_MANY * needed:
        return ""
    return (
        f"The network {network.name} has room for {count(network.room(), 'node')} and is bought whole: "
        f"{count(bought, 'switch', 'switches')}, where about {needed:,} would do for {count(nodes, 'node')}. "
        "'manynode network' writes one of the right size."
    )


def _check_classes(kinds: Sequence[str], name: str) -> None:
    """Refuse a price for a cable class that no topology has; classes of other topologies are ignored."""
    for kind in kinds:
        if kind != "host" and not any(each.cable_pattern.fullmatch(kind) for each in topologies()):
            raise UsageError(
                "a price belongs to no class of cables",
                where=f"prices {name}: cables",
                found=kind,
                allowed=cable_names(),
            )
