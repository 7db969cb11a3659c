"""One job of a program beside its skeleton: the recorded calls of each rank, and those that the skeleton makes.

In: a resolved experiment with a skeleton (of an application, or derived) and a number of ranks. Out: a
:class:`Comparison`. Recordings that fit are used again; a run that is not there is recorded.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from manynode import process, tables
from manynode.config.application import DERIVED, REPLAY
from manynode.config.resolved import Resolved, ResolvedApplication
from manynode.config.skeleton_files import SUFFIX
from manynode.errors import EngineFailedError, UsageError
from manynode.launch import application_command
from manynode.markers import read_marker_directory
from manynode.native_errors import reported_error
from manynode.paths import native_program
from phase2_nodesim.conformance import calls_frame, first_difference, promised_calls, recorded_calls
from phase2_nodesim.derive.campaign import SCHEMA, Campaign, Run
from phase2_nodesim.derive.judging.compared import job_of, without_sizes
from phase2_nodesim.derive.judging.judged import read_content
from phase2_nodesim.derive.recorded.recordings import read_recording
from phase2_nodesim.derive.writing.drawn import comparison as sizes_compared
from phase2_nodesim.recording import check_whole

_PROGRAM = "manynode-skeleton"
# A phase without a label is named by the calls around it, which are compared themselves.
_BETWEEN_CALLS = " -> "


@dataclass(frozen=True)
class Comparison:
    """``calls`` are those of the program on all ranks; ``difference`` is the first one that differs, or None.

    ``drawn`` says how sizes compare that a derived skeleton draws; empty if it draws none.
    """

    ranks: int
    calls: int
    difference: str | None
    drawn: str = ""


def check_comparable(experiment: Resolved, where: str) -> None:
    """Raise :class:`UsageError` for an experiment without a skeleton to compare."""
    name = experiment.application.name
    if name is None:
        found = "the program alone"
    elif name == REPLAY:
        found = "a recorded run, which replays its own calls"
    elif name == DERIVED and "body" not in _content(experiment.application):
        found = "an approximate skeleton, whose report has its errors at jobs that were held out"
    else:
        return
    raise UsageError(
        "the experiment has no skeleton to compare with its program",
        where=f"{where}: application",
        found=found,
        allowed="'name' (a skeleton of skeletons/) or 'derived' (a file that 'manynode derive' wrote)",
    )


def compare(
    experiment: Resolved, ranks: int, folder: Path, others: Path | None = None, say: Callable[[str], None] = print
) -> Comparison:
    """Compare program and skeleton on ``ranks`` ranks; a new recording goes to ``folder``.

    Recordings in ``folder`` and ``others`` are used again if they are of this program, command and number of ranks.
    A skeleton that refuses this number of ranks is the error of its program.
    """
    application = experiment.application
    recording = _recording(application, ranks, folder, others, say)
    if application.name == DERIVED and (content := _content(application)).get("distributions"):
        return _but_for_drawn_sizes(application, content, recording)
    promised = promised_calls(_stream(application, ranks))
    # Phases between two call sites have no label.
    promised["phase"] = ["" if _BETWEEN_CALLS in phase else phase for phase in promised["phase"]]
    files = read_marker_directory(recording, resolve=False)
    check_whole(files, "a recording cannot be compared with a skeleton")
    recorded: pd.DataFrame = recorded_calls(files, derived=application.name == DERIVED)
    return Comparison(ranks, len(recorded), first_difference(recorded, promised))


def _content(application: ResolvedApplication) -> dict[str, Any]:
    """Return the content of a derived skeleton's file."""
    return read_content(Path(str(application.parameters["file"])).with_suffix(SUFFIX))


def _but_for_drawn_sizes(application: ResolvedApplication, content: dict[str, Any], folder: Path) -> Comparison:
    """Compare all but the sizes that the skeleton draws: a draw need not be the size of the run."""
    values = json.loads(str(application.parameters["values"]))
    recording = read_recording(folder, values)
    job = job_of(content, recording)
    promised = calls_frame(dict(enumerate(job.calls())))
    recorded = calls_frame(
        {
            rank: [without_sizes(call, job.drawn[rank].get(number, (None, None))) for number, call in enumerate(made)]
            for rank, made in enumerate(recording.calls)
        }
    )
    drawn = str(sizes_compared(content, recording) or "")
    return Comparison(recording.ranks, len(recorded), first_difference(recorded, promised), drawn)


def _stream(application: ResolvedApplication, ranks: int) -> str:
    """Return the calls of the skeleton as the text sink prints them."""
    parameters = json.dumps(dict(application.parameters))
    words = ["stream", "--app", str(application.name), "--ranks", str(ranks), "--parameters", parameters]
    done = process.run([native_program(_PROGRAM), *words], what=_PROGRAM, check=False)
    if done.returncode == 0:
        return done.output
    what = f"the skeleton {application.name} on {ranks} ranks"
    raise reported_error(done, what) or EngineFailedError(f"{what} failed", details=done.output)


def _recording(
    application: ResolvedApplication, ranks: int, folder: Path, others: Path | None, say: Callable[[str], None]
) -> Path:
    """Return a folder with the marker files of this run."""
    command, flavour = application_command(application)
    campaign = Campaign(
        command, flavour, folder, application.threads, application.timeout_s, say, application.grid,
        inputs=application.inputs, to_derive=False,
    )  # fmt: skip
    run = Run.of(ranks, application.input_values)
    wanted = campaign.about(run)
    for place in [folder, *([] if others is None else [others])]:
        for path in sorted(place.rglob("run.json")):
            found = tables.read_json(path, SCHEMA)
            if all(found.get(key) == value for key, value in wanted.items()):
                return path.parent
    # The name of its folder tells runs with other arguments apart.
    arguments = hashlib.sha256(json.dumps(wanted, sort_keys=True).encode()).hexdigest()[:8]
    return replace(campaign, folder=folder / arguments).recorded(run)
