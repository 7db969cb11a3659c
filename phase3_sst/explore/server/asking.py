"""The questions that pages wait for: who waits for which, how far each is, and who has gone on to another question.

A page has one current question. When it goes on before the answer is there, it withdraws: the explorer stops a question
that nobody waits for any more. A question that was marked as kept runs on.
"""

from __future__ import annotations

import asyncio
from typing import Any

from manynode.errors import ManynodeError
from phase3_sst.explore.explorer import Explorer, QuestionCancelledError
from phase3_sst.explore.question import Question, question_of
from phase3_sst.explore.server.events import Hub
from phase3_sst.explore.server.wording import failure

KEPT = "kept"
_AGAIN_S = 0.05


class Asking:
    """Waits for answers on behalf of pages (tabs), and tells all pages how it went."""

    def __init__(self, explorer: Explorer, hub: Hub) -> None:
        self._explorer = explorer
        self._hub = hub
        self._waiting: dict[str, dict[str, asyncio.Task[None]]] = {}  # digest -> tab -> its task
        self._progress: dict[str, dict[str, Any]] = {}

    def running(self) -> list[dict[str, Any]]:
        """Return where each question that somebody waits for is."""
        return [self._progress[digest] for digest in self._waiting]

    def ask(self, question: Question, digest: str, tab: str) -> None:
        """Start waiting for the answer; the page gives up what it waited for before."""
        self.withdraw(tab, but=digest)
        if tab in self._waiting.get(digest, {}):
            return
        if digest not in self._waiting:
            self._waiting[digest] = {}
            self._note(digest, {"digest": digest, "question": question.as_json(), "state": "waiting"})
        self._waiting[digest][tab] = asyncio.create_task(self._wait(question, digest, tab))

    def withdraw(self, tab: str, but: str | None = None) -> None:
        """The page no longer wants what it waits for, except for the question ``but``."""
        if tab == KEPT:
            return
        for digest in [each for each, tabs in self._waiting.items() if tab in tabs and each != but]:
            self._waiting[digest][tab].cancel()
            self._over(digest, tab, self._waiting[digest][tab], "cancelled", {"digest": digest})

    def keep(self, digest: str) -> bool:
        """Let a question run on when its pages go on; whether it was running."""
        if digest not in self._waiting:
            return False
        self.ask(question_of(self._progress[digest]["question"]), digest, KEPT)
        self._note(digest, {**self._progress[digest], "kept": True})
        return True

    def cancel(self, digest: str) -> bool:
        """Stop a question for everybody; whether it was running."""
        if digest not in self._waiting:
            return False
        self._explorer.cancel(digest)
        for tab, task in list(self._waiting[digest].items()):
            task.cancel()
            self._over(digest, tab, task, "cancelled", {"digest": digest})
        return True

    async def close(self) -> None:
        tasks = [task for tabs in self._waiting.values() for task in tabs.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _wait(self, question: Question, digest: str, tab: str) -> None:
        task = asyncio.current_task()
        kind = "cancelled"
        content: dict[str, Any] = {"digest": digest}
        try:
            await self._answer(question, digest, tab)
            kind = "finished"
        except asyncio.CancelledError:
            pass  # the last thing this task does is to say so
        except ManynodeError as error:
            kind, content = "failed", {"digest": digest, "error": failure(error)}
        except Exception as error:
            kind, content = "failed", {"digest": digest, "error": failure(error)}
            raise
        finally:
            self._over(digest, tab, task, kind, content)

    async def _answer(self, question: Question, digest: str, tab: str) -> None:
        """Wait for the answer; a simulation that ends because earlier askers gave it up is asked for again."""
        task = asyncio.current_task()
        while True:
            try:
                await self._explorer.answer(question, urgent=True, progress=lambda step: self._step(digest, step))
                return
            except QuestionCancelledError:
                if self._waiting.get(digest, {}).get(tab) is not task:
                    raise
                await asyncio.sleep(_AGAIN_S)

    def _over(self, digest: str, tab: str, task: asyncio.Task[None] | None, kind: str, content: dict[str, Any]) -> None:
        """Forget that ``task`` waits, and tell the pages once nobody waits for this answer any more.

        A task that was given up has been forgotten by then; its page may wait for the same answer again.
        """
        tabs = self._waiting.get(digest, {})
        if tabs.get(tab) is not task:
            return
        del tabs[tab]
        if not tabs:
            del self._waiting[digest], self._progress[digest]
            self._hub.publish(kind, content)

    def _step(self, digest: str, step: Any) -> None:
        if digest in self._progress:
            self._note(digest, {**self._progress[digest], **step.as_json()})

    def _note(self, digest: str, content: dict[str, Any]) -> None:
        self._progress[digest] = content
        self._hub.publish("progress", content)
