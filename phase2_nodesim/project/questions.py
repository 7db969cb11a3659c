"""Open questions, gathered so that the user answers all of them at once."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from manynode.errors import ManynodeError, UsageError


class Questions:
    """Errors by the option that answers them; :meth:`ask` raises all of them as one."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._open: list[tuple[str, ManynodeError]] = []

    @contextlib.contextmanager
    def about(self, option: str) -> Iterator[None]:
        """Keep an error raised inside as a question about ``option``."""
        try:
            yield
        except ManynodeError as error:
            self.add(option, error)

    def add(self, option: str, error: ManynodeError) -> None:
        self._open.append((option, error))

    def ask(self) -> None:
        """Raise the questions as one error, of their class if they have one in common, else :class:`UsageError`."""
        if not self._open:
            return
        kinds = {type(error) for _, error in self._open}
        kind = kinds.pop() if len(kinds) == 1 else UsageError
        count = len(self._open)
        raise kind(
            "one question is open before anything runs"
            if count == 1
            else f"{count} questions are open before anything runs",
            where=self._where,
            remedy="answer it" if count == 1 else "answer all of them, and give the command again",
            details="\n".join(_words(option, error) for option, error in self._open),
        )


def _words(option: str, error: ManynodeError) -> str:
    facts = [f"{option}: {error.what}"]
    facts += [f"  where: {error.where}"] if error.where is not None else []
    facts += [f"  found: {error.found}"] if error.found is not None else []
    facts += [f"  allowed: {error.allowed}"] if error.allowed is not None else []
    facts += [f"  remedy: {error.remedy}"] if error.remedy is not None else []
    facts += [f"  {line}" for line in (error.details or "").splitlines()]
    return "\n".join(facts)
