"""The confirming engine of a study, and what it lacks on this host. The rules use this module."""

from __future__ import annotations

from manynode.config.resolved import Resolved
from manynode.config.simulate import SimulateSection
from phase3_sst.point.contract import engines


def engine_of_study(experiment: Resolved) -> str | None:
    """Return the engine that confirms a sensitivity study, None without one."""
    study = experiment.sensitivity
    return None if study is None or study.confirm is None else study.confirm.engine


def lacks(experiment: Resolved) -> str:
    """Return the remedy for a missing confirming engine of a sensitivity study; empty if it is usable."""
    engine = engine_of_study(experiment)
    return missing(engine, experiment.simulate) if engine else ""


def missing(engine: str, simulate: SimulateSection) -> str:
    """Return the remedy for a missing ``engine`` with the settings in ``simulate``; empty if it is installed."""
    probe = engines.get(engine).with_settings(simulate).probe()
    # Quotes would end the quotes of the step's command.
    return "" if probe.available else (probe.remedy or "no remedy is known").replace("'", "").replace('"', "")
