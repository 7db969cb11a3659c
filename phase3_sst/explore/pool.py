"""The cores of a server, dealt to the steps of questions: what a person waits for goes first.

A step gets as many cores as are free, up to what it can use. Long steps leave one core to short ones, so that a large
point does not keep a person waiting for a small one.
"""

from __future__ import annotations

import asyncio
import bisect
import contextlib
import itertools
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

# Rank-replicas from which a step is long: about ten seconds of one core.
LONG = 20_000.0


@dataclass(order=True)
class _Waiting:
    rank: tuple[bool, int, int]
    most: int = field(compare=False)
    each: int = field(compare=False)
    long: bool = field(compare=False)
    got: asyncio.Future[int] = field(compare=False)


class Cores:
    """``count`` cores; one asyncio loop uses them."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._free = count
        self._long = 0
        self._waiting: list[_Waiting] = []
        self._order = itertools.count()

    @contextlib.asynccontextmanager
    async def some(
        self, most: int, *, urgent: bool = True, order: int = 0, work: float = 0.0, each: int = 1
    ) -> AsyncIterator[int]:
        """Wait for cores; yield how many processes of ``each`` cores may run, from 1 to ``most``.

        Urgent steps go first, then those of a smaller ``order``. ``work`` is in rank-replicas.
        """
        each = min(each, self.count)
        long = work > LONG and self.count > each
        got: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        waiting = _Waiting((not urgent, order, next(self._order)), max(1, most), each, long, got)
        bisect.insort(self._waiting, waiting)
        self._deal()
        try:
            processes = await got
        except asyncio.CancelledError:
            if got.done() and not got.cancelled():
                self._give_back(got.result() * each, long)
            elif waiting in self._waiting:
                self._waiting.remove(waiting)
            self._deal()
            raise
        try:
            yield processes
        finally:
            self._give_back(processes * each, long)
            self._deal()

    def _give_back(self, cores: int, long: bool) -> None:
        self._free += cores
        self._long -= cores if long else 0

    def _deal(self) -> None:
        """Give free cores to those who wait, in their order.

        A long step that would take the last core is passed over; for any other the next ones wait as well, or a step of
        several cores would never begin.
        """
        for waiting in list(self._waiting):
            free = min(self._free, self.count - 1 - self._long) if waiting.long else self._free
            processes = min(waiting.most, free // waiting.each)
            if processes < 1:
                if waiting.long:
                    continue
                return
            self._free -= processes * waiting.each
            self._long += processes * waiting.each if waiting.long else 0
            self._waiting.remove(waiting)
            if not waiting.got.done():
                waiting.got.set_result(processes)
            else:  # cancelled meanwhile
                self._give_back(processes * waiting.each, waiting.long)
