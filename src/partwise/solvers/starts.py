"""Where a fit begins: random, from singular vectors, or from k-means."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import qr, svd

from ..core.operand import Operand
from ..core.types import Array, column_norms
from .kmeans import cluster

# Share of every other cluster in a sample's first code: none would be locked out by a multiplicative solver.
KMEANS_SHARE = 0.2
# What zeros of "nndsvda" become, as a share of the size of an entry (benchmarks/start_filler.py compares shares).
FILLER_SHARE = 0.1


def start_factors(X: Operand, n_components: int, init: str, rng: np.random.RandomState) -> tuple[Array, Array]:
    """W (n × k) and Hᵀ (m × k) to start from. Both grow with X as its square root.

    Parameters
    ----------
    X : Operand
    n_components : int
    init : {"random", "nndsvd", "nndsvda", "kmeans"}
    rng : numpy.random.RandomState
    """
    if init != "random" and X.missing is not None:
        raise ValueError(f"init={init!r} needs complete data, and X has missing entries. Use init='random'.")
    if init == "random":
        return random_start(X, n_components, rng)
    if init == "kmeans":
        return balanced(*kmeans_start(X, n_components, rng), X.sample_weight)
    return nndsvd_start(X, n_components, rng, fill=init == "nndsvda")


def balanced(W: Array, Ht: Array, sample_weight: Array | None = None) -> tuple[Array, Array]:
    """The same product with factors of equal means; samples count in that of W by their weights."""
    means = [
        float(np.average(F.mean(axis=1, dtype=np.float64), weights=weight))
        for F, weight in ((W, sample_weight), (Ht, None))
    ]
    if min(means) <= 0:
        return W, Ht
    stretch = W.dtype.type(np.sqrt(means[1] / means[0]))
    return W * stretch, Ht / stretch


def as_coordinates(X: Operand, W: Array, Ht: Array) -> tuple[Array, Array]:
    """The same product with components as long as samples are on average, and codes without a unit."""
    n_samples = X.shape[0] if X.sample_weight is None else float(X.sample_weight.sum(dtype=np.float64))
    lengths = column_norms(Ht) / (np.sqrt(X.squared_norm / n_samples) or 1.0)
    lengths = np.where(lengths > 0, lengths, 1).astype(X.dtype)
    return W * lengths, Ht / lengths


def random_start(X: Operand, k: int, rng: np.random.RandomState) -> tuple[Array, Array]:
    """Uniform entries whose product has the mean of X."""
    scale = 2 * _entry_size(X, k)
    W, Ht = (rng.uniform(size=(rows, k)) * scale for rows in X.shape)
    return W.astype(X.dtype), Ht.astype(X.dtype)


def _entry_size(X: Operand, k: int) -> float:
    """√(mean(X) / k): if all entries of W and H had this size, W H would have the mean of X."""
    return float(np.sqrt(X.mean() / k))


def nndsvd_start(X: Operand, k: int, rng: np.random.RandomState, fill: bool) -> tuple[Array, Array]:
    """Non-negative double singular value decomposition (Boutsidis & Gallopoulos 2008).

    Each singular pair gives one component: the larger of its two non-negative halves. A sample of weight two counts as
    if it were there twice. With `fill` ("nndsvda") zeros
    become a share of √(mean(X) / k), which grows with X as the factors do; the mean of X itself, which others take,
    makes the model depend on the unit of X. Components beyond the rank of X start at random.
    """
    n, m = X.shape
    rank = min(k, n, m)
    U, s, V = _truncated_svd(X, rank, rng)
    W, Ht = random_start(X, k, rng)
    W[:, 0], Ht[:, 0] = np.sqrt(s[0]) * np.abs(U[:, 0]), np.sqrt(s[0]) * np.abs(V[:, 0])
    for j in range(1, rank):
        halves = [(np.maximum(sign * U[:, j], 0), np.maximum(sign * V[:, j], 0)) for sign in (1, -1)]
        norms = [(_norm(u, X.sample_weight), _norm(v)) for u, v in halves]
        larger = int(norms[0][0] * norms[0][1] <= norms[1][0] * norms[1][1])
        (u, v), (of_u, of_v) = halves[larger], norms[larger]
        if of_u * of_v > 0 and s[j] > 0:
            length = np.sqrt(s[j] * of_u * of_v)
            W[:, j], Ht[:, j] = length * u / of_u, length * v / of_v
    floor = X.dtype.type(np.finfo(X.dtype).eps * max(W.max(), Ht.max()))
    filler = X.dtype.type(FILLER_SHARE * _entry_size(X, k) if fill else 0)
    for F in (W, Ht):
        F[floor >= F] = filler
    return W, Ht


def _norm(vector: Array, weight: Array | None = None) -> Any:
    return np.linalg.norm(vector if weight is None else vector * np.sqrt(weight))


def _truncated_svd(X: Operand, rank: int, rng: np.random.RandomState) -> tuple[Array, Array, Array]:
    """Leading singular triplets by randomised subspace iteration (Halko et al. 2011), through products with X only.

    With sample weights they are those of data with each sample repeated as often; U has one row for all repetitions.
    """
    root = np.ones((1, 1), X.dtype) if X.sample_weight is None else np.sqrt(X.sample_weight)[:, None]
    # The test matrix lives in the space of the features, so that it does not change when samples are repeated.
    Q = rng.standard_normal((X.shape[1], min(rank + 10, X.shape[1]))).astype(X.dtype)
    for _ in range(5):
        Q = qr(root * X.dot(Q), mode="economic")[0]
        Q = qr(X.t_dot(root * Q), mode="economic")[0]
    U, s, Zt = svd(root * X.dot(Q), full_matrices=False)
    s, V = s[:rank], (Q @ Zt.T)[:, :rank]
    if X.sample_weight is None:
        return U[:, :rank], s, V
    return X.dot(V) / np.maximum(s, np.finfo(s.dtype).tiny), s, V


def kmeans_start(X: Operand, k: int, rng: np.random.RandomState) -> tuple[Array, Array]:
    """Components at the centres of k-means, codes at the clusters."""
    if k > X.shape[0]:
        raise ValueError(
            f"init='kmeans' needs at least n_components={k} samples, X has {X.shape[0]}. Use init='random'."
        )
    seed = int(rng.randint(np.iinfo(np.int32).max))
    labels, centres = cluster(X.narrow_array, k, 1, seed, X.sample_weight)
    W = np.full((X.shape[0], k), KMEANS_SHARE, X.dtype)
    W[np.arange(len(W)), labels] += 1
    Ht = np.maximum(centres, 0).T.astype(X.dtype)
    counted = W if X.sample_weight is None else W * X.sample_weight[:, None]
    gram = (W.T @ counted) * (Ht.T @ Ht)
    energy = float(gram.sum(dtype=np.float64))
    if energy > 0:
        W *= X.dtype.type(np.sum(X.t_dot(counted) * Ht, dtype=np.float64) / energy)
    return W, np.ascontiguousarray(Ht)
