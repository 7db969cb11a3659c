"""The file of a fitted model, ``delay-model/1``: latency of messages, and sensitivities of applications to it.

``coefficients_s`` has the terms of :mod:`.latency`; ``sensitivities`` by application: gradient, offset_s (run time =
gradient * delay + offset_s), sensitivity with low and high (the ping-pong has 1), correlation, runs; ``trained`` has
the training data and the quality of the latency fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from manynode import tables
from manynode.errors import InputError
from phase3_sst.studies.congestion.delay.latency import LatencyModel
from phase3_sst.studies.congestion.delay.run_time_model import Sensitivity, scaled

MODEL_SCHEMA = "delay-model/1"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Trained(_Part):
    """Training data of the latency model; ``error_p75`` bounds the error of three quarters of the round trips."""

    round_trips: int = Field(gt=0)
    correlation: FiniteFloat | None
    error_p75: FiniteFloat


class ApplicationLine(_Part):
    """The line of an application, see :class:`Sensitivity`."""

    runs: int = Field(gt=0)
    varies: bool
    gradient: FiniteFloat
    offset_s: FiniteFloat
    sensitivity: FiniteFloat
    low: FiniteFloat
    high: FiniteFloat
    correlation: FiniteFloat | None


class DelayModel(_Part):
    """The content of the file."""

    network: str
    most_stalled_share: FiniteFloat
    coefficients_s: dict[str, FiniteFloat]
    trained: Trained
    sensitivities: dict[str, ApplicationLine]

    @property
    def latency(self) -> LatencyModel:
        """The latency of messages."""
        return LatencyModel(self.network, self.coefficients_s)


def lines(applications: Mapping[str, Sensitivity], ping_pong: Sensitivity) -> dict[str, dict[str, Any]]:
    """Return the file's entry of each application."""
    return {name: {**scaled(own, ping_pong), "offset_s": own.offset_s} for name, own in applications.items()}


def write_model(path: Path, model: DelayModel) -> None:
    """Write the file."""
    tables.write_json(path, MODEL_SCHEMA, model.model_dump(mode="json"))


def read_model(path: Path) -> DelayModel:
    """Return the model in a file; an invalid file is an :class:`InputError`."""
    content = tables.read_json(path, MODEL_SCHEMA)
    content.pop("schema")
    try:
        return DelayModel.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(
            "a model of delays cannot be used",
            where=f"{path}: {': '.join(map(str, first['loc']))}",
            found=first["msg"],
            remedy="fit it again: manynode delay fit",
        ) from None
