"""All studies of an experiment: the points that each adds to the workflow, and its variants by name.

In: a resolved experiment. Out: the studies' variants and points; results of a point lie in
``STUDY/VARIANT/TECHNIQUE/nodes-NODES``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from manynode.config.counterfactuals import counterfactuals, loss_nodes, loss_techniques, technique_of
from manynode.config.variants import Variant, study_nodes, study_techniques, variants
from manynode.errors import UsageError, nearest

SENSITIVITY, SCALING = "sensitivity", "scaling"
STUDIES = (SENSITIVITY, SCALING)
# Sections that analyse the projection without being part of it.
_QUESTIONS = (*STUDIES, "validation")


class StudyPoint(NamedTuple):
    """A simulation that a study adds to those of the experiment."""

    study: str
    variant: str
    technique: str
    nodes: int

    @property
    def folder(self) -> str:
        """Return the folder of its results, relative to the experiment's."""
        return f"{self.study}/{self.variant}/{self.technique}/nodes-{self.nodes}"


def without_studies(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return an experiment without its studies, as the base of another study."""
    return {key: value for key, value in content.items() if key not in _QUESTIONS}


def study_variants(content: Mapping[str, Any]) -> dict[str, dict[str, Variant]]:
    """Return study -> name -> variant; empty for a study that the experiment does not have."""
    return {
        SENSITIVITY: {variant.name: variant for variant in variants(content)},
        SCALING: {variant.name: variant for variant in counterfactuals(content)},
    }


def study_points(content: Mapping[str, Any], study: str) -> list[StudyPoint]:
    """Return the points of one study, in its order."""
    if not content.get(study):
        return []
    names = study_variants(content)[study]
    if study == SENSITIVITY:
        techniques, nodes = study_techniques(content), study_nodes(content)
        return [StudyPoint(study, name, each, count) for name in names for each in techniques for count in nodes]
    return [
        StudyPoint(study, name, technique_of(name, each), count)
        for name in names
        for each in loss_techniques(content)
        for count in loss_nodes(content)
    ]


def variant_of(content: Mapping[str, Any], name: str) -> Variant:
    """Return the variant ``name`` of any study; an unknown one is a :class:`UsageError`."""
    known = {name: variant for found in study_variants(content).values() for name, variant in found.items()}
    if name not in known:
        near = nearest(name, known)
        raise UsageError(
            "the experiment's studies have no such variant",
            where="--variant",
            found=name,
            allowed=f"{len(known)} names, folders of {' or '.join(STUDIES)}" if known else "none: there is no study",
            remedy=f"did you mean {near!r}?" if near else None,
        )
    return known[name]
