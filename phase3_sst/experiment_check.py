"""Phase 3's check of an experiment before anything runs; an entry point of ``manynode.checks``.

Describes every point of the experiment and its studies in its engine's input format, without the times that phases 1
and 2 still have to measure. The engine then checks whether it can simulate the point.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from manynode.config.resolved import Resolved
from manynode.config.simulate import SimulateSection
from manynode.config.studies import StudyPoint, studies
from manynode.config.variants import confirmed, study_nodes, with_confirming_engine
from manynode.errors import EngineMissingError, UsageError
from phase3_sst.checks.sweep_reaction import check_varied
from phase3_sst.point.contract import NetworkEngine, Point, engine_of, engines_that
from phase3_sst.point.point_experiment import PointExperiment
from phase3_sst.point.run_file import run_description
from phase3_sst.point.slow_node import check_slow_node
from phase3_sst.studies.validation import collectives


def check(resolved: Resolved) -> None:
    """Check every point with its engine, including a study's points that another engine confirms."""
    engine = _engine(resolved.simulate)
    _check_injection(resolved.simulate, engine)
    collectives.check(resolved)
    runs: dict[str, dict[str, Any]] = {}
    # Without a skeleton, only measured collectives are simulated.
    for variant, nodes, described in _points(resolved) if resolved.application.name is not None else ():
        point = Point(described, nodes, resolved.techniques[0], None, (), seed=0, variant=variant)
        check_slow_node(described.simulate.slow_node, nodes)
        runs[f"{nodes} nodes" if variant is None else f"{nodes} nodes, {variant}"] = run_description(point, [0])
    if resolved.validation is not None:
        runs |= collectives.distinct(resolved, resolved.validation.collectives)
    if not runs:
        return
    for key in resolved.simulate.preflight.vary:
        check_varied(key)
    lacking = None
    try:
        engine.check(runs)
    except EngineMissingError as error:
        lacking = error
    except UsageError as error:
        raise collectives.explain(error) from None
    if resolved.application.name is not None:
        _check_confirming(resolved)
    if lacking is not None:
        raise lacking


def _engine(simulate: SimulateSection) -> NetworkEngine:
    try:
        return engine_of(simulate)
    except UsageError as error:
        error.where = "simulate: engine"
        raise


def _check_injection(simulate: SimulateSection, engine: NetworkEngine) -> None:
    """Refuse injection control with an engine that has none."""
    if engine.capabilities.controls_injection:
        return
    for name, control in simulate.injections().items():
        raise UsageError(
            f"the engine {engine.name} has no injection control (job {name!r})",
            where="simulate: injection",
            found=control.kind,
            remedy=f"choose engine: {engines_that(lambda capabilities: capabilities.controls_injection)}",
        )


def _points(resolved: Resolved) -> Iterator[tuple[str | None, int, PointExperiment]]:
    """Yield variant (None: the experiment itself), nodes and resolved experiment of every point, of one technique."""
    own = PointExperiment.of(resolved)
    for nodes in resolved.nodes:
        yield None, nodes, own
    for study in studies():
        by_variant: dict[str, list[StudyPoint]] = {}
        for point in study.points(resolved):
            by_variant.setdefault(point.variant.name, []).append(point)
        for name, points in by_variant.items():
            varied = PointExperiment.of(points[0].variant.applied(resolved))
            for nodes in sorted({point.nodes for point in points}):
                yield name, nodes, varied


def _check_confirming(resolved: Resolved) -> None:
    """Check with the confirming engine of a study; if it is missing, the study runs without it."""
    runs: dict[str, dict[str, Any]] = {}
    engine = None
    for variant in confirmed(resolved):
        varied = PointExperiment.of(with_confirming_engine(variant.applied(resolved)))
        engine = engine_of(varied.simulate)
        for nodes in study_nodes(resolved):
            point = Point(varied, nodes, resolved.techniques[0], None, (), seed=0, variant=variant.name)
            runs[f"{nodes} nodes, {variant.name}, sensitivity: confirm"] = run_description(point, [0])
    if engine is not None:
        with contextlib.suppress(EngineMissingError):
            engine.check(runs)
