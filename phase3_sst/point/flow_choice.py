"""The choice of ``network: flow_control: auto``, schema ``flow-control/1``: who makes one, and what it changes.

:mod:`phase3_sst.checks.flow_control` makes the choice by trials. Points read it; this module imports nothing slow.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from manynode.config.resolved import Resolved
from phase3_sst.point.contract import engines
from phase3_sst.point.point_experiment import PointExperiment

FLOW_CONTROL_SCHEMA = "flow-control/1"


def is_chosen(experiment: Resolved) -> bool:
    """Return whether trials choose the flow control of an experiment's points."""
    engine = experiment.simulate.engine
    return bool(
        engine in engines.names()
        and engines.get(engine).capabilities.chooses_flow_control
        and experiment.application.name is not None
        and experiment.network.flow_control == "auto"
        and experiment.network.can_have_credits()
        and experiment.simulate.preflight.enabled
    )


def decided(experiment: PointExperiment, decision: Mapping[str, Any]) -> PointExperiment:
    """Return the experiment of a point with the choices of ``flow-control/1``, where its own keys leave them open."""
    network, update = experiment.network, {}
    if network.flow_control == "auto":
        update["flow_control"] = decision["flow_control"] if network.can_have_credits() else "none"
    if network.most_chunks is None:
        update["most_chunks"] = decision["most_chunks"]
    return experiment.model_copy(update={"network": network.model_copy(update=update)})
