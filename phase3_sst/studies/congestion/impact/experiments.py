"""The situations of the part ``impact``: applications in four settings and ten rotations, and the congestor alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from manynode.seeds import derive_seed, generator
from phase3_sst.studies.congestion.contract import Machine
from phase3_sst.studies.congestion.impact.impact_settings import Congestor, ImpactSection
from phase3_sst.studies.congestion.impact.layout import SETTINGS, layout
from phase3_sst.studies.congestion.situation import Member, Situation

PATTERNS = "patterns"
# Seeds of draws are kept within what JSON readers take for a whole number everywhere.
_SEEDS = 2**53


@dataclass(frozen=True)
class Run:
    """A run of an application in a setting; the rotations of all settings and applications draw alike."""

    application: str
    setting: str
    rotation: int
    situation: Situation


@dataclass(frozen=True)
class Pressure:
    """The congestor with a canary, and the canary alone on the same nodes."""

    nodes: int
    level: int
    repetition: int
    congested: Situation
    isolated: Situation


def applications(machine: Machine, settings: ImpactSection) -> list[str]:
    """Return the workloads that are studied, in the order of the study."""
    return [name for name in machine.workloads if not settings.applications or name in settings.applications]


def runs(machine: Machine, settings: ImpactSection) -> Iterator[Run]:
    """Yield the runs of every application, setting and rotation."""
    for name in applications(machine, settings):
        for setting in SETTINGS:
            for rotation in range(settings.rotations):
                where = layout(setting, settings.nodes, rotation, settings.rotations, settings.first_node)
                members = [machine.workloads[name].on(where.application)]
                if where.congestor:
                    members.append(congestor(settings.congestor, where.congestor))
                seed = derive_seed(machine.seed, "impact", rotation) % _SEEDS
                yield Run(name, setting, rotation, Situation(f"impact-{name}-{setting}-{rotation}", members, seed))


def congestor(settings: Congestor, hosts: list[int], changes: Mapping[str, Any] | None = None) -> Member:
    """Return the congestor as a job in the background."""
    parameters = {**settings.described(), **(changes or {})}
    return Member("congestor", PATTERNS, parameters, hosts, settings.ranks_per_node, background=True)


def pressures(machine: Machine, settings: ImpactSection) -> Iterator[Pressure]:
    """Yield the runs of congestor and canary, of every size, level and repetition."""
    if settings.intensity is None:
        return
    chosen = settings.intensity
    for nodes in chosen.nodes:
        for repetition in range(chosen.repetitions):
            drawn = generator(machine.seed, "impact", "canary", nodes, repetition).permutation(nodes)
            hosts = [settings.first_node + int(place) for place in drawn]
            count = chosen.canary_nodes(nodes)
            canary = Member("canary", PATTERNS, chosen.canary.described(), sorted(hosts[:count]))
            seed = derive_seed(machine.seed, "impact", "canary", repetition) % _SEEDS
            isolated = Situation(f"impact-canary-{nodes}-{repetition}", [canary], seed)
            for level, changes in enumerate(chosen.levels):
                members = [canary, congestor(settings.congestor, sorted(hosts[count:]), changes)]
                name = f"impact-congestor-{nodes}-{level}-{repetition}"
                yield Pressure(nodes, level, repetition, Situation(name, members, seed), isolated)
