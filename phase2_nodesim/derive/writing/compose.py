"""Writes the body of a skeleton: items with the expressions that were found, and the doubts about them.

In: the tree of the program, the rule of each leaf, the observations of all training runs. Out: the items of the
contract and a doubt for each place where several expressions fit; the first is in the item. A size or tag without an
expression is an :class:`InputError` that names the call.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from manynode.derived.call_forms import CALL_FORMS, block_fields
from manynode.errors import InputError
from manynode.markers import NO_PEER
from phase2_nodesim.derive.grids.points import Points
from phase2_nodesim.derive.grids.probe import Probe
from phase2_nodesim.derive.recorded.places import bounds_phase, call_at, mpi_name, passed
from phase2_nodesim.derive.rules.blocks import block_sizes
from phase2_nodesim.derive.rules.counts import block_texts
from phase2_nodesim.derive.rules.divided import divided_sizes
from phase2_nodesim.derive.rules.formulas import Formulas, Observed
from phase2_nodesim.derive.rules.groups import Group
from phase2_nodesim.derive.rules.growing import growing_numbers
from phase2_nodesim.derive.rules.guards import ALWAYS
from phase2_nodesim.derive.rules.rules import Rule, name_numbers
from phase2_nodesim.derive.sequence.fold import Leaf, Loop, Node, leaves
from phase2_nodesim.derive.sequence.walks import TURN, Along, number_of
from phase2_nodesim.derive.writing.drawn import Draws
from phase2_nodesim.derive.writing.observations import Number, Observations, nobody
from phase2_nodesim.derive.writing.unvaried import Unvaried
from phase2_nodesim.derive.writing.waits import Waits
from phase2_nodesim.recording import RecordedCall

Content = dict[str, Any]


@dataclass
class Body:
    """``items``, ``sites``, ``doubts`` as in the file; by the words of a loop's place, what it is ``lacking``."""

    items: list[Content]
    sites: list[str]
    doubts: list[Content] = field(default_factory=list)
    lacking: Mapping[tuple[str, ...], int] = field(default_factory=dict)


