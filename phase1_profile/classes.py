"""Classes of ranks that behave alike: a scikit-learn clusterer, which may find a single class."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_array, check_is_fitted

from phase1_profile.parameters import ClassifyParameters
from phase1_profile.partition import PRIOR_RANKS, partition

_DEFAULTS = ClassifyParameters()


class RankClassifier(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Groups ranks into classes and finds the number of classes, which may be one.

    Parameters are those of :class:`~phase1_profile.parameters.ClassifyParameters`. Learned attributes: ``labels_``
    (class of each row; class 0 has the most ranks, then by size, equal sizes by their first row), ``n_classes_``,
    ``centroids_`` (classes x features), ``shares_``, ``scores_`` (number of classes -> score; more is better),
    ``covariance_`` (common to all classes, at least the noise), ``n_features_in_``. Nothing is random: the same rows
    give the same classes in whatever order they come.
    """

    def __init__(
        self,
        criterion: str = _DEFAULTS.criterion,
        max_classes: int = _DEFAULTS.max_classes,
        separation: float = _DEFAULTS.separation,
    ) -> None:
        self.criterion = criterion
        self.max_classes = max_classes
        self.separation = separation

    def fit(self, X: ArrayLike, y: object = None) -> RankClassifier:
        """Find the classes of ``X`` (ranks x features, in units of the noise); ``y`` is there for scikit-learn."""
        # Bounds are those of the parameters' one declaration.
        ClassifyParameters(criterion=self.criterion, max_classes=self.max_classes, separation=self.separation)
        points = check_array(X, dtype=np.float64)
        found, self.scores_ = partition(
            points, limit=self.max_classes, separation=self.separation, criterion=self.criterion
        )
        values, first, counts = np.unique(found, return_index=True, return_counts=True)
        order = sorted(range(len(values)), key=lambda i: (-counts[i], first[i]))
        self.labels_ = np.empty(len(points), dtype=np.int64)
        for new, old in enumerate(order):
            self.labels_[found == values[old]] = new
        self.n_classes_ = len(order)
        self.n_features_in_ = points.shape[1]
        self.shares_ = np.array([counts[i] for i in order]) / len(points)
        self.centroids_ = np.array([points[self.labels_ == label].mean(axis=0) for label in range(self.n_classes_)])
        residual = points - self.centroids_[self.labels_]
        self.covariance_ = np.eye(points.shape[1]) + residual.T @ residual / (len(points) + PRIOR_RANKS)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the class of each row of ``X``: the nearest centroid in Mahalanobis distance."""
        check_is_fitted(self, "centroids_")
        points = check_array(X, dtype=np.float64)
        precision = np.linalg.inv(self.covariance_)
        offsets = points[:, None, :] - self.centroids_[None, :, :]
        distances = np.einsum("nkj,ji,nki->nk", offsets, precision, offsets)
        return np.asarray(np.argmin(distances, axis=1), dtype=np.int64)
