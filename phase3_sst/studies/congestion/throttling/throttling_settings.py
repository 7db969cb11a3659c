"""The situations of the part ``throttling``: an application and a congestor, under each controller.

In: a machine and the part's settings. Out: situations, round by round:

0. those of the part ``delay``, if a sensitivity must be measured; the application alone on each drawn set of nodes; and
   a few iterations of the congestor alone;
1. the congestor alone, with enough iterations for ``length`` times the application's time;
2. both together, under each controller and with each wrong sensitivity. All controllers see the same draws.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import Field

from manynode.config.quantities import MOST_COUNT, MOST_RUNS, Bytes, Seconds, Section, written
from manynode.errors import UsageError
from manynode.seeds import derive_seed, generator
from phase3_sst.point.contract import engine_of_settings, engines_that
from phase3_sst.studies.congestion.contract import Machine, check_counts_stalls, check_workloads
from phase3_sst.studies.congestion.delay import delay_settings as delay_study
from phase3_sst.studies.congestion.delay.background import CongestionSection, check_congestion, drawn, placed
from phase3_sst.studies.congestion.delay.delay_settings import DelaySection
from phase3_sst.studies.congestion.situation import Member, Situation

STATIC, DCQCN, AWARE = "static", "dcqcn", "aware"
CONTROLLERS = (STATIC, DCQCN, AWARE)
LONG_BYTES = 131072.0
# Iterations of a congestor to measure the length of one.
SAMPLE = 3


# Times as sensitive to delay as a ping-pong.
Sensitivity = Annotated[float, Field(ge=0, le=1e6)]


class ControlSection(Section):
    """The controllers' parameters."""

    static_share: Annotated[float, Field(gt=0, le=1)] = Field(
        default=1.0, description="share of the NIC's rate that static control always gives every node"
    )
    window: Annotated[Seconds, Field(gt=0)] = Field(
        default=written("10 us"), description="time between two decisions of an adaptive controller"
    )
    gain: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.01, description="weight of the newest window in the running share of stalled time"
    )
    threshold: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.2, description="running share of stalled time above which the rate falls; else it rises"
    )
    increase: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.001, description="share of the line rate by which the rate rises in a window"
    )
    least: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.0025, description="minimum rate as a share of the line rate"
    )


def _long_messages() -> CongestionSection:
    """Return the congestors with long messages: messages that fit into the switches' buffers never stall their NIC."""
    section = CongestionSection()
    longer = {name: own.model_copy(update={"sizes": [LONG_BYTES]}) for name, own in section.congestors.items()}
    return section.model_copy(update={"congestors": longer})


class ThrottlingSection(Section):
    """Static, DCQCN-like and delay-sensitivity aware control of injection."""

    congestion: CongestionSection = Field(
        default_factory=_long_messages, description="the job beside the application; it runs to its end"
    )
    control: ControlSection = Field(default_factory=ControlSection, description="parameters of the controllers")
    applications: list[str] = Field(default_factory=list, description="workloads of the study; empty: all of them")
    runs: Annotated[int, Field(ge=2, le=MOST_RUNS)] = Field(
        default=20, description="runs of each application under each controller, on drawn nodes beside drawn congestion"
    )
    nodes: Annotated[int, Field(ge=2, le=MOST_COUNT)] = Field(default=8, description="nodes of an application")
    length: Annotated[float, Field(gt=0, le=1000)] = Field(
        default=3.0,
        description="run time of the congestor as a multiple of the application's, each alone (the paper: 2.9)",
    )
    sensitivities: dict[str, Sensitivity] = Field(
        default_factory=dict,
        description="sensitivities by application; missing ones are measured with the settings of section delay",
    )
    congestor_sensitivity: Sensitivity = Field(
        default=0.0, description="sensitivity of the congestor; 0, since nobody waits for it"
    )
    delay: DelaySection = Field(
        default_factory=DelaySection, description="settings for measuring sensitivities: the keys of the part delay"
    )
    errors: list[Annotated[float, Field(ge=-1, le=1000)]] = Field(
        default=[-1.0, -0.5, 0.5, 1.0, 2.0],
        description="errors of a wrong sensitivity, for the most sensitive application",
    )
    interval: Annotated[Seconds, Field(gt=0)] = Field(default=written("50 us"), description="interval of the counters")
    flit: Annotated[Bytes, Field(gt=0)] = Field(
        default=written("6 B"), description="flit size of the traffic; about 6 B on Aries"
    )


@dataclass(frozen=True)
class Case:
    """An application and a congestor on drawn nodes: draw ``index``."""

    application: str
    index: int
    member: Member
    congestor: Member
    congestor_name: str
    seed: int

    def key(self) -> str:
        """Return the common part of its situations' names."""
        return f"{self.application}-{self.index}"


