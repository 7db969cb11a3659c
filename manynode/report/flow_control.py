"""The flow control of the simulated network in words: what was chosen, why, and what it leaves out."""

from __future__ import annotations

from manynode.report.documents import FlowControl
from manynode.report.load import Inputs
from manynode.report.wording import count, percent

_WORDS = {
    "none": "switch buffers are unlimited (flow_control: none)",
    "credits": "switches have finite buffers and back-pressure (flow_control: credits)",
}


def flow_control_words(inputs: Inputs) -> str:
    """Return which flow control the points have and how it was chosen; nothing for engines that have one kind only."""
    network = inputs.resolved["network"]
    if inputs.resolved["simulate"]["engine"] != "fast" or inputs.projection is None:
        return ""
    stated = network.get("flow_control", "none")
    if stated != "auto":
        return f"As the network says, {_WORDS[stated]}."
    if inputs.flow_control is None:
        possible = network["contention"] and network["host"]["receive"] != "on-arrival"
        reason = "no trial was made" if possible else "this network cannot have credits"
        return f"flow_control: auto, and {reason}: {_WORDS['credits' if possible else 'none']}."
    text = f"Chosen by trials: {_WORDS[inputs.flow_control.flow_control]}. {_reason(inputs.flow_control)}"
    if inputs.flow_control.most_chunks != 64:
        text += f" Long messages are cut into {inputs.flow_control.most_chunks} chunks, because 64 gave another time."
    for warning in inputs.flow_control.warnings:
        text += f" Warning: {warning}."
    studies = inputs.flow_control_studies
    if studies is not None and studies.flow_control != inputs.flow_control.flow_control:
        text += (
            f" The variants of the studies have finite buffers ({studies.reason}); the experiment itself agrees with "
            "and without them, so that the two can be compared within that difference."
        )
    return text


def _reason(chosen: FlowControl) -> str:
    trials = chosen.trials
    if not trials:
        return f"{chosen.reason[:1].upper()}{chosen.reason[1:]}."
    largest = max(trials, key=lambda trial: trial.difference)
    played = count(chosen.iterations, "iteration")
    return (
        f"The first {played} of {largest.situation} differ by {percent(largest.difference)} between the two; up to 1 % "
        "the cheaper one is taken."
    )
