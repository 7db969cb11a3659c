"""How far a skeleton may be trusted at a number of ranks: what exact and approximate ones are judged with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["proved", "agreed", "assumed", "approximate", "refused"]


@dataclass(frozen=True)
class Verdict:
    """``error``: of an approximate skeleton, the expected relative error of the time without computation.

    ``deciding``: numbers of ranks whose recordings would decide what is left open.
    """

    level: Level
    reasons: tuple[str, ...] = ()
    error: float = 0.0
    deciding: tuple[int, ...] = ()

    @property
    def usable(self) -> bool:
        return self.level != "refused"
