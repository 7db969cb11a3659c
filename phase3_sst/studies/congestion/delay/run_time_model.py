"""Models the growth of an application's run time with the delay of messages (Netscope, section 4.1).

In: runs of an application with the expected delay of its messages, the mean over all pairs of its nodes and over its
life (equations (4) and (5)). Out: a :class:`Sensitivity`: T = c M + k by least squares (equation (2)), with a bootstrap
interval of c over the runs. Who sends what is ignored, as in the paper.

The gradient c has no unit [s/s] and grows with the length of a run, so a scale is needed. The paper's scale is a
ping-pong with sensitivity one, but its length is not given. Here the ping-pong runs as long as the application on an
idle machine: ``relative`` is (c / T0) over that of the ping-pong, with T0 the run time at the least observed delay. An
application with 2 is delayed by twice the share of a ping-pong. That does not depend on the number of iterations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd

from manynode.errors import InputError
from manynode.seeds import generator
from phase3_sst.studies.congestion.delay.latency import LatencyModel, Snapshots

RUN_COLUMNS = ("run", "application", "nodes", "start_s", "end_s")
# With a smaller standard deviation, relative to the mean, run times count as constant and have no correlation.
LEAST_VARIATION = 0.01
LEAST_RUNS = 5
RESAMPLES = 1000


@dataclass(frozen=True)
class Sensitivity:
    """The line T = gradient * M + offset_s of an application, over ``runs`` runs.

    ``idle_s`` is the line's run time at the least delay of the runs. ``low`` and ``high`` bound the gradient.
    ``correlation`` is that of estimated and actual run times; ``left_out`` the same with each run estimated from the
    others. Where run times do not vary (``varies``), the gradient is zero and there is no correlation.
    """

    runs: int
    varies: bool
    gradient: float
    low: float
    high: float
    offset_s: float
    idle_s: float
    variation: float
    correlation: float | None
    left_out: float | None

    def estimate_s(self, delivery_s: np.ndarray) -> np.ndarray:
        """Return the expected run times [s] with messages delayed by ``delivery_s``."""
        return self.gradient * np.asarray(delivery_s, dtype=float) + self.offset_s


def delivery_s(model: LatencyModel, snapshots: Snapshots, runs: pd.DataFrame) -> np.ndarray:
    """Return the expected delay of messages of each run: the mean over pairs of its nodes and over its life.

    ``runs`` are rows of run, nodes (a sequence of node numbers), start_s and end_s.
    """
    values = []
    snapshots.routes.learn(pair for row in runs["nodes"] for pair in permutations(map(int, row), 2))
    for row in runs.itertuples(index=False):
        nodes = [int(node) for node in row.nodes]
        if len(nodes) < 2:
            raise InputError("an application on one node sends no message over the network", where=f"run {row.run}")
        found = snapshots.terms(str(row.run), snapshots.routes.among(nodes), float(row.start_s), float(row.end_s))
        values.append(model.delay_s(found))
    return np.array(values)


def line(delivery: np.ndarray, times_s: np.ndarray) -> tuple[float, float]:
    """Return gradient and offset of the least-squares line; the gradient is 0 without spread of the delays."""
    centred = delivery - delivery.mean()
    spread = float(centred @ centred)
    gradient = float(centred @ times_s) / spread if spread > 0 else 0.0
    return gradient, float(times_s.mean() - gradient * delivery.mean())


def fit_sensitivity(delivery: np.ndarray, times_s: np.ndarray, seed: int, confidence: float) -> Sensitivity:
    """Return the sensitivity of an application whose runs took ``times_s`` with messages delayed by ``delivery``."""
    count = len(times_s)
    if count < LEAST_RUNS:
        raise InputError(
            "too few runs to estimate the delay sensitivity",
            found=count,
            allowed=f"at least {LEAST_RUNS}",
            remedy="run the application more often, on other nodes and under other congestion",
        )
    variation = float(times_s.std(ddof=1) / times_s.mean())
    if variation < LEAST_VARIATION:
        mean = float(times_s.mean())
        return Sensitivity(count, False, 0.0, 0.0, 0.0, mean, mean, variation, None, None)
    gradient, offset = line(delivery, times_s)
    rng = generator(seed, "delay-sensitivity", count)
    draws = [rng.integers(count, size=count) for _ in range(RESAMPLES)]
    gradients = [line(delivery[draw], times_s[draw])[0] for draw in draws]
    tail = 50 * (1 - confidence)
    low, high = np.percentile(gradients, [tail, 100 - tail])
    return Sensitivity(
        count,
        True,
        gradient,
        float(low),
        float(high),
        offset,
        gradient * float(delivery.min()) + offset,
        variation,
        correlation(gradient * delivery + offset, times_s),
        correlation(left_out_estimates(delivery, times_s), times_s),
    )


def left_out_estimates(delivery: np.ndarray, times_s: np.ndarray) -> np.ndarray:
    """Return each run's time on the line fitted to all other runs."""
    estimates = []
    for index in range(len(times_s)):
        gradient, offset = line(np.delete(delivery, index), np.delete(times_s, index))
        estimates.append(gradient * delivery[index] + offset)
    return np.array(estimates)


def correlation(estimated: np.ndarray, actual: np.ndarray) -> float | None:
    """Return Pearson's correlation; None if either is constant."""
    if len(actual) < 2 or np.ptp(estimated) == 0 or np.ptp(actual) == 0:
        return None
    return float(np.corrcoef(estimated, actual)[0, 1])


def relative(application: Sensitivity, ping_pong: Sensitivity) -> float:
    """Return the sensitivity of an application on the scale where the ping-pong has one."""
    return application.gradient * scale_of(application, ping_pong)


def scale_of(application: Sensitivity, ping_pong: Sensitivity) -> float:
    """Return the factor that converts an application's gradient to the scale where the ping-pong has one."""
    if ping_pong.gradient <= 0:
        raise InputError(
            "the ping-pong's run time does not grow with the delay of messages: sensitivities have no scale",
            found=f"gradient {ping_pong.gradient:g}",
            remedy="run it under more, and more varied, congestion",
        )
    return ping_pong.idle_s / ping_pong.gradient / application.idle_s


def scaled(application: Sensitivity, ping_pong: Sensitivity) -> dict[str, Any]:
    """Return an application's entry in tables and model files: its line, and the gradient on the ping-pong's scale."""
    scale = scale_of(application, ping_pong)
    return {
        "runs": application.runs,
        "varies": application.varies,
        "gradient": application.gradient,
        "sensitivity": application.gradient * scale,
        "low": application.low * scale,
        "high": application.high * scale,
        "correlation": application.correlation,
    }


def convergence(delivery: np.ndarray, times_s: np.ndarray, order: Sequence[int]) -> np.ndarray:
    """Return after each run in ``order``, from the second on, the error of the gradient relative to that of all."""
    final, _ = line(delivery, times_s)
    errors = []
    for count in range(2, len(order) + 1):
        chosen = list(order[:count])
        gradient, _ = line(delivery[chosen], times_s[chosen])
        errors.append(abs(gradient - final) / abs(final) if final else 0.0)
    return np.array(errors)


def extremes_first(delivery: np.ndarray) -> list[int]:
    """Return the runs in the order of least, greatest, second least, second greatest ... delay."""
    ranked = [int(index) for index in np.argsort(delivery, kind="stable")]
    return [ranked[n // 2] if n % 2 == 0 else ranked[-(n // 2) - 1] for n in range(len(ranked))]
