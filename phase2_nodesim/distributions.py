"""Times of one compute phase -> clusters, each with a cumulative distribution of at most 100 bins.

The paper (section 3.4) clusters "timings that have a multimodal distribution". Here, a mixture of Gaussians on log time
proposes modes; BIC chooses their number. Modes that are close, overlap or are rare are merged. A split remains if
Hartigan's dip test finds the times multimodal. With too few times for that test, it remains if the gap is empty and
wide. The result may be a single cluster. Clusters are ordered by mean time, the longest first, as in the paper.
"""

from __future__ import annotations

import heapq
import itertools
import math
import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from phase2_nodesim.parameters import FitParameters

Times = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

_SHORTEST_S = 1e-9  # the markers' clock counts nanoseconds; log time needs a floor
_SUBSAMPLE = 2000
_DIP_LIMIT = 50_000
_GRID = 1024


@dataclass(frozen=True)
class Distribution:
    """A cumulative distribution: ``probability[i]`` of the times are at most ``time_s[i]``, linear in between."""

    time_s: Times
    probability: Times

    def mean_s(self) -> float:
        """Return the mean of the piecewise-linear distribution."""
        return math.fsum((np.diff(self.probability) * (self.time_s[1:] + self.time_s[:-1]) / 2).tolist())


@dataclass(frozen=True)
class Cluster:
    """One cluster of a phase's times: how many, their mean [s], their share and their distribution."""

    count: int
    mean_s: float
    weight: float
    distribution: Distribution


def spread_ties(log_times: Times, width: float) -> Times:
    """Return sorted ``log_times`` with equal values spread evenly over the cell that each distinct value stands for.

    Times on a clock's grid (or exact counts) come in atoms, which any test for multimodality would take for modes. Each
    atom fills the cell up to halfway to its neighbours, at most ``width``.
    """
    ordered = np.sort(log_times)
    values, starts, counts = np.unique(ordered, return_index=True, return_counts=True)
    if values.size == ordered.size:
        return ordered
    gaps = np.diff(values)
    below = np.minimum(np.concatenate([[width], gaps]) / 2, width / 2)
    above = np.minimum(np.concatenate([gaps, [width]]) / 2, width / 2)
    rank = np.arange(ordered.size) - np.repeat(starts, counts)
    position = (rank + 0.5) / np.repeat(counts, counts)
    spread = ordered - np.repeat(below, counts) + position * np.repeat(below + above, counts)
    return np.asarray(np.where(np.repeat(counts, counts) > 1, spread, ordered))


