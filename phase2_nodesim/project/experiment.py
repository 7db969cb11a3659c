"""The experiments that ``manynode project`` writes: short files that people read and edit.

In: a request, the values of its skeleton's parameters and the node counts to project. Out: the text of the file, and of
a second one for node counts whose compute phases need a measured job of their own (:mod:`.measured_jobs`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from manynode.config import yaml_text
from manynode.config.command_words import with_values
from manynode.config.crowding import crowding_warning
from manynode.config.loader import resolve
from manynode.config.resolved import Resolved
from manynode.config.skeleton import phases_of_ranks
from manynode.errors import UsageError
from manynode.report.wording import count
from phase2_nodesim.derive.accepted import Accepted
from phase2_nodesim.project.measured_jobs import MOST_MEASURED, MeasuredJob, Runs, measured_jobs
from phase2_nodesim.project.request import Request
from phase2_nodesim.project.strong import not_executed, sizes_to_measure, study_of

_WIDTH = 110
_STUDY_HEAD = """\
# Written by 'manynode project': the program divides the whole problem. Run it: manynode strong {file}
# Compute times are measured in jobs of some sizes, interpolated between them, and extrapolated beyond.
"""
_HEAD = """\
# Written by 'manynode project'. Edit it, and run it: manynode run {file}
# 'manynode config default' explains every key.
"""


@dataclass(frozen=True)
class Described:
    """``experiments`` are their contents by file, that of the largest job first; ``left_out`` has reasons by nodes.

    ``study`` is that of a program that divides the whole problem (:mod:`.strong`), None for others.
    """

    experiments: dict[Path, dict[str, Any]]
    left_out: dict[int, str]
    study: dict[str, Any] | None = None


def described(
    request: Request, values: Mapping[str, int], nodes: Sequence[int], refused: Mapping[int, Sequence[str]],
    accepted: Accepted, *, studied: Runs | None = None,
) -> Described:  # fmt: skip
    """Return the experiments: ``values`` are those of the skeleton's parameters, which stay in braces in the command.

    A node count with a compute phase that no measured job executes is left out, as those in ``refused``. If all are,
    this is a :class:`UsageError`. With ``studied``, the experiment is the base of a study of jobs of several sizes, at
    which that is true.
    """
    fixed = {name: value for name, value in request.program.parameters.items() if name not in values}
    application = dict(request.experiment["application"])
    application["command"] = with_values(application["command"], fixed)
    if "input_values" in application:
        application["input_values"] = fixed
    application["derived"] = request.skeleton.name
    if values:
        application["parameters"] = dict(values)
    content = {**request.experiment, "application": application, "nodes": list(nodes)}
    study = None
    if studied is not None and len(nodes) > 1:
        jobs, not_measured, study = _studied(request, content, studied)
    if study is None:
        jobs, not_measured = _measured(request, content, accepted)
    experiments = {
        path: _content(request, {**content, "name": path.stem, "nodes": list(job.projected)}, job, accepted)
        for path, job in zip((request.output, request.others), jobs, strict=False)
    }
    left_out = {number: reasons[0] for number, reasons in refused.items()} | not_measured
    return Described(experiments, dict(sorted(left_out.items())), study)


def _studied(
    request: Request, content: Mapping[str, Any], runs: Runs
) -> tuple[list[MeasuredJob], dict[int, str], dict[str, Any] | None]:
    """Return the largest job that a study measures, why others are left out, and the study.

    There is none where less than two node counts have times of all their phases.
    """
    phases = _phases(request, content)
    sizes = sizes_to_measure(request.ranks_per_node, runs)
    lacking = {number: not_executed(sizes, number, phases) for number in content["nodes"] if len(sizes) > 1}
    found = tuple(number for number, phase in lacking.items() if phase is None)
    if len(found) < 2:
        return [], {}, None
    left_out = {
        number: f"neither of the measured jobs next to it executes the phase {phase}"
        for number, phase in lacking.items()
        if phase is not None
    }
    study = study_of(request.study.stem, _title(content, request), request.output, sizes, found)
    return [MeasuredJob(sizes[-1], found, differ=True)], left_out, study


def _phases(request: Request, content: Mapping[str, Any]) -> Callable[[int], list[dict[str, int]]]:
    resolved, per_node = _resolved(request, content), request.ranks_per_node
    return cache(lambda number: list(phases_of_ranks(resolved.application, number * per_node).values()))


def _measured(
    request: Request, content: Mapping[str, Any], accepted: Accepted
) -> tuple[list[MeasuredJob], dict[int, str]]:
    per_node = request.ranks_per_node
    jobs, left_out = measured_jobs(
        content["nodes"], per_node, _phases(request, content), lambda n: accepted.why_not(n * per_node) is None
    )
    if not jobs:
        raise UsageError(
            "no job that this host measures executes the compute phases of the projected jobs",
            where=f"--nodes, --ranks-per-node {per_node}",
            found="; ".join(dict.fromkeys(left_out.values())),
            allowed=f"phases of jobs up to {MOST_MEASURED} ranks",
            remedy="label the phases (MPI_Pcontrol): all ranks then share their names",
        )
    return jobs, left_out


def _content(request: Request, content: dict[str, Any], job: MeasuredJob, accepted: Accepted) -> dict[str, Any]:
    """Return the content of one experiment: what of ``job`` is measured, and how."""
    content["title"] = _title(content, request)
    sizes = [job.nodes]
    if len(job.projected) > 1 or job.projected[0] != job.nodes:
        # A smaller job shows whether a rank's work depends on the job's size.
        smaller = [n for n in range(1, job.nodes // 2 + 1) if accepted.why_not(n * request.ranks_per_node) is None]
        sizes = [*smaller[-1:], job.nodes]
    content["profile"] = {**content["profile"], "nodes": sizes, **({"max_classes": 1} if job.differ else {})}
    content["nodesim"] = {**content["nodesim"], "nodes": job.nodes}
    if job.nodes == 1:
        content["techniques"] = ["no-ext-var"]
    if "threads" not in content["application"] and crowding_warning(_resolved(request, content)) is not None:
        content["nodesim"]["clock"] = "processor"
    return content


def _resolved(request: Request, content: Mapping[str, Any]) -> Resolved:
    return resolve(content, where=str(request.output), base=request.output.resolve().parent)


def _title(content: Mapping[str, Any], request: Request) -> str:
    nodes = content["nodes"]
    machine, network = (Path(str(content[key])).stem for key in ("machine", "network"))
    first = f"{nodes[0]} to " if len(nodes) > 1 else ""
    return f"{request.output.stem} on {first}{count(nodes[-1], 'node')} of {machine}, network {network}"


def study_text(study: Mapping[str, Any], path: Path) -> str:
    """Return the file of a study."""
    return _STUDY_HEAD.format(file=path) + yaml_text.dump(dict(study), default_flow_style=None, width=_WIDTH)


def text_of(found: Described, path: Path) -> str:
    """Return the file ``path``, with comments for what the command decided."""
    content = found.experiments[path]
    others = [
        f"{', '.join(map(str, one['nodes']))}: {other}" for other, one in found.experiments.items() if other != path
    ]
    comments = {
        "nodes": [
            *(f"with other compute phases, and a measured job of their own: nodes {words}" for words in others),
            *(f"left out: {count(nodes, 'node')}: {reason}" for nodes, reason in found.left_out.items()),
        ],
        "techniques": ["ext-var alone; no-ext-const, no-ext-var and ext-const may be added"],
        "profile": ["the measured jobs, on this host; the largest one executes all phases of the projected ones"],
    }
    if "max_classes" in content["profile"]:
        comments["profile"].append("one class of ranks: the skeleton says which rank executes which phase")
    if "source" in content["profile"]:
        comments["profile"].append("no hardware counters here, and nothing else runs the program at its own speed")
    if content["nodesim"]["nodes"] == 1:
        comments["techniques"] = ["a lone node has no external ranks"]
    if "clock" in content["nodesim"]:
        comments["nodesim"] = ["processor time, because the measured job has more ranks than this host has cores"]
    lines = [_HEAD.format(file=path).rstrip("\n")]
    for line in yaml_text.dump(content, default_flow_style=None, width=_WIDTH).splitlines():
        lines += [f"# {comment}" for comment in comments.get(line.partition(":")[0], [])]
        lines.append(line)
    return "\n".join(lines) + "\n"
