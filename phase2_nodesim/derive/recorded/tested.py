"""Tests that only move a wait: a program tests once, and if that was in vain it does something else and then waits.

Which of the two a rank does depends on timing, so that no two runs are equal. In: the calls of ranks with their places
(:mod:`.places`). Out: the same calls, with each such test in vain, and what it completed completed by the wait.

This is a run of the same program: MPI lets a single test be in vain at any time, and promises only that tests succeed
in the end. A correct program cannot deadlock in it. What the program does then is not guessed: it is what it did after
other tests at the same place, on any rank of any run. A test is left as it is where

- it was never in vain, or the requests open then are completed first by something else than a wait at one place;
- between the test and that wait the rank makes a call that it never made there after a test in vain, as a program does
  that answers the message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from manynode.derived.call_forms import WAITS_FOR_ONE
from manynode.markers import MarkerFile
from phase2_nodesim.derive.recorded.places import passed, passing
from phase2_nodesim.recording import RecordedCall

_TEST = "MPI_Test"


@dataclass
class LaterWait:
    """What follows a test in vain: calls at the places ``between``, the wait, calls at the places ``after``."""

    operation: str = ""
    site: str = ""
    between: set[str] = field(default_factory=set)
    after: set[str] = field(default_factory=set)
    found: set[str] = field(default_factory=set)
    """Where the requests that tests completed were made; ``waited``: those that the wait completed."""
    waited: set[str] = field(default_factory=set)
    sound: bool = True

    @property
    def moves(self) -> bool:
        """Say whether tests of both kinds are known, of the same requests."""
        return self.sound and bool(self.site and self.found) and self.found <= self.waited


def goes_on(file: MarkerFile) -> bool:
    """Say whether the rank does something else than the same test after one in vain; others need not be looked at."""
    records = file.records
    tests = [name for name in records["operation"].unique() if str(name).startswith(_TEST)]
    in_vain = records["operation"].isin(tests) & (records["detail"] == 0)
    return bool((in_vain & (records["call_site"] != records["call_site"].shift(-1))).any())


def later_waits(ranks: Iterable[Sequence[RecordedCall]]) -> dict[str, LaterWait]:
    """Return, by the place of a test, the wait that follows where it is in vain."""
    tests: dict[str, LaterWait] = {}
    for calls in ranks:
        _learn(calls, tests)
    return {site: test for site, test in tests.items() if test.moves}


def _learn(calls: Sequence[RecordedCall], tests: dict[str, LaterWait]) -> None:
    made: list[str] = []  # places, by request
    waiting: dict[str, int] = {}  # tests in vain, and how many requests had been made
    ended: list[LaterWait] = []
    for call in calls:
        for test in ended:
            test.after.add(call.site)
        ended = []
        for site, number in [*waiting.items()]:
            test = tests[site]
            if not (done := [request for request in call.completes if 0 <= request < number]):
                test.between.add(call.site)
                continue
            del waiting[site]
            test.waited.update(made[request] for request in done)
            test.sound &= call.site.startswith("MPI_Wait") and test.site in ("", call.site)
            test.operation, test.site = call.operation, call.site
            ended.append(test)
        if call.site.startswith(_TEST):
            test = tests.setdefault(call.site, LaterWait())
            test.sound &= call.site not in waiting
            test.found.update(made[request] for request in call.completes if request >= 0)
            if passed(call.operation):
                waiting[call.site] = len(made)
        if call.request >= 0:
            made.append(call.site)
    for site in waiting:
        tests[site].sound = False


def with_later_waits(calls: Sequence[RecordedCall], tests: Mapping[str, LaterWait]) -> list[RecordedCall]:
    """Return the calls of a rank with what ``tests`` completed completed by the waits."""
    found = [*calls]
    number = 0
    while number < len(found):
        call = found[number]
        test = tests.get(call.site)
        if test is not None and not passed(call.operation):
            place = _place(found, number, test)
            if place is not None:
                _move(found, number, place, test)
        number += 1
    return found


def _place(calls: Sequence[RecordedCall], number: int, test: LaterWait) -> int | None:
    """Return the place of the wait, or where it would be; None if the rank does something else first."""
    if test.operation in WAITS_FOR_ONE and len(calls[number].completes) > 1:
        return None
    for place in range(number + 1, len(calls)):
        site = calls[place].site
        if site == test.site or site in test.after:
            return place
        if site not in test.between:
            return None
    return None


def _move(calls: list[RecordedCall], number: int, place: int, test: LaterWait) -> None:
    """Let the wait at ``place`` complete what the test did; it is made there if the rank left it out."""
    there = calls[place]
    wait = RecordedCall(test.operation, "", completes=calls[number].completes, site=test.site)
    calls[number] = passing(calls[number].site)
    if there.site != test.site:
        calls.insert(place, wait)
    elif passed(there.operation):
        calls[place] = wait
    else:
        calls[place] = there.but(completes=tuple(sorted((*wait.completes, *there.completes))))
