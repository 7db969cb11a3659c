"""A skeleton against a recording, call by call, and what a recording that it equals settles.

In: the content of a skeleton file and a :class:`.recorded.recordings.Recording`. Drawn sizes are left out of the
comparison (:mod:`.writing.drawn` compares them as a whole).
"""

from __future__ import annotations

from typing import Any

from manynode.derived.call_forms import draws_blocks
from phase2_nodesim.communicators import WORLD
from phase2_nodesim.derive.judging.interpret import DRAWN, Content, Job, without_blocks
from phase2_nodesim.derive.judging.verdict import differs
from phase2_nodesim.derive.recorded.recordings import Recording
from phase2_nodesim.recording import RecordedCall


def first_difference(content: Content, recording: Recording) -> str | None:
    """Return the first call in which a skeleton differs from a recording, or None.

    Communicators are numbered by their makers: a number of the recording is one of the skeleton throughout a rank.
    """
    job = job_of(content, recording)
    for rank, (made, recorded) in enumerate(zip(job.calls(), recording.calls, strict=True)):
        numbers: dict[int, int] = {}
        for number in range(max(len(made), len(recorded))):
            ours = made[number] if number < len(made) else None
            theirs = recorded[number] if number < len(recorded) else None
            if theirs is not None and (draws := job.drawn[rank].get(number)) is not None:
                theirs = without_sizes(theirs, draws)
            if ours is not None and theirs is not None and theirs.communicator > WORLD:
                theirs = theirs.but(communicator=numbers.setdefault(theirs.communicator, ours.communicator))
            if ours != theirs:
                return f"rank {rank}, call {number}: recorded {theirs}, derived {ours}"
    return None


def job_of(content: Content, recording: Recording) -> Job:
    """Return the skeleton's job at a recorded point; parameters that it has fixed are not its own."""
    fixed = content["program"]["fixed"]
    return Job(content, recording.ranks, {k: v for k, v in recording.parameters.items() if k not in fixed})


def without_sizes(call: RecordedCall, draws: tuple[str | None, str | None]) -> RecordedCall:
    """Return a recorded call with ``DRAWN`` for the sizes that a skeleton draws."""
    sent, received = draws
    if draws_blocks(call.operation):
        return without_blocks(call)
    return call.but(bytes=DRAWN if sent else call.bytes, bytes2=DRAWN if received else call.bytes2)


def recorded_entry(recording: Recording, role: str, equal: bool, volume_error: float) -> dict[str, Any]:
    """Return the entry of a recording in the list ``recorded`` of a skeleton's file."""
    parameters = {name: int(value) for name, value in recording.parameters.items()}
    point = {"ranks": recording.ranks, "parameters": parameters, "digest": recording.digest}
    volume = {"volume_error": float(f"{volume_error:.2g}")} if volume_error else {}
    return {**point, "role": role, "equal": equal, **volume}


def drop_contradicted(content: Content, recording: Recording) -> None:
    """Drop hypotheses that differ from the skeleton at a held-out run that the skeleton equals.

    Where the grid is no rule's at some runs, another run with the rule's own grid settles nothing about the others.
    """
    job = job_of(content, recording)
    left = []
    for doubt in content["doubts"]:
        if doubt["at"] == "grid" and job.stated_extents:
            left.append(doubt)
            continue
        others = [other for other in doubt["or"] if not differs(doubt, other, job)]
        if others:
            left.append({**doubt, "or": others})
    content["doubts"] = left
