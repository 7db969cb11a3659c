"""The situations of the part ``delay``: round trips under congestion, and runs of the applications under congestion.

In: a machine and the part's settings. Out: situations, and the tables that models are fitted to. Each draw has its own
random stream; additional situations do not change earlier ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import Field

from manynode.config.quantities import MOST_COUNT, MOST_RUNS, Bytes, PositiveInt, Seconds, Section, written
from manynode.seeds import derive_seed, generator
from phase3_sst.studies.congestion.contract import Machine, Workload, check_counts_stalls, check_workloads
from phase3_sst.studies.congestion.delay.background import (
    NO_CONGESTION,
    Congestion,
    CongestionSection,
    check_congestion,
    drawn,
    placed,
    resolved,
)
from phase3_sst.studies.congestion.delay.latency import Snapshots
from phase3_sst.studies.congestion.delay.passages import Routes
from phase3_sst.studies.congestion.delay.stalls import Waiting, simulated_stalls
from phase3_sst.studies.congestion.situation import Member, Situation

# The name under which the ping-pong appears among the applications.
PING_PONG = "ping-pong"
# The last of every three round-trip situations is held out from the fit.
HELD_OUT_EVERY = 3


class RoundTripsSection(Section):
    """The ping-pongs for the fit of the latency model."""

    situations: Annotated[int, Field(ge=6, le=MOST_RUNS)] = Field(
        default=30,
        description="situations of congestion; the first is idle, and one of every three is held out to test the model",
    )
    pairs: PositiveInt = Field(default=4, description="pairs of nodes that exchange messages in each situation")
    exchanges: PositiveInt = Field(default=50, description="round trips of a pair; their mean is one measurement")
    size: Annotated[Bytes, Field(gt=0)] = Field(default=written("8 B"), description="size of their messages")


class DelaySection(Section):
    """Message delay under congestion, and its cost for each application."""

    congestion: CongestionSection = Field(
        default_factory=CongestionSection, description="congestors beside ping-pongs and applications"
    )
    round_trips: RoundTripsSection = Field(
        default_factory=RoundTripsSection, description="measurements for the latency model"
    )
    applications: list[str] = Field(default_factory=list, description="workloads of the study; empty: all of them")
    runs: Annotated[int, Field(ge=8, le=MOST_RUNS)] = Field(
        default=30, description="runs of each application, each with its own drawn nodes and congestion"
    )
    nodes: Annotated[int, Field(ge=2, le=MOST_COUNT)] = Field(default=8, description="nodes of an application")
    interval: Annotated[Seconds, Field(gt=0)] = Field(
        default=written("50 us"), description="interval of the counters; about ten in a run are enough"
    )


@dataclass(frozen=True)
class Drawn:
    """A situation, its draws, and the name of its application."""

    situation: Situation
    congestion: Congestion
    application: str


def check(machine: Machine, settings: DelaySection, where: str = "delay") -> None:
    """Raise :class:`UsageError` when the settings do not fit the machine."""
    check_counts_stalls(machine, where)
    check_workloads(machine, settings.applications, f"{where}: applications")
    most = max(settings.nodes, 2 * settings.round_trips.pairs)
    check_congestion(settings.congestion, machine.network.room(), most, where)


def round_trips(machine: Machine, settings: DelaySection) -> list[Drawn]:
    """Return the situations of the latency model: ping-pongs on drawn pairs of nodes, beside drawn congestion."""
    found, section = [], settings.round_trips
    for index in range(section.situations):
        rng = generator(machine.seed, "delay", "round-trips", index)
        nodes = placed(machine.network.room(), 2 * section.pairs, rng)
        pairs = [nodes[2 * number : 2 * number + 2] for number in range(section.pairs)]
        members = [_ping_pong(section, pair, f"{PING_PONG}-{number}") for number, pair in enumerate(pairs)]
        found.append(_situation(machine, settings, f"round-trips-{index}", members, nodes, rng, index))
    return found


def application_runs(machine: Machine, settings: DelaySection) -> list[Drawn]:
    """Return the situations of the delay sensitivities: all applications share the draws of nodes and congestion."""
    found = []
    for name in chosen(machine, settings):
        for index in range(settings.runs):
            rng = generator(machine.seed, "delay", "runs", index)
            nodes = placed(machine.network.room(), settings.nodes, rng)
            member = machine.workloads[name].on(nodes)
            found.append(_situation(machine, settings, f"delay-{name}-{index}", [member], nodes, rng, index, name))
    return found


def chosen(machine: Machine, settings: DelaySection) -> list[str]:
    """Return the names of the studied applications."""
    return list(settings.applications or machine.workloads)


def _situation(
    machine: Machine,
    settings: DelaySection,
    name: str,
    members: Sequence[Member],
    nodes: Sequence[int],
    rng: np.random.Generator,
    index: int,
    application: str = PING_PONG,
) -> Drawn:
    # The first one is idle, to show the model the delay without congestion.
    room = machine.network.room()
    congestion = NO_CONGESTION if index == 0 else drawn(settings.congestion, room, nodes, rng)
    counters = {"interval": settings.interval, "per": "link"}
    seed = derive_seed(machine.seed, "delay", "draws", index) >> 1
    situation = Situation(name, [*members, *congestion.members], seed, counters)
    return Drawn(situation, congestion, application)


def _ping_pong(section: RoundTripsSection, pair: Sequence[int], name: str) -> Member:
    parameters = {"pattern": PING_PONG, "iterations": section.exchanges, "bytes": round(section.size)}
    workload = Workload(name, "patterns", resolved("patterns", tuple(sorted(parameters.items()))), 1, None)
    return workload.on(pair)


def round_trip_table(machine: Machine, wanted: Sequence[Drawn]) -> tuple[pd.DataFrame, Snapshots]:
    """Return rows of ``round-trips/1`` with congestor and held_out beside, and the stalls of the situations."""
    rows = []
    for one in wanted:
        run = one.situation.name
        for job, member in zip(_jobs(machine, one), one.situation.members, strict=True):
            if member.background:
                continue
            source, target = member.hosts
            rows.append(
                {
                    "run": run,
                    "source_node": source,
                    "target_node": target,
                    "start_s": 0.0,
                    "end_s": float(job["makespan_s"]),
                    "round_trip_s": float(job["makespan_s"]) / int(member.parameters["iterations"]),
                    "congestor": one.congestion.congestor,
                    "held_out": int(run.rpartition("-")[2]) % HELD_OUT_EVERY == HELD_OUT_EVERY - 1,
                }
            )
    return pd.DataFrame(rows), _snapshots(machine, wanted)


def run_table(machine: Machine, wanted: Sequence[Drawn]) -> tuple[pd.DataFrame, Snapshots]:
    """Return runs of applications (run, application, nodes, start_s, end_s, congestor), and their stalls."""
    rows = []
    for one in wanted:
        rows.append(
            {
                "run": one.situation.name,
                "application": one.application,
                "nodes": list(one.situation.members[0].hosts),
                "start_s": 0.0,
                "end_s": float(_jobs(machine, one)[0]["makespan_s"]),
                "congestor": one.congestion.congestor,
            }
        )
    return pd.DataFrame(rows), _snapshots(machine, wanted)


def _jobs(machine: Machine, one: Drawn) -> list[dict[str, Any]]:
    jobs: list[dict[str, Any]] = machine.result(one.situation).document["replicas"][0]["jobs"]
    return jobs


def _snapshots(machine: Machine, wanted: Sequence[Drawn]) -> Snapshots:
    waiting = {}
    for one in wanted:
        run = one.situation.name
        waiting[run] = Waiting.of(simulated_stalls(machine.result(one.situation).folder, run))
    return Snapshots(Routes(machine.network), waiting)
