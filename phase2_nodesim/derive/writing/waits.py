"""Names for requests, so that each wait completes the ones that the recording says.

In: the streams with the rule and the slot of each event. Out: a name for each rule that makes requests, and what each
waiting rule says: its names, their order, how many it takes. Requests that the same waits complete share a name; what
nothing completes is freed before the next wait for its name (:mod:`.freed`). A wait that no such words describe is an
:class:`InputError`.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from manynode.derived.call_forms import WAITS_FOR_ONE
from manynode.errors import InputError
from phase2_nodesim.derive.recorded.events import Event, Stream
from phase2_nodesim.derive.recorded.places import EACH, call_at
from phase2_nodesim.derive.writing.freed import Spans, freeing_leaves


@dataclass
class _Wait:
    """All occurrences of one waiting rule: what was open (rule, request), in the order made, and what it completed."""

    event: Event
    seen: list[tuple[list[tuple[int, int]], tuple[int, ...]]] = field(default_factory=list)
    rules: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class Waits:
    """``names`` by rule that makes requests; ``words`` (the contract's fields) by rule that waits.

    ``makers`` are, by rule that waits, the rules that make what it completes. ``freed``: names whose open requests are
    freed before a rule; ``freed_last``, those at the end of the program.
    """

    names: Mapping[int, str]
    words: Mapping[int, Mapping[str, object]]
    makers: Mapping[int, frozenset[int]]
    freed: Mapping[int, Sequence[str]]
    freed_last: Sequence[str]


# The events of a rank, with the rule and the slot of each.
Ruled = tuple[Stream, Sequence[int], Sequence[int]]


def name_requests(streams: Sequence[Ruled], leaves: Sequence[Sequence[int]]) -> Waits:
    """Return names and waits; ``leaves`` are the slots of each rule."""
    waits: dict[int, _Wait] = {}
    makers: dict[int, Event] = {}
    lost = [_read(stream, rules, waits, makers) for stream, rules, _ in streams]
    names = _names(waits, makers)
    words = {rule: _words(wait, names) for rule, wait in waits.items()}
    freed = sorted({names[rule] for one in lost for rule in one.values()})
    spans = {name: Spans() for name in freed}
    for ruled, one in zip(streams, lost, strict=True) if freed else ():
        _add_spans(ruled, one, names, words, spans)
    makers_of = {rule: frozenset(wait.rules) for rule, wait in waits.items()}
    return Waits(names, words, makers_of, freeing_leaves(spans, leaves), freed)


def _add_spans(
    ruled: Ruled, lost: Collection[int], names: Mapping[int, str], words: Mapping[int, Mapping[str, object]],
    spans: Mapping[str, Spans],
) -> None:  # fmt: skip
    """Add where the requests of one rank are made and completed, or, if they are ``lost``, waited for in vain."""
    stream, rules, slots = ruled
    made: dict[int, tuple[str, int]] = {}  # open ones
    last: dict[int, int] = {}  # by rule that makes requests: the slot of the last one that nothing completes
    for event, rule, slot in zip(stream, rules, slots, strict=True):
        if event.call.request >= 0 and names[rule] in spans:
            if rule in last:
                spans[names[rule]].kept.append((last.pop(rule), slot))
            if event.call.request in lost:
                last[rule] = slot
            made[event.call.request] = (names[rule], slot)
        for request in event.call.completes:
            if request in made:
                name, first = made.pop(request)
                spans[name].held.append((first, slot))
        if rule in words:
            wanted = words[rule]["requests"]
            assert isinstance(wanted, list)
            for request in [one for one, (name, _) in made.items() if one in lost and name in wanted]:
                name, first = made.pop(request)
                spans[name].lost.append((first, slot))


def _read(stream: Stream, rules: Sequence[int], waits: dict[int, _Wait], makers: dict[int, Event]) -> dict[int, int]:
    """Note the waits of a rank; return, by number, the rules of its requests that nothing completes."""
    open_: list[tuple[int, int]] = []
    lost: dict[int, int] = {}
    completed = {request for event in stream for request in event.call.completes}
    for event, rule in zip(stream, rules, strict=True):
        if event.call.request >= 0:
            makers.setdefault(rule, event)
            if event.call.request in completed:
                open_.append((rule, event.call.request))
            else:
                lost[event.call.request] = rule
        if not event.operation.startswith("MPI_Wait"):
            continue
        wait = waits.setdefault(rule, _Wait(event))
        completes = event.call.completes
        done = set(completes)
        wait.seen.append((list(open_), completes))
        wait.rules |= {maker for maker, request in open_ if request in done}
        open_ = [one for one in open_ if one[1] not in done]
    return lost


def _names(waits: Mapping[int, _Wait], makers: Mapping[int, Event]) -> dict[int, str]:
    """Return a name for each rule that makes requests; one for all that the same waits complete.

    Sends and receives share a name only where no wait needs them apart.
    """
    groups: dict[tuple[frozenset[int], bool], list[int]] = defaultdict(list)
    for maker, event in makers.items():
        waited = frozenset(rule for rule, wait in waits.items() if maker in wait.rules)
        groups[waited, "recv" in event.operation].append(maker)
    joined: dict[frozenset[int], list[list[int]]] = defaultdict(list)
    for (waited, _), found in groups.items():
        joined[waited].append(found)
    names: dict[int, str] = {}
    numbers = itertools.count(1)
    for waited, parts in joined.items():
        together = [rule for part in parts for rule in part]
        in_order = all(_in_order(waits[wait], dict.fromkeys(together, "all"), {"all"}) for wait in waited)
        for rules in [together] if in_order else parts:
            names |= dict.fromkeys(rules, f"requests{next(numbers)}")
    return names


def _in_order(wait: _Wait, names: Mapping[int, str], chosen: set[str]) -> bool:
    """Say whether what the wait completes of the chosen names is in the order in which it was made."""
    for open_, completes in wait.seen:
        mine = [request for rule, request in open_ if names.get(rule) in chosen]
        done = [request for request in completes if request in set(mine)]
        if done != [request for request in mine if request in set(done)]:
            return False
    return True


def _words(wait: _Wait, names: Mapping[int, str]) -> dict[str, object]:
    """Return the contract's fields of a wait."""
    # A wait that never completed anything names a request that nothing makes.
    used = list(dict.fromkeys(names[rule] for rule in sorted(wait.rules))) or ["none"]
    one = wait.event.operation in WAITS_FOR_ONE
    variants: list[dict[str, object]] = [{"requests": used}]
    if len(used) > 1:
        orders = [used, used[::-1], _order_seen(wait, names)]
        variants += [{"requests": order, "order": "names"} for order in orders]
    variants += [{"requests": used, "order": "newest"}]
    each = wait.event.operation == EACH
    if not one and not each:
        counts = {len(completes) for _, completes in wait.seen}
        if len(counts) == 1 and 0 not in counts:
            variants += [{**words, "take": counts.copy().pop()} for words in list(variants)]
    for words in variants:
        if all(_completed(words, open_, names, one) == completes for open_, completes in wait.seen):
            return {**words, "each": True} if each else words
    open_, completes = wait.seen[0]
    raise InputError(
        "no words of a derived skeleton say which requests a call completes",
        where=call_at(wait.event.operation, wait.event.site),
        found=f"{len(completes)} of {len(open_)} open requests",
        allowed="all open requests of some calls, or the oldest or newest of them",
        remedy="write the skeleton by hand",
    )


def _order_seen(wait: _Wait, names: Mapping[int, str]) -> list[str]:
    """Return the names in the order in which the wait with the most of them completes requests."""
    best: list[str] = []
    for open_, completes in wait.seen:
        rule_of = {request: rule for rule, request in open_}
        found = list(dict.fromkeys(names[rule_of[request]] for request in completes if request in rule_of))
        best = max(best, found, key=len)
    return best


def _completed(
    words: Mapping[str, object], open_: Sequence[tuple[int, int]], names: Mapping[int, str], one: bool
) -> tuple[int, ...]:
    wanted = words["requests"]
    assert isinstance(wanted, list)
    named = [(names.get(rule), request) for rule, request in open_]
    if words.get("order") == "names":
        chosen = [request for name in wanted for found, request in named if found == name]
    else:
        chosen = [request for found, request in named if found in wanted]
    if words.get("order") == "newest":
        chosen.reverse()
    take = words.get("take", 1 if one else None)
    return tuple(chosen if take is None else chosen[: int(str(take))])
