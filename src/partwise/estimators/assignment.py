"""From codes to cluster labels."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ..core.threads import one_thread
from ..core.types import Array, IntArray

Assign = Literal["kmeans", "argmax"]

KMEANS_STARTS = 20


class Assignment:
    """A rule that gives every code a label, learned from the training codes when it is first asked.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_components)
    rule : {"kmeans", "argmax"}
        The best run of k-means on the codes, or the largest entry of each code.
    seed : int
    n_starts : int, default=20
        Runs of k-means.
    """

    def __init__(self, codes: Array, rule: Assign, seed: int, n_starts: int = KMEANS_STARTS):
        self._codes = codes
        self._rule = rule
        self._seed = seed
        self._n_starts = n_starts

    @cached_property
    def _kmeans(self) -> Any:
        from sklearn.cluster import KMeans

        n_clusters = min(self._codes.shape[1], len(np.unique(self._codes, axis=0)))
        kmeans = KMeans(n_clusters=n_clusters, n_init=self._n_starts, random_state=self._seed)
        # Codes are narrow: threads would wait for each other more than work.
        with one_thread():
            return kmeans.fit(self._codes)

    @cached_property
    def _numbered(self) -> tuple[IntArray, IntArray]:
        """The raw labels that occur, and every sample's position among them: labels without gaps."""
        raw = self._codes.argmax(axis=1) if self._rule == "argmax" else self._kmeans.labels_
        used, labels = np.unique(raw, return_inverse=True)
        k = self._codes.shape[1]
        if len(used) < k:
            warnings.warn(
                f"The codes give {len(used)} clusters, not n_components={k}; labels run from 0 to {len(used) - 1}.",
                UserWarning,
                stacklevel=2,
            )
        return used, labels.astype(np.intp).ravel()

    @property
    def labels(self) -> IntArray:
        """Labels of the training codes, 0, 1, … without gaps."""
        return self._numbered[1]

    def predict(self, codes: Array) -> IntArray:
        """Labels of other codes by the same rule."""
        used, _ = self._numbered
        if self._rule == "argmax":
            return np.asarray(codes[:, used].argmax(axis=1), np.intp)
        return np.asarray(np.searchsorted(used, self._kmeans.predict(codes)), np.intp)
