"""From codes to cluster labels."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np

from ..core.dask_rows import brought, is_dask, mapped
from ..core.distinct import count_distinct
from ..core.threads import one_thread
from ..core.types import Array, IntArray
from ..core.warn import warn
from .kmeans import cluster

Rule = Literal["kmeans", "argmax"]
KMEANS_STARTS = 20
# Of more codes than this, k-means clusters a sample; the others get the nearest cluster.
MOST_CODES, SAMPLED_CODES = 200_000, 50_000


class Assignment:
    """A rule that gives every code a label, learned from the training codes on first use.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_components)
        Must not change later: they are read when labels are first asked for.
    rule : {"kmeans", "argmax"}
        The best run of k-means on the codes, or the largest entry of each code.
    seed : int
    n_clusters : int, optional
        How many clusters k-means looks for; by default one per column of the codes.
    trusted : ndarray of bool, shape (n_samples,), optional
        The samples that k-means clusters; the others get the nearest cluster. By default all.
    n_starts : int, default=20
        Runs of k-means.
    sample_weight : ndarray of shape (n_samples,), optional
        How much each sample counts for k-means.
    """

    def __init__(
        self,
        codes: Array,
        rule: Rule,
        seed: int,
        n_clusters: int | None = None,
        trusted: Array | None = None,
        n_starts: int = KMEANS_STARTS,
        sample_weight: Array | None = None,
    ):
        self._codes: Any = codes
        self._rule = rule
        self._seed = seed
        self._n_clusters = codes.shape[1] if n_clusters is None else n_clusters
        self._trusted = _those_that_count(trusted, sample_weight)
        self._sample_weight = sample_weight
        self._n_starts = n_starts
        # The labels of the training codes; then what labels new codes: the components that occur, or cluster centres.
        self._learned: tuple[IntArray, Array] | None = None

    def _learn(self) -> tuple[IntArray, Array]:
        """Labels of the training codes without gaps, and the places of the clusters."""
        if self._learned is not None:
            return self._learned
        raw, centres = (self._codes.argmax(axis=1), None) if self._rule == "argmax" else self._cluster()
        used, labels = _without_gaps(raw)
        k = self._n_clusters
        if len(used) < k:
            warn(f"The codes give {len(used)} clusters, not n_components={k}; labels run from 0 to {len(used) - 1}.")
        self._learned = self._beside_codes(labels), used if centres is None else centres[used]
        return self._learned

    def _beside_codes(self, labels: Any) -> Any:
        """Labels as a dask array, if the codes are one."""
        if not is_dask(self._codes) or is_dask(labels):
            return labels
        import dask.array as da

        return da.from_array(labels, chunks=(self._codes.chunks[0],))

    def _cluster(self) -> tuple[Any, Array]:
        n, weight = len(self._codes), self._sample_weight
        rows = np.arange(n) if self._trusted is None else np.flatnonzero(self._trusted)
        if len(rows) > MOST_CODES:
            rows = rows[np.sort(np.random.RandomState(self._seed).choice(len(rows), SAMPLED_CODES, replace=False))]
        codes = np.asarray(brought(self._codes if len(rows) == n else self._codes[rows]))
        # Codes are narrow: threads would spend more time waiting than working.
        with one_thread():
            n_clusters = count_distinct(codes, self._n_clusters)
            given = None if weight is None else weight[rows]
            labels, centres = cluster(codes, n_clusters, self._n_starts, self._seed, given)
            if len(rows) < n:
                return _nearest_everywhere(self._codes, centres), centres
            return labels, centres

    def for_new(self) -> Assignment:
        """The rule without the training codes, which are labelled first."""
        _, places = self._learn()
        other = Assignment(
            np.empty((0, self._codes.shape[1]), self._codes.dtype), self._rule, self._seed, self._n_clusters
        )
        other._learned = np.empty(0, np.intp), places
        return other

    def __getstate__(self) -> dict[str, Any]:
        # Codes and labels on workers go along with a model that leaves this process.
        held = {name: brought(value) for name, value in vars(self).items()}
        if self._learned is not None:
            held["_learned"] = np.asarray(brought(self._learned[0])), self._learned[1]
        return held

    @property
    def codes(self) -> Array:
        """The training codes."""
        return self._codes

    @property
    def labels(self) -> IntArray:
        """Labels of the training codes, 0, 1, … without gaps."""
        return self._learn()[0]

    def predict(self, codes: Array) -> IntArray:
        """Labels of other codes by the same rule."""
        _, places = self._learn()
        if self._rule == "argmax":
            return np.asarray(codes[:, places].argmax(axis=1), np.intp)
        with one_thread():
            return _nearest(codes, places)


def _those_that_count(trusted: Array | None, weight: Array | None) -> Array | None:
    """Samples that are trusted and have a weight; None if these are all samples, or none."""
    counting = [mask for mask in (trusted, None if weight is None else weight > 0) if mask is not None]
    both = np.logical_and.reduce(counting) if counting else None
    return None if both is None or both.all() or not both.any() else both


def _without_gaps(raw: Any) -> tuple[IntArray, Any]:
    """The labels that occur, and which of them everyone has."""
    if not is_dask(raw):
        used, labels = np.unique(raw, return_inverse=True)
        return used, labels.astype(np.intp).ravel()
    import dask.array as da

    used = da.unique(raw).compute()
    return used, raw.map_blocks(partial(np.searchsorted, used), dtype=np.intp)


def _nearest_everywhere(codes: Any, places: Array) -> Any:
    """The nearest place of every code; of a dask array when it is asked for."""
    if is_dask(codes):
        return mapped(codes, partial(_nearest, places=places), None, np.dtype(np.intp))
    return _nearest(codes, places)


def _nearest(codes: Array, places: Array) -> IntArray:
    from sklearn.metrics import pairwise_distances_argmin

    return np.asarray(pairwise_distances_argmin(codes, places), np.intp)
