"""Ranks that waited for a core while they were measured: whose compute times these are, and in which phases."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from manynode.report.load import Inputs
from manynode.report.wording import count, listing, percent
from manynode.timing_profile import TimingProfile, read_timing_profile
from manynode.waiting import LIMIT


def oversubscribed(inputs: Inputs) -> str:
    """Return the report's first paragraph if compute times are those of an oversubscribed host; else an empty text."""
    return _warning(inputs.profiles)


def oversubscribed_study(profiles: Mapping[str, Path]) -> str:
    """Return the first paragraph of a study's page if one of its timing profiles (by name) has such times.

    The text is empty if none has. A profile that cannot be used is an :class:`InputError`.
    """
    return _warning({name: read_timing_profile(path) for name, path in profiles.items()})


def _warning(profiles: Mapping[str, TimingProfile]) -> str:
    names: dict[str, list[str]] = {}
    for name, profile in profiles.items():
        waiting = profile.waiting
        if waiting is not None and waiting.oversubscribed and waiting.share is not None:
            names.setdefault(percent(waiting.share), []).append(name)
    if not names:
        return ""
    parts = [f"{share} of their compute time ({', '.join(found)})" for share, found in names.items()]
    return (
        "These times are those of an oversubscribed host and not of the machine. During the measurement, ranks were "
        f"runnable but did not run for {listing(parts)}, because other threads had the cores. All results below have "
        "this error. Measure with a core for each thread, or with 'nodesim: clock: processor' or "
        "'nodesim: turns: true'."
    )


def native_words(inputs: Inputs) -> str:
    """Return whose times the engine native measured, as a sentence."""
    profile = inputs.profiles[inputs.mode or ""]
    waiting = profile.waiting
    if waiting is None or (waiting.counted and waiting.share is None):
        return (
            " They were measured on this host and hold for this host's processor. It is not known whether ranks waited "
            "for a core meanwhile."
        )
    if not waiting.counted:
        return " They are processor time on this host, without waiting, and hold for this host's processor."
    share = percent(waiting.share or 0.0)
    if not waiting.oversubscribed:
        return (
            f" They were measured on this host and hold for this host's processor. Ranks waited for a core for {share} "
            f"of them; up to {percent(LIMIT)} is ignored."
        )
    worst = sorted(
        ((phase.waited_s / phase.mean_s, phase.name) for part in profile.classes for phase in part.phases
         if phase.waited_s and phase.mean_s > 0),
        reverse=True,
    )[:3]  # fmt: skip
    named = listing([f"{name or '(no name)'} ({percent(min(1.0, of_it))})" for of_it, name in worst])
    most = f"; most in {count(len(worst), 'phase')}: {named}" if worst else ""
    return f" They were measured on an oversubscribed host: ranks waited for a core for {share} of them{most}."