class Composer:
    """Writes one body. ``repetitions`` has, for each loop, how often it repeats in each run where that is known."""

    def __init__(
        self, rules: Sequence[Rule], observations: Observations, formulas: Formulas, waits: Waits, probe: Probe,
        repetitions: Sequence[dict[int, int]], draws: Draws, groups: Mapping[int, Group],
    ) -> None:  # fmt: skip
        self.rules = rules
        self.draws = draws
        self.groups = groups
        self.observations = observations
        self.formulas = formulas
        self.waits = waits
        self.probe = probe
        self.repetitions = repetitions
        self.doubts: list[Content] = []
        self._sites: dict[str, int] = {}
        self._lacking: dict[tuple[str, ...], int] = {}
        self.unvaried = Unvaried(formulas)
        self._leaf = self._loop = 0
        self._fitted: dict[tuple[object, ...], list[str]] = {}
        self._doubted: set[tuple[str, ...]] = set()

    def body(self, tree: Sequence[Node]) -> Body:
        self._leaf = self._loop = 0
        self.doubts, self._doubted, self.unvaried = [], set(), Unvaried(self.formulas)
        self._sites = {}
        self._lacking = {}
        items = self._items(tree, "body", {})
        if self.waits.freed_last:
            items.append({"free": list(self.waits.freed_last)})
        return Body(items, list(self._sites), [*self.doubts, *self.unvaried.doubts()], dict(self._lacking))

    def _items(self, nodes: Sequence[Node], where: str, steps: dict[int, dict[str, tuple[int, int]]]) -> list[Content]:
        """Return the items of nodes. ``steps``: by leaf, how its tags grow with each index."""
        found: list[Content] = []
        left = list(nodes)
        while left:
            node = left.pop(0)
            if isinstance(node, Leaf) and (names := self.waits.freed.get(self._leaf)):
                found.append({"free": list(names)})
            here = f"{where}/{len(found)}"
            if isinstance(node, Loop):
                found.append(self._loop_item(node, here, steps))
            elif walk := self.rules[self._leaf].slot.walk:
                turn, left = [node, *left[: len(walk) - 1]], left[len(walk) - 1 :]
                found.append(self._walk_item(turn, here, steps))
            else:
                found.append(self._item(node, here, steps))
        return found

    def _walk_item(self, turn: Sequence[Node], where: str, steps: dict[int, dict[str, tuple[int, int]]]) -> Content:
        """Return the loop of a walk; what joins two turns comes before all but the first."""
        rules = self.rules[self._leaf : self._leaf + len(turn)]
        first = next(rule for rule in rules if rule.slot is rule.slot.first)
        when = {} if first.when[0] == ALWAYS else {"when": first.when[0]}
        self._doubt(f"{where}/when", first.when, "")
        by_run = {run: len(events) for (run, _), events in first.slot.seen.items()}
        repeat = [number_of(first.along[0])] if first.along else self._repeat(by_run, where)
        self._doubt(f"{where}/repeat", repeat, first.when[0])
        body = []
        for number, (rule, leaf) in enumerate(zip(rules, turn, strict=True)):
            assert isinstance(leaf, Leaf)
            item = self._item(leaf, f"{where}/do/{number}", steps)
            item.pop("when", None)
            body.append({**item, "when": f"{TURN} > 0"} if rule.slot.joins else item)
        return {"repeat": repeat[0], "index": TURN, **when, "do": body}

    def _loop_item(self, loop: Loop, where: str, steps: dict[int, dict[str, tuple[int, int]]]) -> Content:
        number, self._loop = self._loop, self._loop + 1
        repeat = self._repeat(self.repetitions[number], where)
        item: Content = {"repeat": repeat[0]}
        if loop.lacking:
            self._lacking[tuple(where.split("/"))] = loop.lacking
        if loop.steps.any():
            item["index"] = f"i{number}"
            for leaf, step in _steps(loop, where, self._leaf).items():
                steps.setdefault(leaf, {})[item["index"]] = step
        self._doubt(f"{where}/repeat", repeat, "")
        self.unvaried.seen(("repeat",), f"{where}/repeat", self.repetitions[number], ALWAYS, "")
        self.unvaried.fitted(("repeat",), repeat[0])
        return item | {"do": self._items(loop.body, f"{where}/do", steps)}

    def _repeat(self, by_run: Mapping[int, int], where: str) -> list[str]:
        if repeat := self.formulas.of_runs(by_run):
            return repeat
        raise InputError(
            "no expression gives how often a loop repeats",
            where=where,
            found=", ".join(str(count) for count in by_run.values()),
            allowed="a product of powers of parameters and numbers of ranks, or a multiple of one plus a constant",
            remedy=(name_numbers(self.formulas.points) or "leave the parameter that changes it fixed")
            + ", or write the skeleton by hand",
        )

    def _item(self, leaf: Leaf, where: str, steps: dict[int, dict[str, tuple[int, int]]]) -> Content:
        number, self._leaf = self._leaf, self._leaf + 1
        rule = self.rules[number]
        when = {} if rule.when[0] == ALWAYS else {"when": rule.when[0]}
        self._doubt(f"{where}/when", rule.when, "")
        if rule.is_compute:
            return {"compute": rule.slot.site, **when}
        if passed(rule.slot.operation):
            return {**self._site(rule.slot.site), **when}
        call = {
            "call": mpi_name(rule.slot.operation),
            **self._site(rule.slot.site),
            **self._fields(number, leaf, where, steps.get(number, {})),
        }
        return {**call, **when}

    def _site(self, site: str) -> Content:
        """Return the number of a place by which phases are named; programs with labels have none."""
        return {"site": self._sites.setdefault(site, len(self._sites))} if bounds_phase(site) else {}

    def _fields(self, number: int, leaf: Leaf, where: str, steps: dict[str, tuple[int, int]]) -> Content:
        rule = self.rules[number]
        if number in self.waits.words:
            return dict(self.waits.words[number])
        found: Content = {}
        for which, key in ((0, "peer"), (1, "source")):
            if which in rule.peers:
                found[key] = rule.peers[which][0]
                self._doubt(f"{where}/{key}", rule.peers[which], rule.when[0])
        calls = self.observations.calls(number, leaf)
        first = next(iter(calls.values()))[0]
        if rule.slot.is_message and (size := self.draws.size(number, 0)) is not None:
            found["bytes"] = self._drawn(size, calls, rule, lambda c: c.bytes)
        elif "bytes" in CALL_FORMS[mpi_name(rule.slot.operation)].fields:
            found["bytes"] = self._number(number, calls, where, "bytes", lambda c: c.bytes, lambda c: c.peer)
        for which, key in enumerate(block_fields(rule.slot.operation)):
            if (size := self.draws.size(number, which)) is not None:
                found[key] = self._drawn(size, calls, rule, lambda c: round(float(np.mean(c.sent))))
            else:
                found[key] = self._blocks(number, calls, where, key)
        if rule.slot.is_message:
            found["tag"] = self._tag(number, calls, where, "tag", lambda c: c.tag, {i: s[0] for i, s in steps.items()})
        if first.peer2 != NO_PEER:
            if (size := self.draws.size(number, 1)) is not None:
                found["receive_bytes"] = self._drawn(size, calls, rule, lambda c: c.bytes2)
            else:
                found["receive_bytes"] = self._number(
                    number, calls, where, "receive_bytes", lambda c: c.bytes2, lambda c: c.peer2
                )
            found["receive_tag"] = self._tag(
                number, calls, where, "receive_tag", lambda c: c.receive_tag, {i: s[1] for i, s in steps.items()}
            )
        if number in self.waits.names:
            found["request"] = self.waits.names[number]
        if (group := self.groups.get(rule.slot.communicator)) is not None:
            found["communicator"] = group.name
        return found

    def _drawn(self, size: Any, calls: dict[int, list[RecordedCall]], rule: Rule, value: Number) -> Any:
        """Return a drawn size; that of a run with other parameters must be the same."""
        sizes: dict[int, list[int]] = defaultdict(list)
        for point, made in calls.items():
            run = self.formulas.points.run_of(point)
            if run >= len(self.draws.points.runs):
                sizes[run] += map(value, made)
        for run, seen in sizes.items():
            if not self.draws.are_like(size, seen, self.formulas.feature(self.draws.mean(size), run)):
                ranks, parameters = self.formulas.points.runs[run]
                raise InputError(
                    "sizes that depend on load change with a parameter",
                    where=call_at(rule.slot.operation, rule.slot.site),
                    found=f"{np.mean(seen):.0f} bytes on {ranks} ranks with "
                    + ", ".join(f"{name} {number}" for name, number in parameters.items()),
                )
        return size

    def _tag(
        self, number: int, calls: dict[int, list[RecordedCall]], where: str, key: str, value: Number,
        steps: dict[str, int],
    ) -> str:  # fmt: skip
        texts = self._of_ends(number, calls, key, value) or self._fit(number, calls, f"{where}/{key}", value)
        grown = "".join(f" + {step} * {index}" for index, step in steps.items() if step)
        texts = [f"({text}){grown}" if grown and not text.isdigit() else f"{text}{grown}" for text in texts]
        self._doubt(f"{where}/{key}", texts, self.rules[number].when[0])
        return texts[0]

    def _of_ends(self, number: int, calls: dict[int, list[RecordedCall]], key: str, value: Number) -> list[str]:
        """Return what a tag is that is another on each rank: a number more than the rank, or than its peer."""
        ranks = self.formulas.points.values("rank")
        assert ranks is not None
        received = key == "receive_tag"
        made = [(value(call), point, call) for point, ones in calls.items() for call in ones]
        if len({tag for tag, _, _ in made}) == 1:
            return []
        peer = self.rules[number].peers[int(received)][0]
        more = (
            ("rank", {tag - int(ranks[point]) for tag, point, _ in made}),
            (f"({peer})", {tag - (call.peer2 if received else call.peer) for tag, _, call in made}),
        )
        return [f"{end} + {numbers.pop()}" for end, numbers in more if len(numbers) == 1]

    def _number(
        self, number: int, calls: dict[int, list[RecordedCall]], where: str, key: str, value: Number, peer: Number
    ) -> str:
        """Return a size; a message to MPI_PROC_NULL may have another one."""
        without = nobody(calls, peer, there=False)
        texts: list[str] = []
        if without and len(without) < len(calls):
            sizes = {value(call) for made in without.values() for call in made}
            there = f"({self.rules[number].peers[1 if key == 'receive_bytes' else 0][0]}) >= 0"
            real = self._fit(number, nobody(calls, peer, there=True), f"{where}/{key}", value, there)
            if len(sizes) == 1:
                size = sizes.pop()
                texts = [f"({text}) if {there} else {size}" for text in real]
                texts = [text for text in texts if self._fits(text, calls, value)]
        texts = texts or self._fit(number, calls, f"{where}/{key}", value)
        self._doubt(f"{where}/{key}", texts, self.rules[number].when[0])
        return texts[0]

    def _blocks(self, number: int, calls: dict[int, list[RecordedCall]], where: str, key: str) -> str:
        """Return the sizes of the blocks of a collective with counts; of one with a root, only that knows them."""
        rule = self.rules[number]
        seen: dict[int, tuple[int, ...]] = {point: getattr(made[0], key) for point, made in calls.items()}
        blocks = {point: sizes for point, sizes in seen.items() if sizes}
        kind = (*rule.slot.place[:2], key)
        self.unvaried.seen(kind, f"{where}/{key}", map(self.formulas.points.run_of, blocks), ALWAYS, rule.when[0])
        texts = block_texts(blocks, self.formulas, self._own)
        if not texts:
            raise _no_blocks(rule, key, blocks, self.formulas.points)
        self.unvaried.fitted(kind, texts[0])
        self._doubt(f"{where}/{key}", texts, rule.when[0])
        return texts[0]

    def _own(self, values: Mapping[int, int]) -> list[str]:
        """Return the expressions for a number at points."""
        there = np.zeros(self.formulas.points.size, bool)
        numbers = np.zeros(self.formulas.points.size, np.int64)
        there[list(values)] = True
        numbers[list(values)] = list(values.values())
        return self._found([Observed(there, numbers, {})], None)

    def _fits(self, text: str, calls: dict[int, list[RecordedCall]], value: Number) -> bool:
        one = self.observations.observed(calls, value, walk=False)[0]
        values = self.formulas.points.values(text)
        return values is not None and np.array_equal(values[one.where], one.values[one.where])

    def _fit(
        self, number: int, calls: dict[int, list[RecordedCall]], where: str, value: Number, condition: str = ALWAYS
    ) -> list[str]:
        """Return the expressions for a number, and note what of it the runs cannot have shown."""
        rule = self.rules[number]
        observed = self.observations.observed(calls, value, walk=bool(rule.along))
        runs = [self.formulas.points.run_of(point) for point in calls]
        kind = (*rule.slot.place[:2], where.rsplit("/", 1)[1])
        self.unvaried.seen(kind, where, runs, condition, rule.when[0])
        found = self._found(observed, rule.along[0] if rule.along else None)
        if not found:
            raise _no_number(rule, where.rsplit("/", 1)[1], observed, self.formulas)
        self.unvaried.fitted(kind, found[0])
        return found

    def _found(self, observed: Sequence[Observed], along: Along | None) -> list[str]:
        """Return the expressions for a number, the most believable first."""
        known = (along, *((one.where.tobytes(), one.values.tobytes()) for one in observed))
        if known not in self._fitted:
            texts = self.formulas.find(observed)
            texts = texts or (growing_numbers(observed, along, self.formulas) if along else [])
            texts = texts or block_sizes(observed, along, self.formulas)
            texts = texts or divided_sizes(observed, self.formulas)
            self._fitted[known] = self._distinct(texts)
        return self._fitted[known]

    def _distinct(self, texts: Sequence[str]) -> list[str]:
        """Leave out what never differs; what depends on parameters or a turn is compared at the target only."""
        plain = [text for text in texts if not any(name in text for name in (*self.formulas.varied, TURN))]
        kept = set(self.probe.distinct(plain))
        return [text for text in texts if text not in plain or text in kept]

    def _doubt(self, where: str, texts: Sequence[str], when: str) -> None:
        """Note that other texts fit as well; once for all places that say the same."""
        key = (where.rsplit("/", 1)[1], when, *texts)
        if len(texts) > 1 and key not in self._doubted:
            self._doubted.add(key)
            self.doubts.append({"at": where, "says": texts[0], "or": list(texts[1:])})


