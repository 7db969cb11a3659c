"""The parts of a projection's interval: replicas, limited samples in the timing profile, both together.

In: the makespans of a point's replicas, and those with resampled timing profiles (:mod:`phase2_nodesim.resampling`),
each with the number of its replica. Out: ``interval-parts/1``: technique, nodes, part (``replicas``, ``profile``,
``both``), low_s, high_s, error_s (standard error), bias_s, dof (degrees of freedom of Student's distribution).

A resample is compared with the replica that had the same draws, so that the difference comes from the profile alone:
its variance is that of the mean that other samples would have given, and its mean the bias of having so few (the
slowest of many ranks is rarely among them), which is taken off. Few ranks bound how well that variance is known, and
resampling k of k of them makes it too small by (k - 1) / k; Student's distribution with k - 1 degrees of freedom and
that factor account for both. The variances of the two parts add up, with the degrees of freedom of Welch (1947).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

SCHEMA = "interval-parts/1"
RESAMPLES_SCHEMA = "profile-resamples/1"
COLUMNS = ("technique", "nodes", "part", "low_s", "high_s", "error_s", "bias_s", "dof")


@dataclass(frozen=True)
class Part:
    """A standard error [s] with its degrees of freedom, and what the estimate is expected to be off by [s]."""

    error_s: float
    dof: float
    bias_s: float = 0.0

    def interval(self, centre_s: float, confidence: float) -> tuple[float, float]:
        """Return the interval [s] around ``centre_s``."""
        from scipy.stats import t

        half = float(t.ppf((1 + confidence) / 2, self.dof)) * self.error_s if self.error_s > 0 else 0.0
        return centre_s - self.bias_s - half, centre_s - self.bias_s + half


def replicas_part(times_s: Sequence[float]) -> Part:
    """Return the standard error of the mean of the replicas' times."""
    count = len(times_s)
    return Part(float(np.std(times_s, ddof=1)) / math.sqrt(count), count - 1) if count > 1 else Part(0.0, 1)


def profile_part(differences_s: Sequence[float], groups: int) -> Part:
    """Return the standard error that the profile's samples leave, from the differences that resamples make.

    ``groups`` is the number of ranks (or nodes) that were resampled. One tells nothing of how others differ: what is
    left are its executions.
    """
    count = len(differences_s)
    if count < 2:
        return Part(0.0, 1)
    bias = float(np.mean(differences_s))
    # The bias is known from as many resamples.
    variance = float(np.var(differences_s, ddof=1)) * (1 + 1 / count)
    if groups < 2:
        return Part(math.sqrt(variance), count - 1, bias)
    # So many resamples know their variance as well as count - 1 samples of a normal distribution do.
    dof = 1 / (1 / (groups - 1) + 1 / (count - 1))
    return Part(math.sqrt(variance * groups / (groups - 1)), dof, bias)


def together(parts: Sequence[Part]) -> Part:
    """Return the standard error of a sum of independent parts."""
    variance, bias = sum(part.error_s**2 for part in parts), sum(part.bias_s for part in parts)
    if variance <= 0:
        return Part(0.0, 1, bias)
    return Part(math.sqrt(variance), variance**2 / sum(part.error_s**4 / part.dof for part in parts), bias)


def interval_parts(
    replicas: Mapping[int, float], resamples: Sequence[tuple[int, float]], groups: int, confidence: float
) -> list[dict[str, float | str]]:
    """Return the rows of a point; ``replicas`` is number -> time [s], ``resamples`` (replica, time [s])."""
    times = list(replicas.values())
    centre = float(np.mean(times))
    found = {
        "replicas": replicas_part(times),
        "profile": profile_part([time - replicas[number] for number, time in resamples], groups),
    }
    found["both"] = together(list(found.values()))
    rows: list[dict[str, float | str]] = []
    for name, part in found.items():
        low, high = part.interval(centre, confidence)
        row = {"low_s": low, "high_s": high, "error_s": part.error_s, "bias_s": part.bias_s, "dof": part.dof}
        rows.append({"part": name, **row})
    return rows
