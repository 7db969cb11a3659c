"""The JSON documents that the report reads. Keys that it does not need are ignored.

The experiment's resolved form, rank classes and provenance are checked on reading, so that a damaged file is an
:class:`InputError` with its place and never a traceback. Timing profiles have a reader of their own,
:mod:`manynode.timing_profile`.
"""

from __future__ import annotations

import json
from pathlib import Path, PurePath
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from manynode.config.application import DERIVED, REPLAY
from manynode.errors import InputError
from manynode.tables import named, read_json


class Document(BaseModel):
    """A part of a document: known keys are checked, others are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Application(Document):
    name: str | None = None
    parameters: dict[str, Any] = {}
    command: list[str] | None = None

    @property
    def title(self) -> str:
        """The application's name for people: the program's, where its communication is in a file."""
        if self.command is not None and self.name in (None, REPLAY, DERIVED):
            return PurePath(self.command[0]).name
        return self.name or "an MPI program"

    @property
    def problem(self) -> str:
        """The parameters for people: ``nx = 16, ny = 16``."""
        if self.name == REPLAY:
            return "recorded"
        if self.name == DERIVED:
            values = json.loads(str(self.parameters.get("values", "{}")))
            return ", ".join(["derived", *(f"{key} = {value}" for key, value in values.items())])
        return ", ".join(f"{key} = {value}" for key, value in self.parameters.items())


class Named(Document):
    name: str = ""
    description: str = ""


class Simulate(Document):
    engine: str = ""
    replicas: int = 0
    confidence: FiniteFloat = 0.95


class Nodesim(Document):
    engine: str = ""
    nodes: int = 0


class Experiment(Document):
    """The resolved experiment, as ``manynode/config/experiment.py`` declares it."""

    name: str
    title: str = ""
    application: Application
    nodes: list[int] = []
    ranks_per_node: Annotated[int, Field(ge=1)] = 1
    techniques: list[str] = []
    seed: int = 0
    machine: Named = Named()
    network: Named = Named()
    nodesim: Nodesim = Nodesim()
    simulate: Simulate = Simulate()
    relevant_difference: FiniteFloat = 0.01


class ExperimentFile(Document):
    """``experiment/1``; ``projection_digest`` is of what the projection depends on."""

    digest: str = ""
    projection_digest: str = ""
    experiment: Experiment


class RankClass(Document):
    name: str
    share: FiniteFloat
    ranks: list[int]
    centroid: dict[str, float | None] = {}
    description: str = ""


class Stability(Document):
    stable: bool | None  # None: the application was not profiled
    reasons: list[str] = []


class Noise(Document):
    relative: dict[str, FiniteFloat] = {}
    description: str = ""


class RankClasses(Document):
    """``rank-classes/1``."""

    source: str
    source_reason: str | None = None
    features: list[str] = []
    noise: Noise | None = None
    nodes_profiled: list[int] = []
    reference_nodes: int = 1
    classes: Annotated[list[RankClass], Field(min_length=1)]
    rank_class: dict[str, str]
    representative_nodes: list[int] = []
    coverage: FiniteFloat = 1.0
    stability: Stability | None = None

    def class_of(self, rank: int) -> str:
        """Return the name of the class of ``rank``; a rank that was not profiled has none."""
        return self.rank_class.get(str(rank), "")


class Confirmation(Document):
    """``confirmation-summary/1``."""

    engine: str
    confirmed_by: str
    lacks: str = ""
    sentences: list[str] = []


class SkeletonVerdict(Document):
    nodes: int
    level: str
    reasons: list[str] = []
    error: float = 0.0


class SkeletonVerdicts(Document):
    """``skeleton-verdicts/1``."""

    skeleton: str
    verdicts: list[SkeletonVerdict]


class FlowControlTrial(Document):
    situation: str
    nodes: int
    none_s: float
    credits_s: float
    difference: float


class FlowControl(Document):
    """``flow-control/1``: the choice of ``network: flow_control: auto``."""

    flow_control: str
    most_chunks: int
    reason: str
    iterations: int
    trials: list[FlowControlTrial] = []
    warnings: list[str] = []


class Draws(Document):
    """``draws/1``: the simulated node by its own times, drawn ones and constant ones, as a job of its own."""

    mode: str
    nodes: int
    ranks: int
    own_s: float | None = None
    drawn_s: list[float] = []
    constant_s: float | None = None
    refused: str | None = None
    computed_s: float | None = None
    skeleton_s: float | None = None


class ProvenanceFile(Document):
    """``provenance/1``."""

    manynode: str = ""
    code: str = ""
    experiment: str = ""
    seed: int | None = None
    tools: dict[str, str] = {}


D = TypeVar("D", bound=Document)


def read_document(path: Path, schema: str, kind: type[D]) -> D:
    """Return the document at ``path``; one that does not have the shape of ``kind`` is an :class:`InputError`."""
    content = read_json(path, schema)
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        key = ": ".join(str(part) for part in first["loc"]) or "the document"
        raise InputError(
            f"{named(schema)} file cannot be used",
            where=f"{path}: {key}",
            found=f"{str(first.get('input'))[:80]!r}: {first['msg']}",
            remedy="delete the file and run the experiment again",
        ) from None
