"""When each call of the program happens, and with whom: the rules behind the slots.

In: slots folded into a tree, and the points of the runs with the same parameters. Out: a :class:`Rule` for each leaf,
with all conditions and peers that fit, the most believable first. What nothing fits is an :class:`InputError` that
names the call.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from manynode.errors import InputError
from manynode.markers import NO_PEER
from phase2_nodesim.derive.grids.points import Points, Truths
from phase2_nodesim.derive.recorded.events import COMPUTE
from phase2_nodesim.derive.recorded.places import EACH, call_at
from phase2_nodesim.derive.rules.groups import Group
from phase2_nodesim.derive.rules.guards import ALWAYS, Guards, as_truths, step_conditions
from phase2_nodesim.derive.rules.partners import Peers, expressions, fit_families
from phase2_nodesim.derive.sequence.fold import Node, leaves
from phase2_nodesim.derive.sequence.slots import Slot
from phase2_nodesim.derive.sequence.walks import ALL, ORDERS, Along, names, place_of

# A call takes the condition of a message this near that happens at the same points.
_NEAR = 3


@dataclass
class Rule:
    """``when`` and ``peers`` (by number; 1: the source of MPI_Sendrecv) are all that fits; the first is taken."""

    slot: Slot
    present: Truths
    when: list[str] = field(default_factory=list)
    peers: dict[int, list[str]] = field(default_factory=dict)
    real: dict[int, Truths] = field(default_factory=dict)
    """Where the peers are not MPI_PROC_NULL."""
    makers: list[Rule] = field(default_factory=list)
    """Of a wait: the calls that make its requests, if it happens where one of them does."""
    borrowed: bool = False
    """The condition is that of a message beside the call."""

    @property
    def is_compute(self) -> bool:
        return self.slot.operation == COMPUTE

    @property
    def along(self) -> list[Along]:
        """The walks that it may be, in a fixed order."""
        return self.alongs(0) if self.slot.alongs else []

    def alongs(self, number: int) -> list[Along]:
        """Return the walks that a peer may be."""
        return sorted(self.slot.alongs[number], key=lambda one: (one[0], list(ORDERS).index(one[1])))


def find_rules(
    slots: Sequence[Slot], tree: Sequence[Node], points: Points, guards: Guards, makers: Mapping[int, frozenset[int]],
    groups: Mapping[int, Group],
) -> list[Rule]:  # fmt: skip
    """Return the rule of each leaf, in the order of the program. Leaves with equal observations share a rule.

    ``makers`` are, by leaf that waits, the leaves that make what it completes; ``groups`` the communicators by number.
    """
    known: dict[Hashable, Rule] = {}
    in_order = []
    for leaf in leaves(tree):
        slot = slots[leaf.slots[0]]
        if slot.shape not in known:
            known[slot.shape] = Rule(slot, as_truths(points.size, (points.index(*where) for where in slot.seen)))
        in_order.append(known[slot.shape])
    _find_peers(list(known.values()), points, guards, groups)
    for number, rule in enumerate(in_order):
        if not rule.when and (first := rule.slot.first) not in (None, rule.slot):
            rule.when = known[first.shape].when
        if not rule.when:
            rule.when = _of_makers(rule, [in_order[maker] for maker in sorted(makers.get(number, ()))])
            rule.when = rule.when or _near(in_order, number)
            rule.borrowed = bool(rule.when)
            rule.when = rule.when or _alone(rule, points, guards)
    return in_order


def _find_peers(rules: Sequence[Rule], points: Points, guards: Guards, groups: Mapping[int, Group]) -> None:
    """Find the peers of all rules, and the conditions of messages, which speak of the axes along which they go."""
    found: list[tuple[Rule, int, Peers]] = []
    for rule in rules:
        if rule.along:
            axis = rule.along[0][0]
            for number in range(len(rule.slot.alongs)):
                rule.peers[number] = [_along(one, points) for one in rule.alongs(number)]
            longer = points.truths(f"{names(axis)[1]} > 1")
            assert longer is not None
            rule.when = guards.find(rule.present, ~rule.present & longer)
            _check(rule, rule.when, "no condition separates the ranks that make a call from those that do not", points)
            continue
        for number in (0, 1):
            if (peers := _peers(rule, number, points, groups)) is not None:
                found.append((rule, number, peers))
    fit_families([peers for _, _, peers in found], points)
    for rule, number, peers in found:
        rule.real[number] = peers.real
        rule.peers[number] = guards.probe.distinct(expressions(peers, points, guards))
        _check(rule, rule.peers[number], "no expression gives the peers of a call", points)
        if (peers.displacements or "transposed" in peers.by_family) and not rule.when:
            own = step_conditions(peers.displacements)
            own += [f"{text} != rank" for text in peers.by_family.get("transposed", ())]
            rule.when = guards.find(rule.present, ~rule.present, own)


def _along(along: Along, points: Points) -> str:
    if along[0] == ALL:
        return place_of(along)
    assert points.rule is not None
    places = [place_of(along) if axis == along[0] else f"c{axis}" for axis in range(points.rule.dimensions)]
    return f"on({', '.join(places)})"


def _peers(rule: Rule, number: int, points: Points, groups: Mapping[int, Group]) -> Peers | None:
    """Return the peers of a rule as an array, or None if its call has none."""
    values = np.full(points.size, NO_PEER, np.int64)
    for where, events in rule.slot.seen.items():
        call = events[0].call
        values[points.index(*where)] = call.peer2 if number else call.peer
    if (values == NO_PEER).all():
        return None
    group = None if rule.slot.is_message else groups.get(rule.slot.communicator)
    firsts = group.firsts if group else ()
    return Peers((f"{rule.slot.operation}/{number}", rule.slot.site), rule.present, values, firsts)


def _of_makers(rule: Rule, makers: list[Rule]) -> list[str]:
    """Return the condition of a wait that happens wherever one of the calls does whose requests it completes."""
    if not makers or not all(maker.when for maker in makers):
        return []
    if not np.array_equal(np.logical_or.reduce([maker.present for maker in makers]), rule.present):
        return []
    rule.makers = makers
    if rule.slot.operation == EACH:
        return [ALWAYS]  # none where no request is made
    for maker in makers:
        if np.array_equal(maker.present, rule.present):
            return maker.when
    return [" or ".join(dict.fromkeys(f"({maker.when[0]})" for maker in makers))]


def _near(rules: Sequence[Rule], number: int) -> list[str]:
    """Return the condition of the nearest message, or wait for one, that happens at the same points as a call."""
    rule = rules[number]
    if rule.present.all() or rule.peers:
        return []
    around = sorted(range(max(0, number - _NEAR), min(len(rules), number + _NEAR + 1)), key=lambda i: abs(i - number))
    for other in (rules[i] for i in around):
        alike = np.array_equal(other.present, rule.present)
        if alike and (other.peers or other.makers) and other.when not in ([], [ALWAYS]):
            return other.when
        if other.when == [ALWAYS] and 0 in other.real and np.array_equal(other.real[0], rule.present):
            return list(dict.fromkeys(map(_somebody, other.peers[0])))
    return []


def _somebody(peer: str) -> str:
    """Return where a peer is not MPI_PROC_NULL."""
    _, separator, condition = peer.removesuffix(" else null").partition(" if ")
    return condition if separator else f"{peer} >= 0"


def _alone(rule: Rule, points: Points, guards: Guards) -> list[str]:
    found = guards.find(rule.present, ~rule.present)
    _check(rule, found, "no condition separates the ranks that make a call from those that do not", points)
    return found


def _check(rule: Rule, found: Sequence[str], what: str, points: Points) -> None:
    if found:
        return
    counts = []
    for run, (ranks, _) in enumerate(points.runs):
        part = rule.present[points.starts[run] : points.starts[run + 1]]
        counts.append(f"{int(part.sum())} of {ranks}")
    slot = rule.slot
    sizes = {event.call.bytes for events in slot.seen.values() for event in events} if slot.is_message else set()
    where = f"compute phase {slot.site}" if rule.is_compute else call_at(slot.operation, slot.site)
    remedy = "record other numbers of ranks, or write the skeleton by hand"
    if slot.operation.startswith("MPI_Wait"):
        remedy = "complete all requests by one MPI_Waitall, or replay a recording at its number of ranks"
    elif len(sizes) == 1:
        # Messages of a place may have been told apart by their sizes.
        where += f", {sizes.pop()} bytes"
        remedy = f"{name_numbers(points)}; else {remedy}".removeprefix("; else ")
    raise InputError(
        what,
        where=where,
        found=f"made by {', '.join(counts)} ranks",
        allowed="all ranks, or those of at most two conditions on the grid, the rank and the number of ranks",
        remedy=remedy,
    )


def name_numbers(points: Points) -> str:
    """Return what helps where sizes follow from a number of the command; nothing if one has a name."""
    if points.runs[0][1]:
        return ""
    return "if sizes follow from a number in the command, name it: {n} in its place, and --parameter n=VALUE"
