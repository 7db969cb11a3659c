"""The reference page of study files: every key of the YAML files that commands read, from the models that declare them.

A command ``NAME`` that reads such a file has a function ``NAME_file`` in its module. It returns the model of each
section; the section "" is the file itself.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import entry_points

from pydantic import BaseModel

from manynode.config.experiment import Experiment
from manynode.config.key_tables import key_tables
from manynode.config.sections import sections_in

StudyFile = Callable[[], Mapping[str, type[BaseModel]]]


def page() -> str:
    """Return the reference page of study files (Markdown)."""
    lines = [
        "# Keys of studies",
        "",
        "Generated from the declarations of the studies by `manynode config generate`. Unknown keys are errors.",
        "Quantities are texts with units. Sections of an experiment, such as `network` and `simulate`, are on the",
        "page [Keys](experiment.md).",
    ]
    shared: set[type[BaseModel]] = {Experiment, *_sections_of(Experiment)}
    for command, sections in _files().items():
        lines += ["", f"## manynode {command}"]
        shown = set(shared)
        for place, model in sections.items():
            lines += key_tables(model, "###", place, shown)
    return "\n".join(lines) + "\n"


def _files() -> dict[str, Mapping[str, type[BaseModel]]]:
    """Return the sections of each command's study file, by command."""
    found = {}
    for entry in sorted(entry_points(group="manynode.commands"), key=lambda item: item.name):
        described: StudyFile | None = getattr(importlib.import_module(entry.module), f"{entry.attr}_file", None)
        if described is not None:
            found[entry.name] = described()
    return found


def _sections_of(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """Yield every section within ``model``, at any depth."""
    for field in model.model_fields.values():
        for _, inner in sections_in(field.annotation):
            yield inner
            yield from _sections_of(inner)
