"""Selects the engines of a comparison, and the reference of two."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from manynode.config.simulate import SimulateSection
from manynode.errors import EngineMissingError, UsageError
from manynode.probe import Probe
from phase3_sst.point.contract import engines

# More detailed models have more authority: flits first, then an independent flow model.
AUTHORITY = ("sst", "simgrid")


@dataclass(frozen=True)
class Choice:
    """The engines that run, and the others with their remedies."""

    names: list[str]
    skipped: dict[str, Probe]


def named(text: str | None) -> list[str]:
    """Return the engines of a list such as ``fast,sst``; all known ones for None; a wrong name is an error."""
    if text is None:
        # The fastest first, since the first one measures.
        return sorted(engines.names(), key=_authority, reverse=True)
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        engines.get(name)
    if len(set(names)) < max(2, len(names)):
        raise UsageError(
            "a comparison is between different engines",
            where="--engines",
            found=text,
            allowed=f"at least two of {', '.join(engines.names())}, each once",
        )
    return names


def choose(names: Sequence[str], simulate: SimulateSection) -> Choice:
    """Return those of the engines that are installed; fewer than two are an :class:`EngineMissingError`.

    ``simulate`` has the engines' settings, which may name their location.
    """
    probes = {name: engines.get(name).with_settings(simulate).probe() for name in names}
    there = [name for name, probe in probes.items() if probe.available]
    skipped = {name: probe for name, probe in probes.items() if not probe.available}
    if len(there) < 2:
        raise EngineMissingError(
            "a comparison needs two engines",
            found=f"installed: {', '.join(there) or 'none'}; not installed: {', '.join(skipped)}",
            remedy="; ".join(f"{name}: {probe.remedy}" for name, probe in skipped.items()),
        )
    return Choice(there, skipped)


def pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return (engine, reference) for every two engines; the one with more authority is the reference."""
    found = [sorted(pair, key=_authority, reverse=True) for pair in itertools.combinations(names, 2)]
    return sorted(((engine, reference) for engine, reference in found), key=lambda pair: (_authority(pair[1]), pair[0]))


def _authority(name: str) -> int:
    return AUTHORITY.index(name) if name in AUTHORITY else len(AUTHORITY)