def check(machine: Machine, settings: ThrottlingSection) -> None:
    """Raise :class:`UsageError` when the settings do not fit the machine."""
    where = "throttling"
    check_counts_stalls(machine, where)
    engine = engine_of_settings(machine.simulate)
    if not engine.capabilities.controls_injection or machine.network.flow_control == "none":
        raise UsageError(
            "control of injection needs stalls that reach the NICs",
            where=where,
            found=f"engine {engine.name}, flow_control: {machine.network.flow_control}",
            allowed=f"engine {engines_that(lambda able: able.controls_injection)}, flow_control: credits",
            remedy="change simulate: engine, or flow_control in the network",
        )
    check_workloads(machine, [*settings.applications, *settings.sensitivities], f"{where}: applications")
    check_congestion(settings.congestion, machine.network.room(), settings.nodes, where)
    if to_measure(machine, settings):
        delay_study.check(machine, delay_settings(machine, settings), f"{where}: delay")


def chosen(machine: Machine, settings: ThrottlingSection) -> list[str]:
    """Return the names of the studied applications."""
    return list(settings.applications or machine.workloads)


def to_measure(machine: Machine, settings: ThrottlingSection) -> list[str]:
    """Return the applications whose sensitivity is not given."""
    return [name for name in chosen(machine, settings) if name not in settings.sensitivities]


def delay_settings(machine: Machine, settings: ThrottlingSection) -> DelaySection:
    """Return the settings for measuring sensitivities, for the applications that need it, at their size."""
    return settings.delay.model_copy(update={"applications": to_measure(machine, settings), "nodes": settings.nodes})


def cases(machine: Machine, settings: ThrottlingSection) -> Iterator[Case]:
    """Yield each application's draws; nodes and congestion of a draw are the same for all applications.

    Congestors rotate in drawn order, for equal shares even in a few draws.
    """
    room, congestors = machine.network.room(), sorted(settings.congestion.congestors)
    for name in chosen(machine, settings):
        for index in range(settings.runs):
            rng = generator(machine.seed, "throttling", index)
            nodes = placed(room, settings.nodes, rng)
            turn, place = divmod(index, len(congestors))
            order = generator(machine.seed, "throttling", "congestors", turn).permutation(len(congestors))
            once = {"background": False, "changes": {"iterations": SAMPLE}, "name": congestors[order[place]]}
            congestion = drawn(settings.congestion, room, nodes, rng, **once)
            if congestion.member is None:
                continue
            seed = derive_seed(machine.seed, "throttling", "draws", index) >> 1
            yield Case(name, index, machine.workloads[name].on(nodes), congestion.member, congestion.congestor, seed)


def alone(case: Case) -> Situation:
    """Return the application alone on its nodes."""
    return Situation(f"alone-{case.key()}", [case.member], case.seed)


def sample(case: Case) -> Situation:
    """Return a few iterations of the congestor, alone."""
    return Situation(f"sample-{case.index}", [case.congestor], case.seed)


def lengthened(machine: Machine, settings: ThrottlingSection, case: Case) -> Member:
    """Return the congestor with as many iterations as the settings ask for; needs the results of round 0."""
    iteration_s = makespans_s(machine, sample(case))[0] / SAMPLE
    count = max(1, math.ceil(settings.length * makespans_s(machine, alone(case))[0] / iteration_s))
    return replace(case.congestor, parameters={**case.congestor.parameters, "iterations": count})


def congestor_alone(machine: Machine, settings: ThrottlingSection, case: Case) -> Situation:
    """Return the lengthened congestor alone."""
    return Situation(f"congestor-{case.key()}", [lengthened(machine, settings, case)], case.seed)


def together(
    machine: Machine, settings: ThrottlingSection, case: Case, controller: str, sensitivity: float
) -> Situation:
    """Return both jobs under a controller; ``sensitivity`` is the application's value given to the aware one."""
    own, other = injections(settings, controller, sensitivity)
    members = [replace(case.member, injection=own), replace(lengthened(machine, settings, case), injection=other)]
    name = f"{controller}-{case.key()}" if controller != AWARE else f"{controller}-{sensitivity:.4g}-{case.key()}"
    return Situation(name, members, case.seed, {"interval": settings.interval, "per": "link"})


def injections(
    settings: ThrottlingSection, controller: str, sensitivity: float
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the injection control of the application's and the congestor's NICs."""
    control = settings.control
    if controller == STATIC:
        static = {"kind": "static", "share": control.static_share}
        return static, static
    own, other = (sensitivity, settings.congestor_sensitivity) if controller == AWARE else (0.0, 0.0)
    adaptive = {"kind": "aimd", **control.model_dump(exclude={"static_share"})}
    return {**adaptive, "sensitivity": own}, {**adaptive, "sensitivity": other}


def makespans_s(machine: Machine, situation: Situation) -> list[float]:
    """Return the time of each job of a simulated situation."""
    jobs: Sequence[Mapping[str, Any]] = machine.result(situation).document["replicas"][0]["jobs"]
    return [float(job["makespan_s"]) for job in jobs]
