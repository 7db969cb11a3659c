"""Distributions of the sizes that depend on load: what a skeleton draws, and how it compares with a recording.

In: the :class:`.sequence.irregular.Load` of each set of messages, and the grid. Out: entries of the contract's
``distributions``: equally likely sizes relative to a mean that is an expression of the number of ranks, and the
probability that a size is that of the message before. :func:`comparison` says how far volume and sizes are off at a
recorded run.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import ks_2samp, wasserstein_distance

from manynode.derived.call_forms import draws_blocks
from manynode.markers import PROC_NULL_PEER
from phase2_nodesim.derive.grids.points import Points
from phase2_nodesim.derive.judging.compared import job_of
from phase2_nodesim.derive.judging.interpret import Content
from phase2_nodesim.derive.recorded.events import RECEIVES
from phase2_nodesim.derive.recorded.recordings import Recording
from phase2_nodesim.derive.rules.means import FEWEST_RUNS, means
from phase2_nodesim.derive.sequence.irregular import End, Load

_VALUES = 40
# Where too few runs have a set of messages, it is taken as another one whose means are this near in these runs.
_ALIKE = 0.05
# Means that are this near are equal.
_EQUAL = 0.02


class Draws:
    """The distributions of a program, in ``content`` by name, as in the file.

    What is always the same is not drawn, unless it is nothing: larger jobs may have something to send there.
    """

    def __init__(self, loads: Sequence[Load], points: Points) -> None:
        self.points = points
        self.content: dict[str, Content] = {}
        self._sizes: dict[End, Any] = {}
        dimensions = points.rule.dimensions if points.rule else 0
        self._axes = [f"d{axis}" for axis in range(dimensions)] or ["P"]
        seen = [
            _Seen(load, {run: load.sizes(run) for run in sorted({run for run, _, _ in load.series})}) for load in loads
        ]
        fitted: list[tuple[_Seen, list[str]]] = []
        for one in sorted(seen, key=lambda one: -len(one.sizes)):
            fitted.append((one, self._means(one, fitted)))
        texts_of = {id(one): texts for one, texts in fitted}
        for one in seen:
            texts = texts_of[id(one)]
            name = f"size{len(self.content)}"
            size: Any = {"draw": name}
            different = {size for sizes in one.sizes.values() for size in sizes}
            if len(different) == 1 and different != {0}:
                size = texts[0]
            else:
                self.content[name] = one.content(texts)
            self._sizes |= dict.fromkeys(one.load.ends, size)

    def size(self, leaf: int, which: int) -> Any:
        """Return the field ``bytes`` of a leaf, or (``which`` is 1) what it receives besides; None: exact."""
        return self._sizes.get((leaf, which))

    def mean(self, size: Any) -> str:
        """Return the mean of a field ``bytes``, as an expression."""
        return str(self.content[size["draw"]]["mean"]) if isinstance(size, Mapping) else str(size)

    def are_like(self, size: Any, seen: Sequence[int], mean: int) -> bool:
        """Say whether the mean of sizes is ``mean``, as far as so many draws tell."""
        values = np.asarray(self.content[size["draw"]]["values"] if isinstance(size, Mapping) else [mean], float)
        spread = float(values.std() / values.mean()) if values.any() else 0.0
        return bool(abs(np.mean(seen) - mean) <= mean * max(_EQUAL, 3 * spread / np.sqrt(len(seen))))

    def _means(self, one: _Seen, fitted: Sequence[tuple[_Seen, list[str]]]) -> list[str]:
        runs = list(one.sizes)
        if len(runs) >= FEWEST_RUNS:
            names = self._axes * 2 if one.load.blocks else self._axes
            extents = [[self.points.of_run(name, run) for name in names] for run in runs]
            return means([one.means[run] for run in runs], extents, names)
        # A set that only large jobs have, such as messages to the second neighbour of an axis with three ranks.
        like = [
            (other.distance(one), texts)
            for other, texts in fitted
            if runs[0] in other.sizes and len(other.sizes) >= FEWEST_RUNS
        ]
        near = min(like, key=lambda pair: pair[0], default=(1.0, []))
        own = round(one.means[runs[0]])
        if not own:
            return ["0"]
        # So few runs do not tell what stays from what is dealt to the ranks.
        open_ = [str(own), f"{own * self.points.runs[runs[0]][0]} // P"]
        return [near[1][0], *open_] if near[0] <= _ALIKE else open_


@dataclass
class _Seen:
    """A set of messages with its sizes by run [bytes]."""

    load: Load
    sizes: Mapping[int, list[int]]

    def __post_init__(self) -> None:
        self.means = {run: float(np.mean(sizes)) for run, sizes in self.sizes.items()}

    def distance(self, other: _Seen) -> float:
        """Return the largest relative difference of means in the runs of the other."""
        if not other.means.keys() <= self.means.keys():
            return np.inf
        return max(abs(self.means[run] - mean) / max(mean, 1.0) for run, mean in other.means.items())

    def content(self, texts: Sequence[str]) -> Content:
        relative = np.concatenate([np.asarray(sizes) / max(self.means[run], 1.0) for run, sizes in self.sizes.items()])
        # Quantiles of the middle run's mean: sizes as people know them.
        scale = float(np.median(list(self.means.values())))
        values = np.quantile(relative, (np.arange(_VALUES) + 0.5) / _VALUES) * scale
        entry: Content = {"mean": texts[0], "values": sorted(round(float(value)) for value in values)}
        if not any(entry["values"]):
            return {"mean": "0", "values": [0]}
        if texts[1:]:
            entry["or"] = list(texts[1:])
        if len(set(entry["values"])) == 1:
            entry["values"] = entry["values"][:1]
        elif persistence := self._persistence():
            entry["persistence"] = persistence
        return entry

    def _persistence(self) -> float:
        """Return the probability that a size stays, beyond what equal sizes by chance would give."""
        same = total = 0
        for series in self.load.series.values():
            same += sum(a == b for a, b in itertools.pairwise(series))
            total += max(0, len(series) - 1)
        if not total:
            return 0.0
        chances = []
        for sizes in self.sizes.values():
            counts = np.unique(sizes, return_counts=True)[1] / len(sizes)
            chances.append(float(np.square(counts).sum()) * len(sizes))
        chance = sum(chances) / sum(map(len, self.sizes.values()))
        return round(min(1.0, max(0.0, (same / total - chance) / (1 - chance))), 3) if chance < 1 else 1.0


@dataclass(frozen=True)
class Comparison:
    """Drawn sizes against a recording of the same calls.

    Shares of the calls and of the bytes sent; relative error of all bytes sent; Kolmogorov-Smirnov distance of the
    sizes, the median over the distributions; mean Wasserstein distance of the sizes relative to their mean, weighted by
    bytes.
    """

    calls: float
    bytes: float
    volume_error: float
    distance: float
    apart: float

    def __str__(self) -> str:
        return (
            f"{self.calls:.1%} of the calls ({self.bytes:.1%} of the bytes) have drawn sizes; volume "
            f"{self.volume_error:+.3%}; sizes {self.apart:.2%} apart (Wasserstein), Kolmogorov-Smirnov distance "
            f"{self.distance:.2f} in the median"
        )


def comparison(content: Content, recording: Recording) -> Comparison | None:
    """Return how drawn sizes compare with a recording of the same calls; None if the skeleton draws none."""
    if not content.get("distributions"):
        return None
    job = job_of(content, recording)
    job.calls()
    seen: dict[str, list[int]] = defaultdict(list)
    calls = drawn = volume = exact = 0
    for rank, made in enumerate(recording.calls):
        for number, call in enumerate(made):
            if call.peer == PROC_NULL_PEER:
                continue
            calls += 1
            draws = job.drawn[rank].get(number)
            drawn += draws is not None
            if call.operation in RECEIVES:
                continue
            if draws is not None and draws[0] is not None:
                seen[draws[0]] += call.sent if draws_blocks(call.operation) else (call.bytes,)
            else:
                exact += call.bytes
    expected = apart = 0.0
    distances = []
    for name, sizes in seen.items():
        mean = job.means[name]
        expected += mean * len(sizes)
        volume += sum(sizes)
        values = np.asarray(content["distributions"][name]["values"], float)
        scaled = values * (mean / values.mean()) if values.any() else values
        distances.append(float(ks_2samp(np.round(scaled), sizes).statistic))
        apart += float(wasserstein_distance(scaled, sizes)) * len(sizes)
    total = exact + volume
    return Comparison(
        calls=drawn / calls,
        bytes=volume / max(total, 1),
        volume_error=(expected - volume) / max(total, 1),
        distance=float(np.median(distances)) if distances else 0.0,
        apart=apart / max(volume, 1),
    )
