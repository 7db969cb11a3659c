"""Carries out a derived skeleton in Python, for all ranks at once.

In: the content of a skeleton file, a number of ranks and parameters. Out: the items in the order of the program, each
with the ranks that carry it out (:meth:`Job.steps`), or the calls of each rank as a recording has them
(:meth:`Job.calls`). The generic skeleton in C++ (``skeletons/derived/``) is what engines run; this one checks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manynode.derived.call_forms import BLOCKS, WAITS_FOR_ONE, block_fields, draws_blocks
from manynode.derived.expression import Expression, Scope, parse
from manynode.derived.grids import coordinate_names
from manynode.derived.skeleton_file import grid_of
from manynode.derived.skeleton_model import GridSection
from manynode.errors import InputError
from manynode.markers import NO_PEER
from phase2_nodesim.derive.recorded.events import POINT_TO_POINT
from phase2_nodesim.derive.recorded.places import passing
from phase2_nodesim.recording import END, RecordedCall

Lanes = NDArray[np.int64]
Content = dict[str, Any]

# In place of the bytes of a call whose size is drawn.
DRAWN = -1

_NUMBERS = ("peer", "source", "bytes", "receive_bytes", "tag", "receive_tag", *BLOCKS)


@dataclass(frozen=True)
class Item:
    """An item of the body with its expressions parsed; ``body`` are the items inside."""

    content: Content
    where: str
    when: Expression | None
    repeat: Expression | None
    numbers: Mapping[str, Expression]
    body: tuple[Item, ...] = ()

    @cached_property
    def used(self) -> tuple[str, ...]:
        """The names that its own expressions use, of which some may be indices of loops around it."""
        both = [one for one in (self.when, self.repeat) if one is not None]
        return tuple(sorted({name for one in (*both, *self.numbers.values()) for name in one.names}))

    @property
    def call(self) -> str | None:
        return self.content.get("call")


@dataclass(frozen=True)
class Members:
    """For each rank how many members its communicator has, and which of them it is."""

    sizes: Lanes
    places: Lanes

    def blocks(self, scope: Scope, lanes: Lanes) -> Iterator[tuple[NDArray[np.bool_], Scope]]:
        """Yield for each block of a collective on which lanes it is, and the names there with its number ``k``."""
        sizes = self.sizes[lanes]
        for k in range(int(sizes.max())):
            there = sizes > k
            yield there, (scope if there.all() else scope.lanes(np.flatnonzero(there))).bound(k=k)


@dataclass(frozen=True)
class Step:
    """An item carried out once by some ranks. Numbers are by rank of ``lanes``; steps of one ``key`` are equal."""

    item: Item
    lanes: Lanes
    scope: Scope
    key: tuple[object, ...]

    def number(self, field: str, default: int = 0) -> Lanes:
        """Return a field's value on each rank."""
        expression = self.item.numbers.get(field)
        value = default if expression is None else expression.evaluate(self.scope)
        return np.broadcast_to(np.asarray(value, np.int64), self.lanes.shape)

    def blocks(self, field: str, members: Members) -> Iterator[Lanes]:
        """Yield the bytes of each block on each rank; 0 where its communicator has fewer members."""
        for there, scope in members.blocks(self.scope, self.lanes):
            found = np.zeros(self.lanes.shape, np.int64)
            found[there] = self.item.numbers[field].evaluate(scope)
            yield found


