"""The timing profile, schema ``timing-profile/1``, from phase 2 to phase 3: declared once and checked on reading.

For each rank class and compute phase it contains:

- clusters of times, each with count, mean, weight and a cumulative distribution of at most 100 bins
  (``probability[i]`` of the times are at most ``time_s[i]``, linear in between);
- the pattern in which the clusters follow each other, or none (they are drawn by weight), and the order of each
  simulated rank's own times within it, where it has one;
- how the variance splits, and which differences between ranks and nodes persist;
- a tail beyond the samples, if the fit was asked for it.

Entries missing in a file of an earlier version are null: not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from manynode.errors import InputError
from manynode.tables import read_json, write_json
from manynode.waiting import Waiting

SCHEMA = "timing-profile/1"
MAX_EDGES = 101
Size = TypeVar("Size", bound=float)

Time = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Cdf(_Part):
    """A cumulative distribution: at most 101 edges, both columns rising, probability from 0 to 1."""

    time_s: list[Time] = Field(min_length=1, max_length=MAX_EDGES)
    probability: list[Probability] = Field(min_length=1, max_length=MAX_EDGES)

    @model_validator(mode="after")
    def _rises(self) -> Cdf:
        if len(self.time_s) != len(self.probability):
            raise ValueError(f"{len(self.time_s)} times but {len(self.probability)} probabilities")
        for name, column in (("time_s", self.time_s), ("probability", self.probability)):
            for index in range(1, len(column)):
                if column[index] < column[index - 1]:
                    raise ValueError(f"{name}[{index}] = {column[index]:g} is below the value before it")
        if abs(self.probability[-1] - 1.0) > 1e-9:
            raise ValueError(f"the last probability is {self.probability[-1]!r}, not 1")
        return self


class TailFit(_Part):
    """A tail fitted above one threshold: the share of times below it, the times above it, scale [s], shape."""

    probability: Probability
    exceedances: Count
    scale_s: Time
    shape: Annotated[float, Field(gt=-1, lt=1)]


class Tail(TailFit):
    """A generalised Pareto distribution of the times above ``threshold_s``, and how well it fits.

    ``p_value`` belongs to the Anderson-Darling statistic: it is small if the times do not follow this distribution.
    ``others`` are the fits above other thresholds: do not trust a shape that changes with the threshold.
    """

    model: Literal["generalised-pareto"]
    threshold_s: Time
    anderson_darling: Annotated[float, Field(allow_inf_nan=False)]
    p_value: Probability
    others: list[TailFit]


class ClusterTimes(_Part):
    """One cluster: count of times, their mean [s], share of the phase's times, distribution, tail."""

    mean_s: Time
    count: Annotated[int, Field(ge=1)]
    weight: Probability
    cdf: Cdf
    tail: Tail | None = None


class SequencePattern(_Part):
    """Execution ``prefix`` + n belongs to cluster ``sequence[n mod length]``; ``agreement`` is the explained share.

    ``percentiles`` has a row for each simulated rank: the hundredth of the cluster's times to which its execution n
    belongs. A replayed rank takes one of the rows. Null: each execution is drawn by itself.
    """

    kind: Literal["sequence"]
    sequence: list[Count] = Field(min_length=1)
    repeat: Annotated[int, Field(ge=1)]
    agreement: Probability
    prefix: Count = 0
    percentiles: list[list[Annotated[int, Field(ge=0, le=99)]]] | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _row_for_row(self) -> SequencePattern:
        for index, row in enumerate(self.percentiles or ()):
            if len(row) != len(self.sequence):
                raise ValueError(f"percentiles[{index}] has {len(row)} numbers; the sequence has {len(self.sequence)}")
        return self


class WeightsPattern(_Part):
    """No pattern: the cluster is drawn by weight."""

    kind: Literal["weights"]


class Variance(_Part):
    """Variance of the times around their cluster's mean [s^2], pooled over clusters: total = between + within."""

    between_ranks_s2: Time
    within_rank_s2: Time
    total_s2: Time


class Part(_Part):
    """A part of a phase's variance: its share, the 90 % interval of the share, and the correlation for the replay.

    ``correlation`` is that of normal scores in a Gaussian copula with the phase's distributions.
    """

    share: Probability
    low: Probability
    high: Probability
    correlation: Probability


class Persistence(_Part):
    """Persistent differences between the ranks of a node and between nodes, with the number of simulated ranks.

    ``between_nodes`` is null if only ranks of one node, or one rank per node, were simulated: the node's part then
    cannot be separated from the ranks'.
    """

    ranks: Annotated[int, Field(ge=2)]
    nodes: Annotated[int, Field(ge=1)]
    between_ranks: Part
    between_nodes: Part | None

    @model_validator(mode="after")
    def _within_one(self) -> Persistence:
        nodes = self.between_nodes.correlation if self.between_nodes else 0.0
        if self.between_ranks.correlation + nodes > 1 + 1e-9:
            raise ValueError("the correlations of ranks and nodes sum to more than 1")
        return self


