"""What a phase says of one of its engines to ``manynode doctor`` and to a run that wants to use it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Probe:
    """Whether an engine can be used on this host: what was found and which version, or why not and what helps."""

    available: bool
    found: str
    version: str
    purpose: str
    remedy: str
