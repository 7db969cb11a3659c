"""The description of an application: ``application.yaml`` in its folder of skeletons/."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from manynode import input_file
from manynode.config import yaml_text
from manynode.config.quantities import PositiveInt, Section
from manynode.errors import InputError, UsageError, nearest
from manynode.paths import (
    ROOT,
    SKELETON_DIRS,
    application_dirs,
    build_again,
    further_application_dirs,
    is_application,
)

_TYPES: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "str": (str,), "bool": (bool,)}


class Parameter(Section):
    """A parameter of an application: the mini-app's option and the skeleton's parameter have the same name."""

    type: Literal["int", "float", "str", "bool"] = Field(description="Type of the value")
    default: int | float | str | bool = Field(description="Value used when the experiment gives none")
    minimum: int | float | None = Field(default=None, description="Smallest allowed value")
    maximum: int | float | None = Field(default=None, description="Largest allowed value")
    multiple_of: PositiveInt | None = Field(default=None, description="The value must be a multiple of this")
    description: str = Field(description="Meaning of the parameter, in one sentence")


class ApplicationDescription(Section):
    """``application.yaml``."""

    name: str = Field(description="Name of the application's folder")
    description: str = Field(description="What the application does, in one sentence")
    executable: str = Field(description="Mini-app program in the native build")
    parameters: dict[str, Parameter] = Field(default_factory=dict, description="Parameters by name")
    iterations: str | None = Field(
        default=None,
        description="Parameter that counts iterations; all but the first and the last must be alike",
    )
    phases: dict[str, str] = Field(
        default_factory=dict, description="Compute phases of the skeleton by name, one sentence each"
    )

    @model_validator(mode="after")
    def _iterations_are_counted(self) -> ApplicationDescription:
        if self.iterations is not None:
            counter = self.parameters.get(self.iterations)
            if counter is None or counter.type != "int":
                raise ValueError(f"iterations: {self.iterations!r} must name a parameter of type int")
        return self

    def resolve(self, given: dict[str, Any], where: str = "application") -> dict[str, Any]:
        """Return all parameters with the given values in place of defaults; a wrong one is a :class:`UsageError`."""
        for name in given:
            if name not in self.parameters:
                near = nearest(name, self.parameters)
                raise UsageError(
                    f"unknown parameter of {self.name}",
                    where=f"{where}: parameters: {name}",
                    found=name,
                    allowed=", ".join(self.parameters),
                    remedy=f"did you mean {near!r}?" if near else None,
                )
        return {
            name: self._checked(name, given.get(name, spec.default), where) for name, spec in self.parameters.items()
        }

    def _checked(self, name: str, value: Any, where: str) -> Any:
        spec = self.parameters[name]
        right_type = isinstance(value, _TYPES[spec.type]) and (spec.type == "bool") == isinstance(value, bool)
        limits = []
        if spec.minimum is not None:
            limits.append(f"at least {spec.minimum}")
        if spec.maximum is not None:
            limits.append(f"at most {spec.maximum}")
        if spec.multiple_of is not None:
            limits.append(f"a multiple of {spec.multiple_of}")
        if (
            not right_type
            or (spec.minimum is not None and value < spec.minimum)
            or (spec.maximum is not None and value > spec.maximum)
            or (spec.multiple_of is not None and value % spec.multiple_of != 0)
        ):
            raise UsageError(
                f"a parameter of {self.name} is wrong",
                where=f"{where}: parameters: {name}",
                found=repr(value),
                allowed=", ".join([spec.type, *limits]),
                remedy=spec.description,
            )
        return value


def read_application(name: str, where: str = "application", base: Path | None = None) -> ApplicationDescription:
    """Return the description of the application ``name``; an unknown one is a :class:`UsageError`.

    ``base`` is the experiment's folder; the error hints at unlisted skeletons near it.
    """
    known = application_dirs()
    if name in known:
        return _read(known[name] / "application.yaml")
    raise UsageError(
        "unknown application",
        where=f"{where}: name",
        found=name,
        allowed=f"{', '.join(known)}, or the name of a folder that {SKELETON_DIRS} lists",
        remedy=_remedy(name, known, base),
        details="\n".join(
            f"{SKELETON_DIRS} lists {folder}, which has no application.yaml"
            for folder in further_application_dirs()
            if not is_application(folder)
        ),
    )


def _remedy(name: str, known: Iterable[str], base: Path | None) -> str:
    """Return the remedy for an unknown application; its folder may lie near the experiment without being listed."""
    places = [Path.cwd(), *([] if base is None else [base])]
    near = [folder for place in places for folder in (place / name, place / "skeletons" / name)]
    found = next((folder for folder in near if is_application(folder)), None)
    if found is not None:
        return (
            f"{found} has an application.yaml; list it with export {SKELETON_DIRS}={found.resolve()}, "
            f"{build_again()}, and write 'name: {found.resolve().name}'"
        )
    bare = next((folder for folder in near if os.path.isdir(folder)), None)
    if bare is not None:
        return f"{bare} has no application.yaml; add one (docs/tutorial.md, section 5)"
    if (similar := nearest(name, known)) is not None:
        return f"did you mean {similar!r}?"
    others = sorted({str(file.parent) for place in places for file in _declared_near(place)})
    if others:
        return f"list a folder with an application.yaml in {SKELETON_DIRS}: {', '.join(others)}"
    return f"list the folder of your own skeleton in {SKELETON_DIRS}, or give a 'command' for a program without one"


def _declared_near(place: Path) -> list[Path]:
    """Return the application.yaml files in ``place`` and its folders; none if ``place`` is this project."""
    if place == ROOT:
        return []
    return [path for pattern in ("application.yaml", "*/application.yaml") for path in place.glob(pattern)]


def _read(path: Path) -> ApplicationDescription:
    text = input_file.read_text(path, "an application description", most_bytes=yaml_text.MOST_CHARACTERS)
    try:
        return ApplicationDescription.model_validate(yaml_text.parse(text))
    except ValueError as error:
        raise InputError(
            "an application description cannot be used", where=str(path), found=str(error), remedy="correct that file"
        ) from None
