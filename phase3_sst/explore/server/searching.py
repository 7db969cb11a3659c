"""Searches that run over many points (maps, inverse questions): one at a time by name, its newest state, its end.

A search is named by the digest of what was asked: two pages that ask the same see one search, and a page that asks
again after the server was started again gets the same search, which finds its finished points in the store.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from manynode.errors import ManynodeError, UsageError
from phase3_sst.explore.server.events import Hub
from phase3_sst.explore.server.wording import failure

MOST_RUNNING = 4
MOST_KEPT = 50

Tell = Callable[[Mapping[str, Any]], None]


class Searching:
    """The searches of this server."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._states: dict[str, dict[str, Any]] = {}

    def state(self, name: str) -> dict[str, Any] | None:
        """Return what is known of the search ``name``: kind, state (running, finished, failed, cancelled), content."""
        return self._states.get(name)

    def running(self) -> list[dict[str, Any]]:
        return [self._states[name] for name in self._tasks]

    def start(
        self, kind: str, asked: Mapping[str, Any], work: Callable[[Tell], Awaitable[Mapping[str, Any]]]
    ) -> dict[str, Any]:
        """Start ``work`` unless this search runs or is finished; return its state.

        ``work`` gets a function that takes each intermediate result and returns the final one.
        """
        name = hashlib.sha256(json.dumps([kind, asked], sort_keys=True).encode()).hexdigest()
        if name in self._tasks or self._states.get(name, {}).get("state") == "finished":
            return self._states[name]
        if len(self._tasks) >= MOST_RUNNING:
            raise UsageError(
                "too many searches run at once",
                found=len(self._tasks),
                allowed=f"at most {MOST_RUNNING}",
                remedy="wait for one of them, or cancel it",
            )
        self._states[name] = {"search": name, "kind": kind, "asked": dict(asked), "state": "running", "content": None}
        while len(self._states) > MOST_KEPT:
            self._states.pop(next(each for each in self._states if each not in self._tasks))
        self._tasks[name] = asyncio.create_task(self._run(name, work))
        return self._states[name]

    def cancel(self, name: str) -> bool:
        """Stop a search; whether it was running."""
        task = self._tasks.get(name)
        if task is None:
            return False
        task.cancel()
        return True

    async def close(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, name: str, work: Callable[[Tell], Awaitable[Mapping[str, Any]]]) -> None:
        end: dict[str, Any] = {"state": "cancelled"}
        try:
            content = await work(lambda content: self._tell(name, {"content": dict(content)}))
            end = {"state": "finished", "content": dict(content)}
        except asyncio.CancelledError:
            pass  # the state says so
        except ManynodeError as error:
            end = {"state": "failed", "error": failure(error)}
        except Exception as error:
            end = {"state": "failed", "error": failure(error)}
            raise
        finally:
            self._tasks.pop(name, None)
            self._tell(name, end)

    def _tell(self, name: str, changed: Mapping[str, Any]) -> None:
        self._states[name] |= changed
        self._hub.publish("search", self._states[name])
