"""Reads the result files of a finished question into an :class:`Answer`: the rows of its point, unrounded.

In: a question and the results that answer it, which may be those of a larger experiment. Every file is checked to be
whole and of that experiment when it is read.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pandas as pd

from manynode import seal
from manynode.errors import InputError
from manynode.provenance import code_digest
from manynode.report.answer import answer as in_words
from manynode.report.band import Band, band
from manynode.report.draws import other_computation
from manynode.report.load import Inputs, at_point, load, opened
from manynode.report.losses import loss_sentences
from manynode.report.waiting import oversubscribed
from phase3_sst.checks.line_rate import narrow_end
from phase3_sst.explore.answer import Answer, BandOfAnswer
from phase3_sst.explore.base import Asked
from phase3_sst.explore.store import ANSWERED, LOSSES, Finished
from phase3_sst.point.run_file import network_description, network_of


def read_answer(asked: Asked, finished: Finished) -> Answer:
    """Return the answer to a question from the results that answer it."""
    question, results = asked.question, finished.results
    technique, nodes = str(question.technique), question.nodes
    with opened(results):
        inputs = _of_point(load(results), technique, nodes)
        around = band(inputs)
        said = in_words(inputs)
        row = _rows(inputs.projection, technique, nodes)[0]
        makespans = _rows(inputs.makespans, technique, nodes)
        smallest = int(inputs.projection["nodes"].min())  # type: ignore[index]
        losses = _rows(inputs.losses, technique, nodes) if question.losses else None
    names = [f"{name}.parquet" for name in ANSWERED] + ([LOSSES] if question.losses else [])
    return Answer(
        digest=asked.digest,
        question=question,
        experiment=finished.resolved.name,
        results=str(results),
        nodes=nodes,
        ranks=int(row["ranks"]),
        technique=technique,
        seed=finished.resolved.seed,
        confidence=finished.resolved.simulate.confidence,
        replicas=int(row["replicas"]),
        time_s=float(row["time_s"]),
        low_s=float(row["low_s"]),
        high_s=float(row["high_s"]),
        iteration_s=float(row["iteration_s"]),
        efficiency=float(row["efficiency"]),
        smallest=smallest,
        makespans={int(entry["replica"]): float(entry["makespan_s"]) for entry in makespans},
        band=None if around is None else _band(around),
        breakdown=_without_key(_rows(inputs.breakdown, technique, nodes)),
        links=_without_key(_rows(inputs.links, technique, nodes)),
        losses=None if losses is None else _without_key(losses),
        flow_control=None if inputs.flow_control is None else inputs.flow_control.model_dump(mode="json"),
        relevant=asked.resolved.relevant_difference,
        warnings=[*_warnings(inputs, nodes), *_limits(asked)],
        sentences=[*(said.sentences if said is not None else []), *(loss_sentences(inputs) if question.losses else [])],
        tables={name: str(seal.checksum((results / name).read_bytes())) for name in names},
    )


def _of_point(inputs: Inputs, technique: str, nodes: int) -> Inputs:
    """Return the inputs as if the experiment had no other technique and no more nodes than the question."""
    projection = inputs.projection
    if projection is None:
        raise InputError("the results have no projection", where="projection.parquet", remedy="run them again")
    own = projection[(projection["technique"] == technique) & (projection["nodes"] <= nodes)]
    profiles = {mode: profile for mode, profile in inputs.profiles.items() if mode == _mode(technique)}
    segments = {mode: table for mode, table in inputs.segments.items() if mode == _mode(technique)}
    return replace(inputs, projection=own.reset_index(drop=True), profiles=profiles, segments=segments)


def _mode(technique: str) -> str:
    return "ext" if technique.startswith("ext") else "no-ext"


def _rows(frame: pd.DataFrame | None, technique: str, nodes: int) -> list[dict[str, Any]]:
    """Return the rows of a point as plain values; a number that is not finite is None."""
    if frame is None:
        return []
    return [
        {str(name): _plain(value) for name, value in row.items()}
        for row in at_point(frame, technique, nodes).to_dict("records")
    ]


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _without_key(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in ("technique", "nodes")} for row in rows]


def _band(around: Band) -> BandOfAnswer:
    parts = [
        {"name": part.name, "below": part.below, "above": part.above, "words": part.words(), "why": part.why}
        for part in around.parts
    ]
    return BandOfAnswer(around.low_s, around.high_s, around.headline(), parts, around.models)


def _limits(asked: Asked) -> list[str]:
    """Return which end of a node's connection limits it, where a question changes one of them."""
    if not any(key.startswith("network") for key in asked.question.changes):
        return []
    narrow = narrow_end(network_description(network_of(asked.resolved)))
    return [narrow] if narrow else []


def _warnings(inputs: Inputs, nodes: int) -> list[str]:
    """Return what a reader must know before the number: of the trials, the skeleton, the node's times, the code."""
    found = [*(inputs.flow_control.warnings if inputs.flow_control is not None else [])]
    for verdict in inputs.verdicts.verdicts if inputs.verdicts is not None else []:
        if verdict.nodes == nodes and verdict.reasons:
            found.append(f"the derived skeleton at {nodes} nodes: {'; '.join(verdict.reasons)}")
    found += [text for text in (other_computation(inputs.draws), oversubscribed(inputs)) if text]
    if inputs.provenance is not None and inputs.provenance.code not in ("", code_digest()):
        found.append("simulated by another version of manynode's code; run it again to see whether that matters")
    return found
