"""Where a fit with components made of samples begins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.distinct import count_distinct
from ..core.dual import DualState, KernelMatrix
from ..core.operand import Operand
from ..core.types import CODES, COMPONENTS, Array, IntArray, column_norms, dot64
from .kmeans import cluster
from .starts import KMEANS_SHARE

# From the norms of the features' residuals to how much every feature counts.
Doubt = Callable[[Array], Array]

# Rounds of clustering and weighing features by what the clusters leave of them.
DOUBT_ROUNDS = 2


def dual_start(
    kernel: KernelMatrix, k: int, init: str, rng: np.random.RandomState, doubt: Doubt | None = None
) -> DualState:
    """Codes with columns of unit norm, and coefficients proportional to them.

    So every component is a mean of the samples that use it; one number, the same for all, makes the fit as good as it
    can be.

    Parameters
    ----------
    kernel : KernelMatrix
    k : int
    init : {"kmeans", "random"}
        Clusters of the features (of the rows of a kernel without any), with a share of every other cluster; or uniform
        numbers.
    rng : numpy.random.RandomState
    doubt : callable, optional
        How the fit weighs features by their residuals; k-means then weighs them so too.
    """
    X = kernel.operand
    W = start_codes(X, k, init, rng, doubt)
    norms = column_norms(W)
    W /= norms.astype(X.dtype)
    P = W * (norms / W.sum(axis=0, dtype=np.float64)).astype(X.dtype)
    state = DualState(kernel, W, P)
    energy = dot64(state.gram(CODES), state.gram(COMPONENTS))
    if energy <= 0:
        return state
    return DualState(kernel, W, P * X.dtype.type(max(state.cross(), 0.0) / energy))


def start_codes(X: Operand, k: int, init: str, rng: np.random.RandomState, doubt: Doubt | None = None) -> Array:
    """Codes alone: clusters of k-means with a share of every other cluster, or uniform numbers.

    Parameters
    ----------
    X, k, init, rng, doubt
        As for :func:`dual_start`, with the features in the place of the kernel.
    """
    n = X.shape[0]
    if init == "random":
        return rng.uniform(size=(n, k)).astype(X.dtype)
    if k > n:
        raise ValueError(f"init='kmeans' needs at least n_components={k} samples, X has {n}. Use init='random'.")
    W = np.full((n, k), KMEANS_SHARE, X.dtype)
    W[np.arange(n), _clusters(X, k, int(rng.randint(np.iinfo(np.int32).max)), doubt)] += 1
    return W


def _clusters(X: Operand, k: int, seed: int, doubt: Doubt | None) -> IntArray:
    """Labels by k-means; features that the clusters (at first their one mean) leave far off count less."""

    def kmeans(data: Any) -> IntArray:
        # Equal samples may have features that differ by rounding; clusters must not tell them apart.
        n_clusters = k if sp.issparse(data) else count_distinct(data, k)
        return cluster(data, n_clusters, 1, seed, X.sample_weight)[0]

    if doubt is None:
        return kmeans(X.narrow_array)
    labels = np.zeros(X.shape[0], np.intp)
    for _ in range(DOUBT_ROUNDS):
        weights = doubt(feature_residuals(X, labels))
        if weights.min() == 1:
            return kmeans(X.narrow_array)
        labels = kmeans(_times(X.narrow_array, np.sqrt(weights).astype(X.dtype)))
    return labels


def feature_residuals(X: Operand, labels: IntArray) -> Array:
    """Norm, for every feature, of its distances from the means of the clusters."""
    n, k = X.shape[0], int(labels.max()) + 1
    members = np.zeros((n, k), X.dtype)
    members[np.arange(n), labels] = 1
    sums = X.t_dot(members).astype(np.float64)
    counts = np.maximum(np.bincount(labels, minlength=k), 1)
    return np.sqrt(np.maximum(X.column_squared_norms() - (sums * sums) @ (1 / counts), 0))


def _times(X: Any, scale: Array) -> Any:
    """X with its columns scaled: a copy."""
    return sp.csr_array(X @ sp.diags_array(scale)) if sp.issparse(X) else X * scale
