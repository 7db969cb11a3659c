"""Differences between ranks that persist: what was measured, what the replay keeps, what ignoring them would change."""

from __future__ import annotations

from manynode.report.load import BY_COMPLETENESS, Inputs
from manynode.report.wording import count, duration, percent
from manynode.timing_profile import Part, Persistence, TimingProfile

KEY = "simulate.persistent"


def persistence_words(inputs: Inputs) -> str:
    """Return the sentences on persistent differences; empty without a timing profile."""
    profile = inputs.profiles.get(inputs.mode or "")
    if profile is None:
        return ""
    known = _known(profile)
    if not known:
        return (
            "Whether ranks differ persistently is not known: a class has one simulated rank, or one execution of each. "
            "Every execution of every rank is drawn independently."
        )
    text = _measured(known)
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


def _measured(known: list[tuple[float, Persistence]]) -> str:
    total = sum(weight for weight, _ in known)

    def mean(of: list[tuple[float, Part]]) -> str:
        # Phases without any variance count alike where none has some.
        weights = [weight / total if total > 0 else 1 / len(known) for weight, _ in of]
        middle, low, high = (
            sum(w * value for w, value in zip(weights, values, strict=True))
            for values in zip(*((part.share, part.low, part.high) for _, part in of), strict=True)
        )
        return f"{percent(middle)} (90 % interval {percent(low)} to {percent(high)})"

    ranks, nodes = max(p.ranks for _, p in known), max(p.nodes for _, p in known)
    text = (
        "Of the variance of compute times in phases that a rank executes several times, "
        f"{mean([(w, p.between_ranks) for w, p in known])} lies between ranks and "
        f"persists from execution to execution, estimated from {count(ranks, 'simulated rank')}."
    )
    of_nodes = [(w, p.between_nodes) for w, p in known if p.between_nodes is not None]
    if of_nodes:
        return text + f" {mean(of_nodes)} lies between {count(nodes, 'node')}."
    if nodes == 1:
        return text + " With one simulated node, what its ranks have in common is not known."
    return text + " With one rank on each node, ranks and nodes cannot be told apart."


def _effect(inputs: Inputs) -> str:
    """Return what the sensitivity study says of ignoring persistent differences, from paired runs."""
    study, section = inputs.sensitivity, inputs.resolved.get("sensitivity")
    parameters = section["parameters"] if section else {}
    name = next((name for name, entry in parameters.items() if KEY in entry["keys"]), None)
    if study is None or name is None:
        return f" What ignoring them would change, a sensitivity study that varies {KEY} tells."
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
