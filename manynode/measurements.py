"""Reuses measured runs from earlier results.

Measured runs do not repeat to the last bit: native times have noise, and under valgrind the MPI library's polling
affects the simulated caches at random. They are therefore kept as inputs: an experiment that reuses them computes
everything else again and ends with the same bytes.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from manynode import artefacts, tables
from manynode.config.resolved import RESOLVED_SCHEMA, Resolved
from manynode.errors import InputError, UsageError
from manynode.steps import Steps

# What the measured runs depend on.
MEASURED_SECTIONS = ("application", "ranks_per_node", "machine", "profile", "nodesim")
# Of the fit: measured runs do not depend on it.
_TAIL = "tail"
_RESOLVED = "experiment.json"
_FILES = ("profile/nodes-*/counters.parquet", "nodesim/*/node-*/segments.parquet")


def measures(resolved: Resolved) -> bool:
    """Return whether the experiment has measured runs: none with the user's own compute times."""
    return resolved.own_times is None


def adopt(source: Path, target: Path, resolved: Resolved) -> int:
    """Copy the measured tables of the results in ``source`` to those in ``target``; return how many were copied.

    Existing tables of ``target`` stay. Results of another experiment (application, machine, phases 1 or 2) are a
    :class:`UsageError` that names the section; results without measured tables are an :class:`InputError`.
    """
    if not measures(resolved):
        raise UsageError(
            "the experiment measures nothing that could be reused",
            where=f"--measurements-from {source}",
            found="own_times: the compute times are the user's own",
            remedy="leave --measurements-from out, or the section own_times",
        )
    given = _experiment_of(source)
    section = _differing(given, resolved)
    if section is not None:
        raise UsageError(
            "these measurements belong to another experiment",
            where=f"{source}: {section}",
            found=str(given.get(section))[:200],
            allowed=str(resolved.content[section])[:200],
            remedy="run without --measurements-from to measure the application again",
        )
    found = measured(source)
    if not found:
        raise InputError(
            "there are no measurements to reuse",
            where=str(source),
            found="no counter table and no segments",
            remedy="name the results folder of a finished run, such as results/demo",
        )
    copied = 0
    identity_of = Steps(tables.read_json(source / _RESOLVED, RESOLVED_SCHEMA)["experiment"]).identity_of
    for path in found:
        with artefacts.bound(source, identity_of):
            tables.check_table(path)
        place = target / path.relative_to(source)
        if not place.exists():
            with tables.replacing(place) as part:
                shutil.copyfile(path, part)
            copied += 1
    return copied


def fit(source: Path, resolved: Resolved) -> bool:
    """Return whether the measured runs in ``source`` fit ``resolved``."""
    given = _experiment_of(source)
    return measures(resolved) and given.get("own_times") is None and _differing(given, resolved) is None


def sources(given: Path | None) -> list[Path]:
    """Return the results folders that ``given`` is or holds: of an experiment, of several, of a congestion study.

    A folder without any is an :class:`InputError`.
    """
    if given is None:
        return []
    found = [given] if (given / _RESOLVED).is_file() else []
    for pattern in (f"*/{_RESOLVED}", f"workloads/*/results/*/{_RESOLVED}"):
        found = found or sorted(path.parent for path in given.glob(pattern))
    if not found:
        raise InputError(
            "there are no measurements to reuse",
            where=str(given),
            found=f"neither {_RESOLVED} nor a folder with one",
            remedy="name the results folder of a finished run, such as results/demo, or a folder of such folders",
        )
    return found


def reused(given: Path | None, resolved: Resolved) -> Path | None:
    """Return the results folder whose measured runs ``resolved`` is to take over.

    It is ``given`` if that is one, whether its runs fit or not, else what :func:`fitting_of` finds.
    """
    if given is None or (given / _RESOLVED).is_file():
        return given
    return fitting_of(given, sources(given), resolved)


def fitting_of(given: Path, sources: Sequence[Path], resolved: Resolved) -> Path | None:
    """Return the one of the ``sources`` in ``given`` with most measured runs that fit, or None, which is said."""
    source = fitting(sources, resolved)
    if source is None and measures(resolved):
        print(f"no measurements in {given} fit {resolved.name}: measuring it", flush=True)
    return source


def fitting(sources: Sequence[Path], resolved: Resolved) -> Path | None:
    """Return the one of ``sources`` with most measured runs that fit ``resolved``, or None.

    The results of ``resolved`` itself may be among them, interrupted before its first run was measured.
    """
    counts = {source: len(measured(source)) for source in sources if fit(source, resolved)}
    return max((source for source, count in counts.items() if count), key=counts.__getitem__, default=None)


def _experiment_of(source: Path) -> dict[str, Any]:
    return dict(tables.read_json(source / _RESOLVED, RESOLVED_SCHEMA).get("experiment", {}))


def _differing(given: Mapping[str, Any], resolved: Resolved) -> str | None:
    """Return the first section in which two experiments differ and on which measured runs depend."""

    def part(content: Mapping[str, Any], name: str) -> Any:
        section = content.get(name)
        return {k: v for k, v in section.items() if k != _TAIL} if isinstance(section, dict) else section

    return next((name for name in MEASURED_SECTIONS if part(given, name) != part(resolved.content, name)), None)


def measured(results: Path) -> list[Path]:
    """Return the measured tables of a results folder."""
    return [path for pattern in _FILES for path in sorted(results.glob(pattern))]


def differ(source: Path, target: Path) -> bool:
    """Return whether ``target`` has measured tables that differ from those of ``source``."""
    return any(
        not (source / path.relative_to(target)).is_file()
        or (source / path.relative_to(target)).read_bytes() != path.read_bytes()
        for path in measured(target)
    )
