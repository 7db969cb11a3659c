"""Runs the rounds of a study: collects the situations that the parts need and simulates them, until no part needs more.

Parts share situations: one that two parts need is simulated once. A part that needs nothing in a round is finished.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from manynode.config.quantities import Section
from manynode.errors import ManynodeError, UsageError, nearest
from phase3_sst.studies.congestion.contract import Findings, parts
from phase3_sst.studies.congestion.situation import Situation
from phase3_sst.studies.congestion.situation_runs import Runs
from phase3_sst.studies.congestion.study_file import Described

Simulate = Callable[[int, Mapping[str, Sequence[Situation]]], None]
"""Simulates the situations of a round: its number, part -> situations."""


@dataclass(frozen=True)
class Concluded:
    """The findings of a part, or the reason for its failure."""

    name: str
    title: str
    findings: Findings
    failure: str = ""


def chosen_parts(described: Described, only: Sequence[str]) -> dict[str, Section]:
    """Return the settings of the parts to run: those in ``only``, or all of the study's if it is empty."""
    for name in only:
        if name not in described.settings:
            near = nearest(name, described.settings)
            raise UsageError(
                "the study has no such part",
                where="--only",
                found=name,
                allowed=", ".join(described.settings),
                remedy=f"did you mean {near!r}?" if near else f"add a section {name!r} to {described.path}",
            )
    return {name: section for name, section in described.settings.items() if not only or name in only}


def check_parts(runs: Runs, settings: Mapping[str, Section]) -> None:
    """Let every part check its settings before anything runs; an error names the part."""
    for name, section in settings.items():
        try:
            parts.get(name).check(runs.of(name), section)
        except ManynodeError as error:
            raise error.named(name) from None


def needed(runs: Runs, settings: Mapping[str, Section], number: int) -> dict[str, Sequence[Situation]]:
    """Return the situations of round ``number`` by part; parts that need none are left out.

    Situations of a part with a machine of its own carry that machine's network.
    """
    asked: dict[str, Sequence[Situation]] = {}
    for name, section in settings.items():
        machine = runs.of(name)
        asked[name] = parts.get(name).situations(machine, section, number)
        if machine is not runs:
            asked[name] = [replace(one, network=machine.network_content) for one in asked[name]]
    return {name: situations for name, situations in asked.items() if situations}


def run_rounds(runs: Runs, settings: Mapping[str, Section], simulate: Simulate) -> list[Situation]:
    """Run all rounds; return every situation once."""
    asking, number = dict(settings), 0
    everything: dict[str, Situation] = {}
    while wanted := needed(runs, asking, number):
        simulate(number, wanted)
        everything |= {runs.folder(one).name: one for situations in wanted.values() for one in situations}
        asking = {name: asking[name] for name in wanted}
        number += 1
    return list(everything.values())


def conclude(runs: Runs, settings: Mapping[str, Section]) -> list[Concluded]:
    """Return the findings of every part; a part whose situations failed does not stop the others."""
    found = []
    for name, section in settings.items():
        part = parts.get(name)
        try:
            findings = part.conclude(runs.of(name), section)
            found.append(Concluded(name, part.title, _with_machine(findings, runs, name)))
        except ManynodeError as error:
            found.append(Concluded(name, part.title, Findings(()), error.render()))
    return found


def _with_machine(findings: Findings, runs: Runs, part: str) -> Findings:
    """Return the findings; those of a part with its own machine name that machine first."""
    if part not in runs.networks:
        return findings
    network = runs.networks[part]
    machine = f"This part has its own machine: {network.name}, {network.room()} nodes."
    return replace(findings, sentences=[machine, *findings.sentences])
