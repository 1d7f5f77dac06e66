"""How good a clustering is, without labels: by the neighbours, the data and other starts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from ..core.door import read_data, read_links
from ..core.types import IntArray
from ..graphs.samples import row_norms

Distance = Literal["cosine", "euclidean"]


def normalized_cut(edges: Any, labels: IntArray, n_clusters: int | None = None) -> float:
    """Share of a cluster's links that leave it, mean over the clusters (Shi & Malik's normalised cut over k).

    Parameters
    ----------
    edges : sparse matrix of shape (n_samples, n_samples)
        Symmetric non-negative edge weights.
    labels : ndarray of int, shape (n_samples,)
        Clusters 0, 1, …
    n_clusters : int, optional
        Number of clusters asked for; those that are empty or without links count as cut off entirely, so that merging
        gains nothing. Default: those that occur.

    Returns
    -------
    cut : float
        In [0, 1]; lower is better.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise.selection import normalized_cut
    >>> chain = np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)
    >>> float(round(normalized_cut(chain, np.array([0, 0, 1, 1])), 3))
    0.333
    """
    return _cut(_between(edges, labels), n_clusters)


def modularity(edges: Any, labels: IntArray) -> float:
    """Share of the links that stay inside clusters, less that of random links of the same degrees (Newman).

    Parameters
    ----------
    edges : sparse matrix of shape (n_samples, n_samples)
        Symmetric non-negative edge weights.
    labels : ndarray of int, shape (n_samples,)

    Returns
    -------
    modularity : float
        Below 1; higher is better. Unlike the normalised cut it can be compared between numbers of clusters, and it
        favours clusters of equal size.
    """
    return _modularity(_between(edges, labels))


def neighbor_information(edges: Any, labels: IntArray) -> float:
    """Share of the information about a sample's cluster that a neighbour's cluster gives.

    The mutual information of the clusters at both ends of a link, over the entropy of the clusters at one end.

    Parameters
    ----------
    edges : sparse matrix of shape (n_samples, n_samples)
        Symmetric non-negative edge weights.
    labels : ndarray of int, shape (n_samples,)

    Returns
    -------
    information : float
        In [0, 1]; higher is better. It favours clusters of unequal size; 0 if there is only one cluster.
    """
    return _information(_between(edges, labels))


def link_criteria(edges: Any, labels: IntArray, n_clusters: int) -> tuple[float, float, float]:
    """One minus the normalised cut, the modularity and the information, from one pass over the links."""
    links = _between(edges, labels)
    return 1 - _cut(links, n_clusters), _modularity(links), _information(links)


def _between(edges: Any, labels: IntArray) -> Any:
    """Weight of the links between every two clusters, and inside each, counted from both ends."""
    edges, Z = read_links(edges, "edges").astype(np.float64), _membership(labels)
    if edges.shape != (Z.shape[0], Z.shape[0]):
        raise ValueError(
            f"edges has shape {edges.shape} and there are {Z.shape[0]} labels; edges must be square, with a row for "
            "every label."
        )
    return sp.csr_array(Z.T @ (edges @ Z))


def _cut(links: Any, n_clusters: int | None) -> float:
    inside, volume = links.diagonal(), links.sum(axis=1)
    k = max(len(volume), n_clusters or 0)
    linked = volume > 0
    return float((k - (inside[linked] / volume[linked]).sum()) / k)


def _modularity(links: Any) -> float:
    total = links.sum()
    return float(links.diagonal().sum() / total - np.square(links.sum(axis=1) / total).sum()) if total > 0 else 0.0


def _information(links: Any) -> float:
    links = links.tocoo()
    share = links.data / max(links.sum(), np.finfo(np.float64).tiny)
    ends = np.bincount(links.row, weights=share, minlength=links.shape[0])
    known, linked = share > 0, ends > 0
    entropy = -np.sum(ends[linked] * np.log(ends[linked]))
    by_chance = ends[links.row[known]] * ends[links.col[known]]
    return float(np.sum(share[known] * np.log(share[known] / by_chance)) / entropy) if entropy > 0 else 0.0


def _membership(labels: IntArray) -> Any:
    labels = np.asarray(labels)
    n = len(labels)
    return sp.csr_array((np.ones(n), (np.arange(n), labels)), shape=(n, int(labels.max()) + 1))


def silhouette(X: Any, labels: IntArray, metric: Distance = "cosine") -> float:
    """Mean silhouette: how much nearer a sample is to its own cluster than to the nearest other one (Rousseeuw).

    (b − a) / max(a, b) with a the mean distance to the samples of the own cluster, b that to the nearest other one.
    Distances are 1 − cosine, or squared Euclidean; both need only cluster sums, and no n × n matrix.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    labels : ndarray of int, shape (n_samples,)
    metric : {"cosine", "euclidean"}, default="cosine"

    Returns
    -------
    silhouette : float
        In [−1, 1]; higher is better. 0 if there is only one cluster.
    """
    X = read_data(X)
    labels = np.unique(labels, return_inverse=True)[1].ravel()
    if len(labels) != X.shape[0]:
        raise ValueError(f"There are {len(labels)} labels and {X.shape[0]} samples; give one label per sample.")
    n, k = len(labels), int(labels.max()) + 1
    if k == 1:
        return 0.0
    norms = row_norms(X).astype(np.float64)
    size = np.bincount(labels, minlength=k)
    scale = np.ones(n)
    if metric == "cosine":
        scale = np.where(norms > 0, 1 / np.where(norms > 0, norms, 1), 0)
    squares = (norms * scale) ** 2
    # Scaling the memberships instead of X avoids a copy of X.
    sums = (_membership(labels) * scale[:, None]).T @ X
    inner = np.asarray(X @ (sums.toarray() if sp.issparse(sums) else np.asarray(sums)).T) * scale[:, None]
    if metric == "cosine":
        total = size - inner
        own = 1 - squares
    else:
        total = size * squares[:, None] + np.bincount(labels, weights=squares, minlength=k) - 2 * inner
        own = np.zeros(n)
    mine = np.arange(n), labels
    others = np.maximum(size[labels] - 1, 1)
    a = np.maximum(total[mine] - own, 0) / others
    away = total / size
    away[mine] = np.inf
    b = np.maximum(away.min(axis=1), 0)
    largest = np.maximum(a, b)
    values = np.where((size[labels] > 1) & (largest > 0), (b - a) / np.where(largest > 0, largest, 1), 0)
    return float(values.mean())


def stability(labellings: Sequence[IntArray]) -> float:
    """Mean adjusted Rand index between every two labellings; 1 if there is only one.

    Parameters
    ----------
    labellings : sequence of ndarray of int, shape (n_samples,)
        Clusters of the same samples from different runs.
    """
    pairs = [agreement(a, b) for a, b in combinations(labellings, 2)]
    return float(np.mean(pairs)) if pairs else 1.0


def agreement(a: IntArray, b: IntArray) -> float:
    """Adjusted Rand index of two labellings of the same samples."""
    from sklearn.metrics import adjusted_rand_score  # importing it takes a while

    return float(adjusted_rand_score(a, b))
