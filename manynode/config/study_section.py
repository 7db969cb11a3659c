"""The registry of studies, and what a study adds to the experiment's file: a section with a name of its own.

A study is a folder ``PHASE/studies/NAME`` with a module ``study.py`` that registers a
:class:`manynode.config.studies.Study`. The phases are found by their entry points, because this package imports none.

``study.py`` is imported together with the experiment's model: at its top it imports neither that model
(:mod:`manynode.config.experiment`) nor anything that takes long. Its functions import what they need.
"""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, ClassVar

from manynode.config.quantities import Section
from manynode.phase_commands import GROUP
from manynode.registry import Registry


class StudySection:
    """A study's section of the experiment's file; without the section there is no study."""

    key: ClassVar[str]
    """Key of the section."""
    section: ClassVar[type[Section] | None] = None
    """Model of the section; None for a study that another study's section asks for."""
    description: ClassVar[str] = ""
    """Description of the key."""
    rank: ClassVar[int] = 1000
    """Order of the sections in the file, and of the studies; equal ones are in the order of their names."""
    in_projection_digest: ClassVar[bool] = False
    """Whether the digest of the projection counts the section. Kept so that older results are recognised."""

    @property
    def folder(self) -> Path:
        """Return the folder of the study."""
        return Path(inspect.getfile(type(self))).parent

    def fits(self, section: Any, experiment: Any) -> None:
        """Raise :class:`ValueError` when the section contradicts the rest of the experiment's model."""


def study_folders() -> Iterator[str]:
    """Yield the packages that hold studies: ``studies`` of every phase that has one."""
    phases = {entry.module.partition(".")[0] for entry in entry_points(group=GROUP)}
    for phase in sorted(phases):
        package = f"{phase}.studies"
        if importlib.util.find_spec(package) is not None:
            yield package


registered: Registry[StudySection] = Registry("study", study_folders, inside="study")


def study_sections() -> list[StudySection]:
    """Return every study in the order of the sections."""
    return sorted(map(registered.get, registered.names()), key=lambda study: study.rank)


def section_keys() -> list[str]:
    """Return the keys of all studies' sections, each once."""
    return list(dict.fromkeys(study.key for study in study_sections()))
