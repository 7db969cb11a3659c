"""The contract of a study's part of the report, and all parts together.

A study's folder (:mod:`manynode.config.studies`) has a module ``page.py`` that registers a function: the inputs of the
report -> :class:`StudyPage`, or None where the study has no results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from manynode.config.study_section import study_folders
from manynode.registry import Registry
from manynode.report.figure import Figure
from manynode.report.load import Inputs


@dataclass(frozen=True)
class StudyPage:
    """A section of the report: its heading, sentences, figures with their tables, and HTML of its own.

    ``place`` orders the sections. ``before`` and ``after`` are the paths of templates (jinja2) that are shown before
    and after the figures; they use ``values``.
    """

    title: str
    figures: Sequence[Figure]
    sentences: Sequence[str] = ()
    place: int = 1000
    before: str = ""
    after: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)


PageMaker = Callable[[Inputs], StudyPage | None]

pages: Registry[PageMaker] = Registry("part of the report", study_folders, inside="page")


def study_pages(inputs: Inputs) -> dict[str, StudyPage]:
    """Return the part of each study that has results, by the study's name, in the order of their places."""
    found = {name: pages.get(name)(inputs) for name in pages.names()}
    present = {name: page for name, page in found.items() if page is not None}
    return dict(sorted(present.items(), key=lambda item: item[1].place))
