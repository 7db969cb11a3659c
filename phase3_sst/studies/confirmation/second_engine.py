"""The confirming engine of a study, and what it lacks on this host. The rules use this module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from phase3_sst.point.contract import engines


def engine_of_study(content: Mapping[str, Any]) -> str | None:
    """Return the engine that confirms a sensitivity study, None without one."""
    confirm = (content.get("sensitivity") or {}).get("confirm")
    return str(confirm["engine"]) if confirm else None


def lacks(content: Mapping[str, Any]) -> str:
    """Return the remedy for a missing confirming engine of a sensitivity study; empty if it is usable."""
    engine = engine_of_study(content)
    return missing(engine, content) if engine else ""


def missing(engine: str, content: Mapping[str, Any]) -> str:
    """Return the remedy for a missing ``engine`` of a resolved experiment; empty if it is installed."""
    probe = engines.get(engine).for_experiment(content).probe()
    # Quotes would end the quotes of the step's command.
    return "" if probe.available else (probe.remedy or "no remedy is known").replace("'", "").replace('"', "")
