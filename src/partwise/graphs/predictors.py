"""Local predictors: a sample predicted from its neighbours by kernel ridge regression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp

from ..core.door import read_links
from ..core.types import Array, IntArray
from .samples import BLOCK_ENTRIES, blocks_of, read_new_samples, read_samples, row_dots
from .weights import heat_bandwidth

KernelName = Literal["cosine", "rbf", "linear"]
Kernel = KernelName | Callable[[Any, Any], Any]

# Predictions shrink towards zero where the kernel is much narrower than the neighbourhood: with a bandwidth of this
# many mean squared distances between neighbours, the prediction of a constant is nearly exact.
BANDWIDTH_FACTOR = 16.0


def local_predictors(
    links: Any,
    X: Any,
    X_train: Any = None,
    *,
    kernel: Kernel = "cosine",
    bandwidth: float | None = None,
    ridge: float = 0.01,
) -> Any:
    """How much each neighbour's code counts when the code of a sample is predicted from its neighbours.

    A kernel ridge regression is fitted to the p neighbours of every sample x_i and evaluated at x_i. That is linear
    in the neighbours' codes v, whatever these are::

        f_i(x_i) = k_iᵀ (K_i + p · ridge · I)⁻¹ v = Σ_j g_ij v_j

    with K_i the kernel between the neighbours and k_i the kernel between the sample and them (Gu & Zhou 2009, Eq. 4-9).
    The weights g_ij have either sign.

    Parameters
    ----------
    links : sparse matrix of shape (n_samples, n_train)
        The neighbours, as from :func:`nearest_neighbors`: the same number for every sample that has any.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The samples to predict.
    X_train : {array-like, sparse matrix} of shape (n_train, n_features), default=None
        The samples that the `links` lead to, by default those of `X`.
    kernel : {"cosine", "rbf", "linear"} or callable, default="cosine"
        ⟨x, y⟩ / (‖x‖ ‖y‖), exp(−‖x − y‖² / bandwidth), ⟨x, y⟩, or a function of two arrays of samples (a × features and
        b × features) that gives the a × b kernel values.
    bandwidth : float, default=None
        Of the rbf kernel; by default that of :func:`rbf_bandwidth`. New samples need that of the training samples.
    ridge : float, default=0.01
        λ of Eq. 4, positive, relative to the kernel, which for "cosine" and "rbf" is 1 on its diagonal.

    Returns
    -------
    G : csr_array of shape (n_samples, n_train)
        The weights g_ij, float64, on the pattern of `links`; samples without neighbours have an empty row.
    """
    check_predictors(kernel, bandwidth, ridge)
    if kernel == "rbf" and bandwidth is None:
        if X_train is not None:
            raise ValueError(
                "bandwidth=None was given with new samples, which need that of the training samples. "
                "Give the one these were linked with, or rbf_bandwidth(X_train, links)."
            )
        bandwidth = rbf_bandwidth(X, links)
    if X_train is None:
        X = X_train = read_samples(X)
    else:
        X, X_train = read_new_samples(X, X_train)
    links = read_links(links)
    samples, neighbors = _neighborhoods(links)
    p = neighbors.shape[1]
    kernel_values = _block_kernel(kernel, bandwidth)
    weights = np.empty(neighbors.shape)
    # What a block holds: all neighbours of its samples, or, of sparse samples, the products between these.
    size = int(BLOCK_ENTRIES**0.5) // p if sp.issparse(X_train) else BLOCK_ENTRIES // (p * (X_train.shape[1] + p))
    for rows in blocks_of(len(samples), max(1, size)):
        K, k = kernel_values(X, X_train, samples[rows], neighbors[rows])
        diagonal = np.einsum("ijj->ij", K)
        # A ridge below the rounding errors of the kernel would have no effect.
        least = 10 * p * np.finfo(np.float64).eps * np.abs(diagonal).max(axis=1)
        diagonal += np.maximum(p * ridge, least)[:, None]
        weights[rows] = np.linalg.solve(K, k[:, :, None])[:, :, 0]
    return sp.csr_array((weights.ravel(), links.indices.copy(), links.indptr.copy()), shape=links.shape)


def rbf_bandwidth(X: Any, links: Any) -> float:
    """The default bandwidth of the rbf kernel: 16 times the mean squared distance of linked samples.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    links : sparse matrix of shape (n_samples, n_samples)
        Who is a neighbour of whom.
    """
    return BANDWIDTH_FACTOR * heat_bandwidth(X, links)


def check_predictors(kernel: Kernel, bandwidth: float | None, ridge: float) -> None:
    """Refuse impossible parameters of local predictors before any work."""
    if not callable(kernel) and kernel not in get_args(KernelName):
        raise ValueError(f"kernel={kernel!r} was given; it must be 'cosine', 'rbf', 'linear' or a function.")
    if bandwidth is not None and not 0 < bandwidth < np.inf:
        raise ValueError(f"bandwidth={bandwidth!r} was given; it must be positive and finite, or None.")
    if not 0 < ridge < np.inf:
        raise ValueError(
            f"ridge={ridge!r} was given; it must be positive and finite, or duplicates among the neighbours make the "
            "system singular."
        )


def _neighborhoods(links: Any) -> tuple[IntArray, IntArray]:
    """The samples that have neighbours, and their neighbours, in rows of equal length."""
    counts = np.diff(links.indptr)
    samples = np.flatnonzero(counts)
    if len(np.unique(counts[samples])) > 1:
        raise ValueError("The samples have different numbers of neighbours; give links as from nearest_neighbors.")
    return samples, links.indices.reshape(len(samples), -1) if len(samples) else np.empty((0, 1), np.intp)


# Kernel values of some samples: between their neighbours (b × p × p), and between sample and neighbours (b × p).
BlockKernel = Callable[[Any, Any, IntArray, IntArray], tuple[Array, Array]]


def _block_kernel(kernel: Kernel, bandwidth: float | None) -> BlockKernel:
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
    assert bandwidth is not None  # `local_predictors` ensures it
    return np.exp(-np.maximum(squared_distances, 0) / bandwidth)


def _inner_products(
    X: Any, X_train: Any, samples: IntArray, neighbors: IntArray, centred: bool
) -> tuple[Array, Array, Array]:
    """⟨neighbour, neighbour⟩, ⟨sample, neighbour⟩ and ‖sample‖²; dense samples may be centred on the sample first."""
    own = X[samples].astype(np.float64)
    if not sp.issparse(X_train):
        near = X_train[neighbors].astype(np.float64)
        if centred:
            # Distances stay the same, and small ones are not lost in the samples' norms.
            near -= own[:, None, :]
            own[:] = 0
        return near @ near.transpose(0, 2, 1), np.einsum("ijf,if->ij", near, own), row_dots(own, own)
    # Neighbourhoods overlap: each sample that occurs is taken once.
    occurring, position = np.unique(neighbors, return_inverse=True)
    position = position.reshape(neighbors.shape)
    near = X_train[occurring].astype(np.float64)
    between, across = (near @ near.T).toarray(), (own @ near.T).toarray()
    K = between[position[:, :, None], position[:, None, :]]
    return K, np.take_along_axis(across, position, axis=1), row_dots(own, own)


def _called(
    kernel: Callable[[Any, Any], Any], X: Any, X_train: Any, samples: IntArray, neighbors: IntArray
) -> tuple[Array, Array]:
    """A user's kernel, one neighbourhood at a time."""
    b, p = neighbors.shape
    K, k = np.empty((b, p, p)), np.empty((b, p))
    for t, (sample, near) in enumerate(zip(samples, neighbors, strict=True)):
        values = np.asarray(kernel(X_train[near], X_train[near])), np.asarray(kernel(X[[sample]], X_train[near]))
        if values[0].shape != (p, p) or values[1].shape != (1, p):
            raise ValueError(
                f"The kernel gave arrays of shapes {values[0].shape} and {values[1].shape} for {p} with {p} and 1 with "
                f"{p} samples; it must give ({p}, {p}) and (1, {p})."
            )
        if not np.isfinite(values[0]).all() or not np.isfinite(values[1]).all():
            raise ValueError("The kernel gave NaN or infinity; every value must be finite.")
        K[t], k[t] = values[0], values[1][0]
    return K, k
