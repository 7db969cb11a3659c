"""Differences between ranks that persist: their measured share, whether the replay keeps them, and their effect.

The raw split of the variance (between ranks, within a rank) and the share that persists differ for two reasons, which
the sentences name: a phase that a rank executes once varies between ranks alone, and means of few executions differ by
chance.
"""

from __future__ import annotations

from dataclasses import dataclass

from manynode.report.load import BY_COMPLETENESS, Inputs
from manynode.report.wording import count, duration, percent
from manynode.timing_profile import Part, Persistence, TimingProfile

KEY = "simulate.persistent"


@dataclass(frozen=True)
class VarianceSplit:
    """Variance of compute times [s^2], phases weighted by their executions.

    ``once`` is that of phases that a rank executes once; ``between`` and ``within`` split that of all others.
    """

    once: float
    between: float
    within: float

    @property
    def total(self) -> float:
        """Return the variance of all phases."""
        return self.once + self.between + self.within


def variance_split(profile: TimingProfile) -> VarianceSplit:
    """Return how the variance of all phases is made up."""
    once = between = within = 0.0
    for part in profile.classes:
        for phase in part.phases:
            # Executions of a phase add up, so that each counts with its number.
            weight = part.share * phase.count
            if phase.count <= len(part.simulated_ranks):
                once += weight * phase.variance.total_s2
            else:
                between += weight * phase.variance.between_ranks_s2
                within += weight * phase.variance.within_rank_s2
    return VarianceSplit(once, between, within)


def persistence_words(inputs: Inputs) -> str:
    """Return the sentences on persistent differences; empty without a timing profile."""
    profile = inputs.profiles.get(inputs.mode or "")
    if profile is None:
        return ""
    known = _known(profile)
    if not known:
        return (
            "It is not known whether ranks differ persistently: a class has one simulated rank, or one execution of "
            "each. Every execution of every rank is drawn independently."
        )
    text = _measured(known, variance_split(profile))
    if inputs.resolved.get("simulate", {}).get("persistent", False):
        text += " The replay keeps these differences: a rank that is slow stays slow."
    else:
        text += f" The replay ignores these differences ({KEY}: false): every execution is drawn independently."
    return text + _effect(inputs)


def _known(profile: TimingProfile) -> list[tuple[float, Persistence]]:
    """Return what persists in each phase, with the variance that the phase contributes."""
    return [
        (part.share * phase.count * phase.variance.total_s2, phase.persistence)
        for part in profile.classes
        for phase in part.phases
        if phase.persistence is not None
    ]


def _measured(known: list[tuple[float, Persistence]], split: VarianceSplit) -> str:
    total = sum(weight for weight, _ in known)

    def mean(of: list[tuple[float, Part]]) -> tuple[float, str]:
        # Phases without any variance count alike where none has some.
        weights = [weight / total if total > 0 else 1 / len(known) for weight, _ in of]
        middle, low, high = (
            sum(w * value for w, value in zip(weights, values, strict=True))
            for values in zip(*((part.share, part.low, part.high) for _, part in of), strict=True)
        )
        return middle, f"{percent(middle)} (90 % interval {percent(low)} to {percent(high)})"

    ranks, nodes = max(p.ranks for _, p in known), max(p.nodes for _, p in known)
    share, words = mean([(w, p.between_ranks) for w, p in known])
    text = (
        "Only phases that a rank executes several times show whether a rank stays slow. The share of their variance "
        f"that lies between ranks and persists is {words}: such a rank is slow in every execution. It is estimated "
        f"from {count(ranks, 'simulated rank')}."
    )
    repeated = split.between + split.within
    raw = split.between / repeated if repeated > 0 else 0.0
    if raw > share:
        text += (
            f" It is less than the {percent(raw)} by which the mean times of the ranks differ in these phases, because "
            "means of few executions also differ by chance."
        )
    of_nodes = [(w, p.between_nodes) for w, p in known if p.between_nodes is not None]
    if of_nodes:
        return text + f" Another {mean(of_nodes)[1]} lies between {count(nodes, 'node')} and persists."
    if nodes == 1:
        return text + " One simulated node does not show what its ranks have in common."
    return text + " With one rank on each node, ranks and nodes cannot be distinguished."


def _effect(inputs: Inputs) -> str:
    """Return the effect of ignoring persistent differences, from the paired runs of the sensitivity study."""
    study, section = inputs.sensitivity, inputs.resolved.get("sensitivity")
    parameters = section["parameters"] if section else {}
    name = next((name for name, entry in parameters.items() if KEY in entry["keys"]), None)
    if study is None or name is None:
        return f" A sensitivity study that varies {KEY} shows their effect."
    technique = next((name for name in BY_COMPLETENESS if name in set(study["technique"])), None)
    nodes = int(study["nodes"].max())
    at = study[(study["technique"] == technique) & (study["nodes"] == nodes)]
    keeping, ignoring = (at[at[name] == value]["time_s"] for value in ("True", "False"))
    if keeping.empty or ignoring.empty:
        return ""
    kept, ignored = float(keeping.mean()), float(ignoring.mean())
    if abs(ignored / kept - 1) < 5e-4:
        return (
            f" Ignoring them changes the time of {technique} on {count(nodes, 'node')} by "
            f"{percent(abs(ignored / kept - 1))} only (runs with the same draws)."
        )
    direction = "shortens" if ignored < kept else "lengthens"
    return (
        f" Ignoring them {direction} the time of {technique} on {count(nodes, 'node')} from {duration(kept, 4)} to "
        f"{duration(ignored, 4)}, by {percent(abs(ignored / kept - 1))} (runs with the same draws)."
    )
