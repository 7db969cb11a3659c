"""Derives a skeleton: the way in to everything here.

In: recordings of a program at several numbers of ranks with the same parameters, and optionally others with changed
parameters; more recordings may be held out. Out: a :class:`Derivation` with the skeleton's content (the contract
``derived-skeleton/1``) and a :class:`Report`. What cannot be derived is a :class:`NotDerivedError`. The skeleton gives
back every training recording call by call; the held-out ones are compared, never learned from, except that hypotheses
which they contradict are dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from manynode.derived.skeleton_file import checked
from manynode.errors import InputError
from phase2_nodesim.arrivals import ANY
from phase2_nodesim.derive.grids.patterns import GridRule
from phase2_nodesim.derive.grids.points import Points
from phase2_nodesim.derive.judging.compared import drop_contradicted, first_difference, recorded_entry
from phase2_nodesim.derive.judging.interpret import Content
from phase2_nodesim.derive.judging.verdict import MOST_SPREAD
from phase2_nodesim.derive.recorded.events import COMPUTE, streams, waited_one_by_one
from phase2_nodesim.derive.recorded.places import phases_between
from phase2_nodesim.derive.recorded.recordings import (
    NotDerivedError,
    Recording,
    TooMuchError,
    check_calls_of,
    check_recordings,
    check_size,
    with_most_counts,
    with_tests_in_vain,
)
from phase2_nodesim.derive.rules.formulas import FEWEST_VALUES, Formulas
from phase2_nodesim.derive.sequence.fold import Node, loops
from phase2_nodesim.derive.sequence.irregular import Site
from phase2_nodesim.derive.sequence.shortened import LoopsDifferError, Region, shortened
from phase2_nodesim.derive.writing.assumptions import with_assumptions
from phase2_nodesim.derive.writing.compose import Body, Composer
from phase2_nodesim.derive.writing.drawn import Comparison, comparison
from phase2_nodesim.derive.writing.gates import unseen
from phase2_nodesim.derive.writing.observations import Observations, Other
from phase2_nodesim.derive.writing.parse import Parsed, parse_recording
from phase2_nodesim.derive.writing.remainders import nothing_left, without_remainder
from phase2_nodesim.derive.writing.rendering import rendered
from phase2_nodesim.derive.writing.structure import Structure, irregular_of, made_grids, own_grids, structure_of
from phase2_nodesim.recording import without_collector


@dataclass
class Report:
    """What was found: the grid's rule, calls of the common sequence and distinct rules, and what was not learned."""

    grid: str = "none"
    slots: int = 0
    rules: int = 0
    doubts: int = 0
    any_source: list[str] = field(default_factory=list)
    waits_for_any: list[str] = field(default_factory=list)
    tests_in_vain: list[str] = field(default_factory=list)
    fixed: dict[str, str] = field(default_factory=dict)
    held_out: dict[str, str] = field(default_factory=dict)
    drawn: dict[str, Comparison] = field(default_factory=dict)

    def compare(self, content: Content, recording: Recording) -> float:
        """Note how drawn sizes compare with a recording of the same calls; return the relative error of the volume."""
        found = comparison(content, recording)
        if found is None:
            return 0.0
        self.drawn[recording.point()] = found
        return found.volume_error


@dataclass
class Derivation:
    """``skeleton`` is the content of the file; ``report`` is for people."""

    skeleton: Content
    report: Report

    def text(self) -> str:
        """Return the skeleton's file."""
        return rendered(self.skeleton)


@without_collector()
def derive(
    trained: Sequence[Recording],
    held_out: Sequence[Recording] = (),
    *,
    name: str = "derived",
    stated: Sequence[Mapping[str, Any]] = (),
) -> Derivation:
    """Return the skeleton that all recordings in ``trained`` follow, compared with those held out.

    ``stated`` is what a user says where the recordings leave several hypotheses open (:mod:`.writing.assumptions`).
    """
    check_recordings(trained, held_out)
    trained, held_out, tests = with_tests_in_vain(trained, held_out)
    found = _found(trained, held_out, name, stated)
    found.report.tests_in_vain = tests
    return found


