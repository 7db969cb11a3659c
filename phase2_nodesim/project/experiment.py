"""The experiment that ``manynode project`` writes: a short file that people read and edit.

In: a request, the values of its skeleton's parameters and the node counts to project. Out: the text of the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manynode.config import yaml_text
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


@dataclass(frozen=True)
class Described:
    """``content`` is the experiment; ``left_out`` gives reasons by node count."""

    content: dict[str, Any]
    left_out: dict[int, str]


def described(
    request: Request, values: Mapping[str, int], nodes: Sequence[int], refused: Mapping[int, Verdict]
) -> Described:
    """Return the experiment: ``values`` are those of the skeleton's parameters, which stay in braces in the command.

    A node count with a compute phase that the measured job does not execute is left out, as those in ``refused``.
    """
    fixed = {name: value for name, value in request.program.parameters.items() if name not in values}
    application = dict(request.experiment["application"])
    application["command"] = with_values(application["command"], fixed)
    application["derived"] = request.skeleton.name
    if values:
        application["parameters"] = dict(values)
    content = {**request.experiment, "application": application, "nodes": list(nodes)}
    measured = _measured(request, content)
    left_out = {number: one.reasons[0] for number, one in refused.items()} | measured.left_out
    content["nodes"] = [number for number in nodes if number not in left_out]
    content["title"] = _title(request, content["nodes"])
    sizes = [measured.nodes // 2, measured.nodes]
    content["profile"] = {"nodes": sizes, **({"max_classes": 1} if measured.differ else {})}
    content["nodesim"] = {**content["nodesim"], "nodes": measured.nodes}
    if "threads" not in application and crowding_warning(_resolved(request, content)) is not None:
        content["nodesim"]["clock"] = "processor"
    return Described(content, dict(sorted(left_out.items())))


def _resolved(request: Request, content: Mapping[str, Any]) -> Resolved:
    return resolve(content, where=str(request.output), base=request.output.resolve().parent)


def _title(request: Request, nodes: Sequence[int]) -> str:
    machine, network = (Path(str(request.experiment[key])).stem for key in ("machine", "network"))
    first = f"{nodes[0]} to " if len(nodes) > 1 else ""
    return f"{request.output.stem} on {first}{count(nodes[-1], 'node')} of {machine}, network {network}"


@dataclass(frozen=True)
class _Measured:
    """``nodes`` of the job to measure; ``differ``: its ranks execute different phases."""

    nodes: int
    differ: bool
    left_out: dict[int, str]


def _measured(request: Request, content: Mapping[str, Any]) -> _Measured:
    """Return the smallest job that executes the phases of as many of the projected jobs as possible.

    If it executes those of none, this is a :class:`UsageError`.
    """
    resolved = _resolved(request, content)
    per_node = request.ranks_per_node

    def phases(nodes: int) -> list[set[str]]:
        return list(phases_of_ranks(resolved.application, nodes * per_node).values())

    projected = {nodes: phases(nodes) for nodes in content["nodes"]}
    differ = any(one != found[0] for found in projected.values() for one in found)
    best: _Measured | None = None
    # One projected job is measured itself, if this host can: its compute times hold for strong scaling, too.
    alone = len(projected) == 1 and 2 <= (first := min(projected)) and first * per_node <= _MOST_MEASURED
    start = nodes = first if alone else 2
    while nodes == start or nodes * per_node <= _MOST_MEASURED:
        executed = set().union(*phases(nodes))
        lacking = {target: sorted(set().union(*found) - executed) for target, found in projected.items()}
        left_out = {target: _not_executed(names[0]) for target, names in lacking.items() if names}
        if best is None or len(left_out) < len(best.left_out):
            best = _Measured(nodes, differ, left_out)
        if not left_out:
            break
        nodes *= 2
    assert best is not None
    if len(best.left_out) < len(projected):
        return best
    raise UsageError(
        "no job that this host measures executes the compute phases of the projected jobs",
        where=f"--nodes, --ranks-per-node {per_node}",
        found="; ".join(dict.fromkeys(best.left_out.values())),
        allowed=f"phases of jobs up to {_MOST_MEASURED} ranks",
        remedy="label the phases (MPI_Pcontrol): all ranks then share their names",
    )


def _not_executed(phase: str) -> str:
    return f"no job that this host measures executes the phase {phase}"


def text_of(one: Described, request: Request) -> str:
    """Return the file, with comments for what the command decided."""
    content = one.content
    comments = {
        "nodes": [f"left out: {count(nodes, 'node')}: {reason}" for nodes, reason in one.left_out.items()],
        "techniques": ["ext-var alone; no-ext-const, no-ext-var and ext-const may be added"],
        "profile": ["the measured jobs, on this host; the larger one executes all phases of the projected ones"],
    }
    if "max_classes" in content["profile"]:
        comments["profile"].append("one class of ranks: the skeleton says which rank executes which phase")
    if "clock" in content["nodesim"]:
        comments["nodesim"] = ["processor time, because the measured job has more ranks than this host has cores"]
    lines = [_HEAD.format(file=request.output).rstrip("\n")]
    for line in yaml_text.dump(content, default_flow_style=None, width=_WIDTH).splitlines():
        lines += [f"# {comment}" for comment in comments.get(line.partition(":")[0], [])]
        lines.append(line)
    return "\n".join(lines) + "\n"
