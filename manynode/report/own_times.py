"""The user's own compute times (section ``own_times``) as the report shows them: as they were given.

The report knows them per execution. How often a rank executes a phase is the skeleton's.
"""

from __future__ import annotations

from manynode.config.own_times import OwnPhase
from manynode.report.load import Inputs


def own_rows(inputs: Inputs) -> list[OwnPhase]:
    """Return the rows of the shown mode, the longest times first; none where times were measured."""
    if inputs.own_times is None:
        return []
    rows = inputs.own_times.rows(external=inputs.mode == "ext")
    return sorted(rows, key=lambda row: (-row.mean, row.phase, row.class_ or ""))


def own_words(inputs: Inputs) -> str:
    """Return whose times the shown ones are."""
    key = "in the whole job (phases)" if inputs.mode == "ext" else "of a node that runs alone (alone)"
    source = inputs.own_times.source if inputs.own_times is not None else ""
    return f"The user's own times {key}, from {source}."
