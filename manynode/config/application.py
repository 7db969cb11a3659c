"""What an application of this project declares about itself: ``application.yaml`` in its folder of skeletons/."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError, model_validator

from manynode.config.quantities import PositiveInt, Section
from manynode.errors import InputError, UsageError, nearest
from manynode.paths import application_dirs

_TYPES: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "str": (str,), "bool": (bool,)}


class Parameter(Section):
    """A parameter of an application: an option of its mini-app and a parameter of its skeleton, of the same name."""

    type: Literal["int", "float", "str", "bool"] = Field(description="of the value")
    default: int | float | str | bool = Field(description="used when the experiment does not say")
    minimum: int | float | None = Field(default=None, description="least value")
    maximum: int | float | None = Field(default=None, description="largest value")
    multiple_of: PositiveInt | None = Field(default=None, description="the value is a multiple of this")
    description: str = Field(description="one sentence")


class ApplicationDescription(Section):
    """``application.yaml``."""

    name: str = Field(description="the folder's name")
    description: str = Field(description="one sentence")
    executable: str = Field(description="program of the native build")
    parameters: dict[str, Parameter] = Field(default_factory=dict, description="by name")
    iterations: str | None = Field(
        default=None,
        description="the parameter that counts iterations which are all alike, the first and the last one apart",
    )
    phases: dict[str, str] = Field(default_factory=dict, description="compute phases of the skeleton, a sentence each")

    @model_validator(mode="after")
    def _iterations_are_counted(self) -> ApplicationDescription:
        if self.iterations is not None:
            counter = self.parameters.get(self.iterations)
            if counter is None or counter.type != "int":
                raise ValueError(f"iterations: {self.iterations!r} is no parameter of type int")
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


def read_application(name: str, where: str = "application") -> ApplicationDescription:
    """Return the description of the application ``name``; an unknown one is a :class:`UsageError`."""
    known = application_dirs()
    if name in known:
        return _read(known[name] / "application.yaml")
    near = nearest(name, known)
    raise UsageError(
        "unknown application",
        where=f"{where}: name",
        found=name,
        allowed=", ".join(known),
        remedy=f"did you mean {near!r}?" if near else "give a 'command' for a program of your own",
    )


def _read(path: Path) -> ApplicationDescription:
    try:
        return ApplicationDescription.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, yaml.YAMLError, ValidationError) as error:
        raise InputError(
            "an application description cannot be used", where=str(path), found=str(error), remedy="mend that file"
        ) from None
