"""What a derived skeleton is worth at the numbers of ranks of an experiment.

In: a resolved experiment of a derived skeleton. Out: a verdict for each of its node counts. A refused one is a
:class:`UsageError` before the first step; the others are a file for the report (``skeleton-verdicts/1``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from manynode import tables
from manynode.config.application import DERIVED
from manynode.config.resolved import Resolved
from manynode.config.skeleton_files import SUFFIX
from manynode.derived import skeleton_file
from manynode.errors import UsageError
from phase2_nodesim.derive.judging.level import Verdict
from phase2_nodesim.derive.judging.verdict import verdict

SCHEMA = "skeleton-verdicts/1"


def read_content(path: Path) -> dict[str, Any]:
    """Return the content of a derived skeleton's file, checked."""
    content = skeleton_file.content_of(path)
    skeleton_file.checked(content, str(path))
    return dict(content)


def verdicts(experiment: Resolved) -> dict[int, Verdict]:
    """Return the verdict by node count; empty for an application without a derived skeleton."""
    if experiment.application.name != DERIVED:
        return {}
    content = read_content(_skeleton(experiment))
    values = json.loads(str(experiment.application.parameters["values"]))
    return {nodes: verdict(content, nodes * experiment.ranks_per_node, values) for nodes in experiment.nodes}


def check_derived(experiment: Resolved) -> None:
    """Raise :class:`UsageError` if the skeleton is refused at one of the node counts."""
    for nodes, one in verdicts(experiment).items():
        if not one.usable:
            raise UsageError(
                "the recordings do not say what the program does at this number of ranks",
                where=f"{_skeleton(experiment)}: {nodes} nodes of {experiment.ranks_per_node} ranks",
                found="; ".join(one.reasons),
                remedy="record the run that it names (manynode derive --ranks), or leave this number of nodes out",
            )


def write_verdicts(path: Path, experiment: Resolved) -> None:
    """Write the verdicts for the report."""
    found: Mapping[int, Verdict] = verdicts(experiment)
    rows = [
        {"nodes": nodes, "level": one.level, "reasons": list(one.reasons), "error": one.error}
        for nodes, one in found.items()
    ]
    tables.write_json(path, SCHEMA, {"skeleton": str(_skeleton(experiment)), "verdicts": rows})


def _skeleton(experiment: Resolved) -> Path:
    return Path(str(experiment.application.parameters["file"])).with_suffix(SUFFIX)