class Job:
    """A skeleton at one number of ranks, with one set of parameters.

    ``means`` are the mean sizes of its distributions [bytes]. ``drawn`` has, once :meth:`calls` was called, for each
    rank the calls with drawn sizes: by number, the distributions of what is sent or received, and of what MPI_Sendrecv
    or MPI_Alltoallv receives.
    """

    def __init__(self, content: Content, ranks: int, parameters: Mapping[str, int] | None = None) -> None:
        self.ranks = ranks
        self.parameters = _complete(content, parameters or {})
        self.sites: list[str] = content.get("sites", [])
        # What an item is on its ranks is the same in all repetitions but for the indices that it uses.
        self._chosen: dict[tuple[object, ...], tuple[Lanes, Lanes, Scope]] = {}
        self._rows: dict[tuple[object, ...], list[_Row]] = {}
        named = content.get("definitions", {})
        definitions = {name: parse(text, f"definitions/{name}") for name, text in named.items()}
        own = np.arange(ranks, dtype=np.int64)
        section = content.get("grid")
        self.stated_extents = {int(number) for number in (section or {}).get("extents", {})}
        grid = grid_of(None if section is None else GridSection.model_validate(section), ranks)
        places = coordinate_names(grid, own) if grid else {}
        self.scope = Scope({"P": ranks, "rank": own, **places, **self.parameters}, grid=grid, definitions=definitions)
        self.means = {name: self.mean(entry) for name, entry in content.get("distributions", {}).items()}
        self.drawn: list[dict[int, tuple[str | None, str | None]]] = []
        groups = content.get("communicators", ())
        self._numbers = {entry["name"]: number for number, entry in enumerate(groups, start=1)}
        own_colors = [self.by_rank(str(entry["color"]), f"communicators/{entry['name']}") for entry in groups]
        self.colors = [np.zeros(ranks, np.int64), *own_colors]
        self._keys = ["rank", *(str(entry.get("key", "rank")) for entry in groups)]
        self._members: dict[int, Members] = {}
        self._body = content["body"]

    @cached_property
    def items(self) -> list[Item]:
        """The items of the body."""
        return [_item(item, f"body/{i}", self.means) for i, item in enumerate(self._body)]

    def by_rank(self, text: str, where: str) -> Lanes:
        """Return the value of an expression on each rank."""
        return np.broadcast_to(np.asarray(parse(text, where).evaluate(self.scope), np.int64), (self.ranks,))

    def communicator(self, item: Item) -> int:
        """Return the number of a call's communicator: 0 is the world; :attr:`colors` are those of its ranks."""
        return self._numbers.get(item.content.get("communicator"), 0)

    def members(self, number: int) -> Members:
        """Return the members of the communicators of a number; ranks in none are as if together in one."""
        if number not in self._members:
            colors, keys = self.colors[number], self.by_rank(self._keys[number], "communicators")
            _, group, counts = np.unique(colors, return_inverse=True, return_counts=True)
            order = np.lexsort((np.arange(self.ranks), keys, group))
            places = np.empty(self.ranks, np.int64)
            places[order] = np.arange(self.ranks) - np.repeat(np.cumsum(counts) - counts, counts)
            self._members[number] = Members(counts[group], places)
        return self._members[number]

    def mean(self, distribution: Mapping[str, Any]) -> int:
        """Return the mean size of a distribution at this number of ranks [bytes]."""
        text = distribution.get("mean")
        if text is None:
            return round(float(np.mean(distribution["values"])))
        return int(parse(text, "distributions").evaluate(self.scope))

    def spread(self, distribution: Mapping[str, Any]) -> int:
        """Return by how much the rivals of a distribution's mean differ from it at most [bytes]."""
        rivals = [self.mean({"mean": text}) for text in distribution.get("or", ())]
        return max((abs(one - self.mean(distribution)) for one in rivals), default=0)

    def steps(self, *, most_repetitions: int | None = None) -> Iterator[Step]:
        """Yield the steps in the order of the program.

        With ``most_repetitions``, loops end early whose number of repetitions is the same on all ranks and whose peers
        do not depend on the repetition: what happens in them happens again.
        """
        yield from self._steps(self.items, np.arange(self.ranks), {}, most_repetitions)

    def _steps(self, items: Sequence[Item], lanes: Lanes, bound: Mapping[str, int], most: int | None) -> Iterator[Step]:
        for item in items:
            # The ranks that come here are told by the array: it is kept, and the same one in each repetition.
            key = (id(item), id(lanes), *(bound.get(name) for name in item.used))
            if key not in self._chosen:
                self._chosen[key] = (lanes, *self._choose(item, lanes, bound))
            _, here, scope = self._chosen[key]
            if not len(here):
                continue
            if "do" not in item.content:
                yield Step(item, here, scope, key)
                continue
            counts = np.ones(len(here), np.int64)
            if item.repeat is not None:
                counts = np.broadcast_to(np.asarray(item.repeat.evaluate(scope), np.int64), here.shape)
            last = int(counts.max())
            alike = bool((counts == last).all())
            if most is not None and last > most and alike and not _steers(item):
                last = most
            for number in range(last):
                index = {item.content["index"]: number} if "index" in item.content else {}
                inside = here if alike else here[counts > number]
                yield from self._steps(item.body, inside, {**bound, **index}, most)

    def _choose(self, item: Item, lanes: Lanes, bound: Mapping[str, int]) -> tuple[Lanes, Scope]:
        """Return the ranks on which an item happens, and the names there."""
        scope = self.scope.lanes(lanes).bound(**bound)
        if item.when is None:
            return lanes, scope
        here = lanes[np.broadcast_to(np.asarray(item.when.evaluate(scope)), lanes.shape) != 0]
        return here, self.scope.lanes(here).bound(**bound)

    def calls(self) -> list[list[RecordedCall]]:
        """Return the calls of each rank, ending with MPI_Finalize."""
        found = [_Rank() for _ in range(self.ranks)]
        for step in self.steps():
            content = step.item.content
            if "compute" in content:
                for lane in step.lanes.tolist():
                    found[lane].phases.append(content["compute"])
                continue
            if "free" in content:
                for lane in step.lanes.tolist():
                    found[lane].free(content["free"])
                continue
            if step.item.call is None:
                for lane in step.lanes.tolist():
                    found[lane].add(passing(self.sites[content["site"]]), None)
                continue
            if step.key not in self._rows:
                self._rows[step.key] = _waiting(step) if step.item.call.startswith("MPI_Wait") else _calling(step, self)
            pair = draws_of(step.item)
            draws = pair if any(pair) else None
            for lane, number, call in self._rows[step.key]:
                if call is None:
                    found[lane].wait(content, number)
                else:
                    found[lane].add(call, content.get("request"), draws)
        self.drawn = [rank.drawn for rank in found]
        return [[*rank.calls, rank.placed(RecordedCall(END, ""))] for rank in found]


