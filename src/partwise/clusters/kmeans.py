"""k-means whose result depends on the samples and their weights, not on their order."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.distinct import count_distinct
from ..core.types import Array, IntArray
from ..core.warn import libraries_muted

# The least relative movement of the centres, scikit-learn's default.
TOLERANCE = 1e-4
# Of so many samples, starts are compared on a part: at least so many, and so many for each cluster.
MANY_ROWS, PART_ROWS, ROWS_PER_CLUSTER = 40_000, 8_000, 400


def cluster(
    X: Any, n_clusters: int, n_starts: int, seed: int, sample_weight: Array | None = None
) -> tuple[IntArray, Array]:
    """Labels and centres of the best of several runs.

    A sample that occurs twice and one of weight two give the same clusters: starts are drawn from the samples in a
    canonical order, and k-means stops at a movement that is small relative to the weighted variance. Several runs
    on 40,000 samples or more see a part of them, and the best continues with all.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
    n_clusters : int
    n_starts : int
    seed : int
    sample_weight : ndarray of shape (n_samples,), optional
    """
    from sklearn.cluster import KMeans

    order = np.argsort(X @ np.random.RandomState(0).standard_normal(X.shape[1]), kind="stable")
    settings: dict[str, Any] = {
        "n_clusters": n_clusters,
        "random_state": seed,
        "tol": TOLERANCE * _weighted_share_of_variance(X, sample_weight),
        # Chosen rows are already a copy.
        "copy_x": False,
    }
    starts: dict[str, Any] = {"n_init": n_starts}
    size = max(PART_ROWS, ROWS_PER_CLUSTER * n_clusters) if len(order) >= MANY_ROWS else len(order)
    part = order[:: max(1, len(order) // size)]
    if n_starts > 1 and len(part) < len(order) and count_distinct(X[part], n_clusters) == n_clusters:
        best = _fitted(KMeans(**settings, **starts), X[part], _weight_of(part, sample_weight))
        starts = {"n_init": 1, "init": best.cluster_centers_}
    kmeans = _fitted(KMeans(**settings, **starts), X[order], _weight_of(order, sample_weight))
    labels = np.empty(X.shape[0], np.intp)
    labels[order] = kmeans.labels_
    return labels, kmeans.cluster_centers_


def _fitted(kmeans: Any, X: Any, weight: Array | None) -> Any:
    """The fitted k-means, without its guess why there are fewer clusters: rounding, and not only duplicates."""
    with libraries_muted:
        return kmeans.fit(X, sample_weight=weight)


def _weight_of(rows: IntArray, weight: Array | None) -> Array | None:
    return None if weight is None else weight[rows]


def _weighted_share_of_variance(X: Any, weight: Array | None) -> float:
    """The weighted variance of X over the plain one, which is scikit-learn's unit for movements."""
    if weight is None:
        return 1.0
    plain = _variance(X, np.ones(X.shape[0]))
    return _variance(X, weight.astype(np.float64)) / plain if plain > 0 else 1.0


def _variance(X: Any, weight: Array) -> float:
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() if sp.issparse(X) else np.einsum("ij,ij->i", X, X)
    means = np.asarray(X.T @ weight).ravel() / weight.sum()
    return float(squares @ weight / weight.sum() - means @ means)