def _found(
    trained: Sequence[Recording], held_out: Sequence[Recording], name: str, stated: Sequence[Mapping[str, Any]]
) -> Derivation:
    base, others = with_most_counts(trained)
    whole = _Runs(base, others, held_out)
    runs = whole if others else _in_short(whole)
    check_calls_of([*runs.base, *others], runs.held_out)
    try:
        try:
            return _derived(runs, name, stated, frozenset())
        except LoopsDifferError:
            irregular = frozenset[Site]()
        except TooMuchError:
            raise
        except InputError:
            # Sizes are drawn only where no rule gives them.
            irregular = irregular_of(runs.base)
            if not irregular:
                raise
        check_size([*base, *others, *held_out])
        return _derived(whole, name, stated, irregular)
    except InputError as error:
        raise NotDerivedError.of(error) from None


@dataclass(frozen=True)
class _Runs:
    """What is learned from (``base`` with the same parameters, ``others``), and what is compared.

    ``regions`` are what loops lack in the runs of ``base``, and ``also_held_out`` says whether those held out lack it,
    too; ``smallest`` is then the whole run with the fewest ranks.
    """

    base: Sequence[Recording]
    others: Sequence[Recording]
    held_out: Sequence[Recording]
    regions: Sequence[Region] = ()
    also_held_out: bool = False
    smallest: Recording | None = None


def _in_short(runs: _Runs) -> _Runs:
    """Return the runs without what all of them repeat, or, if there is nothing, without what those of ``base`` do."""
    number = len(runs.base)
    both = shortened([*runs.base, *runs.held_out])
    if both.regions:
        found = both.recordings
        return _Runs(found[:number], [], found[number:], both.regions, True, runs.base[0])
    base = shortened(runs.base)
    return _Runs(base.recordings, [], runs.held_out, base.regions, False, runs.base[0])


def _derived(
    runs: _Runs, name: str, stated: Sequence[Mapping[str, Any]], irregular: frozenset[Site]
) -> Derivation:  # fmt: skip
    """Return the skeleton; the sizes at the places ``irregular`` are drawn."""
    base, held_out = runs.base, runs.held_out
    structure = structure_of(base, irregular, runs.regions)
    learned = _Learned(structure, runs.others)
    content = with_assumptions(_content(name, base[0], structure, learned, held_out), stated)
    report = Report(
        _grid_words(content, structure.pattern.grid),
        len(structure.slots),
        len({id(rule) for rule in structure.rules}),
        fixed=learned.fixed,
    )
    calls = {(call.site, call.wild) for one in base for own in one.calls for call in own}
    report.any_source = sorted(site for site, wild in calls if wild)
    report.waits_for_any = sorted({site for site, _ in calls if site.startswith(ANY)})
    for recording in [*base, *learned.used]:
        if (difference := first_difference(content, recording)) is not None:
            raise InputError(
                "the rules that were found do not give back a training recording",
                where=recording.where,
                found=difference,
                remedy="record other numbers of ranks, or write the skeleton by hand",
            )
        error = report.compare(content, recording)
        if abs(error) > MOST_SPREAD:
            raise InputError(
                "sizes that depend on load follow no rule of the number of ranks",
                where=recording.where,
                found=f"the volume of {recording.point()} is {error:+.1%} off",
                allowed=f"sums of products of 1 / extent that meet the volume within {MOST_SPREAD:.0%}",
                remedy="replay a recording at its number of ranks, or write the skeleton by hand",
            )
        content["recorded"].append(recorded_entry(recording, "trained", True, error))
    if not runs.also_held_out:
        _put_back(content, learned.body, runs.smallest)
    for recording in held_out:
        fixed = content["program"]["fixed"]
        changed = [key for key, value in recording.parameters.items() if fixed.get(key, value) != value]
        if changed:
            report.held_out[recording.point()] = f"not compared: {', '.join(changed)} was not learned"
            continue
        difference = first_difference(content, recording)
        error = 0.0 if difference else report.compare(content, recording)
        if abs(error) > MOST_SPREAD:
            difference = f"the volume of sizes that depend on load is {error:+.1%} off"
        content["recorded"].append(recorded_entry(recording, "held out", difference is None, error))
        report.held_out[recording.point()] = difference or "equal"
        if difference is None:
            drop_contradicted(content, recording)
    if runs.also_held_out:
        _put_back(content, learned.body, runs.smallest)
    report.doubts = len(content["doubts"])
    checked(content, name)
    return Derivation(content, report)


