"""From codes to cluster labels."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np

from ..core.types import Array, IntArray

Assign = Literal["kmeans", "argmax"]

KMEANS_STARTS = 20


class Assignment:
    """A rule that gives every code a label, learned from the training codes.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_components)
    rule : {"kmeans", "argmax"}
        The best of 20 runs of k-means on the codes, or the largest entry of each code.
    seed : int
    """

    def __init__(self, codes: Array, rule: Assign, seed: int):
        k = codes.shape[1]
        if rule == "argmax":
            used, self.labels = np.unique(codes.argmax(axis=1), return_inverse=True)
            self._columns, self._kmeans = used, None
        else:
            from sklearn.cluster import KMeans

            distinct = len(np.unique(codes, axis=0))
            clusters = KMeans(n_clusters=min(k, distinct), n_init=KMEANS_STARTS, random_state=seed).fit(codes)
            used, self.labels = np.unique(clusters.labels_, return_inverse=True)
            self._columns, self._kmeans = used, clusters
        self.labels = self.labels.astype(np.intp).ravel()
        if len(used) < k:
            warnings.warn(
                f"The codes give {len(used)} clusters, not n_components={k}; labels run from 0 to {len(used) - 1}.",
                UserWarning,
                stacklevel=2,
            )

    def predict(self, codes: Array) -> IntArray:
        """Labels of other codes by the same rule."""
        if self._kmeans is None:
            return np.asarray(codes[:, self._columns].argmax(axis=1), np.intp)
        kmeans: Any = self._kmeans
        return np.asarray(np.searchsorted(self._columns, kmeans.predict(codes)), np.intp)
