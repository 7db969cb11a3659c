"""The rounds of a study: every part is asked what it needs, all of it is simulated, until none needs more.

Parts share situations: one that two of them ask for is simulated once. A part that needs nothing more in a round is not
asked again.
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
"""Simulates what the parts need in a round: its number, part -> situations."""


@dataclass(frozen=True)
class Concluded:
    """What a part concluded, or why it could not."""

    name: str
    title: str
    findings: Findings
    failure: str = ""


def chosen_parts(described: Described, only: Sequence[str]) -> dict[str, Section]:
    """Return the settings of the parts that are to run: those of ``only``, all of the study's when it is empty."""
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
    """Let every part check its settings before anything is run; the part is named in the error."""
    for name, section in settings.items():
        try:
            parts.get(name).check(runs.of(name), section)
        except ManynodeError as error:
            raise error.named(name) from None


def needed(runs: Runs, settings: Mapping[str, Section], number: int) -> dict[str, Sequence[Situation]]:
    """Return what the parts need in round ``number``, parts that need nothing left out.

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
    """Run all rounds; return every situation that was asked for, each once."""
    asking, number = dict(settings), 0
    everything: dict[str, Situation] = {}
    while wanted := needed(runs, asking, number):
        simulate(number, wanted)
        everything |= {runs.folder(one).name: one for situations in wanted.values() for one in situations}
        asking = {name: asking[name] for name in wanted}
        number += 1
    return list(everything.values())


def conclude(runs: Runs, settings: Mapping[str, Section]) -> list[Concluded]:
    """Return what every part concludes; one that cannot (its situations failed) does not stop the others."""
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
    """Return the findings; of a part with a machine of its own, that machine is named first."""
    if part not in runs.networks:
        return findings
    network = runs.networks[part]
    machine = f"This part has its own machine: {network.name}, {network.room()} nodes."
    return replace(findings, sentences=[machine, *findings.sentences])