# Rank, how many requests a wait takes (-1: all), and the call unless it is a wait.
_Row = tuple[int, int, RecordedCall | None]


class _Rank:
    """What one rank has done: calls, labels since the last one, and open requests by name."""

    def __init__(self) -> None:
        self.calls: list[RecordedCall] = []
        self.phases: list[str] = []
        self.open: list[tuple[str, int]] = []
        self.drawn: dict[int, tuple[str | None, str | None]] = {}
        self.made = 0

    def placed(self, call: RecordedCall, request: int = -1) -> RecordedCall:
        """Return the call with the phase before it and its request."""
        phase, self.phases = "+".join(self.phases), []
        if not phase and request < 0:
            return call
        return call.but(phase=phase, request=request)

    def add(self, call: RecordedCall, name: str | None, draws: tuple[str | None, str | None] | None = None) -> None:
        request = -1
        if draws is not None:
            self.drawn[len(self.calls)] = draws
        if name is not None:
            request, self.made = self.made, self.made + 1
            self.open.append((name, request))
        self.calls.append(self.placed(call, request))

    def free(self, names: Sequence[str]) -> None:
        self.open = [one for one in self.open if one[0] not in names]

    def wait(self, content: Content, take: int) -> None:
        names = content["requests"]
        times = sum(name in names for name, _ in self.open) if content.get("each") else 1
        for _ in range(times):
            self._wait(content, names, take)

    def _wait(self, content: Content, names: Sequence[str], take: int) -> None:
        if content.get("order") == "names":
            chosen = [one for name in names for one in self.open if one[0] == name]
        else:
            chosen = [one for one in self.open if one[0] in names]
        if content.get("order") == "newest":
            chosen.reverse()
        if take >= 0:
            chosen = chosen[:take]
        done = {number for _, number in chosen}
        self.open = [one for one in self.open if one[1] not in done]
        completes = tuple(number for _, number in chosen)
        self.calls.append(self.placed(RecordedCall(content["call"], "", completes=completes)))


def _waiting(step: Step) -> list[_Row]:
    takes = step.number("take", 1 if step.item.call in WAITS_FOR_ONE else -1)
    return [(lane, take, None) for lane, take in zip(step.lanes.tolist(), takes.tolist(), strict=True)]


