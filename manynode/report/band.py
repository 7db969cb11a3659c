"""The band around the answer: every known error together, and its parts; or why no band is known.

The projected time T is low because of too few draws, of limited samples, of the node model's and of the network model's
error. With s the share of a part of the time, b its bias and h its half-width (in logarithms; the models' from
:mod:`manynode.known_errors.predictive`, draws and samples from their intervals), the band is T exp(sum s b +- sqrt(sum
(s h)^2)): the parts are independent. Computing has the node model's error, the rest the network model's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import pandas as pd

from manynode.known_errors.predictive import KnownError, known_error
from manynode.known_errors.records import NETWORK, NODE, NOTHING
from manynode.report.load import Inputs, at_point
from manynode.report.wording import count, interval, listing, number, percent, signed

CONFIDENCE = 0.9
_WORDS = {NODE: "node model", NETWORK: "network"}


@dataclass(frozen=True)
class Part:
    """A part of the band: half-widths below and above and its bias as logarithms of the time, None where not known.

    ``why`` says why it is not known, or where it comes from. An error that is not ``counted`` is the user's to know.
    """

    name: str
    below: float | None
    above: float | None
    bias: float = 0.0
    why: str = ""
    known: KnownError | None = None
    share: float = 1.0
    counted: bool = True

    def words(self) -> str:
        """Return the part as in the headline."""
        if not self.counted:
            return f"{self.name} not counted"
        if self.below is None or self.above is None:
            return f"{self.name} not known"
        return f"{self.name} {percent(math.expm1((self.below + self.above) / 2))}"


@dataclass(frozen=True)
class Band:
    """The band around a point; no limits where a part is not known."""

    time_s: float
    low_s: float | None
    high_s: float | None
    parts: list[Part]

    @property
    def limits(self) -> str:
        """Return the band in words, such as ``46 to 57 ms with 90 %``; or that none is known."""
        if self.low_s is None or self.high_s is None:
            return "no band is known"
        return f"{interval(self.time_s, self.low_s, self.high_s)[1]} with {percent(CONFIDENCE)}"

    @property
    def models(self) -> list[Part]:
        """Return the node model's and the network model's part."""
        return self.parts[-2:]

    def headline(self) -> str:
        """Return the band and its parts."""
        return f"{self.limits}: {', '.join(part.words() for part in self.parts)}"


def band(inputs: Inputs) -> Band | None:
    """Return the band around the report's answer; None without a projection."""
    technique, projection = inputs.technique, inputs.projection
    if technique is None or projection is None:
        return None
    return band_at(inputs, technique, int(projection.loc[projection["technique"] == technique, "nodes"].max()))


def band_at(inputs: Inputs, technique: str, nodes: int) -> Band | None:
    """Return the band around one point of the projection."""
    assert inputs.projection is not None
    time_s = float(at_point(inputs.projection, technique, nodes)["time_s"].iloc[0])
    if time_s <= 0:
        return None
    computing = _computing(inputs, technique, nodes)
    parts = [
        *_of_chance(inputs, technique, nodes, time_s),
        *_of_skeleton(inputs, nodes, 1 - computing),
        _of_node(inputs, computing),
        _of_network(inputs, 1 - computing),
    ]
    if any(part.below is None for part in parts if part.name != "samples"):
        return Band(time_s, None, None, parts)
    bias = sum(part.bias for part in parts)
    below = math.sqrt(sum((part.below or 0.0) ** 2 for part in parts))
    above = math.sqrt(sum((part.above or 0.0) ** 2 for part in parts))
    return Band(time_s, time_s * math.exp(bias - below), time_s * math.exp(bias + above), parts)


