"""Questions in the works: simulates the missing steps of a question, shared by all who ask it.

A question runs in the folder's lock, which ``manynode run`` takes as well: two servers, or a server and the command
line, never simulate the same point twice. However a question ends, its children have ended before it has.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from manynode.errors import ManynodeError
from manynode.hostlock import exclusive
from phase3_sst.campaign.experiments import PlannedExperiment
from phase3_sst.explore.answer import Answer
from phase3_sst.explore.answer_files import read_answer
from phase3_sst.explore.base import Asked
from phase3_sst.explore.limits import Limits
from phase3_sst.explore.pool import Cores
from phase3_sst.explore.question import Question
from phase3_sst.explore.steps import Step, run_step, steps_of
from phase3_sst.explore.store import Finished, Store

T = TypeVar("T")
# How often a question looks whether another server has finished it.
_LOOK_S = 0.2


class QuestionCancelledError(ManynodeError):
    """A question whose simulation was cancelled by somebody else."""


@dataclass(frozen=True)
class Progress:
    """How far a question is. ``state``: waiting, running, finished, failed or cancelled; ``share`` is 0 to 1."""

    digest: str
    question: Question
    state: str
    step: str = ""
    share: float | None = None
    seconds: float = 0.0
    words: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the progress as JSON."""
        members = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**members, "question": self.question.as_json()}


Follow = Callable[[Progress], None]


@dataclass
class Work:
    """A question in the works, and those who wait for it."""

    asked: Asked
    urgent: bool
    order: int
    followers: list[Follow] = field(default_factory=list)
    askers: int = 0
    cancelled: threading.Event = field(default_factory=threading.Event)
    state: str = "waiting"
    began: float = field(default_factory=time.monotonic)
    shares: dict[str, float] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)
    step: str = ""
    words: str = ""
    task: asyncio.Task[Answer] | None = None

    def progress(self) -> Progress:
        """Return how far it is."""
        total = sum(self.weights.values())
        share = sum(self.weights[name] * self.shares.get(name, 0.0) for name in self.weights) / total if total else None
        seconds = time.monotonic() - self.began
        return Progress(self.asked.digest, self.asked.question, self.state, self.step, share, seconds, self.words)

    def tell(self) -> None:
        """Tell the followers."""
        now = self.progress()
        for follow in list(self.followers):
            follow(now)


