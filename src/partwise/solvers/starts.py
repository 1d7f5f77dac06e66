"""Where a fit begins: random, from singular vectors, or from k-means."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr, svd

from ..core.operand import Operand
from ..core.types import Array

# Share of every other cluster in a sample's first code: none would be locked out by a multiplicative solver.
KMEANS_SHARE = 0.2


def start_factors(X: Operand, n_components: int, init: str, rng: np.random.RandomState) -> tuple[Array, Array]:
    """W (n × k) and Hᵀ (m × k) to start from.

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
        return kmeans_start(X, n_components, rng)
    return nndsvd_start(X, n_components, rng, fill=init == "nndsvda")


def random_start(X: Operand, k: int, rng: np.random.RandomState) -> tuple[Array, Array]:
    """Uniform entries whose product has the mean of X."""
    scale = 2 * np.sqrt(X.mean() / k)
    W, Ht = (rng.uniform(size=(rows, k)) * scale for rows in X.shape)
    return W.astype(X.dtype), Ht.astype(X.dtype)


def nndsvd_start(X: Operand, k: int, rng: np.random.RandomState, fill: bool) -> tuple[Array, Array]:
    """Non-negative double singular value decomposition (Boutsidis & Gallopoulos 2008).

    Each singular pair gives one component: the larger of its two non-negative halves. With `fill` ("nndsvda") zeros
    become the mean of X, as scikit-learn does. Components beyond the rank of X start at random.
    """
    n, m = X.shape
    rank = min(k, n, m)
    U, s, V = _truncated_svd(X, rank, rng)
    W, Ht = random_start(X, k, rng)
    W[:, 0], Ht[:, 0] = np.sqrt(s[0]) * np.abs(U[:, 0]), np.sqrt(s[0]) * np.abs(V[:, 0])
    for j in range(1, rank):
        halves = [(np.maximum(sign * U[:, j], 0), np.maximum(sign * V[:, j], 0)) for sign in (1, -1)]
        norms = [np.linalg.norm(u) * np.linalg.norm(v) for u, v in halves]
        (u, v), norm = (halves[0], norms[0]) if norms[0] > norms[1] else (halves[1], norms[1])
        if norm > 0 and s[j] > 0:
            length = np.sqrt(s[j] * norm)
            W[:, j], Ht[:, j] = length * u / np.linalg.norm(u), length * v / np.linalg.norm(v)
    floor = X.dtype.type(np.finfo(X.dtype).eps * max(W.max(), Ht.max()))
    filler = X.dtype.type(X.mean()) if fill else X.dtype.type(0)
    for F in (W, Ht):
        F[floor >= F] = filler
    return W, Ht


def _truncated_svd(X: Operand, rank: int, rng: np.random.RandomState) -> tuple[Array, Array, Array]:
    """Leading singular triplets by randomised subspace iteration (Halko et al. 2011), through products with X only."""
    width = min(rank + 10, *X.shape)
    Q = rng.standard_normal((X.shape[1], width)).astype(X.dtype)
    for _ in range(5):
        Q = qr(X.dot(Q), mode="economic")[0]
        Q = qr(X.t_dot(Q), mode="economic")[0]
    U, s, Zt = svd(X.dot(Q), full_matrices=False)
    return U[:, :rank], s[:rank], (Q @ Zt.T)[:, :rank]


def kmeans_start(X: Operand, k: int, rng: np.random.RandomState) -> tuple[Array, Array]:
    """Components at the centres of k-means, codes at the clusters."""
    from sklearn.cluster import KMeans

    if k > X.shape[0]:
        raise ValueError(
            f"init='kmeans' needs at least n_components={k} samples, X has {X.shape[0]}. Use init='random'."
        )
    seed = int(rng.randint(np.iinfo(np.int32).max))
    clusters = KMeans(n_clusters=k, n_init=1, random_state=seed).fit(X.narrow_array)
    W = np.full((X.shape[0], k), KMEANS_SHARE, X.dtype)
    W[np.arange(len(W)), clusters.labels_] += 1
    Ht = np.maximum(clusters.cluster_centers_, 0).T.astype(X.dtype)
    gram = (W.T @ W) * (Ht.T @ Ht)
    energy = float(gram.sum(dtype=np.float64))
    if energy > 0:
        W *= X.dtype.type(np.sum(X.t_dot(W) * Ht, dtype=np.float64) / energy)
    return W, np.ascontiguousarray(Ht)