def _calling(step: Step, job: Job) -> list[_Row]:
    operation = str(step.item.call)
    communicator = job.communicator(step.item)
    message = operation in POINT_TO_POINT
    sizes = [
        np.full(step.lanes.shape, DRAWN) if draw_of(step.item.content, field) else step.number(field)
        for field in ("bytes", "receive_bytes")
    ]
    columns = [step.number("peer", NO_PEER), step.number("source", NO_PEER), *sizes]
    columns += [step.number("tag", 0 if message else -1), step.number("receive_tag", -1)]
    rows = zip(step.lanes.tolist(), *(column.tolist() for column in columns), strict=True)
    made: list[_Row] = [
        (lane, 0, RecordedCall(operation, "", peer, source, size, receive, tag, receive_tag, communicator))
        for lane, peer, source, size, receive, tag, receive_tag in rows
    ]
    return _with_blocks(made, step, job.members(communicator)) if block_fields(operation) else made


def _with_blocks(rows: Sequence[_Row], step: Step, members: Members) -> list[_Row]:
    """Add the blocks of a collective with counts; of one with a root, that alone knows them."""
    fields = block_fields(str(step.item.call))
    columns = {field: np.stack([*step.blocks(field, members)]) for field in fields}
    found: list[_Row] = []
    for number, (lane, take, call) in enumerate(rows):
        assert call is not None
        if call.peer not in (NO_PEER, lane):
            found.append((lane, take, call))
            continue
        blocks = {field: tuple(column[: members.sizes[lane], number].tolist()) for field, column in columns.items()}
        if any(draws_of(step.item)):
            found.append((lane, take, without_blocks(call.but(**blocks))))
            continue
        size = call.bytes
        if call.peer == NO_PEER:  # what a rank contributes follows from the blocks
            every = "llgather" in call.operation
            size = blocks["received"][int(members.places[lane])] if every else sum(next(iter(blocks.values())))
        found.append((lane, take, call.but(bytes=size, **blocks)))
    return found


def without_blocks(call: RecordedCall) -> RecordedCall:
    """Return a call with ``DRAWN`` for the size of each block."""
    return call.but(bytes=DRAWN, sent=(DRAWN,) * len(call.sent), received=(DRAWN,) * len(call.received))


def draws_of(item: Item) -> tuple[str | None, str | None]:
    """Return the distributions of what an item sends or receives, and of what it receives besides."""
    fields = BLOCKS if draws_blocks(str(item.call)) else ("bytes", "receive_bytes")
    return draw_of(item.content, fields[0]), draw_of(item.content, fields[1])


def draw_of(content: Content, field: str) -> str | None:
    """Return the distribution that a field of an item is drawn from, if it is."""
    value = content.get(field)
    return str(value["draw"]) if isinstance(value, Mapping) else None


def _item(content: Content, where: str, means: Mapping[str, int]) -> Item:
    """Return an item; a drawn size is its distribution's mean."""

    def text(field: str) -> Any:
        name = draw_of(content, field)
        return content[field] if name is None else means[name]

    def parsed(field: str) -> Expression | None:
        return parse(content[field], f"{where}/{field}") if field in content else None

    fields = [field for field in (*_NUMBERS, "take") if field in content]
    numbers = {field: parse(text(field), f"{where}/{field}") for field in fields}
    body = tuple(_item(item, f"{where}/do/{i}", means) for i, item in enumerate(content.get("do", ())))
    return Item(content, where, parsed("when"), parsed("repeat"), numbers, body)


def _steers(item: Item) -> bool:
    """Say whether some peer inside depends on the loop's index."""
    index = item.content.get("index")
    return index is not None and any(
        index in inside.numbers[field].names for inside in _inside(item) for field in inside.numbers
    )


def _inside(item: Item) -> Iterator[Item]:
    for inside in item.body:
        yield inside
        yield from _inside(inside)


def _complete(content: Content, given: Mapping[str, int]) -> dict[str, int]:
    declared = content.get("parameters", {})
    for name in given:
        if name not in declared:
            raise InputError(
                "the skeleton has no such parameter", found=name, allowed=", ".join(declared) or "no parameters"
            )
    return {name: int(given.get(name, entry["default"])) for name, entry in declared.items()}
