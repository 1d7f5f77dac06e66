"""Edge weights: how strongly linked samples are tied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp

from ..core.door import read_links
from ..core.operand import Operand
from ..core.threads import Workers
from ..core.types import Array, IntArray
from .approximate import Plan
from .neighbors import Method, Metric, find_neighbors, nearest_neighbors
from .pairs import held_rows, over_pairs
from .samples import as_read, block_rows, blocks_of, link_sources, read_new_samples, read_operand, row_dots

EdgeWeights = Literal["binary", "heat", "cosine"]


def neighbor_graph(
    X: Any,
    n_neighbors: int = 5,
    metric: Metric = "cosine",
    edge_weights: EdgeWeights = "binary",
    bandwidth: float | None = None,
    *,
    method: Method = "auto",
) -> Any:
    """Edge weights of the nearest-neighbour graph of the samples.

    Two samples are linked if either is among the `n_neighbors` nearest of the other. The weight of an edge is

    - "binary": 1,
    - "heat": exp(−‖x_i − x_j‖² / bandwidth), with the Euclidean distance whichever `metric` found the link,
    - "cosine": ⟨x_i, x_j⟩ / (‖x_i‖ ‖x_j‖), clipped to [0, 1].

    Edges of weight zero are dropped, and all-zero samples have none.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The samples.
    n_neighbors : int, default=5
        Number of neighbours of each sample; clipped to n_samples − 1 with a warning.
    metric : {"cosine", "euclidean"}, default="cosine"
        The distance that defines neighbours.
    edge_weights : {"binary", "heat", "cosine"}, default="binary"
        The weight of an edge.
    bandwidth : float, default=None
        Scale of the heat kernel, a squared distance. By default that of :func:`heat_bandwidth`.
    method : {"auto", "exact", "approximate"}, default="auto"
        How neighbours are found, see :func:`nearest_neighbors`.

    Returns
    -------
    graph : csr_array of shape (n_samples, n_samples)
        Symmetric, float64, with an empty diagonal.
    """
    # Refuse a wrong choice of weights before searching for neighbours.
    _check_weights(edge_weights, bandwidth)
    X = read_operand(X)
    links = find_neighbors(X, n_neighbors, metric, method).links
    return weigh_links(links.maximum(links.T), X, edge_weights=edge_weights, bandwidth=bandwidth)


def new_sample_links(
    X_new: Any,
    X_train: Any,
    n_neighbors: int = 5,
    metric: Metric = "cosine",
    edge_weights: EdgeWeights = "binary",
    bandwidth: float | None = None,
    *,
    method: Method = "auto",
    plan: Plan | None = None,
) -> Any:
    """Edge weights from new samples to their nearest training samples.

    Every row depends on its own sample only. New samples are not linked to each other, and an all-zero one
    has no links at all.

    Parameters
    ----------
    X_new : {array-like, sparse matrix} of shape (n_new, n_features)
        The new samples.
    X_train : {array-like, sparse matrix} of shape (n_train, n_features)
        The samples of the training graph.
    n_neighbors, metric, edge_weights
        As for the training graph, see :func:`neighbor_graph`.
    bandwidth : float, default=None
        The bandwidth of the training graph, needed for heat weights: a new sample alone cannot define it.
    method, plan
        How neighbours are found, see :func:`nearest_neighbors`.

    Returns
    -------
    links : csr_array of shape (n_new, n_train)
        Non-negative float64 weights.
    """
    _check_weights(edge_weights, bandwidth)
    if edge_weights == "heat" and bandwidth is None:
        raise ValueError(
            "bandwidth=None was given with heat weights, and new samples need that of the training graph. "
            "Give the one it was built with, or heat_bandwidth(X_train, links)."
        )
    X_new, X_train = read_new_samples(X_new, X_train)
    links = nearest_neighbors(X_new, n_neighbors, metric, X_train=X_train, method=method, plan=plan)
    return weigh_links(links, X_new, X_train, edge_weights=edge_weights, bandwidth=bandwidth)


def weigh_links(
    links: Any,
    X: Any,
    X_train: Any = None,
    *,
    edge_weights: EdgeWeights = "binary",
    bandwidth: float | None = None,
) -> Any:
    """Give every link its weight, as defined in :func:`neighbor_graph`.

    Parameters
    ----------
    links : sparse matrix of shape (n_samples, n_train)
        Which samples are linked; the stored values do not matter.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The samples the links start from.
    X_train : {array-like, sparse matrix} of shape (n_train, n_features), default=None
        The samples the links lead to, by default those of `X`.
    edge_weights : {"binary", "heat", "cosine"}, default="binary"
        The weight of a link.
    bandwidth : float, default=None
        Scale of the heat kernel. By default that of :func:`heat_bandwidth`.

    Returns
    -------
    weighted : csr_array of shape (n_samples, n_train)
        A new array; links of weight zero are not stored.
    """
    _check_weights(edge_weights, bandwidth)
    links = read_links(links)
    if edge_weights == "binary":
        weights = np.ones(links.nnz)
    elif edge_weights == "cosine":
        weights = np.clip(_over_links(_cosines, links, X, X_train), 0.0, 1.0)
    else:
        distances = _over_links(_squared_distances, links, X, X_train)
        weights = np.exp(-distances / (_mean_or_one(distances) if bandwidth is None else bandwidth))
    weighted = sp.csr_array((weights, links.indices.copy(), links.indptr.copy()), shape=links.shape)
    weighted.eliminate_zeros()
    weighted.sort_indices()
    return weighted


def heat_bandwidth(X: Any, links: Any) -> float:
    """The default bandwidth of the heat kernel: the mean of ‖x_i − x_j‖² over the linked pairs.

    It is 1 if all linked samples coincide (or none are linked), which gives these links the weight 1.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The samples.
    links : sparse matrix of shape (n_samples, n_samples)
        Which samples are linked: the binary :func:`neighbor_graph`.

    Returns
    -------
    bandwidth : float
        Positive. Weights of :func:`weigh_links` with it are those of the default.
    """
    return _mean_or_one(_over_links(_squared_distances, read_links(links), X, None))


def _check_weights(edge_weights: str, bandwidth: float | None) -> None:
    if edge_weights not in get_args(EdgeWeights):
        raise ValueError(f"edge_weights={edge_weights!r} was given; it must be 'binary', 'heat' or 'cosine'.")
    if bandwidth is not None and not 0 < bandwidth < np.inf:
        raise ValueError(f"bandwidth={bandwidth!r} was given; it must be positive and finite, or None.")


def _mean_or_one(distances: Array) -> float:
    return float(distances.sum()) / max(1, distances.size) or 1.0


def _squared_distances(A: Any, B: Any) -> Array:
    differences = A - B
    return row_dots(differences, differences)


def _cosines(A: Any, B: Any) -> Array:
    cosines: Array = row_dots(A, B) / (np.sqrt(row_dots(A, A)) * np.sqrt(row_dots(B, B)))
    return cosines


def _over_links(function: Callable[[Any, Any], Array], links: Any, X: Any, X_train: Any) -> Array:
    """function(A, B) over all links, a block at a time: row t of A and of B are the two ends of link t."""
    if X_train is None:
        operand = read_operand(X)
        if not operand.in_memory:
            return _over_stored_links(function, links, operand, operand)
        X = X_train = operand.array
    else:
        X, X_train = read_new_samples(X, X_train)
        if isinstance(X_train, Operand):
            return _over_stored_links(function, links, as_read(X), X_train)
    sources = link_sources(links)
    values = np.empty(links.nnz)
    for part in blocks_of(links.nnz, min(block_rows(X), block_rows(X_train))):
        ends = X[sources[part]], X_train[links.indices[part]]
        values[part] = function(*(rows.astype(np.float64) for rows in ends))
    return values


def _over_stored_links(function: Callable[[Any, Any], Array], links: Any, X: Operand, X_train: Operand) -> Array:
    """The same for training samples that are read block by block."""

    def of_pairs(A: Any, B: Any, first: IntArray, second: IntArray) -> Array:
        parts = blocks_of(len(first), block_rows(A))
        return np.concatenate([function(*(E.astype(np.float64) for E in (A[first[p]], B[second[p]]))) for p in parts])

    values = np.empty(links.nnz)
    for rows, A in held_rows(X):
        part = slice(links.indptr[rows.start], links.indptr[rows.stop])
        first = np.repeat(np.arange(A.shape[0]), np.diff(links.indptr[rows.start : rows.stop + 1]))
        values[part] = over_pairs(of_pairs, A, X_train, first, links.indices[part], Workers())
    return values