def paired_error(one: Sequence[Part], other: Sequence[Part], shared: Sequence[bool]) -> float | None:
    """Return the models' error of the ratio of two times with :data:`CONFIDENCE`, as a share; None if not known.

    ``one`` and ``other`` are the models' parts of both times. The error of a model that both share (the same node, the
    same network) is the same in both: it cancels but for the difference of the model's shares of the times. Errors of
    different models are independent.
    """
    squares, bias = 0.0, 0.0
    for first, second, common in zip(one, other, shared, strict=True):
        if first.below is None or first.above is None or second.below is None or second.above is None:
            return None
        halves = [(part.below + part.above) / 2 for part in (first, second)]  # type: ignore[operator]
        squares += (halves[1] - halves[0]) ** 2 if common else halves[0] ** 2 + halves[1] ** 2
        bias += second.bias - first.bias
    return math.expm1(math.sqrt(squares) + abs(bias))


def _computing(inputs: Inputs, technique: str, nodes: int) -> float:
    """Return the share of the time in which the ranks compute; all of it where no breakdown exists."""
    if inputs.breakdown is None:
        return 1.0
    own = at_point(inputs.breakdown, technique, nodes)
    total = float(own["seconds"].sum())
    return float(own.loc[own["operation"] == "compute", "seconds"].sum()) / total if total > 0 else 1.0


def _of_skeleton(inputs: Inputs, nodes: int, communicating: float) -> list[Part]:
    """Return the error of an approximate skeleton, whose measure is the time without computation."""
    verdicts = inputs.verdicts.verdicts if inputs.verdicts is not None else []
    error = max((one.error for one in verdicts if one.nodes == nodes), default=0.0)
    if not error:
        return []
    half = math.log1p(communicating * error)
    why = "from jobs that were recorded and held out, once more for each doubling of the ranks beyond the recorded run"
    return [Part("skeleton", half, half, why=why, share=communicating)]


def _of_chance(inputs: Inputs, technique: str, nodes: int, time_s: float) -> list[Part]:
    """Return draws and samples, from intervals at the experiment's confidence."""
    row = at_point(inputs.projection, technique, nodes).iloc[0]  # type: ignore[arg-type]
    found = None if inputs.interval_parts is None else at_point(inputs.interval_parts, technique, nodes)
    narrower = _quantile(CONFIDENCE) / _quantile(float(inputs.experiment.simulate.confidence))

    def part(name: str, low: float, high: float) -> Part:
        half = narrower * (high - low) / 2 / time_s
        return Part(name, math.log1p(half), math.log1p(half))

    if inputs.own_times is not None:
        return [part("draws", float(row["low_s"]), float(row["high_s"]))]  # they are no samples
    if found is None or found.empty:
        samples = Part("samples", None, None, why="the timing profile was not resampled (simulate: profile_bootstrap)")
        return [part("draws", float(row["low_s"]), float(row["high_s"])), samples]
    by_name = found.set_index("part")
    return [
        part(name, float(by_name.loc[key, "low_s"]), float(by_name.loc[key, "high_s"]))
        for name, key in (("draws", "replicas"), ("samples", "profile"))
    ]


def _quantile(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)


def _of_node(inputs: Inputs, computing: float) -> Part:
    profile = inputs.profiles.get(inputs.mode or "")
    if inputs.own_times is not None:
        why = (
            "it is not known here. An error of 10 % in these times changes the projected time by about "
            f"{percent(0.1 * computing)}"
        )
        return Part("error of your own compute times", 0.0, 0.0, why=why, share=computing, counted=False)
    if profile is None:
        return Part(_WORDS[NODE], None, None, why="there is no timing profile", share=computing)
    return _of_model(NODE, profile.engine, _records(inputs, NODE, profile.engine), computing)


def _of_network(inputs: Inputs, share: float) -> Part:
    """Return the network model's part: a network that was fitted to its machine is compared with fitted ones."""
    engine = str(inputs.resolved["simulate"]["engine"])
    records = _records(inputs, NETWORK, engine)
    fitted = bool(inputs.resolved["network"].get("fitted_to"))
    own = records[(records["fitted_to"] != NOTHING) == fitted]
    return _of_model(NETWORK, engine, own, share, "" if fitted else " (networks before a fit, as this one)")