def _put_back(content: Content, body: Body, smallest: Recording | None) -> None:
    """Let loops repeat as often as in the whole runs; the smallest of these is then compared."""
    for where, lacking in body.lacking.items():
        item = content["body"][int(where[1])]
        for number in where[3::2]:
            item = item["do"][int(number)]
        item["repeat"] = str(int(item["repeat"]) + lacking)
    if body.lacking and smallest is not None and (difference := first_difference(content, smallest)) is not None:
        raise LoopsDifferError(
            "the loops that were found do not repeat as a training recording does",
            where=smallest.where,
            found=difference,
        )


class _Learned:
    """What the runs with other parameters add; ``fixed`` says why a parameter was not learned."""

    def __init__(self, structure: Structure, others: Sequence[Recording]) -> None:
        self.structure = structure
        self.default = structure.base[0].parameters
        self.fixed: dict[str, str] = {}
        self._parsed: dict[int, Other] = {}
        self._parse(others)
        changed = sorted({name for recording in others for name in self.changed(recording)})
        self._fix_few_values(changed, others)
        for name in changed:
            # One at a time, so that one that fails leaves the others.
            if name not in self.fixed:
                self._try([name], [one for one in others if self.changed(one) == {name}])
        learned = [name for name in changed if name not in self.fixed]
        self.used = [one for one in others if id(one) in self._parsed and self.changed(one) <= set(learned)]
        self.names = learned
        self.body = self._compose(learned, self.used)

    def changed(self, recording: Recording) -> set[str]:
        """Return the parameters that a recording changes."""
        return {name for name, value in recording.parameters.items() if value != self.default[name]}

    def _parse(self, others: Sequence[Recording]) -> None:
        one_by_one = waited_one_by_one(self.structure.base)
        for recording in others:
            points = Points([(recording.ranks, recording.parameters)], self.structure.pattern.grid)
            found = streams(recording, one_by_one)
            try:
                parsed = parse_recording(recording, found, self.structure.tree, self.structure.rules, points)
            except InputError as error:
                names = self.changed(recording)
                if len(names) == 1:
                    self.fixed[names.pop()] = error.what
                continue
            self._parsed[id(recording)] = Other(found, parsed)

    def _fix_few_values(self, names: Sequence[str], others: Sequence[Recording]) -> None:
        for name in names:
            values = {recording.parameters[name] for recording in others if id(recording) in self._parsed}
            if len(values | {self.default[name]}) < FEWEST_VALUES:
                self.fixed.setdefault(name, f"fewer than {FEWEST_VALUES} values were recorded")

    def _try(self, names: list[str], runs: Sequence[Recording]) -> None:
        try:
            self._compose(names, [one for one in runs if id(one) in self._parsed])
        except InputError as error:
            self.fixed[names[0]] = f"{error.what}: {error.where}: {error.found}"

    def _compose(self, names: Sequence[str], runs: Sequence[Recording]) -> Body:
        structure = self.structure
        others = [self._parsed[id(one)] for one in runs]
        all_runs = [(one.ranks, one.parameters) for one in [*structure.base, *runs]]
        points = Points(all_runs, structure.pattern.grid)
        formulas = Formulas(points, structure.guards.on(points), names)
        observations = Observations(structure.slots, others, points)
        repetitions = _repetitions(structure, [other.parsed for other in others])
        composer = Composer(
            structure.rules, observations, formulas, structure.waits, structure.probe, repetitions, structure.draws,
            structure.groups,
        )  # fmt: skip
        return composer.body(structure.tree)


