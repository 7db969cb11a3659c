"""A phase's report on one of its engines, for ``manynode doctor`` and for a run that needs the engine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Probe:
    """Whether an engine can be used on this host: path and version found, or the reason and the remedy."""

    available: bool
    found: str
    version: str
    purpose: str
    remedy: str
