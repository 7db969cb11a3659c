"""The rate and latency of every link, in a form that merlin accepts.

merlin gives each router one rate for all its ports (its dragonfly three: to hosts, within the group, between groups),
and a cable runs at the lower rate of its two ends, in both directions. Links with their own rate are therefore modelled
through the rates of routers. A class that cannot be modelled this way is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from manynode.errors import UsageError
from phase3_sst.engines.sst.machine.wiring import Wiring


@dataclass(frozen=True)
class Rates:
    """In bytes per second and seconds."""

    routers: Sequence[float]  # of each switch
    groups: Mapping[str, float]  # merlin's logical groups of ports with rates of their own, in every router
    hosts: float  # of the links of hosts: the slower of link and NIC
    latencies: Mapping[str, float]  # by class of links
    classes: Mapping[str, float]  # the rate of each class


def rates_of(network: Mapping[str, Any], wiring: Wiring) -> Rates:
    """Return the rates of all links of a network."""
    named = network.get("link_classes") or {}
    links = {cls: named.get(cls, network["link"]) for cls in wiring.classes}
    _check_directions(links, wiring)
    wanted = {cls: float(link["bandwidth_Bps"]) for cls, link in links.items()}
    hosts = min(wanted["host-up"], float(network["host"]["nic_bandwidth_Bps"]))
    wanted["host-up"] = wanted["host-down"] = hosts
    groups = {group: wanted[cls] for cls, group in wiring.groups.items()}
    found = Rates(
        routers=_router_rates(wanted, wiring),
        groups=groups if len(set(groups.values())) > 1 else {},
        hosts=hosts,
        latencies={cls: float(link["latency_s"]) for cls, link in links.items()},
        classes=wanted,
    )
    _check_rates(found, wanted, wiring)
    return found


def _router_rates(wanted: Mapping[str, float], wiring: Wiring) -> list[float]:
    """Return, per switch, the highest rate that one of its cables needs."""
    highest = [0.0] * len(wiring.switches)
    for cable in wiring.cables:
        rate = wanted[cable.forward.cls]
        highest[cable.a] = max(highest[cable.a], rate)
        highest[cable.b] = max(highest[cable.b], rate)
    for port in wiring.hosts:
        highest[port.switch] = max(highest[port.switch], wanted["host-up"])
    return highest


def rate_of_port(rates: Rates, switch: int, group: str | None) -> float:
    """Return the rate that merlin gives a port."""
    return rates.groups[group] if group is not None and rates.groups else rates.routers[switch]


def _check_rates(rates: Rates, wanted: Mapping[str, float], wiring: Wiring) -> None:
    for cable in wiring.cables:
        cls = cable.forward.cls
        group = wiring.groups.get(cls)
        rate = min(rate_of_port(rates, cable.a, group), rate_of_port(rates, cable.b, group))
        if rate != wanted[cls]:
            others = sorted({f"{name} {value:g}" for name, value in wanted.items()})
            raise UsageError(
                "the sst engine cannot give this class of links a rate of its own",
                where=f"network.link_classes.{cls}.bandwidth_Bps",
                found=f"{wanted[cls]:g} beside " + ", ".join(others),
                allowed="rates that follow from one rate per router, where the slower end of a cable decides: in trees "
                "they fall from level to level, in tori all but the (slower) hosts have one",
                remedy="choose such rates, or the engine fast",
            )


def _check_directions(links: Mapping[str, Mapping[str, Any]], wiring: Wiring) -> None:
    cables = {(cable.forward.cls, cable.backward.cls) for cable in wiring.cables} | {("host-up", "host-down")}
    for forward, backward in sorted(cables):
        for key in ("bandwidth_Bps", "latency_s"):
            if links[forward][key] != links[backward][key]:
                raise UsageError(
                    "the sst engine cannot give the two directions of a cable different properties",
                    where=f"network.link_classes.{backward}.{key}",
                    found=f"{links[backward][key]:g}, {forward} has {links[forward][key]:g}",
                    allowed="the same for both",
                    remedy="give both classes the same value, or choose the engine fast",
                )
