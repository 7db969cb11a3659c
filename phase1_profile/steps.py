"""The steps of phase 1 that the command line and the workflow call: files in, files out.

``profile_counters`` turns the files of one profiled job into a counter table. ``classify`` turns the counter tables of
one or several jobs into a rank-classes file.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from manynode import rank_classes, tables
from manynode.errors import InputError, UsageError
from phase1_profile import counters
from phase1_profile.classes import RankClassifier
from phase1_profile.features import FEATURES, FeatureTable, feature_table, logarithms
from phase1_profile.nodes import representative_nodes
from phase1_profile.noise import Noise, estimate_noise, standardise
from phase1_profile.parameters import ClassifyParameters
from phase1_profile.sources.interface import SOURCES
from phase1_profile.stability import ScaleClasses, assignment_rule, judge, matched


def profile_counters(
    directory: Path,
    output: Path,
    *,
    source: str,
    nodes: int,
    repetition: int = 0,
    ranks_per_node: int | None = None,
    reason: str = "",
    provenance: Mapping[str, Any] | None = None,
) -> None:
    """Read the files of one job with ``nodes`` nodes in ``directory`` from ``source`` and write its counter table.

    ``ranks_per_node`` numbers the nodes by rank where hosts do not tell them apart (virtual nodes). ``reason`` says why
    this source was chosen. Unreadable or incomplete output is an :class:`~manynode.errors.InputError`.
    """
    rows = SOURCES.get(source)().read(directory, ranks_per_node)
    table = counters.job_table(rows, nodes=nodes, repetition=repetition)
    counters.write(output, table, {**(provenance or {}), "source": source, "source_reason": reason})


def classify(
    counter_tables: Sequence[Path],
    output: Path,
    *,
    parameters: ClassifyParameters | None = None,
    reference_nodes: int | None = None,
    phases_of_rank: Mapping[int, Collection[str]] | None = None,
    seed: int = 0,
    provenance: Mapping[str, Any] | None = None,
) -> None:
    """Group the ranks of the jobs in ``counter_tables`` into classes and write the rank-classes file ``output``.

    The classes are those of the job with ``reference_nodes`` nodes (default: the largest); the others say whether they
    are stable. Its representative nodes execute all of ``phases_of_rank``. Nothing here is random; ``seed`` is recorded
    as part of the experiment.
    """
    settings = parameters or ClassifyParameters()
    told = [tables.read_provenance(path, counters.SCHEMA) for path in counter_tables if path.is_file()]
    sources = sorted({str(entry.get("source", "unknown")) for entry in told})
    if len(sources) > 1:
        raise InputError(
            "counters of different sources cannot be classified together",
            where=", ".join(str(path) for path in counter_tables),
            found=", ".join(sources),
            remedy="name one source that all hosts have (profile: source) and run again",
        )
    content = classify_table(counters.read(counter_tables), settings, reference_nodes, phases_of_rank)
    content["source"] = sources[0] if sources else "unknown"
    if reasons := sorted({str(entry["source_reason"]) for entry in told if entry.get("source_reason")}):
        content["source_reason"] = "; ".join(reasons)
    content = {"source": content.pop("source"), **content, "seed": seed}
    if provenance:
        content["provenance"] = dict(provenance)
    rank_classes.check_rank_classes(content, str(output))
    tables.write_json(output, rank_classes.SCHEMA, content)


def classify_table(
    table: Any,
    parameters: ClassifyParameters,
    reference_nodes: int | None = None,
    phases_of_rank: Mapping[int, Collection[str]] | None = None,
) -> dict[str, Any]:
    """Return the content of a rank-classes file for a counter table of one or several jobs.

    ``phases_of_rank`` has the phases that each rank of the job with ``reference_nodes`` executes, where they are known.
    """
    features = feature_table(table, parameters.features)
    logs = logarithms(features)
    noise = estimate_noise(logs, features.names, parameters)
    reference_size = reference_nodes if reference_nodes is not None else max(logs)
    if reference_size not in logs:
        raise UsageError(
            "the reference job was not profiled",
            where="reference_nodes",
            found=f"{reference_size} nodes",
            allowed=", ".join(map(str, sorted(logs))),
            remedy="profile that node count too, or choose one of those",
        )
    fits = {nodes: _fit(values, noise, features.names, parameters) for nodes, values in sorted(logs.items())}
    found = {
        nodes: ScaleClasses(
            nodes,
            tuple(str(label) for label in fit.labels_),
            {str(label): centroid for label, centroid in enumerate(fit.centroids_)},
        )
        for nodes, fit in fits.items()
    }
    reference = found[reference_size]
    scales = [scale if scale is reference else matched(scale, reference) for scale in found.values()]
    covers = {
        scale.nodes: representative_nodes(
            dict(enumerate(scale.rank_class)),
            _placement(features, scale.nodes),
            parameters.coverage,
            phases_of_rank if scale is reference else None,
        )
        for scale in scales
    }
    cover = covers[reference_size]
    scores = {str(count): float(value) for count, value in fits[reference_size].scores_.items()}
    return {
        "features": list(features.names),
        "features_left_out": features.left_out,
        "noise": noise.as_dict(),
        "parameters": parameters.as_dict(),
        "nodes_profiled": sorted(logs),
        "reference_nodes": reference_size,
        "classes": _describe(features, reference, reference_size),
        "scores": scores,
        "rank_class": {str(rank): name for rank, name in enumerate(reference.rank_class)},
        "rank_class_at": {str(scale.nodes): list(scale.rank_class) for scale in scales},
        "representative_nodes": list(cover.nodes),
        "representative_nodes_at": {str(nodes): list(other.nodes) for nodes, other in covers.items()},
        "coverage": cover.coverage,
        "classes_not_covered": list(cover.missing),
        "stability": judge(scales, parameters.share_tolerance),
        "assignment": assignment_rule(scales, reference),
    }


def _placement(features: FeatureTable, nodes: int) -> dict[int, int]:
    """Return the node of every rank of the job with ``nodes`` nodes; its repetitions agree (features.logarithms)."""
    job = features.frame[features.frame["nodes"] == nodes]
    return dict(zip(job["rank"].tolist(), job["node"].tolist(), strict=True))


def _fit(values: np.ndarray, noise: Noise, names: Sequence[str], parameters: ClassifyParameters) -> RankClassifier:
    classifier = RankClassifier(parameters.criterion, parameters.max_classes, parameters.separation)
    return classifier.fit(standardise(values, noise, names))


def _describe(features: FeatureTable, reference: ScaleClasses, nodes: int) -> list[dict[str, Any]]:
    """Return the classes with shares, ranks, mean feature values, and words that compare them with class 0."""
    job = features.frame[features.frame["nodes"] == nodes]
    means = job.groupby("rank")[list(features.names)].mean()
    centroids = {
        name: {feature: float(means.loc[reference.ranks_of(name), feature].mean()) for feature in features.names}
        for name in sorted(reference.centroids, key=int)
    }
    return [
        {
            "name": name,
            "share": reference.share(name),
            "ranks": reference.ranks_of(name),
            "centroid": centroid,
            "description": _words(name, centroid, centroids["0"], len(centroids)),
        }
        for name, centroid in centroids.items()
    ]


def _words(name: str, centroid: Mapping[str, float], base: Mapping[str, float], count: int) -> str:
    if name == "0":
        return "all ranks" if count == 1 else "the largest class"
    parts = []
    for feature, value in centroid.items():
        if base[feature] > 0:
            change = value / base[feature] - 1
            size = f"{abs(change):.1%}" if abs(change) < 10 else f"{value / base[feature]:.3g} times"
            words = FEATURES[feature].words
            if abs(change) >= 0.0005:
                parts.append(
                    f"{size} {'more' if change > 0 else 'less'} {words}" if change < 10 else f"{size} the {words}"
                )
    return (", ".join(parts) or "differs in a feature that class 0 does not have") + " than class 0"
