"""Inverse questions: the least (or greatest) value of a parameter that keeps a time or a loss.

In: an explorer, a question, an axis, a goal. Out: :class:`Found`, an interval between two simulated points: one that
misses the goal and one that keeps it. First the ends and three values between them are simulated, which shows a goal
that is kept on both sides of a gap. Then the interval is halved. All values from the answer to the easy end keep the
goal, as far as they are simulated.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from manynode.errors import ManynodeError, UsageError
from manynode.report.wording import percent
from phase3_sst.explore import binding
from phase3_sst.explore.answer import Answer
from phase3_sst.explore.asker import Asker, with_value
from phase3_sst.explore.axis import Axis, Written
from phase3_sst.explore.goal import Goal, Verdict, as_json, drawn, interval, paired
from phase3_sst.explore.question import Question

Sense = Literal["least", "greatest"]
# The first values: both ends and three between them.
_SCAN = 5
# Levels of verdicts that part values: kept on the mean, surely kept, surely missed (goal.Verdict.level).
_ON_THE_MEAN, _SURELY, _NOT_SURELY_MISSED = 2, 3, 1


@dataclass(frozen=True)
class Step:
    """A simulated value and whether it keeps the goal."""

    value: Written
    number: float
    answer: Answer
    verdict: Verdict

    def as_json(self) -> dict[str, Any]:
        """Return the step for the page."""
        return {
            "value": self.value,
            "number": self.number,
            "digest": self.answer.digest,
            "time_s": self.answer.time_s,
            "low_s": self.answer.low_s,
            "high_s": self.answer.high_s,
            "verdict": as_json(self.verdict),
        }


@dataclass(frozen=True)
class Found:
    """The answer of an inverse question.

    ``holds`` and ``fails`` are the ends of the interval, on the means; ``surely_holds`` and ``surely_fails`` are the
    nearest values for which the draws leave no doubt. ``outcome``: "found"; "all hold" (even the hardest value); "none
    holds" (not even the easiest).
    """

    outcome: Literal["found", "all hold", "none holds"]
    holds: Step | None
    fails: Step | None
    surely_holds: Step | None
    surely_fails: Step | None
    steps: list[Step]  # from the hardest value to the easiest
    refused: dict[str, str]  # values that could not be simulated, and why
    monotone: bool
    bend: str  # where the time does not follow the parameter, in words
    binding: binding.Binding | None
    asked: int
    words: str

    @property
    def value(self) -> Written | None:
        """Return the value that keeps the goal."""
        return self.holds.value if self.holds else None

    def as_json(self) -> dict[str, Any]:
        """Return the answer for the page."""
        ends = {name: getattr(self, name) for name in ("holds", "fails", "surely_holds", "surely_fails")}
        return {
            "outcome": self.outcome,
            "value": self.value,
            **{name: step.as_json() if step else None for name, step in ends.items()},
            "steps": [step.as_json() for step in self.steps],
            "refused": self.refused,
            "monotone": self.monotone,
            "bend": self.bend,
            "binding": self.binding.as_json() if self.binding else None,
            "asked": self.asked,
            "words": self.words,
        }


async def seek(
    explorer: Asker,
    question: Question,
    axis: Axis,
    goal: Goal,
    *,
    sense: Sense,
    resolution: float = 0.02,
    most: int = 16,
    at_once: int = 2,
    explain: bool = True,
    on_step: Callable[[Step], None] | None = None,
) -> Found:
    """Return the ``sense`` (least or greatest) value of ``axis`` with which ``question`` keeps ``goal``.

    The search ends when the interval's ends differ by less than ``resolution`` (a share), at neighbouring whole
    numbers, or after ``most`` simulated values. ``explain`` also asks for the losses of two of them.
    """
    if not axis.ordered:
        raise UsageError(
            "choices have no order in which to search",
            where=f"inverse question: {axis.label}",
            remedy="ask for the cheapest alternative",
        )
    if not 0 < resolution < 1:
        raise UsageError("a resolution is a share", where="inverse question: resolution", found=resolution)
    search = _Search(explorer, question, axis, goal, sense, resolution, most, on_step or (lambda step: None))
    await search.scan(at_once)
    for level in (_ON_THE_MEAN, _SURELY, _NOT_SURELY_MISSED):
        await search.halve(level)
    return await search.conclude(explain)


@dataclass
class _Search:
    explorer: Asker
    question: Question
    axis: Axis
    goal: Goal
    sense: Sense
    resolution: float
    most: int
    on_step: Callable[[Step], None]
    asked: int = 0
    steps: dict[float, Step] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    def ordered(self) -> list[Step]:
        """Return the steps from the hardest value to the easiest."""
        return [self.steps[number] for number in sorted(self.steps, reverse=self.sense == "greatest")]

    async def ask(self, value: Written) -> None:
        """Simulate a value; one that cannot be simulated is kept with its reason."""
        number = self.axis.number(value)
        if number in self.steps or str(value) in self.refused:
            return
        question = with_value(self.question, self.axis, value)
        try:
            self.explorer.checked(question)
            answer = self.explorer.known(question)
            if answer is None:
                self.asked += 1
                answer = await self.explorer.answer(question)
        except ManynodeError as error:
            self.refused[str(value)] = error.render()
            return
        step = Step(value, number, answer, self.goal.verdict(answer))
        self.steps[number] = step
        self.on_step(step)

    async def scan(self, at_once: int) -> None:
        """Simulate the ends of the axis and values between them."""
        values = list(self.axis.written)
        if not self.axis.values:
            coordinates = [step / (_SCAN - 1) for step in range(1, _SCAN - 1)]
            inner = [self.axis.text(self.axis.at(coordinate)) for coordinate in coordinates]
            values = list(dict.fromkeys([values[0], values[-1], *inner]))
        else:
            places = sorted({round(step * (len(values) - 1) / (_SCAN - 1)) for step in range(_SCAN)})
            values = [values[place] for place in places]
        # A failure or a cancellation of one ends the others.
        gate = asyncio.Semaphore(at_once)
        async with asyncio.TaskGroup() as group:
            for value in values[: self.most]:
                group.create_task(self._gated(gate, value))

    async def _gated(self, gate: asyncio.Semaphore, value: Written) -> None:
        async with gate:
            await self.ask(value)

    def bracket(self, level: int) -> tuple[Step | None, Step | None]:
        """Return the last step below ``level`` and the first of those after it, on the way to the easy end."""
        steps = self.ordered()
        below = [place for place, step in enumerate(steps) if step.verdict.level < level]
        if not below:
            return None, steps[0] if steps else None
        last = below[-1]
        return steps[last], steps[last + 1] if last + 1 < len(steps) else None

    async def halve(self, level: int) -> None:
        """Halve the interval in which the verdicts reach ``level``."""
        while self.asked < self.most:
            below, above = self.bracket(level)
            if below is None or above is None:
                return
            value = self.middle(below, above)
            if value is None or str(value) in self.refused:
                return
            await self.ask(value)

    def middle(self, one: Step, other: Step) -> Written | None:
        """Return the value half way between two steps; None at the resolution."""
        low, high = sorted((one, other), key=lambda step: step.number)
        if not self.axis.values:
            return self.axis.between(low.value, high.value, self.resolution)
        inner = [value for value in self.axis.written if low.number < self.axis.number(value) < high.number]
        return inner[len(inner) // 2] if inner else None

    async def conclude(self, explain: bool) -> Found:
        """Return the answer with its binding constraint."""
        steps = self.ordered()
        if not steps:
            raise UsageError(
                "no value of the inverse question can be simulated",
                where=f"inverse question: {self.axis.label}",
                found="; ".join(f"{value}: {why.splitlines()[0]}" for value, why in self.refused.items()),
            )
        fails, holds = self.bracket(_ON_THE_MEAN)
        outcome: Literal["found", "all hold", "none holds"] = (
            "none holds" if holds is None else "all hold" if fails is None else "found"
        )
        bend = self.bend(steps)
        split = any(one.verdict.holds and not other.verdict.holds for one, other in itertools.pairwise(steps))
        bound = None
        if outcome != "all hold":
            easy, hard = await self.explained(steps[-1], holds or steps[-1], explain)
            if holds is None:
                bound = binding.remainder(easy, self.goal.allowed_s, steps[-1].value)
            else:
                bound = binding.growth(easy, hard, steps[-1].value, holds.value)
        found = Found(
            outcome=outcome,
            holds=holds,
            fails=fails,
            surely_holds=self.bracket(_SURELY)[1],
            surely_fails=self.bracket(_NOT_SURELY_MISSED)[0],
            steps=steps,
            refused=self.refused,
            monotone=not bend and not split,
            bend=bend,
            binding=bound,
            asked=self.asked,
            words="",
        )
        return _with_words(found, self, split)

    async def explained(self, easy: Step, hard: Step, explain: bool) -> tuple[Answer, Answer]:
        """Return both answers with their losses, where the engine can tell them."""
        if not explain:
            return easy.answer, hard.answer
        answers = []
        for step in (easy, hard):
            question = with_value(self.question, self.axis, step.value)
            try:
                asked = question.changed(losses=True)
                self.explorer.checked(asked)
                answers.append(await self.explorer.answer(asked))
            except ManynodeError:
                # An engine that cannot switch contention off: the breakdown must do, for both.
                return easy.answer, hard.answer
        return answers[0], answers[1]

    def bend(self, steps: list[Step]) -> str:
        """Return where the time grows on the way to the easy end, beyond what the draws explain; empty if nowhere."""
        for hard, easy in itertools.pairwise(steps):
            gaps = paired(easy.answer, hard.answer)
            low, _ = interval(gaps, easy.answer)
            # A thousandth: an allreduce may take another way through its messages.
            if low > 0 and float(gaps.mean()) > 1e-3 * hard.answer.time_s and (len(gaps) > 1 or not drawn(easy.answer)):
                return (
                    f"the time does not follow {self.axis.label}: it grows by {float(gaps.mean()):.3g} s "
                    f"from {hard.value} to {easy.value}"
                )
        return ""


def _with_words(found: Found, search: _Search, split: bool) -> Found:
    return replace(found, words=". ".join(_sentences(found, search, split)) + ".")


def _sentences(found: Found, search: _Search, split: bool) -> list[str]:
    """Return the answer in sentences."""
    axis, sense, goal = search.axis.label, search.sense, search.goal.words()
    hard, easy = found.steps[0], found.steps[-1]
    words = []
    if found.outcome == "none holds":
        over = easy.verdict.over_s
        way = "up" if sense == "least" else "down"
        words.append(f"No simulated {axis} {way} to {easy.value} keeps {goal}: {over:.3g} s too long{doubt(easy)}")
        if any(step.verdict.holds for step in found.steps):
            words[-1] = f"{axis} at the end of the range ({easy.value}) does not keep {goal}{doubt(easy)}"
    elif found.outcome == "all hold":
        words.append(f"Every simulated {axis} keeps {goal}, {hard.value} as well{doubt(hard)}")
    else:
        assert found.holds and found.fails
        words.append(
            f"The {sense} {axis} that keeps {goal} lies between {found.fails.value} (missed{doubt(found.fails)}) "
            f"and {found.holds.value} (kept{doubt(found.holds)})"
        )
        if not found.holds.verdict.settled and found.surely_holds:
            words.append(f"It is surely kept at {found.surely_holds.value}")
        if not found.fails.verdict.settled and found.surely_fails:
            words.append(f"It is surely missed at {found.surely_fails.value}")
    if split:
        kept = [str(step.value) for step in found.steps if step.verdict.holds]
        words.append(
            f"The goal is not kept by all easier values: it is kept at {', '.join(kept)} and missed in between"
        )
    times, relevant = [step.answer.time_s for step in found.steps], hard.answer.relevant
    if len(times) > 1 and max(times) <= (1 + relevant) * min(times):
        words.append(f"No difference that matters: all simulated times lie within {percent(relevant)}")
    if found.bend:
        words.append(found.bend[0].upper() + found.bend[1:])
    if found.binding:
        words.append(found.binding.words[0].upper() + found.binding.words[1:])
    return words


def doubt(step: Step) -> str:
    """Return how sure a step is, as the end of a phrase; empty if settled."""
    verdict = step.verdict
    if verdict.settled:
        return ""
    chance = verdict.probability if verdict.holds else 1 - verdict.probability
    return f", not settled: {chance:.0%} sure after {verdict.replicas} replicas"
