"""Phase 2's checks of an experiment before anything runs; an entry point of ``manynode.checks``."""

from __future__ import annotations

from manynode.config.application import DERIVED
from manynode.config.resolved import Resolved
from manynode.errors import UsageError
from phase2_nodesim.engines._interface import ENGINES
from phase2_nodesim.jobs import choose_engine, installed


def check(resolved: Resolved) -> None:
    """Ask the engine whether it can simulate a node of the machine, and whether it is installed.

    A derived skeleton must not be refused at any of the experiment's node counts.
    """
    if resolved.own_times is not None:
        return  # no node is simulated
    name, _ = choose_engine(resolved)
    try:
        engine = ENGINES.get(name)
    except UsageError as error:
        error.where = "nodesim: engine"
        raise
    engine.check(resolved)
    if resolved.application.name == DERIVED:
        from phase2_nodesim.derive.judging.judged import check_derived

        check_derived(resolved)
    installed(name, resolved.nodesim)
