"""Numbers and lists for readers: sensible digits, units, independent of the locale."""

from __future__ import annotations

import math
from collections.abc import Sequence

from manynode import units
from manynode.timing_profile import PhaseTimes, SequencePattern


def duration(value: float, digits: int = 3) -> str:
    """Return seconds with a unit, such as ``1.23 ms``; large values keep all digits before the point."""
    if value == 0:
        return "0 s"
    if math.isfinite(value) and abs(value) >= 10**digits:
        return f"{value:,.0f} s"
    return units.render(value, "time", digits).replace("us", "µs")


def size(value: float) -> str:
    """Return bytes with a unit, such as ``1.5 MiB``."""
    return "unknown" if not math.isfinite(value) else units.render(value, "size", 3)


def interval(value: float, low: float, high: float) -> tuple[str, str]:
    """Return a time and its interval, both with as many digits as the interval's width needs."""
    width = high - low
    digits = 3
    if value > 0 and width > 0:
        digits = min(6, max(3, math.ceil(math.log10(value / width)) + 1))
    return duration(value, digits), f"{duration(low, digits)} to {duration(high, digits)}"


def percent(share: float) -> str:
    """Return a share as percent with two to three digits that mean something."""
    if not math.isfinite(share):
        return "unknown"
    value = float(f"{100 * share:.6g}")  # 9.9999999 is 10
    if value == 0 or abs(value) >= 10:
        return f"{value:.0f} %"
    return f"{value:.1f} %" if abs(value) >= 1 else f"{value:.2g} %"


def signed(share: float) -> str:
    """Return a share as percent with its sign: ``+3.1 %``, ``-12 %``, ``0 %``."""
    text = percent(share)
    return f"+{text}" if math.isfinite(share) and share > 0 and text != "0 %" else text


def change(value: float, base: float) -> str:
    """Return how ``value`` differs from ``base``: ``12 % lower``, ``3.1 % higher`` or ``the same``."""
    if base == 0 or abs(value / base - 1) < 5e-4:
        return "the same"
    return f"{percent(abs(value / base - 1))} {'lower' if value < base else 'higher'}"


def number(value: float | None) -> str:
    """Return a plain number: thousands separated, four digits otherwise."""
    if value is None or not math.isfinite(value):
        return "unknown"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def count(value: int, noun: str, plural: str | None = None) -> str:
    """Return ``1 node``, ``2 nodes``, ``2 classes``."""
    return f"{value:,} {noun if value == 1 else plural or noun + 's'}"


def listing(words: Sequence[str]) -> str:
    """Return ``a``, ``a and b``, ``a, b and c``."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def ranges(values: Sequence[int], most: int = 12) -> str:
    """Return whole numbers as ranges, ``0-3, 7``; beyond ``most`` ranges the rest is counted."""
    groups: list[list[int]] = []
    for value in sorted(set(values)):
        if groups and value == groups[-1][1] + 1:
            groups[-1][1] = value
        else:
            groups.append([value, value])
    shown = [str(a) if a == b else f"{a}-{b}" for a, b in groups[:most]]
    rest = sum(b - a + 1 for a, b in groups[most:])
    return ", ".join(shown) + (f" and {rest} more" if rest else "")


def pattern(phase: PhaseTimes, most: int = 40) -> str:
    """Return the phase's pattern of clusters in words: ``0 1 2 1 0, repeated 20 times``."""
    if isinstance(phase.pattern, SequencePattern):
        sequence = phase.pattern.sequence
        text = " ".join(map(str, sequence[:most])) + (
            f" ... ({count(len(sequence), 'execution')})" if len(sequence) > most else ""
        )
        text += f", repeated {phase.pattern.repeat} times" if phase.pattern.repeat > 1 else ", on all ranks alike"
        if phase.pattern.prefix:
            text = f"after {count(phase.pattern.prefix, 'execution')}: {text}"
        agreement = phase.pattern.agreement
        return text if agreement >= 0.9995 else f"{text} ({percent(agreement)} agree)"
    if len(phase.clusters) == 1:
        return "one cluster"
    weights = [f"{percent(cluster.weight)} cluster {index}" for index, cluster in enumerate(phase.clusters)]
    return f"no pattern, drawn by weight: {listing(weights)}"


def technique(name: str, own_times: bool = False) -> str:
    """Return what a technique means: ``with external ranks, variable compute times``."""
    alone = name.startswith("no-ext")
    if own_times:
        ranks = "your times of a node that runs alone" if alone else "your times in the whole job"
    else:
        ranks = f"{'without' if alone else 'with'} external ranks"
    return f"{ranks}, {'variable' if name.endswith('var') else 'constant'} compute times"


def engine(name: str, version: str) -> str:
    """Return an engine with its version, if known."""
    return f"{name} {version}".strip()
