"""The contract of a reader of campaigns: tables of collectives with named algorithms on one or more machines.

In: the text of a file, its name, and which rows are wanted. Out: rows of the table ``collectives`` of a validation
study (:mod:`manynode.config.measured`), and text on what was left out or joined. A reader keeps no state. Unreadable
input is an :class:`InputError` with line, finding and allowed values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from manynode.registry import Registry


@dataclass(frozen=True)
class Wanted:
    """Which rows are wanted: None is any. A validation study has one machine."""

    system: str | None = None
    campaign: str | None = None
    nodes: int | None = None


class CampaignReader(Protocol):
    """Reads one form."""

    def recognises(self, text: str) -> bool:
        """Return whether ``text`` has this form."""

    def read(self, text: str, source: str, wanted: Wanted) -> tuple[list[dict[str, Any]], list[str]]:
        """Return the wanted rows of ``text``, and remarks; ``source`` is the file's name, for errors."""


campaigns: Registry[type[CampaignReader]] = Registry("form of campaigns", "phase3_sst.measured.campaigns")
