"""The steps of an experiment's workflow: the sections that each depends on, and the files that each makes.

In: a resolved experiment. Out: digests. A rule of the workflow carries the digest of its step: a change of the
experiment repeats only the affected steps. A file carries the digest of its step and of the steps before it, by which
a reader recognises a file of another experiment (:mod:`manynode.artefacts`).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from manynode import artefacts
from manynode.artefacts import Identity
from manynode.config.engine_section import engine_sections, unread_keys
from manynode.config.experiment import NodesimSection, most_complete
from manynode.config.resolved import Resolved, digest_of, read_resolved, resolve_json
from manynode.config.simulate import SimulateSection
from manynode.config.studies import LIMITS, SHARED, studies, variants_of
from manynode.config.study_section import section_keys
from manynode.config.variants import Variant, confirmed, with_confirming_engine

_MEASURED = ("application", "ranks_per_node")
_STUDIES = studies()
# The sections whose change makes a step's results stale.
SECTIONS = {
    "profile": (*_MEASURED, "profile"),
    "classify": (*SHARED, "profile", "nodesim", "own_times"),
    "nodesim": (*_MEASURED, "machine", "nodesim"),
    "fit": (*SHARED, "machine", "nodesim", "own_times"),
    "judge": (*_MEASURED, "nodes"),
    "simulate": (*SHARED, "network", "simulate"),
    "draws": (*SHARED, "network", "simulate"),
    "flow-control": (*SHARED, "nodes", "techniques", "network", "simulate"),
    "flow-control-studies": (*SHARED, "nodes", "techniques", "network", "simulate", *section_keys()),
    "analyse": (*SHARED, "nodes", "techniques", "simulate"),
    "preflight": (*SHARED, "nodes", "network", "simulate"),
    "report": (),
    **{study.name: study.sections for study in _STUDIES},
}
# Keys of those sections that a step does not read.
_OF_THE_NETWORK = ("engine", "preflight", *engine_sections(SimulateSection))
_DRAWS = ("replicas", "confidence", "time_limit", "persistent", "tail", "profile_bootstrap")
UNREAD: dict[str, tuple[str, ...]] = {
    "profile": ("profile.noise_floor", "profile.max_classes", "profile.coverage"),
    # The fit's, not the simulated node's.
    "classify": ("nodesim.tail",),
    "nodesim": ("nodesim.tail",),
    "simulate": (*LIMITS, "simulate.confidence", "simulate.profile_bootstrap"),
    **dict.fromkeys(
        ("draws", "flow-control", "flow-control-studies"),
        (*LIMITS, *(f"simulate.{key}" for key in ("replicas", "confidence", "profile_bootstrap", "converge"))),
    ),
    "analyse": LIMITS,
    **{study.name: study.unread for study in _STUDIES},
    "preflight": tuple(f"simulate.{key}" for key in _DRAWS),
}
# The steps whose results a step works on.
_UPSTREAM = {
    "classify": ("profile",),
    "fit": ("classify", "nodesim"),
    "simulate": ("fit",),
    "draws": ("fit",),
    "flow-control": ("fit",),
    "flow-control-studies": ("flow-control",),
    "analyse": ("simulate",),
    **{study.name: study.after for study in _STUDIES},
}
# Steps that measure; `--measurements-from` takes their results over.
MEASURED = ("profile", "nodesim")

CONTROL = "-control"
"""Ends the mode of a control run: its ranks share nothing."""
_MODE = "(ext|no-ext)"
_POINT = r"[^/]+/nodes-\d+/(result\.json|(ranks|links|link_jobs|series|injection)\.parquet)"
ANALYSED = (
    *("projection", "makespans", "iterations", "breakdown", "interval_parts", "jobs", "links", "link_jobs", "series"),
)
"""Tables that the analysis of an experiment's points writes."""
_VARIANT, _CONFIRMED = "variant", "confirmed"
# Which step makes the file at a place below the results.
_FILES = tuple(
    (re.compile(pattern), step)
    for pattern, step in (
        (r"profile/nodes-\d+-rep-\d+/counters\.parquet", "profile"),
        (r"profile/(rank-classes\.json|counters\.parquet)", "classify"),
        (rf"nodesim/{_MODE}({CONTROL})?/node-\d+/segments\.parquet", "nodesim"),
        (rf"nodesim/((timing-profile|resamples|series)-{_MODE}\.json|{_MODE}/segments\.parquet)", "fit"),
        (r"nodesim/skeleton-verdicts\.json", "judge"),
        (r"simulate/preflight\.json", "preflight"),
        (rf"simulate/draws-{_MODE}\.json", "draws"),
        (r"simulate/flow-control\.json", "flow-control"),
        (r"simulate/flow-control-studies\.json", "flow-control-studies"),
        (rf"simulate/{_POINT}", "simulate"),
        (r"resamples/[^/]+/nodes-\d+\.parquet", "simulate"),
        (rf"(?P<study>{'|'.join(study.name for study in _STUDIES)})/(?P<variant>.+)/{_POINT}", _VARIANT),
        (rf"(?P<study>confirm)/(?P<variant>.+)/{_POINT}", _CONFIRMED),
        (rf"({'|'.join(ANALYSED)})\.parquet|provenance\.json", "analyse"),
        *((re.escape(file.name), study.name) for study in _STUDIES for file in study.files),
        (r"report\.html", "report"),
    )
)


