"""Where the communication comes from, if it is not a skeleton written by hand, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from manynode.config.application import DERIVED, REPLAY
from manynode.report.documents import SkeletonVerdict
from manynode.report.load import Inputs
from manynode.report.wording import count, listing

# How phase2_nodesim/derive/judging/load.py begins to say how much is drawn.
_DRAWN = "sizes are drawn in"

# Verdict -> what it means; the words are those of phase2_nodesim/derive/judging/verdict.py.
_MEANING = {
    "proved": "a recorded run, which the skeleton equals call by call",
    "agreed": "all rules that fit the recordings say the same",
    "assumed": "the same, on the word of what was stated by hand",
    "approximate": "a recorded run stands for the job, with errors measured at jobs that were held out",
    "refused": "the recordings do not say what happens",
}


def communication(inputs: Inputs) -> str:
    """Return a sentence on a recorded run or a derived skeleton; an empty text for others."""
    name = inputs.experiment.application.name
    if name == REPLAY:
        return "The calls are those of one recorded run, replayed. Receives from any source get what they got there."
    if name != DERIVED or inputs.verdicts is None:
        return ""
    text = f"The skeleton was derived from recorded runs ({Path(inputs.verdicts.skeleton).name})."
    for level, meaning in _MEANING.items():
        nodes = [one.nodes for one in inputs.verdicts.verdicts if one.level == level]
        if nodes:
            where = listing([*map(str, nodes[:-1]), count(nodes[-1], "node")])
            text += f" {level.capitalize()} at {where}: {meaning}."
    return text + "".join(f" {reason}." for reason in _reasons(inputs.verdicts.verdicts))


def _reasons(verdicts: Sequence[SkeletonVerdict]) -> list[str]:
    """Return each reason once; of shares of drawn sizes, which differ at each point, those of the largest job."""
    same = dict.fromkeys(reason for one in verdicts for reason in one.reasons if _DRAWN not in reason)
    of_sizes = [(one.nodes, reason) for one in verdicts for reason in one.reasons if _DRAWN in reason]
    nodes, reason = max(of_sizes, default=(0, ""))
    return [*same, *([f"At {count(nodes, 'node')}, {reason}"] if reason else [])]
