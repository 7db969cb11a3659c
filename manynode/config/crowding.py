"""A check before a run: does the experiment measure more threads at once than the host has cores?"""

from __future__ import annotations

from manynode.config.experiment import Experiment
from manynode.cores import available_cores


def computing_threads(model: Experiment) -> int:
    """Return how many threads compute at once while phase 2 measures wall time; 0 if it does not.

    With turns, only one node computes at a time. Processor time excludes waiting, and the other engines' times do not
    come from the host.
    """
    section = model.nodesim
    if model.own_times is not None:
        return 0
    if section.engine != "native" or section.clock != "wall":
        return 0
    beside_each_other = any(technique.startswith("ext") for technique in model.techniques) and not section.turns
    return (section.nodes if beside_each_other else 1) * model.ranks_per_node * model.application.threads


def crowding_warning(model: Experiment, cores: int | None = None) -> str | None:
    """Return a warning if ``model`` needs more than ``cores`` (default: this host's), else None."""
    threads, cores = computing_threads(model), cores or available_cores()
    if threads <= cores:
        return None
    one_node = model.ranks_per_node * model.application.threads
    remedies = [f"measure on a host with {threads} cores"]
    if model.application.threads == 1:
        remedies.append("set 'nodesim: clock: processor'")
    if one_node <= cores:
        remedies.append("set 'nodesim: turns: true'")
    return (
        f"nodesim: the engine native measures {threads} threads at once, and {cores} "
        f"core{' is' if cores == 1 else 's are'} available here: ranks will wait for cores, and the measured times "
        f"will be too long; {', or '.join(remedies)}"
    )
