"""The table of own compute times as a template: a row for each compute phase of an application, without its time.

The user fills in the column ``mean``; a row without it is refused when the table is read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from manynode.config.application_section import ApplicationSection
from manynode.config.resolved import checked, read_yaml
from manynode.config.skeleton_files import derived_application, phases_of, recorded_application
from manynode.errors import UsageError

_HEAD = """\
# Compute times of {name}. Fill in 'mean': the mean time of one execution, with its unit, such as 1.2 ms;
# 0 s for a phase that takes no time or does not occur. The other columns may stay empty:
# spread (standard deviation over mean, such as 0.02 or 2 %), between_ranks (share of the variance between ranks).
phase,mean,spread,between_ranks
"""


def template(given: str) -> str:
    """Return the table for an application's name, or for the application of an experiment's file (.yaml)."""
    name, phases = given, dict[str, str]()
    if given.endswith((".yaml", ".yml")):
        path = Path(given)
        content = read_yaml(path, "the experiment").get("application") or {}
        section = checked(ApplicationSection, content, f"{path}: application", "the application")
        base = path.resolve().parent
        filled: dict[str, Any] = {"name": section.name, "parameters": {}}
        if section.recorded is not None:
            filled |= recorded_application(section.recorded, base)
        if section.derived is not None:
            filled |= derived_application(section, base)
        if filled["name"] is not None:
            name, phases = str(section.name or Path(given).stem), phases_of(filled["name"], filled["parameters"])
    else:
        phases = phases_of(given, {})
    if not phases:
        raise UsageError(
            "the application has no compute phases that could have times",
            where=given,
            found="no skeleton that names them",
            allowed="an application of skeletons/, a derived skeleton or a recording",
        )
    rows = [f"{f'# {said}{chr(10)}' if said else ''}{_cell(phase)},,,\n" for phase, said in phases.items()]
    return _HEAD.format(name=name) + "".join(rows)


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"#') else text
