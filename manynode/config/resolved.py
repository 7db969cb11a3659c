"""The resolved experiment: what it is, its digests, how parts of it are read from YAML, included and checked.

In: a mapping as a YAML file has it, or a resolved JSON file. Out: checked models and :class:`Resolved`. A mistake is a
:class:`UsageError` with the key, the value found and the values allowed. For a misspelt key it suggests the nearest
known one. :mod:`manynode.config.loader` loads whole experiments.

Code reads the attributes of :class:`Resolved`. Its JSON exists at the borders only: files, digests, key paths.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, Field, SerializerFunctionWrapHandler, ValidationError, model_serializer

from manynode import input_file
from manynode.config import yaml_text
from manynode.config.application_section import ApplicationSection
from manynode.config.experiment import Experiment
from manynode.config.input_files import InputFile
from manynode.config.quantities import RESOLVED
from manynode.config.sections import as_written
from manynode.config.study_section import study_sections
from manynode.errors import UsageError, nearest
from manynode.paths import ROOT

RESOLVED_SCHEMA = "experiment/1"
OF_PAGES = ("title", "known_errors", "relevant_difference")
"""Keys that only studies' conclusions and pages read."""
M = TypeVar("M", bound=BaseModel)


class ResolvedApplication(ApplicationSection):
    """The application with every parameter of its skeleton, and absolute paths in ``command`` and ``guest``."""

    executable: str | None = Field(
        default=None, description="Mini-app program in the native build; None for an application without a skeleton"
    )
    inputs: list[InputFile] = Field(default_factory=list)  # type: ignore[assignment]

    @model_serializer(mode="wrap")
    def _without_nothing(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        content: dict[str, Any] = dump(self)
        for key in ("executable", "grid", "inputs", "input_values"):
            if not content.get(key):
                content.pop(key, None)
        return content


class Resolved(Experiment):
    """A checked experiment with everything filled in that its file leaves open; no part depends on the file's folder.

    Quantities are SI floats. Other jobs have all parameters of their skeletons, and paths are absolute.
    """

    application: ResolvedApplication

    @property
    def content(self) -> dict[str, Any]:
        """The experiment as JSON, for ``experiment.json`` and for digests; a new mapping each time."""
        return self.model_dump(mode="json")

    def digest(self, *sections: str, without: Collection[str] = ()) -> str:
        """Return a digest of the named sections (default: all).

        ``without`` names keys to leave out, such as ``simulate.preflight`` or ``simulate.sst.memory``.
        """
        return digest_of(self.content, *sections, without=without)

    def unprojected(self) -> str | None:
        """Return why there is no projection, or None if there is one."""
        if self.application.name is not None:
            return None
        return (
            "the experiment has no skeleton (application: name), which describes the program's communication. Phases 1 "
            "and 2 measure the program without it. docs/tutorial.md, section 5, shows how to write one"
        )

    def projection_digest(self) -> str:
        """Return the digest of everything that the projection depends on: all but :data:`OF_PAGES` and the studies."""
        studies = [study.key for study in study_sections() if not study.in_projection_digest]
        return self.digest(without=(*OF_PAGES, *studies))


def digest_of(content: Mapping[str, Any], *sections: str, without: Collection[str] = ()) -> str:
    """Return a digest of the named sections of a resolved experiment, as :meth:`Resolved.digest` does."""
    chosen = {key: value for key, value in content.items() if not sections or key in sections}
    for key in without:
        chosen = _without(chosen, key.split("."))
    return hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()[:16]


def _without(content: dict[str, Any], path: list[str]) -> dict[str, Any]:
    """Return a copy of nested mappings without the entry at ``path``."""
    first, *rest = path
    if not rest:
        return {key: value for key, value in content.items() if key != first}
    inner = content.get(first)
    # An optional section that is left out is None.
    return {**content, first: _without(inner, rest)} if isinstance(inner, dict) else content


def read_yaml(path: Path, what: str) -> dict[str, Any]:
    """Return the mapping in the YAML file ``path``; anything else is a :class:`UsageError`."""
    text = input_file.read_text(path, what, most_bytes=yaml_text.MOST_CHARACTERS, error=UsageError)
    try:
        content = yaml_text.parse(text)
    except ValueError as error:
        raise UsageError(
            f"{what} is not valid YAML", where=str(path), found=str(error), remedy="correct the file"
        ) from None
    if not isinstance(content, dict):
        raise UsageError(
            f"{what} is not a mapping",
            where=str(path),
            found=type(content).__name__,
            allowed="'key: value' lines; 'manynode config default' prints a commented example",
        )
    return content


def read_resolved(path: Path) -> Resolved:
    """Return the experiment of a resolved JSON that this version of manynode wrote."""
    from manynode.tables import read_json

    content = read_json(path, RESOLVED_SCHEMA)
    return resolve_json(content["experiment"], str(path))


def write_resolved(path: Path, resolved: Resolved) -> None:
    """Write ``experiment.json``, the input of the steps."""
    from manynode.tables import write_json

    digests = {"digest": resolved.digest(), "projection_digest": resolved.projection_digest()}
    write_json(path, RESOLVED_SCHEMA, {**digests, "experiment": resolved.content})


def resolve_json(content: Mapping[str, Any], where: str) -> Resolved:
    """Return the experiment of an already resolved mapping."""
    try:
        return Resolved.model_validate(content, context=RESOLVED)
    except ValidationError as error:
        raise validation_error(error, Experiment, where) from None


def included(key: str, name: str, folder: str, base: Path, where: str) -> dict[str, Any]:
    """Return the machine or network that an experiment names: a path ending in .yaml, or a name in configs/."""
    shipped = ROOT / "configs" / folder
    if name.endswith((".yaml", ".yml")):
        if (found := input_file.beside(base, name)) is not None:
            return read_yaml(found, f"the {key} file")
        raise UsageError(
            f"the {key} file does not exist", where=f"{where}: {key}", found=name, remedy="correct the path"
        )
    path = shipped / f"{name}.yaml"
    if "/" not in name and input_file.is_file(path):
        return read_yaml(path, f"the {key} file")
    known = sorted(entry.stem for entry in shipped.glob("*.yaml"))
    near = nearest(name, known)
    raise UsageError(
        f"unknown {key}",
        where=f"{where}: {key}",
        found=name,
        allowed=", ".join(known) + ", or a path that ends in .yaml",
        remedy=f"did you mean {near!r}?" if near else None,
    )


def checked(model: type[M], content: Mapping[str, Any], where: str, subject: str) -> M:
    """Return ``content`` as ``model``; a mistake is a :class:`UsageError` about ``subject``."""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise validation_error(error, model, where, subject) from None


def validation_error(
    error: ValidationError, model: type[BaseModel], where: str, subject: str = "the experiment"
) -> UsageError:
    """Return pydantic's findings as one :class:`UsageError`, one block of lines per wrong key."""
    problems = []
    for item in error.errors(include_url=False):
        location, known = as_written(model, item["loc"])
        key = ": ".join(str(part) for part in location) or "(the whole file)"
        if item["type"] == "extra_forbidden":
            near = nearest(str(location[-1]), known)
            hint = f"; did you mean {near!r}?" if near else f"; known here: {', '.join(known)}"
            problems.append(f"{key}: unknown key{hint}")
        elif item["type"] == "missing":
            problems.append(f"{key}: this key is missing")
        elif item["type"] == "union_tag_not_found":
            problems.append(f"{key}: kind: this key is missing")
        elif item["type"] == "union_tag_invalid":
            context = item["ctx"]
            near = nearest(str(context["tag"]), context["expected_tags"].replace("'", "").split(", "))
            hint = f"did you mean {near!r}?" if near else f"known: {context['expected_tags']}"
            problems.append(f"{key}: kind: there is no {context['tag']!r}; {hint}")
        else:
            message = item["msg"].removeprefix("Value error, ")
            found = (
                "" if item["type"] == "value_error" and not location else f" (found {short_text(item.get('input'))})"
            )
            problems.append(f"{key}: {message}{found}")
    what = f"{subject} has a mistake" if len(problems) == 1 else f"{subject} has {len(problems)} mistakes"
    keys = "'manynode config default' prints every key with its unit, bounds and default"
    return UsageError(
        what,
        where=where,
        remedy=keys if subject == "the experiment" else "the documentation has every key",
        details="\n".join(problems),
    )


def short_text(value: object) -> str:
    """Return ``value`` as Python writes it, cut to 80 characters."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
