"""Expressions for numbers: sizes, tags, numbers of repetitions.

In: a number at points of the training runs, which differ in ranks and parameters. Out: all expressions that fit, the
simplest kind first: a constant, a product of powers, a constant plus a multiple of such a product, a choice between two
of these by a condition. Products are exact: a quotient that leaves a rest elsewhere is a doubt, and so is a product of
parameters that were never changed together, because a sum fits as well.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from phase2_nodesim.derive.grids.points import Points, Truths, Values
from phase2_nodesim.derive.rules.guards import ALWAYS, Guards

_LARGEST_POWER = 3
# Fewer values of a parameter fit any constant and multiple; of products there are many, one of which fits by chance.
FEWEST_VALUES = 3
_MOST_CHOICES = 2


@dataclass(frozen=True)
class Observed:
    """A number at the points ``where``; ``bound`` are loop indices, such as the place along a line."""

    where: Truths
    values: Values
    bound: Mapping[str, int]


def fits(text: str, observed: Sequence[Observed], points: Points) -> bool:
    """Say whether an expression has all observed values."""
    for one in observed:
        values = points.values(text, **one.bound)
        if values is None or not np.array_equal(values[one.where], one.values[one.where]):
            return False
    return True


class Formulas:
    """Finds expressions on the points of all training runs; ``varied`` are the parameters with three values or more."""

    def __init__(self, points: Points, guards: Guards | None, varied: Sequence[str]) -> None:
        self.points = points
        self.guards = guards
        self.varied = list(varied)
        dimensions = points.rule.dimensions if points.rule else 0
        self.sizes = ["P", *(f"d{axis}" for axis in range(dimensions))]

    def find(self, observed: Sequence[Observed]) -> list[str]:
        """Return the expressions that fit, the most believable first; empty if there is none."""
        table = self._by_run(observed)
        if table is not None:
            return self.of_runs(table)
        return self._choices(observed)

    def _by_run(self, observed: Sequence[Observed]) -> dict[int, int] | None:
        """Return the value by run, or None if it differs among the ranks of a run."""
        found: dict[int, int] = {}
        for one in observed:
            for run in range(len(self.points.runs)):
                part = slice(self.points.starts[run], self.points.starts[run + 1])
                values = one.values[part][one.where[part]]
                if not len(values):
                    continue
                if (values != found.setdefault(run, int(values[0]))).any():
                    return None
        return found

    def of_runs(self, table: Mapping[int, int]) -> list[str]:
        """Return the expressions for a number that is the same on all ranks, by run."""
        if len(set(table.values())) == 1:
            return [str(next(iter(table.values())))]
        found = self._products(table, self.varied)
        found += self._multiples(table, self.varied)
        if found:
            return list(dict.fromkeys(found))
        found = self._products(table, [*self.varied, *self.sizes]) + self._multiples(table, self.sizes)
        for size in [] if found else self.sizes:
            # What a rank has for all others of its line, such as its blocks of a matrix but those on the edge.
            found += self._products(table, [size, f"({size} - 1)"])
        found += self._levels(table)
        return list(dict.fromkeys(found))

    def feature(self, name: str, run: int) -> int:
        """Return a parameter, or what the number of ranks determines, in a run."""
        _, parameters = self.points.runs[run]
        if name in parameters:
            return int(parameters[name])
        return self.points.of_run(name, run)

    def _products(self, table: Mapping[int, int], names: Sequence[str]) -> list[str]:
        """Return ``q * a * b // c`` and its rivals, if the values are a product of powers."""
        if min(table.values()) <= 0 or len(set(table.values())) < FEWEST_VALUES:
            return []
        runs = list(table)
        used = [name for name in names if min(self.feature(name, run) for run in runs) > 0]
        logs = np.array([[math.log(self.feature(name, run)) for name in used] for run in runs])
        logs = np.hstack([logs, np.ones((len(runs), 1))])
        wanted = np.log(np.array([table[run] for run in runs], float))
        found: list[str] = []
        for chosen in self._columns(logs, wanted):
            powers = dict(zip((used[i] for i in chosen), self._powers(logs, wanted, chosen), strict=True))
            powers = {name: power for name, power in powers.items() if power}
            factor = Fraction(table[runs[0]]) / self._product(powers, runs[0])
            if not all(self._varies(name, runs) for name in powers):
                continue
            if all(factor * self._product(powers, run) == table[run] for run in runs):
                found += self._rivals(powers, factor, table)
        return list(dict.fromkeys(found))

    def _varies(self, name: str, runs: Sequence[int]) -> bool:
        return len({self.feature(name, run) for run in runs}) >= FEWEST_VALUES

    def _columns(self, logs: np.ndarray, wanted: np.ndarray) -> Iterator[tuple[int, ...]]:
        """Yield the sets of the fewest features with which a product of powers may fit."""
        width = logs.shape[1] - 1
        if np.linalg.matrix_rank(logs) == width + 1:
            yield tuple(range(width))
            return
        for number in range(1, 4):
            any_ = False
            for chosen in itertools.combinations(range(width), number):
                part = logs[:, [*chosen, width]]
                if np.linalg.matrix_rank(part) <= number:
                    continue
                solved = np.linalg.lstsq(part, wanted, rcond=None)[0]
                if np.abs(part @ solved - wanted).max() < 1e-6 and np.abs(solved[:-1]).min() > 0.5:
                    any_ = True
                    yield chosen
            if any_:
                return

    @staticmethod
    def _powers(logs: np.ndarray, wanted: np.ndarray, chosen: Sequence[int]) -> list[int]:
        part = logs[:, [*chosen, logs.shape[1] - 1]]
        solved = np.linalg.lstsq(part, wanted, rcond=None)[0]
        return [max(-_LARGEST_POWER, min(_LARGEST_POWER, round(power))) for power in solved[:-1].tolist()]

    def _product(self, powers: Mapping[str, int], run: int) -> Fraction:
        result = Fraction(1)
        for name, power in powers.items():
            result *= Fraction(self.feature(name, run)) ** power
        return result

    def _rivals(self, powers: Mapping[str, int], factor: Fraction, table: Mapping[int, int]) -> list[str]:
        """Return the product, and what fits as well: rounded up, and as a sum where no run tells it from a product."""
        found = self._stepped(_rendered(powers, factor), table)
        names = [name for name in powers if name in self.varied]
        base = min(table)
        together = any(sum(self.feature(name, run) != self.feature(name, base) for name in names) > 1 for run in table)
        if len(names) > 1 and not together and set(names) == set(powers):
            parts = []
            for name in names:
                rest = {other: power for other, power in powers.items() if other != name}
                one = factor * self._product(rest, base)
                parts.append(_rendered({name: powers[name]}, one)[0])
            found.append(" + ".join(f"({part})" for part in parts) + f" - {(len(names) - 1) * table[base]}")
        return found

    def _stepped(self, texts: list[str], runs: Iterable[int]) -> list[str]:
        """Add what fits as well if parameters count in steps, where all their values are multiples of a number."""
        words = {name: name for name in self.varied}
        for name in self.varied:
            step = math.gcd(*(self.feature(name, run) for run in runs))
            if step > 1:
                words[name] = f"({name} // {step} * {step})"
        stepped = [re.sub(r"[A-Za-z_]\w*", lambda word: words.get(word[0], word[0]), text) for text in texts[:1]]
        return list(dict.fromkeys([*texts, *stepped]))

    def _multiples(self, table: Mapping[int, int], names: Sequence[str]) -> list[str]:
        """Return ``a + b * m`` for products ``m`` of at most two features that fit."""
        runs = list(table)
        found = []
        for powers in _small_products(names):
            by_value: dict[Fraction, int] = {}
            for run in runs:
                if any(power < 0 and self.feature(name, run) == 0 for name, power in powers.items()):
                    break
                if by_value.setdefault(self._product(powers, run), table[run]) != table[run]:
                    break
            else:
                plain = list(powers.values()) in ([1], [-1])
                if len(by_value) >= (FEWEST_VALUES if plain else FEWEST_VALUES + 1):
                    found += self._stepped(self._line(powers, by_value), table)
        return found

    def _levels(self, table: Mapping[int, int]) -> list[str]:
        """Return multiples of the levels of a tree of ranks, plus a constant."""
        found = []
        for size, form in itertools.product(self.sizes, ("log2({})", "log2(2 * {} - 1)")):
            levels = {run: self.feature(form.format(size), run) for run in table}
            by_level = {levels[run]: value for run, value in table.items()}
            if len(by_level) < FEWEST_VALUES or any(by_level[levels[run]] != value for run, value in table.items()):
                continue
            (x0, y0), (x1, y1), *rest = by_level.items()
            slope, left = divmod(y1 - y0, x1 - x0)
            more = y0 - slope * x0
            if slope > 0 and not left and all(more + slope * x == y for x, y in rest):
                text = form.format(size) if slope == 1 else f"{slope} * {form.format(size)}"
                found.append(f"{text} {'+' if more > 0 else '-'} {abs(more)}" if more else text)
        return found

    @staticmethod
    def _line(powers: Mapping[str, int], by_value: Mapping[Fraction, int]) -> list[str]:
        (x0, y0), (x1, y1), *rest = by_value.items()
        slope = Fraction(y1 - y0) / (x1 - x0)
        offset = y0 - slope * x0
        if slope == 0 or offset == 0 or offset.denominator != 1:
            return []
        if any(offset + slope * x != y for x, y in rest):
            return []
        texts = _rendered(powers, abs(slope))
        if slope > 0:
            return [f"{text} {'+' if offset > 0 else '-'} {abs(int(offset))}" for text in texts]
        return [f"{int(offset)} - {text if '//' not in text else f'({text})'}" for text in texts]

    def _choices(self, observed: Sequence[Observed]) -> list[str]:
        """Return ``a if condition else b``, for a number that has two values by rank in each run."""
        if self.guards is None or any(one.bound for one in observed) or len(observed) != 1:
            return []
        one = observed[0]
        low, high = np.zeros_like(one.where), np.zeros_like(one.where)
        for run in range(len(self.points.runs)):
            part = slice(self.points.starts[run], self.points.starts[run + 1])
            values = np.unique(one.values[part][one.where[part]])
            if len(values) > _MOST_CHOICES:
                return []
            if len(values) == _MOST_CHOICES:
                low[part] = one.where[part] & (one.values[part] == values[0])
                high[part] = one.where[part] & (one.values[part] == values[1])
        conditions = [text for text in self.guards.find(high, low) if text != ALWAYS]
        found = []
        for condition in conditions:
            truths = self.points.truths(condition)
            if truths is None:
                continue
            yes = self.find([Observed(one.where & truths, one.values, {})])
            no = self.find([Observed(one.where & ~truths, one.values, {})])
            found += [f"({a}) if {condition} else ({b})" for a in yes for b in no]
        return found


def _small_products(names: Sequence[str]) -> Iterator[dict[str, int]]:
    for name in names:
        yield {name: 1}
        yield {name: -1}
    for one, other in itertools.permutations(names, 2):
        if one < other:
            yield {one: 1, other: 1}
        yield {one: 1, other: -1}
    for name in names:
        yield {name: 2}


def _rendered(powers: Mapping[str, int], factor: Fraction) -> list[str]:
    """Return the product as an expression; if it divides, also rounded up."""
    above = [name for name, power in powers.items() for _ in range(power)]
    below = [name for name, power in powers.items() for _ in range(-power)]
    top = " * ".join(([str(factor.numerator)] if factor.numerator != 1 or not above else []) + above)
    if not below and factor.denominator == 1:
        return [top]
    bottom = " * ".join(([str(factor.denominator)] if factor.denominator != 1 else []) + below)
    return [f"{top} // {bottom}" if " " not in bottom else f"{top} // ({bottom})", f"ceil_div({top}, {bottom})"]
