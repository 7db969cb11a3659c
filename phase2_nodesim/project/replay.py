"""What is left where no skeleton can be derived: an experiment that replays a recorded run at its own number of ranks.

In: the error of a derivation and its request. Out: the error with the offer; NAME.replay.yaml is written if it is not
there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from manynode import tables
from manynode.config import yaml_text
from manynode.config.command_words import with_values
from manynode.errors import ManynodeError
from manynode.phase_commands import ask as ask_phase
from phase2_nodesim.derive.campaign import Campaign, Run
from phase2_nodesim.project.request import Request

_HEAD = """\
# Written by 'manynode project', which derived no skeleton: this replays one recorded run. Edit it, and run it:
# manynode run {file}
"""


def with_replay(error: ManynodeError, request: Request, campaign: Campaign) -> ManynodeError:
    """Return the error with the offer to replay a run, or why none can be replayed, in its details.

    The run is recorded now unless it is there.
    """
    return type(error)(
        error.what, where=error.where, found=error.found, allowed=error.allowed, remedy=error.remedy,
        details="\n".join(part for part in (error.details, *_offer(request, campaign)) if part),
    )  # fmt: skip


def _offer(request: Request, campaign: Campaign) -> list[str]:
    usual = Run.of(1, request.program.parameters).parameters
    # A job of whole nodes, of which one is simulated beside others.
    runs = [
        run
        for run in (*request.learned, *request.held_out)
        if run.parameters == usual and run.ranks % request.ranks_per_node == 0 and run.ranks > request.ranks_per_node
    ]
    if not runs:
        return []
    wanted = {nodes * request.ranks_per_node for nodes in request.nodes}
    chosen = max(runs, key=lambda run: (run.ranks in wanted, run.ranks))
    try:
        folder = replace(campaign, to_derive=False).recorded(chosen)
        ask_phase("nodesim", "stream", folder.resolve())
    except ManynodeError as error:
        return [f"nor can a recorded run be replayed: {error.what}" + (f" ({error.found})" if error.found else "")]
    path = request.output.with_name(f"{request.output.stem}.replay.yaml")
    text = _text(path, content_of(request, chosen))
    if not path.exists():
        with tables.replacing(path) as part:
            part.write_text(text, encoding="utf-8")
    elif path.read_text("utf-8", "replace") != text:
        return [f"{path} is there and is not overwritten: move it away to have a recorded run replayed"]
    counts = ", ".join(map(str, sorted({run.ranks for run in runs if (request.recordings / run.name).exists()})))
    return [
        "Without a skeleton, a recorded run can be replayed at its own number of ranks, on any network:",
        f"  manynode run {path}",
        f"It replays the run of {chosen.ranks} ranks; runs of {counts} ranks are in {request.recordings}.",
    ]


def content_of(request: Request, run: Run) -> dict[str, Any]:
    """Return the experiment that replays a run; its own job is measured, so that every phase is."""
    nodes = run.ranks // request.ranks_per_node
    application = dict(request.experiment["application"])
    application["command"] = with_values(application["command"], dict(run.parameters))
    if "input_values" in application:
        application["input_values"] = dict(run.parameters)
    beside = request.recordings.parent.resolve() == request.output.parent.resolve()
    folder = request.recordings / run.name
    application["recorded"] = str(Path(folder.parent.name, folder.name) if beside else folder.resolve())
    return {
        **request.experiment,
        "name": f"{request.output.stem}-replay",
        "title": f"{request.output.stem}: a recorded run of {run.ranks} ranks",
        "application": application,
        "nodes": [nodes],
        "profile": {"nodes": [nodes], "max_classes": 1},
        "nodesim": {**request.experiment["nodesim"], "nodes": nodes},
    }


def _text(path: Path, content: Mapping[str, Any]) -> str:
    text = yaml_text.dump(content, default_flow_style=None, width=110)
    return _HEAD.format(file=path) + text
