"""What one mutation of the code is: a wrong text in the place of a right one, and the tests that must fail then."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Mutation:
    """``old`` occurs once in ``file`` and is replaced by ``new``; the ``tests`` must fail then.

    ``tests`` are pytest node ids, or ``gtest:PROGRAM:FILTER`` for a native test program of the build folder.
    ``targets`` are what CMake builds before: empty where only Python changes.
    """

    name: str
    file: str
    old: str
    new: str
    wrong: str
    tests: tuple[str, ...]
    targets: tuple[str, ...] = ()

    def mutated(self) -> str:
        """Return the file's content with the mutation; a :class:`ValueError` where ``old`` does not occur once."""
        text = (ROOT / self.file).read_text(encoding="utf-8")
        if (found := text.count(self.old)) != 1:
            raise ValueError(f"{self.name}: {self.old!r} occurs {found} times in {self.file}, not once")
        return text.replace(self.old, self.new)