class PhaseTimes(_Part):
    """One compute phase of one class; ``persistence`` is null if it is not known (one simulated rank).

    ``waited_s`` is the mean time [s] that a rank waited for a core in an execution; null if it is not known.
    """

    name: Annotated[str, Field(min_length=1)]
    count: Annotated[int, Field(ge=1)]
    mean_s: Time
    clusters: list[ClusterTimes] = Field(min_length=1)
    pattern: Annotated[SequencePattern | WeightsPattern, Field(discriminator="kind")]
    variance: Variance
    persistence: Persistence | None = None
    waited_s: Time | None = None

    @model_validator(mode="after")
    def _consistent(self) -> PhaseTimes:
        weight = sum(cluster.weight for cluster in self.clusters)
        if abs(weight - 1.0) > 1e-6:
            raise ValueError(f"the weights of the clusters sum to {weight:g}, not 1")
        if isinstance(self.pattern, SequencePattern):
            for index, entry in enumerate(self.pattern.sequence):
                if entry >= len(self.clusters):
                    raise ValueError(f"pattern.sequence[{index}] is {entry}; there are {len(self.clusters)} clusters")
        return self


class ClassTimes(_Part):
    """The compute phases of one rank class, to which ``share`` of all ranks belong."""

    name: Annotated[str, Field(min_length=1)]
    share: Probability
    simulated_ranks: list[Count] = Field(min_length=1)
    borrowed: bool = False
    """No rank of this class was simulated (a node that runs alone): times of all simulated ranks stand in."""
    common: Probability = 0.0
    """Of what persists on a rank: the share (of a normal score's variance) that all its phases have in common."""
    phases: list[PhaseTimes] = Field(min_length=1)

    @model_validator(mode="after")
    def _distinct(self) -> ClassTimes:
        _no_repetition("phase", [phase.name for phase in self.phases])
        return self


class TimingProfile(_Part):
    """A whole timing profile."""

    application: dict[str, Any]
    engine: str
    engine_version: str
    machine: str
    external: bool
    nodes: Annotated[int, Field(ge=1)]
    ranks: Annotated[int, Field(ge=1)]
    simulated_ranks: list[Count] = Field(min_length=1)
    compute_s: Time
    """Compute time of all simulated ranks together."""
    skipped_s: Time
    """Of it, time that no skeleton replays: warm-up, and unlabelled phases where the application labels its phases."""
    waiting: Waiting | None = None
    """What is known of ranks that waited for a core; null for an engine whose times do not come from a host."""
    classes: list[ClassTimes] = Field(min_length=1)
    provenance: dict[str, Any]

    @model_validator(mode="after")
    def _distinct(self) -> TimingProfile:
        _no_repetition("class", [entry.name for entry in self.classes])
        return self


def _no_repetition(kind: str, names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"{kind} {name!r} is given twice")
        seen.add(name)


def neighbours(sizes: Iterable[Size], size: Size) -> tuple[Size, Size]:
    """Return the two sizes between whose profiles that of ``size`` lies; beyond all, the nearest two."""
    known = sorted(sizes)
    above = min(max(sum(one < size for one in known), 1), len(known) - 1)
    return known[above - 1], known[above]


def write_timing_profile(path: Path, profile: TimingProfile) -> None:
    """Write ``profile``; same content, same bytes."""
    write_json(path, SCHEMA, profile.model_dump(mode="json"))


def read_timing_profile(path: Path) -> TimingProfile:
    """Return the timing profile at ``path``; any fault is an :class:`InputError` with place and remedy."""
    content = read_json(path, SCHEMA, sealed=False)
    del content["schema"]
    try:
        return TimingProfile.model_validate(content)
    except ValidationError as error:
        raise _fault(path, error) from None
    except (RecursionError, OverflowError) as error:
        raise InputError(
            "a timing-profile file cannot be used", where=str(path), found=str(error), remedy=_REMEDY
        ) from None


_REMEDY = "make the file again with 'manynode nodesim fit'"


def _fault(path: Path, error: ValidationError) -> InputError:
    """Return pydantic's first findings as one error."""
    findings = error.errors(include_url=False, include_context=False, include_input=True)
    lines = []
    for item in findings[:10]:
        place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in item["loc"]).lstrip(".")
        message = item["msg"].removeprefix("Value error, ")
        shown = repr(item.get("input"))
        found = "" if item["type"] in ("missing", "value_error") else f" (found {shown[:60]})"
        lines.append(f"{place or 'the whole file'}: {message}{found}")
    if len(findings) > len(lines):
        lines.append(f"and {len(findings) - len(lines)} more")
    return InputError(
        "a timing-profile file cannot be used",
        where=str(path),
        found=f"{len(findings)} fault{'s' if len(findings) > 1 else ''}",
        allowed=f"schema {SCHEMA}",
        remedy=_REMEDY,
        details="\n".join(lines),
    )
