"""The experiment that ``manynode project`` writes: a short file that people read and edit.

In: a request, the values of its skeleton's parameters and the node counts to project. Out: the text of the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from manynode.config.crowding import crowding_warning
from manynode.config.loader import resolve
from manynode.config.resolved import Resolved
from manynode.config.skeleton import phases_of_ranks
from manynode.config.skeleton_files import with_values
from manynode.errors import UsageError
from manynode.report.wording import count
from phase2_nodesim.derive.verdict import Verdict
from phase2_nodesim.project.request import Request

# A measured job runs on this host, one process per rank.
_MOST_MEASURED = 64
_WIDTH = 110
_HEAD = """\
# Written by 'manynode project'. Edit it, and run it: manynode run {file}
# 'manynode config default' explains every key.
"""


def content_of(request: Request, values: Mapping[str, int], nodes: Sequence[int]) -> Any:
    """Return the experiment: ``values`` are those of the skeleton's parameters, which stay in braces in the command."""
    fixed = {name: value for name, value in request.program.parameters.items() if name not in values}
    application = dict(request.experiment["application"])
    application["command"] = with_values(application["command"], fixed)
    application["derived"] = request.skeleton.name
    if values:
        application["parameters"] = dict(values)
    content = {**request.experiment, "title": _title(request, nodes), "application": application, "nodes": list(nodes)}
    size, one_class = _measured(request, content)
    content["profile"] = {"nodes": [size // 2, size], **({"max_classes": 1} if one_class else {})}
    content["nodesim"] = {**content["nodesim"], "nodes": size}
    if "threads" not in application and crowding_warning(_resolved(request, content)) is not None:
        content["nodesim"]["clock"] = "processor"
    return content


def _resolved(request: Request, content: Mapping[str, Any]) -> Resolved:
    return resolve(content, where=str(request.output), base=request.output.resolve().parent)


def _title(request: Request, nodes: Sequence[int]) -> str:
    machine, network = (Path(str(request.experiment[key])).stem for key in ("machine", "network"))
    first = f"{nodes[0]} to " if len(nodes) > 1 else ""
    return f"{request.output.stem} on {first}{count(nodes[-1], 'node')} of {machine}, network {network}"


def _measured(request: Request, content: Mapping[str, Any]) -> tuple[int, bool]:
    """Return the nodes of the job to measure, which executes all phases of the projected jobs, and whether its ranks
    differ in what they execute.

    If no job that this host measures executes all, this is a :class:`UsageError`.
    """
    resolved = _resolved(request, content)
    per_node = request.ranks_per_node
    by_rank = {nodes: phases_of_ranks(resolved.application, nodes * per_node) for nodes in content["nodes"]}
    needed = {phase for found in by_rank.values() for phases in found.values() for phase in phases}
    differ = any(len({frozenset(phases) for phases in found.values()}) > 1 for found in by_rank.values())
    size, lacking = 2, needed
    while size == 2 or size * per_node <= _MOST_MEASURED:
        found = phases_of_ranks(resolved.application, size * per_node)
        lacking = needed - {phase for phases in found.values() for phase in phases}
        if not lacking:
            return size, differ
        size *= 2
    raise UsageError(
        "no job that this host measures executes all compute phases of the projected jobs",
        where=f"--nodes, --ranks-per-node {per_node}",
        found=", ".join(sorted(lacking)[:3]),
        allowed=f"phases of jobs up to {_MOST_MEASURED} ranks",
        remedy="project fewer nodes, or label the phases (MPI_Pcontrol), so that all ranks share their names",
    )


def text_of(content: Mapping[str, Any], request: Request, refused: Mapping[int, Verdict]) -> str:
    """Return the file, with comments for what the command decided."""
    comments = {
        "nodes": [f"left out: {count(nodes, 'node')}: {one.reasons[0]}" for nodes, one in refused.items()],
        "techniques": ["ext-var alone; no-ext-const, no-ext-var and ext-const may be added"],
        "profile": ["the measured jobs, on this host: the larger one executes every phase of the projected ones"],
    }
    if "max_classes" in content["profile"]:
        comments["profile"].append("one class of ranks: the skeleton says which rank executes which phase")
    if "clock" in content["nodesim"]:
        comments["nodesim"] = ["processor time, because the measured job has more ranks than this host has cores"]
    lines = [_HEAD.format(file=request.output).rstrip("\n")]
    for line in yaml.safe_dump(content, sort_keys=False, default_flow_style=None, width=_WIDTH).splitlines():
        lines += [f"# {comment}" for comment in comments.get(line.partition(":")[0], [])]
        lines.append(line)
    return "\n".join(lines) + "\n"
