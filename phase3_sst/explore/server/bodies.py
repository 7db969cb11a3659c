"""What the page may send: one strict model per request. Unknown members, wrong types and odd numbers are refused.

In: the bytes of a body, at most as long as the gate lets in. Out: the model; else a UsageError that names the member.
"""

from __future__ import annotations

import json
import math
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request

from manynode.errors import UsageError

MOST_DEPTH = 12
MOST_NOTE = 2000

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{12,64}$")]
Key = Annotated[str, Field(pattern=r"^[a-z0-9_]+(\.[a-z0-9_]+)*$", max_length=120)]
Tab = Annotated[str, Field(pattern=r"^[0-9a-z]{8,40}$")]
# What a question or an axis is, its own model says; here it is an object, and no more.
Asked = Annotated[dict[str, Any], Field(max_length=8)]

GivenPrices = Annotated[dict[str, Any], Field(max_length=24)] | Annotated[str, Field(max_length=100)] | None


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Check(Body):
    question: Asked


class Ask(Body):
    question: Asked
    tab: Tab
    baseline: Digest | None = None


class Of(Body):
    """A request about one question."""

    digest: Digest


class Pin(Body):
    """The new baseline; None: the base's own."""

    digest: Digest | None


class Note(Of):
    note: Annotated[str, Field(max_length=MOST_NOTE)]


class MapBody(Body):
    question: Asked
    x: Asked
    y: Asked
    most: Annotated[int, Field(ge=4, le=100)] = 20
    target: Annotated[float, Field(gt=0, le=1)] = 0.02


class Inverse(Body):
    """The least, greatest or cheapest value of an axis that keeps a time [s] or a loss (a share of the baseline's)."""

    question: Asked
    axis: Asked
    sense: Annotated[str, Field(pattern="^(least|greatest|cheapest)$")]
    time_s: Annotated[float, Field(gt=0, le=1e12)] | None = None
    loss: Annotated[float, Field(gt=-1, le=1e6)] | None = None
    baseline: Digest | None = None
    most: Annotated[int, Field(ge=5, le=60)] = 16
    resolution: Annotated[float, Field(ge=1e-3, le=0.5)] = 0.02
    prices: GivenPrices = None


class Search(Body):
    """A running search, by the name that the server gave it."""

    search: Digest


class CostBody(Body):
    """Prices (a name of the catalogue, or edited ones; None: the first file) and whether node counts share a front."""

    prices: GivenPrices = None
    together: bool = False


class Study(Body):
    question: Asked
    x: Asked
    y: Asked


Model = TypeVar("Model", bound=BaseModel)


async def body(request: Request, model: type[Model]) -> Model:
    """Return the body of ``request`` as ``model``."""
    return parsed(await request.body(), model)


def parsed(text: bytes, model: type[Model]) -> Model:
    """Return ``text`` as ``model``; raises UsageError."""
    try:
        content = json.loads(text.decode("utf-8"), parse_constant=_no_constant, parse_float=_finite)
        _check_depth(content)
    except (ValueError, RecursionError) as error:
        raise UsageError("the request is no JSON that is read here", where="the body", found=str(error)) from None
    try:
        return model.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the body"
        raise UsageError("the request is not of the form that is read here", where=place, found=first["msg"]) from None


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]} is beyond what a number can be")
    return value


def _check_depth(content: Any, depth: int = 0) -> None:
    if depth > MOST_DEPTH:
        raise ValueError(f"more than {MOST_DEPTH} levels")
    for each in content.values() if isinstance(content, dict) else content if isinstance(content, list) else ():
        _check_depth(each, depth + 1)
