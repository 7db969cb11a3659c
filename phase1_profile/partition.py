"""Scores partitions of ranks and searches for the best one. Points in, labels out; nothing is random.

Points are given in units of the noise. A partition into K classes with a common covariance is scored by its
classification likelihood with a penalty for every class, the integrated completed likelihood (ICL) in the BIC form of
Biernacki, Celeux & Govaert, IEEE PAMI 22(7), 2000:

    -(m/2) ln det(I + W/m) + sum_k n_k ln(n_k/n) - K (d/2) ln n,    m = n + PRIOR_RANKS

where W is the scatter within the classes, n the number of ranks, n_k those of class k, d the number of features. The
identity is the noise: a spread that is small against it costs W/2, like a Gaussian of known width. A larger spread is
estimated from the ranks. The second term keeps a smooth drift in one class: halving a uniform distribution gains
exactly what the term costs, and only gaps separate classes. The alternative ``bic`` is the BIC of the Gaussian mixture
that starts from the partition. It lacks this term and may describe a drift by several classes.

The search has these steps:

- It splits greedily at thresholds along the features and the principal axes. It tries all thresholds exactly, and finds
  one rank among ten thousand as surely as a half. It looks two classes ahead, because the first split of three equal
  classes gains nothing.
- It moves ranks to their most likely class (classification EM, Celeux & Govaert, Comput. Stat. Data Anal. 14, 1992).
- It repeats the search within every class and every pair of classes.

There are at most half as many classes as ranks (two ranks may be two classes). With fewer ranks per class, a spread
cannot be distinguished from a set of classes.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

Points = NDArray[np.float64]
Labels = NDArray[np.int64]

PRIOR_RANKS = 2.0
LOOK_AHEAD = 2
REASSIGNMENTS = 20
_TIE = 1e-9


def _scatter(points: Points) -> Points:
    centred = points - points.mean(axis=0)
    return np.asarray(centred.T @ centred)


def _within(points: Points, labels: Labels) -> Points:
    total = np.zeros((points.shape[1], points.shape[1]))
    for label in range(int(labels.max()) + 1):
        total += _scatter(points[labels == label])
    return total


def score(points: Points, labels: Labels, criterion: str = "icl") -> float:
    """Return the score (more is better) of the partition ``labels`` (0..K-1, none empty) of the rows of ``points``."""
    n, d = points.shape
    counts = np.bincount(labels).astype(float)
    m = n + PRIOR_RANKS
    covariance = np.eye(d) + _within(points, labels) / m
    penalty = 0.5 * d * np.log(n) * len(counts)
    if criterion == "bic":
        return -0.5 * float(_mixture(points, labels, covariance).bic(points))
    likelihood = -0.5 * m * float(np.linalg.slogdet(covariance)[1])
    return float(likelihood + np.sum(counts * np.log(counts / n)) - penalty)


def _mixture(points: Points, labels: Labels, covariance: Points) -> Any:
    """Return the Gaussian mixture, fitted from the partition on, whose common covariance is at least the noise."""
    means = np.array([points[labels == label].mean(axis=0) for label in range(int(labels.max()) + 1)])
    mixture = GaussianMixture(
        len(means),
        covariance_type="tied",
        reg_covar=1.0,
        max_iter=200,
        means_init=means,
        weights_init=np.bincount(labels) / len(points),
        precisions_init=np.linalg.inv(covariance),
        random_state=0,
    )
    with warnings.catch_warnings():
        # Two hundred steps from a good start are enough to compare scores, converged to the last digit or not.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return mixture.fit(points)


def _distances(points: Points, labels: Labels, covariance: Points) -> Points:
    """Return the squared Mahalanobis distances, ranks x classes."""
    precision = np.linalg.inv(covariance)
    columns = []
    for label in range(int(labels.max()) + 1):
        centred = points - points[labels == label].mean(axis=0)
        columns.append(np.einsum("ij,jk,ik->i", centred, precision, centred))
    return np.column_stack(columns)


def _best_threshold(points: Points, others: Points, n_all: int) -> tuple[float, NDArray[np.bool_] | None]:
    """Return gain-relevant cost and members of the upper part of the best threshold split of one class.

    ``others`` is the scatter within the other classes. The cost is (m/2) ln det(I + W/m) plus the change of the
    assignment term, so that costs of splits of different classes compare.
    """
    n, d = points.shape
    if n < 2:
        return np.inf, None
    m = n_all + PRIOR_RANKS
    centred = points - points.mean(axis=0)
    scatter = centred.T @ centred
    axes = np.linalg.eigh(scatter)[1]
    whole = np.eye(d) + (others + scatter) / m
    precision, unsplit = np.linalg.inv(whole), np.linalg.slogdet(whole)[1]
    best: tuple[float, NDArray[np.bool_] | None] = (np.inf, None)
    for column in range(2 * d if d > 1 else 1):
        direction = np.eye(d)[:, column] if column < d else axes[:, 2 * d - 1 - column]
        along = np.round(centred @ direction, 6)
        order = np.argsort(along, kind="stable")
        cuts = np.flatnonzero(np.diff(along[order]) > 0) + 1
        if len(cuts) == 0:
            continue
        sums = np.cumsum(centred[order], axis=0)
        left = sums[cuts - 1]
        # The scatter within both parts is the class's less what the distance of their means explains: a matrix of rank
        # one, so that the matrix determinant lemma gives all determinants at once. Where a split explains nearly
        # everything the lemma's difference loses its digits, and the determinants are taken one by one.
        weight = (1.0 / cuts + 1.0 / (n - cuts)) / m
        rest = 1.0 - weight * np.einsum("ij,jk,ik->i", left, precision, left)
        if rest.min() > 1e-6:
            cost = 0.5 * m * (unsplit + np.log(rest))
        else:
            cost = 0.5 * m * np.linalg.slogdet(whole - left[:, :, None] * left[:, None, :] * weight[:, None, None])[1]
        cost -= cuts * np.log(cuts / n) + (n - cuts) * np.log((n - cuts) / n)
        first = int(np.argmin(np.round(cost, 9)))
        if cost[first] < best[0] - _TIE:
            members = np.zeros(n, dtype=bool)
            members[order[cuts[first] :]] = True
            best = float(cost[first]), members
    return best


def _split_once(points: Points, labels: Labels) -> Labels | None:
    """Return ``labels`` with the best further split of one class, or None when no class can be split."""
    scatters = [_scatter(points[labels == label]) for label in range(int(labels.max()) + 1)]
    total = np.sum(scatters, axis=0)
    best: tuple[float, int, NDArray[np.bool_] | None] = (np.inf, 0, None)
    for label, scatter in enumerate(scatters):
        cost, members = _best_threshold(points[labels == label], total - scatter, len(points))
        if members is not None and cost < best[0] - _TIE:
            best = cost, label, members
    if best[2] is None:
        return None
    result = labels.copy()
    result[np.flatnonzero(labels == best[1])[best[2]]] = len(scatters)
    return result


def _reassign(points: Points, labels: Labels, criterion: str) -> Labels:
    """Move ranks to their likeliest class while the score rises and no class runs empty."""
    current = score(points, labels, criterion)
    m = len(points) + PRIOR_RANKS
    for _ in range(REASSIGNMENTS):
        classes = int(labels.max()) + 1
        covariance = np.eye(points.shape[1]) + _within(points, labels) / m
        weights = np.log(np.bincount(labels) / len(points))
        proposal = np.argmax(weights - 0.5 * _distances(points, labels, covariance), axis=1).astype(np.int64)
        if len(np.unique(proposal)) < classes or np.array_equal(proposal, labels):
            break
        proposed = score(points, proposal, criterion)
        if proposed <= current + _TIE:
            break
        labels, current = proposal, proposed
    return labels


def _best_count(points: Points, limit: int, criterion: str) -> tuple[Labels, dict[int, float]]:
    """Return the best partition into 1..limit classes and the score of each number of classes that was looked at."""
    labels: Labels = np.zeros(len(points), dtype=np.int64)
    if len(points) == 1:
        return labels, {1: 0.0}
    best, scores = labels, {1: score(points, labels, criterion)}
    best_count = 1
    for count in range(2, limit + 1):
        if count > best_count + 1 + LOOK_AHEAD:
            break
        split = _split_once(points, labels)
        if split is None:
            break
        labels = _reassign(points, split, criterion)
        scores[count] = score(points, labels, criterion)
        if scores[count] > scores[best_count] + _TIE:
            best, best_count = labels, count
    return best, scores


def _merge(points: Points, labels: Labels, separation: float, criterion: str) -> Labels:
    """Merge, worst pair first, classes that do not differ enough or that alone would count as one class."""
    while (classes := int(labels.max()) + 1) > 1:
        means = np.array([points[labels == label].mean(axis=0) for label in range(classes)])
        worst: tuple[float, int, int] | None = None
        for a in range(classes):
            for b in range(a + 1, classes):
                distance = float(np.abs(means[a] - means[b]).max())
                if distance <= separation:
                    badness = distance - separation - 1e6
                else:
                    members = (labels == a) | (labels == b)
                    pair = (labels[members] == b).astype(np.int64)
                    both = points[members]
                    badness = score(both, pair, criterion) - score(both, np.zeros_like(pair), criterion)
                if badness <= 0 and (worst is None or badness < worst[0] - _TIE):
                    worst = badness, a, b
        if worst is None:
            break
        labels = np.where(labels == worst[2], worst[1], labels)
        labels = np.where(labels > worst[2], labels - 1, labels)
    return labels


def partition(points: Points, *, limit: int, separation: float, criterion: str) -> tuple[Labels, dict[int, float]]:
    """Return the classes (0..K-1, without a meaning in their order) and the scores by number of classes.

    ``points``: ranks x features in units of the noise. The result does not depend on the order of the rows.
    """
    # A canonical order and rounding make sums, and with them ties, independent of the order and unit of the input.
    rounded = np.round(points - np.median(points, axis=0), 6) + 0.0
    order = np.lexsort(rounded.T[::-1])
    rows = rounded[order]
    limit = min(limit, max(2, (len(rows) + 1) // 2), len(rows))
    labels, scores = _best_count(rows, limit, criterion)
    label = 0
    while label <= labels.max() and labels.max() > 0:
        members = np.flatnonzero(labels == label)
        room = limit - int(labels.max())  # one class becomes up to this many
        inner, _ = _best_count(rows[members], min(room, len(members)), criterion)
        if inner.max() > 0:
            labels[members[inner > 0]] = labels.max() + inner[inner > 0]
        else:
            label += 1
    labels = _merge(rows, labels, separation, criterion)
    result = np.empty_like(labels)
    result[order] = labels
    return result, scores