def _repetitions(structure: Structure, parsed: Sequence[Parsed]) -> list[dict[int, int]]:
    """Return for each loop how often it repeats in each run, the runs with the same parameters first."""
    first = len(structure.base)
    found = []
    for number, loop in enumerate(loops_in_order(structure.tree)):
        table = {run: loop for run in range(first)}
        table |= {first + i: one.repetitions[number] for i, one in enumerate(parsed) if number in one.repetitions}
        found.append(table)
    return found


def loops_in_order(tree: Sequence[Node]) -> list[int]:
    """Return the repetitions of the loops of a tree, outer ones first."""
    return [loop.count for loop in loops(tree)]


def _content(
    name: str, first: Recording, structure: Structure, learned: _Learned, held_out: Sequence[Recording]
) -> Content:
    recordings = [*structure.base, *learned.used]
    fixed = {key: value for key, value in first.parameters.items() if key not in learned.names}
    content: Content = {"schema": "derived-skeleton/1", "name": name}
    content["program"] = {"command": list(first.command), "mpi": first.mpi, "fixed": fixed}
    content["parameters"] = {
        key: {
            "default": int(first.parameters[key]),
            "recorded": sorted({int(recording.parameters[key]) for recording in recordings}),
        }
        for key in learned.names
    }
    if (grid := structure.pattern.grid) is not None:
        content["grid"] = {
            "rule": grid.rule,
            "dimensions": grid.dimensions,
            "order": grid.order,
            "ties": grid.ties,
            "layout": grid.layout,
            "periodic": list(grid.periodic),
        }
        if grid.stated:
            # Those of runs held out are read, too, not predicted.
            extents = {**dict(grid.exceptions), **own_grids(structure, held_out)}
            content["grid"] = {"extents": {ranks: list(found) for ranks, found in sorted(extents.items())}}
            content["grid"] |= {"layout": grid.layout, "periodic": list(grid.periodic)}
        elif grid.exceptions:
            made = made_grids([*structure.base, *held_out])
            there = grid.except_at({ranks: found[::-1] for ranks, found in made.items()}) if made else grid
            content["grid"]["extents"] = {ranks: list(found) for ranks, found in there.exceptions}
    if structure.groups:
        content["communicators"] = [group.content() for group in structure.groups.values()]
    phases = [rule.slot.site for rule in structure.rules if rule.slot.operation == COMPUTE]
    between = phases_between(calls for recording in [*recordings, *held_out] for calls in recording.calls)
    content["phases"] = list(dict.fromkeys([*phases, *(f"{before} -> {after}" for before, after in between)]))
    if learned.body.sites:
        content["sites"] = learned.body.sites
    if structure.draws.content:
        content["distributions"] = structure.draws.content
    content["body"] = learned.body.items
    points = Points([(one.ranks, one.parameters) for one in recordings], structure.pattern.grid)
    content["doubts"] = [
        *unseen(structure.rules, structure.points, structure.pattern, structure.probe),
        *without_remainder(learned.body.items, points, fixed),
        *nothing_left(learned.body.items, points),
        *learned.body.doubts,
        *(doubt for number, group in enumerate(structure.groups.values()) for doubt in group.doubts(number)),
    ]
    content["recorded"] = []
    content["assumptions"] = []
    return content


def _grid_words(content: Content, rule: GridRule | None) -> str:
    stated = content.get("grid", {}).get("extents", {})
    words = ", ".join(f"{ranks} ranks: {' x '.join(map(str, found))}" for ranks, found in stated.items())
    return str(rule or "none") + (f", but as the program made it at {words}" if words else "")
