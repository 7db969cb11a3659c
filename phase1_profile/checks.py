"""Phase 1's checks of an experiment before anything runs; an entry point of ``manynode.checks``."""

from __future__ import annotations

from manynode.config.input_files import rendered
from manynode.config.resolved import Resolved
from manynode.config.skeleton import check_skeleton
from manynode.launch import application_command
from phase1_profile.sources.interface import choose_source


def check(resolved: Resolved) -> None:
    """Ask the mini-app if it accepts its parameters on every profiled number of ranks, and the host for counters."""
    if resolved.own_times is not None:
        return  # nothing is profiled
    application = resolved.application
    # A node on its own is a job of phase 2, of the same program.
    sizes = {*resolved.profile.nodes, 1}
    if application.name is not None and application.command is None:
        ranks = [nodes * resolved.ranks_per_node for nodes in sorted(sizes)]
        check_skeleton(application.name, application.parameters, ranks, "application: parameters")
    for nodes in sorted(sizes):
        size = nodes * resolved.ranks_per_node
        application_command(application, size, resolved.ranks_per_node)
        rendered(application.inputs, application.input_values, size, resolved.ranks_per_node, application.grid)
    choose_source(resolved.profile.source, application)