class Works:
    """All questions in the works of one server; one asyncio loop uses them."""

    def __init__(self, store: Store, cores: int, limits: Limits) -> None:
        self.store, self.limits = store, limits
        self._cores = Cores(cores)
        # A child ends with the thread that started it: these threads live as long as the server.
        self._threads = ThreadPoolExecutor(max_workers=4 * cores + 8, thread_name_prefix="explore")
        self._works: dict[str, Work] = {}
        # Also those of cancelled questions, until their children have ended.
        self._tasks: set[asyncio.Task[Answer]] = set()
        self._order = itertools.count()

    def running(self) -> list[Work]:
        """Return the questions that wait or run, in the order of their asking."""
        return sorted(self._works.values(), key=lambda work: work.order)

    async def answer(self, asked: Asked, *, urgent: bool, follow: Follow | None) -> Answer:
        """Return the answer; when the last of those who wait for it is cancelled, its simulation is ended."""
        work = self._works.get(asked.digest)
        if work is None:
            self.limits.check_waiting(len(self._works))
            work = Work(asked, urgent, next(self._order))
            self._works[asked.digest] = work
            work.task = asyncio.create_task(self._done(work))
            self._tasks.add(work.task)
            work.task.add_done_callback(self._tasks.discard)
        work.urgent = work.urgent or urgent
        work.askers += 1
        if follow is not None:
            work.followers.append(follow)
            follow(work.progress())
        assert work.task is not None
        try:
            return await asyncio.shield(work.task)
        except asyncio.CancelledError:
            if work.task.cancelled() and not _is_cancelled():
                raise QuestionCancelledError("the question was cancelled", where=asked.resolved.name) from None
            raise
        finally:
            work.askers -= 1
            if follow is not None:
                work.followers.remove(follow)
            if work.askers == 0 and not work.task.done():
                self._end(work)
                await asyncio.shield(asyncio.wait([work.task]))

    def cancel(self, digest: str) -> bool:
        """End the simulation of a question for all who wait for it; return whether there was one."""
        work = self._works.get(digest)
        if work is not None:
            self._end(work)
        return work is not None

    async def close(self) -> None:
        """End all simulations; afterwards no child is left."""
        for work in list(self._works.values()):
            self._end(work)
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._threads.shutdown(wait=True)

    def _end(self, work: Work) -> None:
        """Cancel a question; who asks it from now on starts it again, and waits for its folder meanwhile."""
        if self._works.get(work.asked.digest) is work:
            del self._works[work.asked.digest]
        assert work.task is not None
        work.task.cancel()

    async def apart(self, function: Callable[..., T], *arguments: Any) -> T:
        """Run a function that takes a moment in a thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, functools.partial(function, *arguments))

    async def _done(self, work: Work) -> Answer:
        """Find or simulate the answer, and tell the followers how it ended."""
        try:
            found = await self.apart(self.store.finished, work.asked)
            if found is None:
                found = await self._simulated(work)
            answer = await self.apart(read_answer, work.asked, found)
        except BaseException as error:
            work.state = "cancelled" if isinstance(error, asyncio.CancelledError) else "failed"
            work.words = str(error)
            raise
        else:
            work.state, work.words = "finished", ""
            return answer
        finally:
            if self._works.get(work.asked.digest) is work:
                del self._works[work.asked.digest]
            work.tell()

    async def _simulated(self, work: Work) -> Finished:
        asked, store = work.asked, self.store
        await self.apart(self.limits.check_point, asked.resolved, self._cores.count)
        await self.apart(store.base.check, asked)
        planned = store.planned(asked)
        while True:
            with _locked(planned.results) as mine:
                found = await self.apart(store.finished, asked)
                if found is None and mine:
                    await self.apart(store.prepare, asked)
                    await self._run(work, planned)
                    await self.apart(store.add, asked)
                    found = await self.apart(store.finished, asked)
                    if found is None:
                        raise ManynodeError("the finished files cannot be used", where=str(planned.results))
                if found is not None:
                    return found
            work.step, work.words = "another server", "another server or command simulates this question"
            work.tell()
            await asyncio.sleep(_LOOK_S)

    async def _run(self, work: Work, planned: PlannedExperiment) -> None:
        """Run the missing steps, each when the ones that it waits for have ended."""
        steps = steps_of(planned, work.asked.question.losses)
        work.weights = {step.name: step.work for step in steps}
        ended = {step.name: asyncio.Event() for step in steps}
        try:
            async with asyncio.TaskGroup() as group:
                for step in steps:
                    group.create_task(self._step(work, planned, step, ended))
        except BaseExceptionGroup as errors:
            raise _first(errors) from None

    async def _step(self, work: Work, planned: PlannedExperiment, step: Step, ended: dict[str, asyncio.Event]) -> None:
        for name in step.after:
            await ended[name].wait()
        if not await self.apart(self.store.reuse, work.asked, step.makes):
            resolved = planned.resolved
            each = self.limits.cores_of_replica(resolved, self._cores.count) if step.replicas else 1
            # Questions of searches run side by side instead.
            most = step.replicas if work.urgent else 1
            async with self._cores.some(most, urgent=work.urgent, order=work.order, work=step.work, each=each) as count:
                work.state, work.step, work.words = "running", step.name, ""
                work.tell()
                processes = count * resolved.simulate.cores_of_replica()
                await self._child(work, planned, step, processes)
        work.shares[step.name] = 1.0
        work.tell()
        ended[step.name].set()

    async def _child(self, work: Work, planned: PlannedExperiment, step: Step, processes: int) -> None:
        """Run a step's child; a cancellation waits until it has ended."""
        loop = asyncio.get_running_loop()

        def heard(share: float | None, words: str) -> None:
            if share is not None:
                work.shares[step.name] = share
            work.step, work.words = step.name, words
            work.tell()

        def follow(share: float | None, words: str) -> None:
            loop.call_soon_threadsafe(heard, share, words)

        running = loop.run_in_executor(self._threads, run_step, planned, step, processes, work.cancelled, follow)
        try:
            await asyncio.shield(running)
        except asyncio.CancelledError:
            work.cancelled.set()
            with contextlib.suppress(ManynodeError):
                await running
            raise


@contextlib.contextmanager
def _locked(results: Path) -> Iterator[bool]:
    """Hold the lock of a results folder, which ``manynode run`` takes as well; yield whether it was free."""
    with exclusive(results / ".lock", purpose="experiment", wait=False) as mine:
        yield mine


def _is_cancelled() -> bool:
    """Return whether the running task itself is to be cancelled."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first error of a group."""
    first = errors.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
