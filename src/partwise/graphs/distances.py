"""Distances given as similarities: a graph whose weights grow with the distance between the samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.door import read_data, read_links
from ..core.types import Array, IntArray
from ..core.warn import warn
from .samples import block_rows, blocks_of, row_dots, row_norms

# At most this many edges are examined.
MOST_EDGES = 2000
# Rank correlations of the weights with the distances: hardly anything but distances reaches the first by either metric,
# or the second by both. Inner products of samples of different norms also grow with their Euclidean distance.
NEARLY_DISTANCES, LIKE_DISTANCES = 0.85, 0.3
# Few edges may reach these by chance; this many standard deviations of chance are evidence.
DEVIATIONS = 4.0
INSTEAD = (
    "Give similarities instead: numpy.exp(-d**2 / sigma**2) of the distances d, or 1 for every link "
    "((graph > 0).astype(float)), or the graph of connectivities that came with them (scanpy: obsp['connectivities'])."
)


def warn_if_distances(graph: Any, X: Any) -> None:
    """Warn if the weights of a graph look like distances between the samples.

    A graph penalty pulls linked samples together in proportion to the weight of their link; with distances for weights
    it pulls distant samples together. Weights that are all equal say nothing and are not examined.

    Parameters
    ----------
    graph : {array-like, sparse matrix} of shape (n_samples, n_samples)
        Symmetric edge weights, as :func:`check_graph` returns them.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The samples, without missing entries.
    """
    X, once = read_data(X), sp.coo_array(sp.triu(read_links(graph, "graph"), 1))
    edges = np.arange(once.nnz)
    if once.nnz > MOST_EDGES:
        edges = np.random.RandomState(0).choice(once.nnz, MOST_EDGES, replace=False)
    weights = once.data[edges]
    if not len(edges) or np.ptp(weights) <= 1e-9 * weights.max():
        return
    correlations = [_rank_correlation(weights, of) for of in _distances(X, once.row[edges], once.col[edges])]
    by_chance = DEVIATIONS / np.sqrt(len(edges))
    if max(correlations) > max(NEARLY_DISTANCES, by_chance) or min(correlations) > max(LIKE_DISTANCES, by_chance):
        warn(
            "The weights of the given graph look like distances, not similarities: the farther apart two linked "
            f"samples are in X, the larger their weight (rank correlation {max(correlations):.2f}), so the graph pulls "
            f"the most distant samples together most strongly. {INSTEAD}"
        )


def _distances(X: Any, first: IntArray, second: IntArray) -> tuple[Array, Array]:
    """Squared Euclidean and cosine distances of some pairs of samples."""
    euclidean, cosine = [], []
    for pairs in blocks_of(len(first), block_rows(X)):
        a, b = X[first[pairs]].astype(np.float64), X[second[pairs]].astype(np.float64)
        dots, lengths = row_dots(a, b), row_norms(a) * row_norms(b)
        euclidean.append(row_norms(a) ** 2 + row_norms(b) ** 2 - 2 * dots)
        cosine.append(1 - dots / np.where(lengths > 0, lengths, 1.0))
    return np.concatenate(euclidean), np.concatenate(cosine)


def _rank_correlation(a: Array, b: Array) -> float:
    """Spearman's correlation; 0 if either is constant."""
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return 0.0
    return float(np.corrcoef(_ranks(a), _ranks(b))[0, 1])


def _ranks(values: Array) -> Array:
    """Ranks in rising order; equal values share the mean of theirs."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[which.ravel()])
