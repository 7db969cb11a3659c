"""What leaves the exploration: the experiment of a question, a map as a sensitivity study, an answer as a page.

In: questions and answers. Out: text. A file gives the same numbers on the command line: it is the experiment that was
simulated, and ``manynode run`` finds the same measured files by ``--measurements-from``.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from manynode import __version__
from manynode.config import yaml_text
from manynode.config.loader import resolve
from manynode.errors import UsageError
from manynode.report.page import fill
from phase3_sst.explore import export_figures
from phase3_sst.explore.allowed_changes import MACHINE, NETWORK
from phase3_sst.explore.answer import Answer
from phase3_sst.explore.base import Asked, Base
from phase3_sst.explore.question import Question

# Of each axis its keys and their values as written.
Axes = Sequence[tuple[tuple[str, ...], Sequence[Any]]]
_WIDTH = 110
_TEMPLATE = Path(__file__).resolve().parent / "answer.html.j2"


def experiment(asked: Asked) -> str:
    """Return the experiment of a question as YAML."""
    words = [
        f"Made by manynode explore {__version__} from {asked.measured.name}: {asked.question.canonical()}",
        f"manynode run {asked.resolved.name}.yaml --measurements-from {asked.measured}",
    ]
    if asked.resolved.own_times is not None:
        words[1] = f"manynode run {asked.resolved.name}.yaml"
    return _yaml(words, dict(asked.content))


def study(base: Base, question: Question, axes: Axes, answers: Sequence[Answer]) -> str:
    """Return a grid of questions as an experiment with a sensitivity study; keys of one axis take the same value.

    ``answers`` are the finished ones of the grid. A study chooses one flow control for all of its points: the file
    states theirs, and a grid whose points differ in it is a :class:`UsageError`.
    """
    _check_axes(question, axes)
    asked = base.asked(question.changed(losses=False))
    content = copy.deepcopy(dict(asked.content))
    nodes = next((list(values) for keys, values in axes if keys == ("nodes",)), [question.nodes])
    content["nodes"] = sorted({*content["nodes"], *nodes})
    parameters: dict[str, Any] = {}
    for keys, values in axes:
        if keys != ("nodes",):
            parameters[_parameter(keys[0], parameters)] = {"keys": list(keys), "values": list(values)}
    if parameters:
        content["sensitivity"] = {"plan": "grid", "nodes": sorted(nodes), "parameters": parameters}
    content["name"] = f"{base.name[:60]}-map-{asked.digest[:8]}"
    _state_flow_control(content, answers, bool(parameters))
    resolve(content, where="the study", base=Path("/"))
    words = [
        f"Made by manynode explore {__version__}: a map of {' and '.join(key for keys, _ in axes for key in keys)}",
        f"manynode run {content['name']}.yaml --measurements-from {asked.measured}",
    ]
    return _yaml(words, content)


def page(base: Base, own: Answer, other: Answer | None) -> str:
    """Return an answer as one offline HTML page, beside another one."""
    answers = {"this question": own} | ({"compared with": other} if other is not None else {})
    rows = [
        {
            "name": name,
            "words": question_words(one.question),
            "nodes": one.nodes,
            "technique": one.technique,
            "time_s": one.time_s,
            "low_s": one.low_s,
            "high_s": one.high_s,
            "efficiency": one.efficiency,
            "replicas": one.replicas,
            "band": "" if one.band is None else one.band.words,
            "digest": one.digest,
            "experiment": one.experiment,
        }
        for name, one in answers.items()
    ]
    frames = {name: pd.DataFrame(one.breakdown) for name, one in answers.items()}
    losses = {name: pd.DataFrame(one.losses) for name, one in answers.items() if one.losses}
    links = {name: pd.DataFrame(one.links) for name, one in answers.items() if one.links}
    paired = None if other is None else own.paired(other)
    figures = [export_figures.breakdown(frames)]
    figures += [export_figures.losses(losses)] if losses else []
    figures += [export_figures.links(links)] if links else []
    return fill(
        str(_TEMPLATE),
        kind="manynode explore",
        title=base.resolved.title or base.name,
        subtitle=question_words(own.question),
        answers=rows,
        paired=paired,
        verdict="" if other is None or paired is None else paired.words(own.models_error(other)),
        sentences=own.sentences,
        warnings=[*own.warnings, *(other.warnings if other is not None else [])],
        figures=figures,
        tables=[{"file": file, "checksum": checksum} for file, checksum in own.tables.items()],
    )


def question_words(question: Question) -> str:
    """Return a question in words."""
    changes = ", ".join(f"{key}: {value}" for key, value in question.changes.items())
    return f"{question.nodes} nodes, {question.technique}" + (f"; {changes}" if changes else "; nothing changed")


def _check_axes(question: Question, axes: Axes) -> None:
    keys = [key for of_axis, _ in axes for key in of_axis]
    if not keys or len(set(keys)) != len(keys):
        raise UsageError("a map needs axes of different keys", found=", ".join(keys) or "none")
    if MACHINE in keys or "technique" in keys:
        raise UsageError(
            "a sensitivity study cannot vary this key",
            where=MACHINE if MACHINE in keys else "technique",
            remedy="export the experiment of each point",
        )
    inside = [key for key in question.changes if key.startswith(f"{NETWORK}.")]
    if NETWORK in keys and inside:
        raise UsageError(
            "a study replaces the whole network, and with it a change inside it",
            where=NETWORK,
            found=", ".join(inside),
            remedy="export the experiment of each point, or leave these changes out",
        )


def _state_flow_control(content: dict[str, Any], answers: Sequence[Answer], varied: bool) -> None:
    choices = {
        (one.flow_control["flow_control"], one.flow_control["most_chunks"]) for one in answers if one.flow_control
    }
    if len(choices) > 1 and varied:
        raise UsageError(
            "the points of the map have several flow controls, and a study has one",
            where="network.flow_control",
            found=", ".join(f"{name} ({chunks} chunks)" for name, chunks in sorted(choices)),
            remedy="set network.flow_control in the question and fill the map again, or export single experiments",
        )
    for name, chunks in choices:
        content["network"] = {**content["network"], "flow_control": name}
        content["network"].setdefault("most_chunks", chunks)


def _parameter(key: str, taken: dict[str, Any]) -> str:
    """Return a name of a study's parameter for a key."""
    name = " ".join(key.split(".")[-2:]).replace("_", " ")[:36]
    return name if name not in taken else f"{name} {len(taken)}"


def _yaml(words: Sequence[str], content: dict[str, Any]) -> str:
    head = "".join(f"# {' '.join(line.split())}\n" for line in words)
    return head + yaml_text.dump(content, width=_WIDTH, allow_unicode=True)
