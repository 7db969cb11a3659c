"""The parts of a projection's interval: replicas, limited samples in the timing profile, both together.

In: the makespans of a point's replicas, and those with resampled timing profiles (:mod:`phase2_nodesim.resampling`),
each with the number of its replica. Out: ``interval-parts/1``: technique, nodes, part (``replicas``, ``profile``,
``both``), low_s, high_s, error_s (standard error), bias_s, dof (degrees of freedom of Student's distribution).

A resample is compared with the replica that had the same draws; the difference comes from the profile alone. Its
variance is that of the mean over other possible samples. Its mean is the bias of few samples (the slowest of many ranks
is rarely among them), and is subtracted. The number k of ranks limits how well that variance is known, and resampling k
of k makes it too small by (k - 1) / k. That factor and Student's distribution with k - 1 degrees of freedom account for
both. The squares of the parts' half widths add up (Zou and Donner, *Statistics in Medicine* 27, 2008): the whole is
never narrower than a part, and has no degrees of freedom of its own.
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
    """A standard error [s] with its degrees of freedom, and the expected bias of the estimate [s]."""

    error_s: float
    dof: float
    bias_s: float = 0.0

    def half_width_s(self, confidence: float) -> float:
        """Return half the width [s] of the interval."""
        from scipy.stats import t

        return float(t.ppf((1 + confidence) / 2, self.dof)) * self.error_s if self.error_s > 0 else 0.0


def replicas_part(times_s: Sequence[float]) -> Part:
    """Return the standard error of the mean of the replicas' times."""
    count = len(times_s)
    if count < 2 or np.ptp(times_s) == 0:
        return Part(0.0, 1)
    return Part(float(np.std(times_s, ddof=1)) / math.sqrt(count), count - 1)


def profile_part(differences_s: Sequence[float], groups: int) -> Part:
    """Return the standard error due to the profile's limited samples, from the differences of the resamples.

    ``groups`` is the number of ranks (or nodes) that were resampled. A single one does not tell how others differ: only
    its executions vary.
    """
    count = len(differences_s)
    if count < 2:
        return Part(0.0, 1)
    bias = float(np.mean(differences_s))
    # The bias is a mean over this number of resamples and adds its own error.
    variance = float(np.var(differences_s, ddof=1)) * (1 + 1 / count)
    if groups < 2:
        return Part(math.sqrt(variance), count - 1, bias)
    # The variance of these resamples is as uncertain as that of a normal sample with count - 1 degrees of freedom.
    dof = 1 / (1 / (groups - 1) + 1 / (count - 1))
    return Part(math.sqrt(variance * groups / (groups - 1)), dof, bias)


def interval_parts(
    replicas: Mapping[int, float], resamples: Sequence[tuple[int, float]], groups: int, confidence: float
) -> list[dict[str, float | str]]:
    """Return the rows of a point; ``replicas`` is number -> time [s], ``resamples`` has pairs (replica, time [s])."""
    times = list(replicas.values())
    centre = float(np.mean(times))
    found = {
        "replicas": replicas_part(times),
        "profile": profile_part([time - replicas[number] for number, time in resamples], groups),
    }
    rows = [
        _row(name, centre - part.bias_s, part.half_width_s(confidence), part.error_s, part.bias_s, part.dof)
        for name, part in found.items()
    ]
    bias = sum(part.bias_s for part in found.values())
    half = math.hypot(*(part.half_width_s(confidence) for part in found.values()))
    error = math.hypot(*(part.error_s for part in found.values()))
    return [*rows, _row("both", centre - bias, half, error, bias, math.nan)]


def _row(name: str, centre: float, half: float, error: float, bias: float, dof: float) -> dict[str, float | str]:
    limits = {"low_s": centre - half, "high_s": centre + half}
    return {"part": name, **limits, "error_s": error, "bias_s": bias, "dof": dof}
