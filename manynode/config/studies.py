"""The contract of a study of an experiment, and all studies together.

A study asks many points of one experiment. It is a folder ``studies/NAME`` of a phase; its module ``study.py``
registers a :class:`Study`: a section of the experiment's file, :meth:`Study.points` and :meth:`Study.conclude`. The
rest follows from that: the reference of keys, a step of the workflow for each point and one for the conclusion, a
command, the estimate, the checks before a run, and the identity of every file. Beside it, ``page.py`` registers the
study's part of the report (:mod:`manynode.report.study_page`), and ``schemas.yaml`` describes its tables.

Results of a point lie in ``STUDY/VARIANT/TECHNIQUE/nodes-NODES``, below the experiment's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar, cast

from manynode import tables
from manynode.config.study_section import StudySection, registered, section_keys, study_sections
from manynode.config.variants import Variant
from manynode.errors import UsageError, nearest

if TYPE_CHECKING:
    import pandas as pd

    from manynode.config.resolved import Resolved

SHARED = ("application", "ranks_per_node", "seed")
LIMITS = ("simulate.preflight", "simulate.time_limit")
"""Keys that stop a simulation and change no result."""


class StudyPoint(NamedTuple):
    """A simulation that a study adds to those of the experiment: the experiment with the changes of ``variant``."""

    study: str
    variant: Variant
    technique: str
    nodes: int

    @property
    def folder(self) -> str:
        """Return the folder of its results, relative to the experiment's."""
        return f"{self.study}/{self.variant.name}/{self.technique}/nodes-{self.nodes}"


@dataclass(frozen=True)
class StudyFile:
    """A file of a study below the results: a table, or a document (``.json``).

    ``columns`` are those that the report needs; a table without them is not read for it.
    """

    name: str
    schema: str
    columns: Sequence[str] = ()

    @property
    def stem(self) -> str:
        """Return the name without its ending."""
        return Path(self.name).stem


class Study(StudySection, ABC):
    """A study; one stateless object for all experiments. ``experiment`` is a resolved one."""

    name: ClassVar[str]
    """Name of the step and of the folder with the points; set by :func:`study`."""
    command: ClassVar[str]
    """Name of the command ``manynode simulate COMMAND`` that concludes; by default the study's."""
    rule: ClassVar[str]
    """Name of the workflow's rule that concludes; by default ``phase3_analyse_NAME``."""
    help: ClassVar[str]
    """What the command does, one sentence."""
    files: ClassVar[tuple[StudyFile, ...]]
    """The files that the study writes; the first is written last and stands for all of them."""
    reads: ClassVar[tuple[str, ...] | None] = None
    """Sections that the conclusion depends on; None: those of the projection, and the study's own."""
    unread: ClassVar[tuple[str, ...]] = (*LIMITS, "simulate.profile_bootstrap")
    """Keys of these sections that it does not read."""
    after: ClassVar[tuple[str, ...]] = ("simulate",)
    """Steps whose results it works on."""

    @property
    def sections(self) -> tuple[str, ...]:
        """Return the sections of the experiment that the conclusion depends on."""
        return self.reads or (*SHARED, "nodes", "techniques", "network", "simulate", self.key)

    def settings(self, experiment: Resolved) -> Any:
        """Return the section of the study, an object of the model :attr:`section`; None if the experiment lacks it."""
        return getattr(experiment, self.key)

    def asked(self, experiment: Resolved) -> bool:
        """Return whether the experiment asks for this study."""
        return self.settings(experiment) is not None

    def check(self, experiment: Resolved) -> None:
        """Raise :class:`UsageError` for a study that the experiment does not allow."""

    def points(self, experiment: Resolved) -> Sequence[StudyPoint]:
        """Return the points that the study adds, in its order; none if it only analyses those of the experiment."""
        return ()

    def own_points(self, experiment: Resolved) -> Sequence[tuple[str, int]]:
        """Return technique and nodes of the experiment's own points that the study analyses."""
        return ()

    def inputs(self, experiment: Resolved) -> list[str]:
        """Return the results that :meth:`conclude` reads, relative to the experiment's."""
        own = [f"simulate/{technique}/nodes-{nodes}/result.json" for technique, nodes in self.own_points(experiment)]
        return [*(f"{point.folder}/result.json" for point in self.points(experiment)), *own]

    def processes(self, experiment: Resolved) -> int:
        """Return how many simulations :meth:`conclude` can run side by side; 1 if it runs none."""
        return 1

    @abstractmethod
    def conclude(
        self, experiment: Resolved, results: Path, processes: int = 1
    ) -> Mapping[str, pd.DataFrame | dict[str, Any]]:
        """Return the study's files by name, from the results of the experiment in ``results``."""

    def said(self, results: Path) -> Sequence[str]:
        """Return what the terminal shows of the study's files in ``results`` at the end of a run; usually nothing."""
        return ()

    def write(self, found: Mapping[str, pd.DataFrame | dict[str, Any]], folder: Path) -> None:
        """Write the files of :meth:`conclude` to ``folder``, the first one last."""
        for file in reversed(self.files):
            content = found[file.name]
            if isinstance(content, dict):
                tables.write_json(folder / file.name, file.schema, content)
            else:
                tables.write_table(folder / file.name, file.schema, content)


S = TypeVar("S", bound=type[Study])


def study(name: str) -> Callable[[S], S]:
    """Return a decorator that registers a :class:`Study` under ``name``; what it does not set follows from the name."""

    def add(kind: S) -> S:
        kind.name = name
        for attribute, default in (("key", name), ("command", name), ("rule", f"phase3_analyse_{name}")):
            if not hasattr(kind, attribute):
                setattr(kind, attribute, default)
        registered.register(name)(kind())
        return kind

    return add


def studies() -> list[Study]:
    """Return every study, in the order of their ranks."""
    return cast(list[Study], study_sections())


def study_named(name: str) -> Study:
    """Return the study ``name``; an unknown one is a :class:`UsageError`."""
    return cast(Study, registered.get(name))


def without_studies(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return an experiment without its studies, as the base of another study."""
    keys = section_keys()
    return {key: value for key, value in content.items() if key not in keys}


def all_points(experiment: Resolved) -> list[StudyPoint]:
    """Return the points of all studies."""
    return [point for study in studies() for point in study.points(experiment)]


def variants_of(experiment: Resolved) -> dict[str, Variant]:
    """Return the variants of all studies by ``STUDY/NAME``."""
    return {f"{point.study}/{point.variant.name}": point.variant for point in all_points(experiment)}


def variant_of(experiment: Resolved, name: str) -> Variant:
    """Return the variant ``STUDY/NAME``, or ``NAME`` where one study has it; any other is a :class:`UsageError`."""
    known = variants_of(experiment)
    found = [variant for place, variant in known.items() if name in (place, variant.name)]
    if len(found) == 1:
        return found[0]
    near = nearest(name, [variant.name for variant in known.values()])
    folders = " or ".join(dict.fromkeys(place.partition("/")[0] for place in known))
    raise UsageError(
        "several studies have such a variant" if found else "the experiment's studies have no such variant",
        where="--variant",
        found=name,
        allowed=f"{len(known)} names, folders of {folders}" if known else "none: there is no study",
        remedy=f"did you mean {near!r}?" if near and not found else None,
    )