def _steps(loop: Loop, where: str, first_leaf: int) -> dict[int, tuple[int, int]]:
    """Return by leaf how its tag and its receive tag grow; they must grow alike on all ranks."""
    found = {}
    start = 0
    for number, leaf in enumerate(leaves(loop.body), start=first_leaf):
        part = loop.steps[start : start + len(leaf.tags)]
        start += len(leaf.tags)
        both = (set(part[0::2].tolist()), set(part[1::2].tolist()))
        if any(len(steps) > 1 for steps in both):
            raise InputError("tags in a loop grow by other steps on some ranks", where=where, found=sorted(both[0]))
        found[number] = (both[0].pop(), both[1].pop())
    return found


def _no_number(rule: Rule, key: str, observed: Sequence[Observed], formulas: Formulas) -> InputError:
    points = formulas.points
    seen = []
    for run, (ranks, _) in enumerate(points.runs):
        part = slice(points.starts[run], points.starts[run + 1])
        values = sorted({int(v) for one in observed for v in one.values[part][one.where[part]]})
        if values:
            seen.append(f"{ranks} ranks: {', '.join(map(str, values[:4]))}" + (", ..." if len(values) > 4 else ""))
    return InputError(
        f"no expression gives the {key} of a call",
        where=call_at(rule.slot.operation, rule.slot.site),
        found="; ".join(seen),
        allowed="products of powers of parameters and numbers of ranks, multiples of them, blocks of an array",
        remedy=(name_numbers(points) or "leave the parameter that changes it fixed")
        + ", or write the skeleton by hand",
    )


def _no_blocks(rule: Rule, key: str, blocks: Mapping[int, Sequence[int]], points: Points) -> InputError:
    seen = []
    for point in sorted(blocks, key=lambda point: -len(set(blocks[point])))[:3]:
        run = points.run_of(point)
        sizes = ", ".join(map(str, blocks[point][:6])) + (", ..." if len(blocks[point]) > 6 else "")
        seen.append(f"rank {point - points.starts[run]} of {points.runs[run][0]}: {sizes}")
    return InputError(
        f"no expression gives the bytes of the blocks ({key}) of a call",
        where=call_at(rule.slot.operation, rule.slot.site),
        found="; ".join(seen),
        allowed="equal blocks, and parts of a range that the ranks divide, times a size of the rank's own",
        remedy="replay a recording at its number of ranks (application: recorded), or write the skeleton by hand",
    )
