"""The counterfactual networks of a scaling study: how long would the run take if one cost were zero?

In: a resolved experiment with a section ``scaling``. Out: one :class:`Variant` per stage. Each variant removes one more
cost than the previous one. With the same draws, the differences between neighbours add up to the whole time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from manynode.config.sensitivity import Value
from manynode.config.variants import Variant
from manynode.errors import UsageError

if TYPE_CHECKING:
    from manynode.config.experiment import Experiment, Technique
    from manynode.config.resolved import Resolved

Change = tuple[str, Value | None]
"""A key and its value; None where a cost has no value that removes it."""

ENDLESS, NOTHING = "1000 Tbit/s", "0 ns"

BANDWIDTH: Sequence[Change] = (
    ("network.link.bandwidth", ENDLESS),
    ("network.host.nic_bandwidth", ENDLESS),
    ("network.host.gap", NOTHING),
    ("network.intranode.bandwidth", ENDLESS),
)
LATENCY: Sequence[Change] = (
    ("network.link.latency", NOTHING),
    ("network.switch_latency", NOTHING),
    ("network.host.nic_latency", NOTHING),
    ("network.host.message_latency", NOTHING),
    ("network.intranode.latency", NOTHING),
)
OVERHEAD: Sequence[Change] = (
    ("network.host.overhead_send", NOTHING),
    ("network.host.overhead_recv", NOTHING),
    ("network.host.overhead_per_byte", "0 ns/B"),
    ("network.host.reduce_bandwidth", ENDLESS),
    ("network.host.eager_copy", "none"),
    ("network.host.copy_bandwidth", None),
    ("network.host.fresh_bandwidth", None),
    ("network.host.collective_call", NOTHING),
    ("network.host.collective_step", NOTHING),
)

STAGES = ("without-contention", "without-bandwidth", "without-latency", "without-overhead", "without-variability")
"""Stages in the order in which costs are removed; the time saved at a stage is the time lost to that cost."""

VARIABILITY = STAGES[-1]


def counterfactuals(experiment: Resolved) -> list[Variant]:
    """Return the study's networks in the order of :data:`STAGES`; without a section ``scaling`` there are none."""
    if experiment.scaling is None:
        return []
    steps: list[Sequence[Change]] = [
        [("network.flow_control", "none"), ("network.contention", False)],
        [*BANDWIDTH, *_of_classes(experiment, "bandwidth", ENDLESS)],
        [*LATENCY, *_of_classes(experiment, "latency", NOTHING)],
        OVERHEAD,
        # Constant times need no draws: all replicas are equal.
        [("simulate.replicas", 1)],
    ]
    changes: list[Change] = []
    found = []
    for name, step in zip(STAGES, steps, strict=True):
        changes = [*changes, *step]
        found.append(Variant(name, {}, changes))
    return found


def loss_nodes(experiment: Resolved) -> list[int]:
    """Return the node counts of the study: its own, or all of the experiment."""
    assert experiment.scaling is not None
    return sorted(experiment.scaling.nodes or experiment.nodes)


def loss_techniques(experiment: Resolved) -> list[Technique]:
    """Return the techniques of the study: its own, or the most complete of the experiment with variable times."""
    assert experiment.scaling is not None
    wanted: tuple[Technique, ...] = ("ext-var", "no-ext-var")
    present = [name for name in wanted if name in experiment.techniques]
    return list(experiment.scaling.techniques or present[:1])


def technique_of(stage: str, technique: str) -> str:
    """Return the technique that the simulations of a stage use: without variability the constant one."""
    return technique.removesuffix("var") + "const" if stage == VARIABILITY else technique


def check_counterfactuals(experiment: Resolved, engines: Sequence[str]) -> None:
    """Raise :class:`UsageError` for a study that the experiment does not allow.

    ``engines`` are those that can switch contention off.
    """
    if experiment.scaling is None:
        return
    if experiment.simulate.engine not in engines:
        raise UsageError(
            f"a scaling study needs the engine {' or '.join(engines)}",
            where="scaling",
            found=f"simulate: engine: {experiment.simulate.engine}, which cannot switch contention off",
            allowed=f"simulate: engine: {', '.join(engines)}",
            remedy="move the section to a second experiment with that engine; "
            "'manynode run --measurements-from' reuses the measured runs",
        )
    if not loss_techniques(experiment):
        raise UsageError(
            "a scaling study needs a technique with variable times",
            where="scaling: techniques",
            found=", ".join(experiment.techniques),
            allowed="ext-var, no-ext-var among the experiment's techniques",
        )
    study = experiment.scaling
    chosen: tuple[tuple[str, Sequence[object], Sequence[object]], ...] = (
        ("nodes", study.nodes, experiment.nodes),
        ("techniques", study.techniques, experiment.techniques),
    )
    for key, own, known in chosen:
        for entry in own:
            if entry not in known:
                raise UsageError(
                    f"an entry of the scaling study is not among the experiment's {key}",
                    where=f"scaling: {key}",
                    found=str(entry),
                    allowed=", ".join(map(str, known)),
                )


def _of_classes(experiment: Experiment, key: str, value: Value) -> list[Change]:
    """Return the change of ``key`` in every class of links."""
    return [(f"network.link_classes.{name}.{key}", value) for name in experiment.network.link_classes]
