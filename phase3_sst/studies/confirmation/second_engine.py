"""The engine that simulates points of a study a second time, and what it lacks on this host. The rules read this."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from phase3_sst.point.contract import engines


def engine_of_study(content: Mapping[str, Any]) -> str | None:
    """Return the engine that confirms a sensitivity study, None where there is none."""
    confirm = (content.get("sensitivity") or {}).get("confirm")
    return str(confirm["engine"]) if confirm else None


def lacks(content: Mapping[str, Any]) -> str:
    """Return what to do to have the engine that confirms a sensitivity study; empty where it can be used."""
    engine = engine_of_study(content)
    return missing(engine, content) if engine else ""


def missing(engine: str, content: Mapping[str, Any]) -> str:
    """Return what to do to have ``engine`` for a resolved experiment; empty where it is installed."""
    probe = engines.get(engine).for_experiment(content).probe()
    # Quotes would end those of the step's command.
    return "" if probe.available else (probe.remedy or "no remedy is known").replace("'", "").replace('"', "")
