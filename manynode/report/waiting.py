"""Ranks that waited for a core while they were measured: whose compute times these are, and in which phases."""

from __future__ import annotations

from manynode.report.load import Inputs
from manynode.report.wording import count, listing, percent
from manynode.waiting import LIMIT


def oversubscribed(inputs: Inputs) -> str:
    """Return the report's first paragraph where compute times are those of an oversubscribed host, else nothing."""
    shares = {
        mode: profile.waiting.share
        for mode, profile in inputs.profiles.items()
        if profile.waiting is not None and profile.waiting.oversubscribed and profile.waiting.share is not None
    }
    if not shares:
        return ""
    parts = [f"{percent(share)} of their compute time ({mode})" for mode, share in shares.items()]
    return (
        "These times are those of an oversubscribed host and not of the machine: while they were measured, ranks were "
        f"runnable and did not run for {listing(parts)}, because other threads had the cores. What follows from them "
        "is as wrong. Measure with a core for each thread, or with 'nodesim: clock: processor' or "
        "'nodesim: turns: true'."
    )


def native_words(inputs: Inputs) -> str:
    """Return whose times the engine native measured."""
    profile = inputs.profiles[inputs.mode or ""]
    waiting = profile.waiting
    if waiting is None or (waiting.counted and waiting.share is None):
        return (
            " They are measured on this host, so they hold for this host's processor. Whether ranks waited for a core "
            "meanwhile is not known."
        )
    if not waiting.counted:
        return " They are processor time on this host, which does not contain waiting, and hold for its processor."
    share = percent(waiting.share or 0.0)
    if not waiting.oversubscribed:
        return (
            f" They are measured on this host, so they hold for this host's processor; ranks waited for a core for "
            f"{share} of them (up to {percent(LIMIT)} counts as none)."
        )
    worst = sorted(
        ((phase.waited_s / phase.mean_s, phase.name) for part in profile.classes for phase in part.phases
         if phase.waited_s and phase.mean_s > 0),
        reverse=True,
    )[:3]  # fmt: skip
    named = listing([f"{name or '(no name)'} ({percent(min(1.0, of_it))})" for of_it, name in worst])
    most = f"; most in {count(len(worst), 'phase')}: {named}" if worst else ""
    return f" They were measured on an oversubscribed host: ranks waited for a core for {share} of them{most}."
