"""The cheapest alternative that keeps a time or a loss.

In: alternatives with their costs, a goal. Out: :class:`Cheapest`. The cheapest are simulated first, until one keeps the
goal: all cheaper ones are then simulated and miss it. Nothing is assumed of how time depends on cost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from manynode.errors import ManynodeError, UsageError
from phase3_sst.explore import binding
from phase3_sst.explore.asker import Asker
from phase3_sst.explore.goal import Goal
from phase3_sst.explore.inverse_search import Step, doubt
from phase3_sst.explore.question import Question


@dataclass(frozen=True)
class Alternative:
    """A question with a name and a cost."""

    name: str
    question: Question
    cost: float


@dataclass(frozen=True)
class Cheapest:
    """The cheapest alternative that keeps the goal, and the cheapest that does so beyond doubt.

    ``steps`` are the simulated alternatives in the order of their costs; ``left`` those that need no simulation.
    """

    holds: Step | None
    surely_holds: Step | None
    steps: list[Step]
    refused: dict[str, str]
    left: list[str]
    binding: binding.Binding | None
    words: str

    def as_json(self) -> dict[str, Any]:
        """Return the answer for the page."""
        return {
            "outcome": "found" if self.holds else "none holds",
            "value": self.holds.value if self.holds else None,
            "holds": self.holds.as_json() if self.holds else None,
            "surely_holds": self.surely_holds.as_json() if self.surely_holds else None,
            "steps": [step.as_json() for step in self.steps],
            "refused": self.refused,
            "left": self.left,
            "binding": self.binding.as_json() if self.binding else None,
            "words": self.words,
        }


async def cheapest(
    explorer: Asker,
    alternatives: Sequence[Alternative],
    goal: Goal,
    *,
    most: int = 20,
    on_step: Callable[[Step], None] | None = None,
) -> Cheapest:
    """Return the cheapest of ``alternatives`` that keeps ``goal``, after at most ``most`` simulated ones.

    Where the draws leave a doubt, the search goes on to the cheapest one that keeps the goal beyond it.
    """
    names = [alternative.name for alternative in alternatives]
    if not names or len(set(names)) != len(names):
        raise UsageError(
            "alternatives have different names, and there is at least one", where="cheapest alternative", found=names
        )
    steps: list[Step] = []
    refused: dict[str, str] = {}
    waiting = sorted(alternatives, key=lambda alternative: (alternative.cost, alternative.name))
    asked = 0
    while waiting and not (steps and steps[-1].verdict.level == 3):
        known = _known(explorer, waiting[0], refused)
        if known is None and waiting[0].name not in refused and asked >= most:
            break
        alternative = waiting.pop(0)
        if alternative.name in refused:
            continue
        if known is None:
            asked += 1
            try:
                known = await explorer.answer(alternative.question)
            except ManynodeError as error:
                refused[alternative.name] = error.render()
                continue
        steps.append(Step(alternative.name, alternative.cost, known, goal.verdict(known)))
        if on_step is not None:
            on_step(steps[-1])
    left = [alternative.name for alternative in waiting]
    holds = next((step for step in steps if step.verdict.holds), None)
    sure = next((step for step in steps if step.verdict.level == 3), None)
    bound = None
    if steps and holds is None:
        best = min(steps, key=lambda step: step.answer.time_s)
        bound = binding.remainder(best.answer, goal.allowed_s, best.value)
    elif holds is not None and (missed := steps[: steps.index(holds)]):
        bound = binding.growth(holds.answer, missed[-1].answer, holds.value, missed[-1].value)
    return Cheapest(holds, sure, steps, refused, left, bound, _words(goal, holds, sure, steps, refused, left, bound))


def _known(explorer: Asker, alternative: Alternative, refused: dict[str, str]) -> Any:
    try:
        explorer.checked(alternative.question)
    except ManynodeError as error:
        refused[alternative.name] = error.render()
        return None
    return explorer.known(alternative.question)


def _words(
    goal: Goal,
    holds: Step | None,
    sure: Step | None,
    steps: Sequence[Step],
    refused: dict[str, str],
    left: Sequence[str],
    bound: binding.Binding | None,
) -> str:
    if holds is None:
        words = [f"None of {len(steps)} simulated alternatives keeps {goal.words()}"]
        if left:
            words.append(f"{len(left)} dearer ones are not simulated")
    else:
        price = f"for {holds.number:,.0f}{doubt(holds)}"
        words = [f"{holds.value} is the cheapest alternative that keeps {goal.words()}, {price}"]
        if sure and sure is not holds:
            words.append(f"It is surely kept by {sure.value}, for {sure.number:,.0f}")
    if refused:
        words.append(f"{len(refused)} alternatives cannot be simulated: {', '.join(refused)}")
    if bound:
        words.append(bound.words[0].upper() + bound.words[1:])
    return ". ".join(words) + "."
