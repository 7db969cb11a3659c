"""The description of an application: ``application.yaml`` in its folder of skeletons/.

The native build generates the C++ table of the parameters and the names of the phases from the same file, read by the
same code (``skeletons/cmake/declare_applications.py``).
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError, model_validator

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

FILE = "application.yaml"
REPLAY, DERIVED = "recorded", "derived"
"""The applications that replay a recording and interpret a derived skeleton; experiments name their files."""
# C++ keeps bounds as doubles, which hold all whole numbers up to this one.
_LARGEST = 2**53
_TYPES: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "str": (str,), "bool": (bool,)}

# A parameter is an option of the mini-app, a phase becomes an enumerator in C++.
Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")]


class Parameter(Section):
    """A parameter of an application: the mini-app's option and the skeleton's parameter have the same name."""

    type: Literal["int", "float", "str", "bool"] = Field(description="Type of the value")
    default: int | float | str | bool = Field(description="Value used when the experiment gives none")
    minimum: int | float | None = Field(default=None, description="Smallest allowed value")
    maximum: int | float | None = Field(default=None, description="Largest allowed value")
    multiple_of: PositiveInt | None = Field(default=None, description="The value must be a multiple of this")
    description: str = Field(description="Meaning of the parameter, in one sentence")

    @model_validator(mode="after")
    def _the_default_is_allowed(self) -> Parameter:
        if self.type not in ("int", "float") and (self.minimum, self.maximum) != (None, None):
            raise ValueError(f"a parameter of type {self.type} has no minimum or maximum")
        if self.type != "int" and self.multiple_of is not None:
            raise ValueError("only a parameter of type int can have 'multiple_of'")
        if self.type == "int" and not all(isinstance(limit, int | None) for limit in (self.minimum, self.maximum)):
            raise ValueError("minimum and maximum of a parameter of type int must be whole numbers")
        numbers = [value for value in (self.default, self.minimum, self.maximum) if isinstance(value, int)]
        if any(abs(value) > _LARGEST for value in numbers):
            raise ValueError("a number is beyond 2^53")
        if not self.allows(self.default):
            raise ValueError(f"the default {self.default!r} is not allowed: {self.allowed()}")
        return self

    def allows(self, value: Any) -> bool:
        """Say whether ``value`` has the declared type and is within the bounds."""
        if not isinstance(value, _TYPES[self.type]) or (self.type == "bool") != isinstance(value, bool):
            return False
        number: Any = value
        return (
            (self.minimum is None or number >= self.minimum)
            and (self.maximum is None or number <= self.maximum)
            and (self.multiple_of is None or number % self.multiple_of == 0)
        )

    def allowed(self) -> str:
        """Return the allowed values in words, for messages."""
        limits = []
        if self.minimum is not None:
            limits.append(f"at least {self.minimum}")
        if self.maximum is not None:
            limits.append(f"at most {self.maximum}")
        if self.multiple_of is not None:
            limits.append(f"a multiple of {self.multiple_of}")
        return ", ".join([self.type, *limits])


class ApplicationDescription(Section):
    """``application.yaml``."""

    name: str = Field(description="Name of the application's folder")
    description: str = Field(description="What the application does, in one sentence")
    executable: str | None = Field(
        default=None, description="Mini-app program in the native build; leave it out if there is none"
    )
    parameters: dict[Name, Parameter] = Field(default_factory=dict, description="Parameters by name")
    iterations: str | None = Field(
        default=None,
        description="Parameter that counts iterations; all but the first and the last must be alike",
    )
    phases: dict[Name, str] = Field(
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
        if not spec.allows(value):
            raise UsageError(
                f"a parameter of {self.name} is wrong",
                where=f"{where}: parameters: {name}",
                found=repr(value),
                allowed=spec.allowed(),
                remedy=spec.description,
            )
        return value


def read_application(name: str, where: str = "application", base: Path | None = None) -> ApplicationDescription:
    """Return the description of the application ``name``; an unknown one is a :class:`UsageError`.

    ``base`` is the experiment's folder; the error hints at unlisted skeletons near it.
    """
    known = application_dirs()
    if name in known:
        return read_folder(known[name])
    raise UsageError(
        "unknown application",
        where=f"{where}: name",
        found=name,
        allowed=f"{', '.join(known)}, or the name of a folder that {SKELETON_DIRS} lists",
        remedy=_remedy(name, known, base),
        details="\n".join(
            f"{SKELETON_DIRS} lists {folder}, which has no {FILE}"
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


def read_folder(folder: Path) -> ApplicationDescription:
    """Return the description of the application in ``folder``; a mistake in it is an :class:`InputError`."""
    path = folder / FILE
    return _described(
        folder, input_file.read_text(path, "an application description", most_bytes=yaml_text.MOST_CHARACTERS)
    )


# A study reads the same description for each of its points.
@functools.lru_cache
def _described(folder: Path, text: str) -> ApplicationDescription:
    path = folder / FILE
    try:
        description = ApplicationDescription.model_validate(yaml_text.parse(text))
    except ValidationError as error:
        mistakes = "\n".join(_mistake(item) for item in error.errors(include_url=False))
        raise _unusable(path, mistakes) from None
    except ValueError as error:
        raise _unusable(path, str(error)) from None
    if description.name != folder.name:
        raise _unusable(path, f"name: {description.name!r} is not the folder's name, {folder.name!r}")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", folder.name):
        raise _unusable(path, f"name: {folder.name!r} cannot be a C++ namespace; use letters, digits and _")
    return description


def _unusable(path: Path, found: str) -> InputError:
    return InputError(
        "an application description cannot be used", where=str(path), found=found, remedy="correct that file"
    )


def _mistake(item: Any) -> str:
    """Return one finding of pydantic with its key, and for an unknown key the nearest known one."""
    place = [str(part) for part in item["loc"] if part != "[key]"]
    key = ": ".join(place) or "the whole file"
    if item["type"] == "missing":
        return f"{key}: this key is missing"
    if item["type"] == "extra_forbidden":
        model: type[BaseModel] = Parameter if place[0] == "parameters" else ApplicationDescription
        near = nearest(place[-1], model.model_fields)
        return f"{key}: unknown key; " + (
            f"did you mean {near!r}?" if near else f"known: {', '.join(model.model_fields)}"
        )
    return f"{key}: {item['msg'].removeprefix('Value error, ')}"
