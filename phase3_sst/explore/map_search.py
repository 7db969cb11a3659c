"""Fills a map: asks for the point that helps most next, until the interpolation between the points is good enough.

In: an explorer, a question, two axes. Out: a :class:`Map` after each change, and the last one. The map is good enough
when the cross-validated error is below the target: the root mean square, over the simulated points, of the relative
error with which the surrogate predicts the point without knowing it. The same must hold for the standard errors that
it states for the cells in between.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from manynode.errors import ManynodeError, UsageError
from phase3_sst.explore import map_design
from phase3_sst.explore.answer import Answer
from phase3_sst.explore.asker import Asker, with_value
from phase3_sst.explore.axis import Axis
from phase3_sst.explore.parameter_map import Cell, Map
from phase3_sst.explore.question import Question
from phase3_sst.explore.surrogate import FEWEST, Surrogate

# Points before the surrogate chooses: the corners, the middle and the middles of the sides.
START = 9
# Fewer points are no proof that the surrogate knows the surface.
LEAST = 12
# From this many points on, lengths change little: they are learned again only when a tenth more points are there.
_SETTLED = 30


async def fill(
    explorer: Asker,
    question: Question,
    x: Axis,
    y: Axis,
    *,
    most: int = 20,
    target: float = 0.02,
    at_once: int = 2,
    on_point: Callable[[Map], None] | None = None,
) -> Map:
    """Return the map of ``question`` over ``x`` and ``y`` after at most ``most`` simulated points.

    Points that are known already cost nothing and do not count. ``target`` is a relative error. Up to ``at_once``
    points are asked for side by side. A cancelled search cancels the points it waits for.
    """
    if set(x.keys) & set(y.keys):
        raise UsageError(
            "both axes of a map vary the same key",
            where="map",
            found=", ".join(sorted(set(x.keys) & set(y.keys))),
            remedy="choose another key for one of them",
        )
    search = _Search(explorer, question, x, y, most, target)
    await search.look_up()
    return await search.run(at_once, on_point or (lambda found: None))


class _Search:
    def __init__(self, explorer: Asker, question: Question, x: Axis, y: Axis, most: int, target: float) -> None:
        self.explorer, self.x, self.y, self.most, self.target = explorer, x, y, most, target
        self.columns = len(x.written)
        self.values = [(one, other) for other in y.written for one in x.written]
        self.questions = [with_value(with_value(question, x, one), y, other) for one, other in self.values]
        self.places, self.spans = map_design.places(x, y), map_design.spans(x, y)
        self.answers: dict[int, Answer] = {}
        self.refused: dict[int, str] = {}
        self.failed: dict[int, str] = {}
        self.tasks: dict[asyncio.Task[Answer], int] = {}
        self.asked = 0
        self.surrogate: Surrogate | None = None
        self.order: list[int] = []  # the surrogate's points
        self.learned = 0
        self.start: deque[int] = deque()

    async def look_up(self) -> None:
        """Find out which cells cannot be asked and which are known."""
        for cell, question in enumerate(self.questions):
            # Each check takes a few milliseconds: other tabs have their turn in between.
            await asyncio.sleep(0)
            try:
                self.explorer.checked(question)
            except ManynodeError as error:
                self.refused[cell] = error.render()
                continue
            answer = self.explorer.known(question)
            if answer is not None:
                self.answers[cell] = answer
        allowed = [cell for cell in range(len(self.values)) if cell not in self.refused]
        wanted = [
            cell for cell in map_design.corners(len(self.y.written), self.columns, allowed) if cell not in self.answers
        ]
        taken = [*self.answers, *wanted]
        wanted += map_design.spread(self.places, allowed, taken, START - len(taken))
        self.start.extend(wanted)

    async def run(self, at_once: int, on_point: Callable[[Map], None]) -> Map:
        """Ask until the map is good enough, all is asked, or there is nothing to ask."""
        try:
            await self.learn()
            while True:
                while len(self.tasks) < at_once and (cell := self.next()) is not None:
                    task = asyncio.ensure_future(self.explorer.answer(self.questions[cell], urgent=False))
                    self.tasks[task] = cell
                    self.asked += 1
                on_point(self.map())
                if not self.tasks:
                    break
                done, _ = await asyncio.wait(self.tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    self.take(task)
                await self.learn()
        finally:
            for task in self.tasks:
                task.cancel()
            await asyncio.gather(*self.tasks, return_exceptions=True)
        last = self.map().ended(self.words())
        on_point(last)
        return last

    def take(self, task: asyncio.Task[Answer]) -> None:
        """Keep what came of a point; one that could not be simulated is a cell without a time."""
        cell = self.tasks.pop(task)
        try:
            self.answers[cell] = task.result()
        except ManynodeError as error:
            self.failed[cell] = error.render()

    def next(self) -> int | None:
        """Return the next cell to ask for; None if no further one is worth it now."""
        if self.asked >= self.most or self.good():
            return None
        busy = {*self.answers, *self.refused, *self.failed, *self.tasks.values()}
        while self.start:
            cell = self.start.popleft()
            if cell not in busy:
                return cell
        free = [cell for cell in range(len(self.values)) if cell not in busy]
        if not free:
            return None
        if self.surrogate is None:
            # Some of the first points failed: others take their places.
            (cell,) = map_design.spread(self.places, free, list(self.answers), 1)
            return cell
        return map_design.most_helpful(self.surrogate, self.places, self.order, list(self.tasks.values()), free)

    def good(self) -> bool:
        """Say whether the map is as good as asked for."""
        return (
            self.surrogate is not None
            and len(self.answers) >= min(LEAST, len(self.values) - len(self.refused))
            and self.surrogate.left_out_.error < self.target
            and (self.spread() or 0.0) < self.target
        )

    def spread(self) -> float | None:
        """Return the root mean square of the standard errors of the cells in between."""
        errors = [cell.error for cell in self.between().values() if cell.error is not None]
        return float(np.sqrt(np.mean(np.square(errors)))) if errors else None

    async def learn(self) -> None:
        """Fit the surrogate to the points, in a thread: the other tabs do not wait for it."""
        order = sorted(self.answers)
        if len(order) < FEWEST or (self.surrogate is not None and order == self.order):
            return
        times = np.array([self.answers[cell].time_s for cell in order])
        settled = self.surrogate is not None and _SETTLED <= len(order) < 1.1 * self.learned
        kernel = self.surrogate.kernel_ if settled and self.surrogate else None
        found = await asyncio.to_thread(Surrogate(self.spans).fit, self.places[order], times, kernel)
        self.learned = self.learned if settled else len(order)
        self.order, self.surrogate = order, found

    def between(self) -> dict[int, Cell]:
        """Return the cells without a point, by number: with the surrogate's times, as soon as there is one."""
        settled = {*self.answers, *self.refused, *self.failed}
        rest = [cell for cell in range(len(self.values)) if cell not in settled]
        waiting = set(self.tasks.values())
        if self.surrogate is None or not rest:
            return {cell: self.cell(cell, state="unknown", pending=cell in waiting) for cell in rest}
        times, errors = self.surrogate.predict(self.places[rest])
        return {
            cell: self.cell(cell, state="interpolated", pending=cell in waiting, time_s=float(time), error=float(error))
            for cell, time, error in zip(rest, times, errors, strict=True)
        }

    def map(self) -> Map:
        """Return the map as it stands."""
        cells = self.between()
        for cell, words in self.refused.items():
            cells[cell] = self.cell(cell, state="refused", words=words)
        for cell, words in self.failed.items():
            cells[cell] = self.cell(cell, state="failed", words=words)
        left_out = self.surrogate.left_out_ if self.surrogate is not None else None
        missed = dict(zip(self.order, left_out.errors, strict=True)) if left_out is not None else {}
        for cell, answer in self.answers.items():
            cells[cell] = self.cell(
                cell,
                state="simulated",
                time_s=answer.time_s,
                low_s=answer.low_s,
                high_s=answer.high_s,
                digest=answer.digest,
                expected_s=answer.time_s * (1 + float(missed[cell])) if cell in missed else None,
            )
        return Map(
            x=self.x,
            y=self.y,
            cells=[cells[cell] for cell in sorted(cells)],
            simulated=len(self.answers),
            asked=self.asked,
            target=self.target,
            error=None if left_out is None else left_out.error,
            worst=None if left_out is None else left_out.worst,
            spread=self.spread(),
            good=self.good(),
            finished=False,
            words="",
            surrogate=self.surrogate,
        )

    def cell(self, number: int, **content: Any) -> Cell:
        """Return a cell in its place."""
        x, y = self.values[number]
        return Cell(row=number // self.columns, column=number % self.columns, x=x, y=y, **content)

    def words(self) -> str:
        """Return why the search ended."""
        if len(self.refused) == len(self.values):
            return f"no cell of the map can be simulated; the first says: {self.refused[0]}"
        if len(self.answers) + len(self.refused) + len(self.failed) == len(self.values):
            return "every cell that can be simulated is simulated"
        if self.surrogate is None:
            return f"too few points could be simulated: {len(self.answers)}, and {len(self.failed)} failed"
        error = f"cross-validated error {self.surrogate.left_out_.error:.1%} over {len(self.answers)} simulated points"
        if self.good():
            return f"{error}, below the target of {self.target:.1%}"
        return (
            f"{error}, and {self.spread() or 0.0:.1%} expected in between, not both below the target of "
            f"{self.target:.1%} after {self.asked} further points: allow more points, or take a smaller range"
        )