def dip_p_value(sorted_log_times: Times) -> float:
    """Return the p-value of Hartigan's dip test (Hartigan and Hartigan 1985): small means multimodal."""
    import diptest

    # The tabulated significance ends at 72,000 times; beyond that every k-th order statistic stands for all.
    step = -(-sorted_log_times.size // _DIP_LIMIT)
    return float(diptest.diptest(np.ascontiguousarray(sorted_log_times[::step]), sort_x=False)[1])


def _mixture_boundaries(sample: Times, floor: float, parameters: FitParameters) -> list[float]:
    """Return the valleys (in log time) between the modes of the mixture that BIC prefers."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    column = sample.reshape(-1, 1)
    best, best_bic, worse = None, math.inf, 0
    for components in range(1, min(parameters.max_clusters, np.unique(sample).size) + 1):
        # reg_covar keeps components at least `floor` wide: nothing finer than the wanted separation is a mode.
        mixture = GaussianMixture(
            components, covariance_type="spherical", reg_covar=floor**2, random_state=0, max_iter=100, tol=1e-4
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            mixture.fit(column)
        bic = float(mixture.bic(column))
        if bic < best_bic:
            best, best_bic, worse = mixture, bic, 0
        else:
            worse += 1
            if worse == 2:
                break
    assert best is not None
    low, high = float(sample[0]) - 4 * floor, float(sample[-1]) + 4 * floor
    # The grid must resolve the narrowest component.
    grid = np.linspace(low, high, max(_GRID, min(20_000, math.ceil(4 * (high - low) / floor))))
    density = np.exp(best.score_samples(grid.reshape(-1, 1)))
    inner = density[1:-1]
    peaks = (np.flatnonzero((inner > density[:-2]) & (inner >= density[2:])) + 1).tolist()
    valleys = [a + int(np.argmin(density[a : b + 1])) for a, b in itertools.pairwise(peaks)]
    # Fill the shallowest valley first, until all that are left are deep.
    while valleys:
        depth = [
            density[v] / min(density[peaks[i]], density[peaks[i + 1]], 1e300) if density[v] > 0 else 0.0
            for i, v in enumerate(valleys)
        ]
        shallowest = int(np.argmax(depth))
        if depth[shallowest] < parameters.valley:
            break
        keep = (
            peaks[shallowest]
            if density[peaks[shallowest]] >= density[peaks[shallowest + 1]]
            else (peaks[shallowest + 1])
        )
        peaks[shallowest : shallowest + 2] = [keep]
        del valleys[shallowest]
    return [float(grid[v]) for v in valleys]


def _merge_near_and_rare(groups: list[Times], parameters: FitParameters) -> list[Times]:
    """Merge neighbouring groups (ascending) whose means are near, and groups with too few times."""
    total = sum(group.size for group in groups)
    least = max(parameters.min_cluster_count, parameters.min_cluster_share * total)
    groups = [group for group in groups if group.size]
    while len(groups) > 1:
        means = [float(group.mean()) for group in groups]
        steps = [math.log(b / a) if a > 0 else math.inf for a, b in itertools.pairwise(means)]
        rare = [i for i, group in enumerate(groups) if group.size < least]
        nearest = int(np.argmin(steps))
        if steps[nearest] < math.log1p(parameters.separation):
            left = nearest
        elif rare:
            smallest = min(rare, key=lambda i: groups[i].size)
            neighbours = [i for i in (smallest - 1, smallest) if 0 <= i < len(steps)]
            left = min(neighbours, key=lambda i: steps[i])
        else:
            break
        groups[left : left + 2] = [np.concatenate(groups[left : left + 2])]
    return groups


def _merge_without_clear_gap(groups: list[Times], floor: float, parameters: FitParameters) -> list[Times]:
    """Keep only splits with an empty gap that is wide against the spread within the groups (in log time)."""
    groups = list(groups)
    while len(groups) > 1:
        logs = [np.log(np.maximum(group, _SHORTEST_S)) for group in groups]
        inside = math.sqrt(sum(float(((log - log.mean()) ** 2).sum()) for log in logs) / sum(log.size for log in logs))
        gaps = [float(b.min() - a.max()) for a, b in itertools.pairwise(logs)]
        narrowest = int(np.argmin(gaps))
        if gaps[narrowest] >= max(math.log1p(parameters.separation) / 2, parameters.clear_gap * inside):
            break
        groups[narrowest : narrowest + 2] = [np.concatenate(groups[narrowest : narrowest + 2])]
    return groups


def cluster_labels(times_s: Times, parameters: FitParameters) -> Labels:
    """Return the cluster of each of ``times_s`` [s, not negative]; 0 is the cluster of the longest times."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    times = np.asarray(times_s, dtype=np.float64)
    ordered = np.sort(times)
    one = np.zeros(times.size, dtype=np.int64)
    if times.size < parameters.min_samples or parameters.max_clusters == 1:
        return one
    if ordered[-1] <= max(ordered[0], _SHORTEST_S) * (1 + parameters.separation):
        return one
    floor = math.log1p(parameters.separation) / 4
    logs = spread_ties(np.log(np.maximum(ordered, _SHORTEST_S)), 2 * floor)
    picks = np.unique(np.linspace(0, logs.size - 1, min(logs.size, _SUBSAMPLE)).round().astype(np.int64))
    # On so little data, threads only wait for each other, on a busy host for very long.
    with threadpool_limits(1):
        boundaries = _mixture_boundaries(logs[picks], floor, parameters)
    if not boundaries:
        return one
    cuts = np.searchsorted(np.log(np.maximum(ordered, _SHORTEST_S)), boundaries)
    groups = _merge_near_and_rare(np.split(ordered, cuts), parameters)
    if len(groups) > 1 and dip_p_value(logs) >= parameters.dip_significance:
        groups = _merge_near_and_rare(_merge_without_clear_gap(groups, floor, parameters), parameters)
    upper = np.array([group.max() for group in groups[:-1]])
    return np.asarray(len(groups) - 1 - np.searchsorted(upper, times, side="left"), dtype=np.int64)


def distribution(times_s: Times, bins: int = 100) -> Distribution:
    """Return the distribution of ``times_s`` in at most ``bins`` bins; its mean is the sample's.

    Half of the bins have equal probability; each further one halves the bin whose straight line is farthest from the
    sample's quantiles, so that a tail keeps its shape. Edges are sample quantiles between minimum and maximum; inner
    edges are then moved towards a neighbour by one common share, such that the mean is exact.
    """
    ordered = np.sort(np.asarray(times_s, dtype=np.float64))
    n = ordered.size
    mean = sample_mean(ordered)
    if n == 1 or ordered[0] == ordered[-1]:
        return Distribution(np.array([mean, mean]), np.array([0.0, 1.0]))
    knots = set(np.linspace(0, n - 1, min(n, bins // 2 + 1)).round().astype(int).tolist())
    knots |= {0, n - 1}
    if n <= bins + 1:
        knots = set(range(n))
    pending: list[tuple[float, int, int, int, int]] = []
    numbers = itertools.count()

    def wait(a: int, b: int) -> None:
        error, at = _worst(ordered, a, b)
        # Of equal deviations, the one found first.
        heapq.heappush(pending, (-error, next(numbers), at, a, b))

    for a, b in itertools.pairwise(sorted(knots)):
        wait(a, b)
    while len(knots) <= bins:
        error, _, at, a, b = heapq.heappop(pending)
        if error >= 0:
            break
        knots.add(at)
        wait(a, at)
        wait(at, b)
    chosen = np.array(sorted(knots))
    time, probability = ordered[chosen], chosen / (n - 1)
    return Distribution(_with_mean(time, probability, mean), probability)


def sample_mean(times_s: Times) -> float:
    """Return the mean; that of equal times is that time, and none is outside their range."""
    low, high = float(times_s.min()), float(times_s.max())
    return min(high, low + math.fsum((times_s - low).tolist()) / times_s.size)


def _worst(ordered: Times, a: int, b: int) -> tuple[float, int]:
    """Return how far two order statistics are from a straight line (times its width), and where it is farthest."""
    if b - a < 2:
        return 0.0, a
    line = ordered[a] + (ordered[b] - ordered[a]) * (np.arange(a, b + 1) - a) / (b - a)
    deviation = np.abs(ordered[a : b + 1] - line)
    at = int(np.argmax(deviation[1:-1])) + 1
    return float(deviation[at]) * (b - a), a + at


def _with_mean(time: Times, probability: Times, mean: float) -> Times:
    """Return ``time`` with inner edges moved towards a neighbour so that the distribution's mean is ``mean``."""
    steps = np.diff(probability)

    def mean_of(values: Times) -> float:
        return math.fsum((steps * (values[1:] + values[:-1]) / 2).tolist())

    for _ in range(4):  # the first round is exact up to rounding, the others mend that
        lacking = mean - mean_of(time)
        if abs(lacking) <= 1e-15 * abs(mean):
            break
        moved = np.zeros_like(time)
        if lacking > 0:
            moved[:-1] = time[1:] - time[:-1]
        else:
            moved[1:] = time[:-1] - time[1:]
        moved[0] = moved[-1] = 0.0
        reach = mean_of(time + moved) - mean_of(time)
        share = lacking / reach if reach != 0 else math.inf
        if not 0 <= share <= 1:
            # Hardly any inner edge: the whole distribution is stretched instead.
            time = time * (mean / mean_of(time))
            continue
        time = np.maximum.accumulate(time + share * moved)
    return time


def summarise(times_s: Times, labels: Labels, parameters: FitParameters) -> list[Cluster]:
    """Return the clusters 0, 1, ... of ``times_s`` by ``labels``."""
    total = times_s.size
    clusters = []
    for label in range(int(labels.max()) + 1):
        members = times_s[labels == label]
        clusters.append(
            Cluster(members.size, sample_mean(members), members.size / total, distribution(members, parameters.bins))
        )
    return clusters