def _records(inputs: Inputs, component: str, engine: str) -> pd.DataFrame:
    records = inputs.records
    return records[(records["component"] == component) & (records["engine"] == engine)]


def _of_model(component: str, engine: str, own: pd.DataFrame, share: float, which: str = "") -> Part:
    """Return a model's part from its records ``own``; ``which`` says which of a validation they are."""
    known = known_error(own, CONFIDENCE) if len(own) else None
    name = _WORDS[component]
    if known is None:
        found = f"{count(len(own), 'record')} of too few machines and applications" if len(own) else "no record"
        return Part(name, None, None, why=f"the engine {engine} has {found} of a validation{which}", share=share)
    below, above = share * (known.bias - known.low), share * (known.high - known.bias)
    return Part(name, below, above, share * known.bias, _origin(known, engine, which), known, share)


def _origin(known: KnownError, engine: str, which: str) -> str:
    """Return what the error of a model was taken from."""
    where = listing(list(known.machines))
    if known.level == "machine":
        groups = f"{number(known.groups)} machines ({where})"
    else:
        groups = (
            f"{number(known.groups)} applications on {where}: how much machines differ from each other is hardly "
            "known, and on another one it may be further off"
        )
    low, high = (signed(math.expm1(value)) for value in (known.low, known.high))
    fitted = f". The parameters had been fitted to {listing(list(known.fitted_to))}" if known.fitted_to else ""
    return (
        f"{engine} was compared{which} with {count(known.records, 'measurement')} of {groups}. A new "
        f"measurement differs from the prediction by {low} to {high} with {percent(known.confidence)}{fitted}"
    )


def band_words(inputs: Inputs) -> str:
    """Return where the parts of the band come from."""
    found = band(inputs)
    if found is None:
        return ""
    sentences = [f"The band: {found.headline()}."]
    for part in found.parts:
        if part.why:
            of = "" if part.share == 1.0 else f" It counts for {percent(part.share)} of the time."
            sentences.append(f"{part.name[:1].upper()}{part.name[1:]}: {part.why}.{of if part.known else ''}")
    beyond = _beyond(inputs, found)
    return " ".join([*sentences, *([beyond] if beyond else [])])


def doublings_beyond(inputs: Inputs, found: Band) -> tuple[float, float | None]:
    """Return how many doublings the largest node count lies beyond the measured job, and the validations at most.

    The second is None where no model of the band was validated, or no job was measured.
    """
    profile, projection = inputs.profiles.get(inputs.mode or ""), inputs.projection
    if profile is None or projection is None:
        return 0.0, None
    measured = profile.nodes if inputs.own_times is None else inputs.own_times.nodes
    if measured is None:
        return 0.0, None
    doublings = math.log2(max(1.0, float(projection["nodes"].max()) / measured))
    return doublings, max((part.known.doublings for part in found.parts if part.known), default=None)


def _beyond(inputs: Inputs, found: Band) -> str:
    """Warn of a scale beyond what was validated."""
    doublings, reached = doublings_beyond(inputs, found)
    if reached is None or doublings <= reached:
        return ""
    return (
        f"The largest node count lies {number(round(doublings, 1))} doublings beyond the measured one, the validations "
        f"at most {number(round(reached, 1))} beyond what their models were fitted to: the band does not cover what "
        "grows with the scale."
    )


def paired_words(inputs: Inputs) -> str:
    """Return which errors cancel where the experiment compares variants; nothing where it compares none."""
    if inputs.sensitivity is None and inputs.losses is None:
        return ""
    return (
        "Differences between variants are far better known than times. All variants have the same draws, the same "
        "samples and the same node model, and these errors cancel in a ratio as far as the share of computing is the "
        "same. The network model's error cancels only where a variant leaves the network as it is. The intervals of "
        "differences are those of the paired draws; the band does not belong to them."
    )
