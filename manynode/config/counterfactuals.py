"""The counterfactual networks of a scaling study: how long would the run take if one cost were zero?

In: a resolved experiment with a section ``scaling``. Out: one :class:`Variant` per stage. Each variant removes one more
cost than the previous one. With the same draws, the differences between neighbours add up to the whole time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from manynode.config.variants import Variant
from manynode.errors import UsageError

ENDLESS, NOTHING = "1000 Tbit/s", "0 ns"

STAGES = ("without-contention", "without-bandwidth", "without-latency", "without-overhead", "without-variability")
"""Stages in the order in which costs are removed; the time saved at a stage is the time lost to that cost."""

VARIABILITY = STAGES[-1]


def counterfactuals(content: Mapping[str, Any]) -> list[Variant]:
    """Return the study's networks in the order of :data:`STAGES`; without a section ``scaling`` there are none."""
    if not content.get("scaling"):
        return []
    steps = [
        [("network.flow_control", "none"), ("network.contention", False)],
        _bandwidth(content),
        _latency(content),
        _overhead(),
        # Constant times need no draws: all replicas are equal.
        [("simulate.replicas", 1)],
    ]
    changes: list[tuple[str, Any]] = []
    found = []
    for name, step in zip(STAGES, steps, strict=True):
        changes = [*changes, *step]
        found.append(Variant(name, {}, changes))
    return found


def loss_nodes(content: Mapping[str, Any]) -> list[int]:
    """Return the node counts of the study: its own, or all of the experiment."""
    return sorted(content["scaling"]["nodes"] or content["nodes"])


def loss_techniques(content: Mapping[str, Any]) -> list[str]:
    """Return the techniques of the study: its own, or the most complete of the experiment with variable times."""
    present = [name for name in ("ext-var", "no-ext-var") if name in content["techniques"]]
    return list(content["scaling"]["techniques"] or present[:1])


def technique_of(stage: str, technique: str) -> str:
    """Return the technique that the simulations of a stage use: without variability the constant one."""
    return technique.removesuffix("var") + "const" if stage == VARIABILITY else technique


def check_counterfactuals(content: Mapping[str, Any]) -> None:
    """Raise :class:`UsageError` for a study that the experiment does not allow."""
    if not content.get("scaling"):
        return
    if content["simulate"]["engine"] != "fast":
        raise UsageError(
            "a scaling study needs the engine fast",
            where="scaling",
            found=f"simulate: engine: {content['simulate']['engine']}, which cannot switch contention off",
            allowed="simulate: engine: fast",
            remedy="move the section to a second experiment with that engine; "
            "'manynode run --measurements-from' reuses the measured runs",
        )
    if not loss_techniques(content):
        raise UsageError(
            "a scaling study needs a technique with variable times",
            where="scaling: techniques",
            found=", ".join(content["techniques"]),
            allowed="ext-var, no-ext-var among the experiment's techniques",
        )
    for key, own in (("nodes", content["scaling"]["nodes"]), ("techniques", content["scaling"]["techniques"])):
        for entry in own:
            if entry not in content[key]:
                raise UsageError(
                    f"an entry of the scaling study is not among the experiment's {key}",
                    where=f"scaling: {key}",
                    found=str(entry),
                    allowed=", ".join(map(str, content[key])),
                )


def _bandwidth(content: Mapping[str, Any]) -> list[tuple[str, Any]]:
    links = ["network.link", *(f"network.link_classes.{name}" for name in content["network"]["link_classes"])]
    return [
        *((f"{link}.bandwidth", ENDLESS) for link in links),
        ("network.host.nic_bandwidth", ENDLESS),
        ("network.host.gap", NOTHING),
        ("network.intranode.bandwidth", ENDLESS),
    ]


def _latency(content: Mapping[str, Any]) -> list[tuple[str, Any]]:
    links = ["network.link", *(f"network.link_classes.{name}" for name in content["network"]["link_classes"])]
    return [
        *((f"{link}.latency", NOTHING) for link in links),
        ("network.switch_latency", NOTHING),
        ("network.host.nic_latency", NOTHING),
        ("network.intranode.latency", NOTHING),
    ]


def _overhead() -> list[tuple[str, Any]]:
    return [
        ("network.host.overhead_send", NOTHING),
        ("network.host.overhead_recv", NOTHING),
        ("network.host.overhead_per_byte", "0 ns/B"),
        ("network.host.reduce_bandwidth", ENDLESS),
    ]
