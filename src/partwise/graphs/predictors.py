"""Local predictors: what can be said of a sample from its neighbours, by kernel ridge regression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp

from ..core.types import Array, IntArray
from .neighbors import Metric, nearest_neighbors
from .samples import BLOCK_ENTRIES, blocks_of, read_new_samples, read_samples, row_dots
from .weights import heat_bandwidth

KernelName = Literal["rbf", "cosine", "linear"]
Kernel = KernelName | Callable[[Any, Any], Any]


def local_predictors(
    X: Any,
    n_neighbors: int = 10,
    kernel: Kernel = "rbf",
    *,
    bandwidth: float | None = None,
    ridge: float = 0.01,
    metric: Metric = "cosine",
    X_train: Any = None,
) -> Any:
    """How much each neighbour's code counts when the code of a sample is predicted from its neighbours.

    Around every sample x_i a kernel ridge regression is fitted to its p nearest neighbours, the sample itself left out,
    and read off at x_i. That is linear in the neighbours' codes v, whatever these are::

        f_i(x_i) = k_iᵀ (K_i + p · ridge · I)⁻¹ v = Σ_j g_ij v_j

    with K_i the kernel between the neighbours and k_i the kernel between the sample and them (Gu & Zhou 2009, Eq. 4-9).
    The weights g_ij have either sign. All-zero samples have no neighbours, are nobody's, and have an empty row.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The samples to predict.
    n_neighbors : int, default=10
        Neighbours of each sample, p.
    kernel : {"rbf", "cosine", "linear"} or callable, default="rbf"
        exp(−‖x − y‖² / bandwidth), ⟨x, y⟩ / (‖x‖ ‖y‖), ⟨x, y⟩, or a function of two arrays of samples (a × features and
        b × features) that gives the a × b kernel values.
    bandwidth : float, default=None
        Of the rbf kernel; by default that of :func:`rbf_bandwidth`. New samples need the one of the training samples.
    ridge : float, default=0.01
        λ of Eq. 4, positive. It is measured against the kernel, which for "rbf" and "cosine" is 1 on its diagonal.
    metric : {"cosine", "euclidean"}, default="cosine"
        The distance that decides who is near.
    X_train : {array-like, sparse matrix} of shape (n_train, n_features), default=None
        Where to look for the neighbours. By default among the other rows of `X`.

    Returns
    -------
    G : csr_array of shape (n_samples, n_samples) or (n_samples, n_train)
        The weights g_ij, float64.
    """
    check_predictors(kernel, bandwidth, ridge)
    if X_train is None:
        X = read_samples(X)
        links = nearest_neighbors(X, n_neighbors, metric)
        X_train = X
    else:
        X, X_train = read_new_samples(X, X_train)
        links = nearest_neighbors(X, n_neighbors, metric, X_train=X_train)
    if kernel == "rbf" and bandwidth is None:
        if X_train is not X:
            raise ValueError(
                "bandwidth=None was given for new samples, which need that of the training samples. "
                "Give rbf_bandwidth(X_train, links)."
            )
        bandwidth = rbf_bandwidth(X, links)
    return _predictors(X, X_train, links, _kernel_function(kernel, bandwidth, X), ridge)


def rbf_bandwidth(X: Any, links: Any) -> float:
    """The bandwidth of the rbf kernel by default: a multiple of the mean squared distance of linked samples.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    links : csr_array of shape (n_samples, n_samples)
        Who is a neighbour of whom.
    """
    return BANDWIDTH_FACTOR * heat_bandwidth(X, links)


def check_predictors(kernel: Kernel, bandwidth: float | None, ridge: float) -> None:
    """Refuse parameters of local predictors that cannot be, before any work."""
    if not callable(kernel) and kernel not in get_args(KernelName):
        raise ValueError(f"kernel={kernel!r} was given; it must be 'rbf', 'cosine', 'linear' or a function.")
    if bandwidth is not None and not 0 < bandwidth < np.inf:
        raise ValueError(f"bandwidth={bandwidth!r} was given; it must be positive and finite, or None.")
    if not 0 < ridge < np.inf:
        raise ValueError(
            f"ridge={ridge!r} was given; it must be positive and finite, or duplicates among the neighbours leave "
            "nothing to solve."
        )


def _predictors(X: Any, X_train: Any, links: Any, blocks: BlockKernel, ridge: float) -> Any:
    """Solve the ridge regressions of all samples, some at a time."""
    # Every sample that has neighbours has equally many of them.
    samples = np.flatnonzero(np.diff(links.indptr))
    neighbors = links.indices.reshape(len(samples), -1) if len(samples) else np.empty((0, 1), np.intp)
    p = neighbors.shape[1]
    width = X_train.nnz // X_train.shape[0] + p if sp.issparse(X_train) else X_train.shape[1] + p
    weights = np.empty(neighbors.shape)
    for rows in blocks_of(len(samples), max(1, BLOCK_ENTRIES // (p * width))):
        K, k = blocks(X, X_train, samples[rows], neighbors[rows])
        diagonal = np.einsum("ijj->ij", K)
        # Below rounding of the kernel values a ridge would be none.
        least = 10 * p * np.finfo(np.float64).eps * np.abs(diagonal).max(axis=1)
        diagonal += np.maximum(p * ridge, least)[:, None]
        weights[rows] = np.linalg.solve(K, k[:, :, None])[:, :, 0]
    return sp.csr_array((weights.ravel(), links.indices, links.indptr), shape=links.shape)


# Kernel values of some samples: between their neighbours (b × p × p), and between sample and neighbours (b × p).
BlockKernel = Callable[[Any, Any, IntArray, IntArray], tuple[Array, Array]]


def _kernel_function(kernel: Kernel, bandwidth: float | None) -> BlockKernel:
    if callable(kernel):
        return lambda *block: _called(kernel, *block)

    def values(X: Any, X_train: Any, samples: IntArray, neighbors: IntArray) -> tuple[Array, Array]:
        K, k, own = _inner_products(X, X_train, samples, neighbors, centred=kernel == "rbf")
        squares = np.einsum("ijj->ij", K).copy()
        if kernel == "cosine":
            lengths = np.sqrt(squares)
            return K / (lengths[:, :, None] * lengths[:, None, :]), k / (lengths * np.sqrt(own)[:, None])
        if kernel == "rbf":
            between = squares[:, :, None] + squares[:, None, :] - 2 * K
            return _heat(between, bandwidth), _heat(squares + own[:, None] - 2 * k, bandwidth)
        return K, k

    return values


def _heat(squared_distances: Array, bandwidth: float | None) -> Array:
    assert bandwidth is not None  # resolved by `local_predictors`
    return np.exp(-np.maximum(squared_distances, 0) / bandwidth)


def _inner_products(
    X: Any, X_train: Any, samples: IntArray, neighbors: IntArray, centred: bool
) -> tuple[Array, Array, Array]:
    """⟨neighbour, neighbour⟩, ⟨sample, neighbour⟩ and ‖sample‖²; dense samples may be centred on the sample first."""
    b, p = neighbors.shape
    if not sp.issparse(X_train):
        near, own = X_train[neighbors].astype(np.float64), X[samples].astype(np.float64)
        if centred:
            # Distances stay as they are, and small ones do not drown in the samples' norms.
            near -= own[:, None, :]
            own[:] = 0
        return near @ near.transpose(0, 2, 1), np.einsum("ijf,if->ij", near, own), row_dots(own, own)
    left, right = np.triu_indices(p)
    near = X_train[neighbors.ravel()].astype(np.float64)
    own = X[samples].astype(np.float64)
    first = np.arange(b)[:, None] * p
    dots = row_dots(near[(first + left).ravel()], near[(first + right).ravel()]).reshape(b, -1)
    K = np.empty((b, p, p))
    K[:, left, right] = K[:, right, left] = dots
    return K, row_dots(own[np.repeat(np.arange(b), p)], near).reshape(b, p), row_dots(own, own)


def _called(
    kernel: Callable[[Any, Any], Any], X: Any, X_train: Any, samples: IntArray, neighbors: IntArray
) -> tuple[Array, Array]:
    """A user's kernel, one neighbourhood after the other."""
    b, p = neighbors.shape
    K, k = np.empty((b, p, p)), np.empty((b, p))
    for t, (sample, near) in enumerate(zip(samples, neighbors, strict=True)):
        values = np.asarray(kernel(X_train[near], X_train[near])), np.asarray(kernel(X[[sample]], X_train[near]))
        if values[0].shape != (p, p) or values[1].shape != (1, p):
            raise ValueError(
                f"The kernel gave arrays of shape {values[0].shape} and {values[1].shape} for {p} with {p} and 1 with "
                f"{p} samples; it must give ({p}, {p}) and (1, {p})."
            )
        if not np.isfinite(values[0]).all() or not np.isfinite(values[1]).all():
            raise ValueError("The kernel gave NaN or infinity; every value must be finite.")
        K[t], k[t] = values[0], values[1][0]
    return K, k
