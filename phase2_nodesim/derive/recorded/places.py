"""Places of calls in a program without labels: by them, phase 2 names what is computed between two calls.

In: the calls of a rank and the marker file that they come from. Out: the same calls with ``MPI_Send@halo.c:12 run`` as
their sites, and among them a :func:`passing` for each call of the program that skeletons leave out (probes, tests in
vain, makers of communicators, the first and the last call): a phase begins or ends there, too.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable, Iterator, Sequence

from manynode.markers import MarkerFile
from phase2_nodesim.recording import END, RecordedCall

EACH = "MPI_Wait, each"
"""Calls of MPI_Wait one after the other, for a list of requests whose length differs among ranks: one operation."""
_LEFT_OUT = "pass "
# A call that shares its record with the one before, such as the second of MPI_Startall: no phase lies between them.
_SAME_RECORD = " again"


@functools.cache
def passing(site: str) -> RecordedCall:
    """Return a call that is left out, as one that does nothing."""
    return RecordedCall(_LEFT_OUT + site, "", site=site)


def passed(operation: str) -> str:
    """Return the site of a call that is left out; an empty text for others."""
    return operation.removeprefix(_LEFT_OUT) if operation.startswith(_LEFT_OUT) else ""


def mpi_name(operation: str) -> str:
    """Return MPI's name of the calls that an operation stands for."""
    return "MPI_Wait" if operation == EACH else operation


def bounds_phase(site: str) -> bool:
    """Say whether a phase ends at a site."""
    return "@" in site and not site.endswith(_SAME_RECORD)


def call_at(operation: str, site: str) -> str:
    """Name a call and its place for people; the place may begin with the call's name."""
    operation = mpi_name(operation)
    return site if site.startswith(f"{operation}@") else f"{operation} at {site or 'an unknown place'}"


def placed(calls: Sequence[RecordedCall], file: MarkerFile) -> list[RecordedCall]:
    """Return the calls with their sites, and those that are left out among them; equal ones are one object."""
    records = file.records
    named = records["operation"].astype(str) + "@" + records["call_site_name"].astype(str)
    sites = [*map(sys.intern, named)]
    found: list[RecordedCall] = []
    known: dict[tuple[object, ...], RecordedCall] = {}
    for call in calls:
        own = sites[call.record]
        found += [passing(sites[gap]) for gap in call.gaps if gap != call.record]
        if call.operation == END:
            return [*found, passing(own), call]
        if call.record in call.gaps:
            site = own
        elif found and found[-1].operation == _LEFT_OUT + own:
            site = found.pop().site  # tests in vain, and the one that was not
        else:
            site = own + _SAME_RECORD
        made = call.but(site=site, gaps=(), record=-1)
        found.append(known.setdefault(tuple(made), made))
    return found


def phases_between(ranks: Iterable[Sequence[RecordedCall]]) -> Iterator[tuple[str, str]]:
    """Yield the sites before and after each phase without a name, in the order in which they are first seen."""
    seen = set()
    for calls in ranks:
        before = ""
        for call in calls:
            if not bounds_phase(call.site):
                continue
            if before and not call.phase and (before, call.site) not in seen:
                seen.add((before, call.site))
                yield before, call.site
            before = call.site