class Steps:
    """The digests of one resolved experiment, computed on demand."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        """``content`` is the JSON of a :class:`Resolved`, as ``experiment.json`` has it: digests are of that text."""
        self._content = content
        self._known: dict[str, Identity | None] = {}

    @functools.cached_property
    def _experiment(self) -> Resolved:
        return resolve_json(self._content, "the experiment")

    @functools.cached_property
    def variants(self) -> dict[str, Variant]:
        """The variants of all studies, by ``STUDY/NAME``; those with another engine by ``confirm/NAME``."""
        again = {f"confirm/{variant.name}": variant for variant in confirmed(self._experiment)}
        return {**variants_of(self._experiment), **again}

    @functools.cache  # noqa: B019 - lives as long as a step
    def digest(self, step: str) -> str:
        """Return the digest of the sections that ``step`` depends on."""
        sections, unread = SECTIONS[step], (*UNREAD.get(step, ()), *self._unread_by_engines())
        simulate = self._content.get("simulate", {})
        if step == "preflight" and not simulate.get("preflight", {}).get("vary"):
            # The probes of the network itself look at nothing else; points would be repeated with them.
            sections = ("network", "simulate")
            unread = tuple(f"simulate.{key}" for key in simulate if key not in _OF_THE_NETWORK)
            unread = (*unread, *self._unread_by_engines())
        content = self._content
        if step == "flow-control":
            # Only the largest point is tried: smaller ones that are added do not repeat the trials.
            content = {
                **content,
                "nodes": [max(content["nodes"])],
                "techniques": [most_complete(content["techniques"])],
            }
        return digest_of(content, *sections, without=unread)

    @functools.cache  # noqa: B019
    def variant_digest(self, name: str) -> str:
        """Return the digest of the inputs of the simulation of the variant ``STUDY/NAME``."""
        changed = self.variants[name].applied(self._experiment)
        return changed.digest(*SECTIONS["simulate"], without=(*UNREAD["simulate"], *self._unread_by_engines()))

    @functools.cache  # noqa: B019
    def confirmed_digest(self, name: str) -> str:
        """Return the digest of the inputs of the second simulation, with another engine, of ``confirm/NAME``."""
        changed = with_confirming_engine(self.variants[name].applied(self._experiment))
        content = changed.content
        unread = (*UNREAD["simulate"], *_unread_by_engines(content))
        return digest_of(content, *SECTIONS["simulate"], without=unread)

    def identity_of(self, place: str) -> Identity | None:
        """Return the identity of the file at ``place`` below the results, or None if no step makes such a file."""
        if place not in self._known:
            self._known[place] = self._identity_of(place)
        return self._known[place]

    def _identity_of(self, place: str) -> Identity | None:
        for pattern, step in _FILES:
            if not (match := pattern.fullmatch(place)):
                continue
            if step not in (_VARIANT, _CONFIRMED):
                return Identity(self._whole_digest(step), step in MEASURED)
            variant = f"{match['study']}/{match['variant']}"
            if variant not in self.variants:
                return None
            own = self.variant_digest if step == _VARIANT else self.confirmed_digest
            return Identity(_joined(own(variant), self._whole_digest("fit")))
        return None

    @functools.cache  # noqa: B019
    def _whole_digest(self, step: str) -> str:
        """Return the digest of all inputs of the files of ``step``, including those of earlier steps."""
        before = [self._whole_digest(name) for name in _UPSTREAM.get(step, ())]
        return _joined(self.digest(step), *before) if before else self.digest(step)

    def _unread_by_engines(self) -> tuple[str, ...]:
        """Return the keys of the engines' sections that do not affect results."""
        return _unread_by_engines(self._content)


def _unread_by_engines(content: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        *unread_keys("simulate", SimulateSection, content.get("simulate", {})),
        *unread_keys("nodesim", NodesimSection, content.get("nodesim", {})),
    )


def _joined(*digests: str) -> str:
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()[:16]


@contextlib.contextmanager
def step_of(experiment: Path) -> Iterator[Resolved]:
    """Yield the resolved experiment at ``experiment``, with the files of its results folder bound."""
    resolved = read_resolved(experiment)
    with artefacts.bound(experiment.parent, Steps(resolved.content).identity_of):
        yield resolved
