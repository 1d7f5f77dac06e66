"""Where a fit begins: at random, from singular vectors, from clusters, or from a fit to a sample of the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh, qr, svd

from ..clusters import cluster
from ..core.distinct import count_distinct
from ..core.dual import DualState, KernelMatrix
from ..core.objective import Objective
from ..core.operand import Operand, entry_blocks
from ..core.state import State
from ..core.storage import group_means
from ..core.types import CODES, COMPONENTS, Array, IntArray, column_norms, dot64
from .choice import choose_solver
from .codes import code_samples, coding_terms
from .loop import Options
from .search import minimise

# From this many samples on, singular vectors are found without a second array of the size of the codes.
TALL = 200_000
# Share of every other cluster in a sample's first code: without it, multiplicative steps could never change clusters.
CLUSTER_SHARE = 0.2
# What replaces the zeros of "nndsvda", as a share of the size of an entry (studies/start_filler.py compares shares).
FILLER_SHARE = 0.1
# A sampled start: the share of the rows it fits, the fewest of them, the most in bytes, its sweeps, and passes to code
# all samples.
SAMPLE_SHARE = 8
SAMPLE_BYTES = 2**27
LEAST_ROWS_PER_COMPONENT = 10
SAMPLE_SWEEPS = 40
CODING_PASSES = 50
# Rows of data that are not in memory by which k-means finds its centres.
CLUSTERED_ROWS = 20_000
# Rounds of clustering, and of weighting features by their residuals.
WEIGHT_ROUNDS = 2

# From the norms of the features' residuals to the weight of every feature.
DownWeight = Callable[[Array], Array]


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
        raise ValueError(f"init={init!r} needs complete data, but X has missing entries. Use init='random'.")
    if init == "random":
        return random_start(X, n_components, rng)
    if init == "kmeans":
        return balanced(*kmeans_start(X, n_components, rng), X.sample_weight)
    return nndsvd_start(X, n_components, rng, fill=init == "nndsvda")


def random_start(X: Operand, k: int, rng: np.random.RandomState) -> tuple[Array, Array]:
    """Uniform entries whose product has the mean of X."""
    scale = 2 * _entry_size(X, k)
    W, Ht = X.room.empty((X.shape[0], k), X.dtype), np.empty((X.shape[1], k), X.dtype)
    for F in (W, Ht):
        # In pieces: random numbers are twice as large as those of float32.
        for rows in entry_blocks(len(F), 8 * k):
            F[rows] = rng.uniform(size=(rows.stop - rows.start, k)) * scale
    return W, Ht


def nndsvd_start(X: Operand, k: int, rng: np.random.RandomState, fill: bool) -> tuple[Array, Array]:
    """Non-negative double singular value decomposition (Boutsidis & Gallopoulos 2008).

    Each singular pair gives one component: the larger of its two non-negative halves. A sample of weight two counts as
    if it occurred twice. With `fill` ("nndsvda") zeros become a share of √(mean(X) / k), which grows with X as the
    factors do; the mean of X itself, the usual choice, makes the model depend on the unit of X. Components beyond the
    rank of X start at random.
    """
    n, m = X.shape
    rank = min(k, n, m)
    U, s, V = truncated_svd(X, rank, rng)
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
        for rows in entry_blocks(len(F), k * F.itemsize):
            part = F[rows]
            part[floor >= part] = filler
    return W, Ht


def truncated_svd(X: Operand, rank: int, rng: np.random.RandomState) -> tuple[Array, Array, Array]:
    """Leading singular triplets by randomised subspace iteration (Halko et al. 2011), using only products with X.

    With sample weights they are those of data with each sample repeated as often; U has one row for all repetitions.
    """
    # The test matrix lives in the space of the features, so that it does not change when samples are repeated.
    Q = rng.standard_normal((X.shape[1], min(rank + 10, X.shape[1]))).astype(X.dtype)
    if X.shape[0] > TALL:
        return _tall_svd(X, rank, Q)
    root = np.ones((1, 1), X.dtype) if X.sample_weight is None else np.sqrt(X.sample_weight)[:, None]
    for _ in range(5):
        Q = qr(root * X.dot(Q), mode="economic")[0]
        Q = qr(X.t_dot(root * Q), mode="economic")[0]
    U, s, Zt = svd(root * X.dot(Q), full_matrices=False)
    s, V = s[:rank], (Q @ Zt.T)[:, :rank]
    if X.sample_weight is None:
        return U[:, :rank], s, V
    # Beyond the rank of X, s and X V are rounding errors, and their quotient could be of any size.
    limits = np.finfo(s.dtype)
    return X.dot(V) / np.maximum(s, max(limits.eps * s[0], limits.tiny)), s, V


def _tall_svd(X: Operand, rank: int, Q: Array) -> tuple[Array, Array, Array]:
    """The same for many samples, in one pass over X per iteration and without arrays of n × (k + 10).

    XᵀX Q and QᵀXᵀX Q are sums over the rows. Singular values below the root of the machine precision, relative to the
    first, are lost; a start does not need them.
    """
    for _ in range(5):
        Q = qr(X.code(Q, _as_it_is)[0].astype(np.float64), mode="economic")[0].astype(X.dtype)
    gram = X.code(Q, _as_it_is)[1].astype(np.float64)
    values, vectors = eigh((gram + gram.T) / 2)
    order = np.argsort(-values, kind="stable")[:rank]
    s = np.sqrt(np.maximum(values[order], 0)).astype(X.dtype)
    V = np.ascontiguousarray((Q @ vectors[:, order]).astype(X.dtype))
    U = np.asarray(X.dot(V))
    limits = np.finfo(s.dtype)
    U /= np.maximum(s, max(limits.eps * s[0], limits.tiny))
    return U, s, V


def _as_it_is(rows: slice, product: Array) -> Array:
    """The product itself, as the codes of a pass over the rows."""
    return product


def _norm(vector: Array, weight: Array | None = None) -> Any:
    return np.linalg.norm(vector if weight is None else vector * np.sqrt(weight))


def _entry_size(X: Operand, k: int) -> float:
    """√(mean(X) / k): if all entries of W and H had this size, W H would have the mean of X."""
    return float(np.sqrt(X.mean() / k))


def kmeans_start(X: Operand, k: int, rng: np.random.RandomState) -> tuple[Array, Array]:
    """Components at the centres of k-means, codes at the clusters."""
    _check_clusters(X, k)
    labels, centres = clusters_everywhere(X, k, _seed(rng))
    Ht = np.maximum(centres, 0).T.astype(X.dtype)
    return _fitting(X, cluster_codes(labels, k, X.dtype), np.ascontiguousarray(Ht))


def clusters_everywhere(X: Operand, k: int, seed: int) -> tuple[IntArray, Array]:
    """Labels and centres of k-means; of a sample, and then the nearest centres, if X is not in memory."""
    if X.in_memory:
        return cluster(X.narrow_array, k, 1, seed, X.sample_weight)
    n, weight = X.shape[0], X.sample_weight
    rows = np.sort(np.random.RandomState(seed).choice(n, min(n, max(CLUSTERED_ROWS, k)), replace=False))
    _, centres = cluster(X.take(rows).narrow_array, k, 1, seed, None if weight is None else weight[rows])
    products = np.asarray(X.dot(np.ascontiguousarray(centres.T.astype(X.dtype))))
    return (0.5 * np.einsum("ij,ij->i", centres, centres) - products).argmin(axis=1), centres


def start_from_labels(X: Operand, labels: IntArray, n_components: int) -> tuple[Array, Array]:
    """W and Hᵀ: codes at given clusters, components at the means of the clusters.

    Parameters
    ----------
    X : Operand
        Complete data.
    labels : ndarray of int, shape (n_samples,)
        Cluster of every sample, 0 … n_components − 1; clusters may be empty.
    n_components : int
    """
    used, numbered = np.unique(labels, return_inverse=True)
    weight = np.ones(len(labels), X.dtype) if X.sample_weight is None else X.sample_weight
    means = group_means(X, numbered.ravel(), len(used), weight).take(np.arange(len(used))).array
    Ht = np.full((X.shape[1], n_components), X.mean(), X.dtype)
    Ht[:, used] = (means.toarray() if sp.issparse(means) else means).T
    return _fitting(X, cluster_codes(labels, n_components, X.dtype), Ht)


def sampled_start(
    X: Operand,
    n_components: int,
    rng: np.random.RandomState,
    fit_to: Callable[[Operand], Objective],
    options: Options,
) -> tuple[Array, Array]:
    """Fit an eighth of the rows, at most 128 MB of them, for 40 sweeps, then solve once for the codes of all.

    Parameters
    ----------
    X : Operand
    n_components : int
    rng : numpy.random.RandomState
    fit_to : callable
        Gives the objective, without penalties, on a sample.
    options : Options
        Of the fit that will start from here.

    Returns
    -------
    W : ndarray of shape (n_samples, n_components)
    Ht : ndarray of shape (n_features, n_components)
    """
    n = X.shape[0]
    share = min(n // SAMPLE_SHARE, int(SAMPLE_BYTES * n / max(1, X.nbytes)))
    size = min(n, max(share, LEAST_ROWS_PER_COMPONENT * n_components))
    sample = X.take(np.sort(rng.choice(n, size, replace=False)))
    objective = fit_to(sample)
    start = State(sample, *random_start(sample, n_components, rng))
    with sample.at_work():
        result = minimise(
            objective, choose_solver("auto", objective), [lambda: start], options.inside(SAMPLE_SWEEPS, 0.0)
        )
    Ht = result.state.Ht
    return code_samples(coding_terms(objective.terms, result.state), X, Ht, max_passes=CODING_PASSES), Ht


def dual_start(
    kernel: KernelMatrix, k: int, init: str, rng: np.random.RandomState, down_weight: DownWeight | None = None
) -> DualState:
    """Codes with columns of unit norm, and coefficients proportional to them.

    So every component is a mean of the samples that use it; one common factor makes the fit as good as possible.

    Parameters
    ----------
    kernel : KernelMatrix
    k : int
    init : {"kmeans", "random"}
        Clusters of the features (of the rows of a kernel without any), with a share of every other cluster; or uniform
        numbers.
    rng : numpy.random.RandomState
    down_weight : callable, optional
        How the fit weights features by their residuals; k-means then does the same.
    """
    X = kernel.operand
    W = start_codes(X, k, init, rng, down_weight)
    norms = column_norms(W)
    W /= norms.astype(X.dtype)
    P = W * (norms / W.sum(axis=0, dtype=np.float64)).astype(X.dtype)
    state = DualState(kernel, W, P)
    energy = dot64(state.gram(CODES), state.gram(COMPONENTS))
    if energy <= 0:
        return state
    return DualState(kernel, W, P * X.dtype.type(max(state.cross(), 0.0) / energy))


def start_codes(
    X: Operand, k: int, init: str, rng: np.random.RandomState, down_weight: DownWeight | None = None
) -> Array:
    """Only codes: clusters of k-means with a share of every other cluster, or uniform numbers.

    Parameters
    ----------
    X, k, init, rng, down_weight
        As for :func:`dual_start`, with the features in place of the kernel.
    """
    if init == "random":
        return rng.uniform(size=(X.shape[0], k)).astype(X.dtype)
    _check_clusters(X, k)
    return cluster_codes(_clusters(X, k, _seed(rng), down_weight), k, X.dtype)


def cluster_codes(labels: IntArray, k: int, dtype: Any) -> Array:
    """Codes at the clusters, with a share of every other one."""
    W = np.full((len(labels), k), CLUSTER_SHARE, dtype)
    W[np.arange(len(W)), labels] += 1
    return W


def _clusters(X: Operand, k: int, seed: int, down_weight: DownWeight | None) -> IntArray:
    """Labels by k-means; features that the clusters (at first their one mean) leave far off count less."""
    if not X.in_memory:
        if down_weight is not None:
            raise ValueError("init='kmeans' with down-weighted features needs X in memory. Use init='random'.")
        return clusters_everywhere(X, k, seed)[0]

    def kmeans(data: Any) -> IntArray:
        # Equal samples may have features that differ by rounding; they must share a cluster.
        n_clusters = k if sp.issparse(data) else count_distinct(data, k)
        return cluster(data, n_clusters, 1, seed, X.sample_weight)[0]

    if down_weight is None:
        return kmeans(X.narrow_array)
    labels = np.zeros(X.shape[0], np.intp)
    for _ in range(WEIGHT_ROUNDS):
        weights = down_weight(feature_residuals(X, labels))
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


def balanced(W: Array, Ht: Array, sample_weight: Array | None = None) -> tuple[Array, Array]:
    """The same product with factors of equal means; that of W is weighted by samples."""
    means = [
        float(np.average(F.mean(axis=1, dtype=np.float64), weights=weight))
        for F, weight in ((W, sample_weight), (Ht, None))
    ]
    if min(means) <= 0:
        return W, Ht
    stretch = W.dtype.type(np.sqrt(means[1] / means[0]))
    return W * stretch, Ht / stretch


def as_coordinates(X: Operand, W: Array, Ht: Array) -> tuple[Array, Array]:
    """The same product with components of the mean norm of the samples, and codes without a unit."""
    n_samples = X.shape[0] if X.sample_weight is None else float(X.sample_weight.sum(dtype=np.float64))
    lengths = column_norms(Ht) / (np.sqrt(X.squared_norm / n_samples) or 1.0)
    lengths = np.where(lengths > 0, lengths, 1).astype(X.dtype)
    return W * lengths, Ht / lengths


def _fitting(X: Operand, W: Array, Ht: Array) -> tuple[Array, Array]:
    """The same factors with the codes scaled to the best possible fit."""
    counted = W if X.sample_weight is None else W * X.sample_weight[:, None]
    energy = dot64(W.T @ counted, Ht.T @ Ht)
    if energy > 0:
        W *= X.dtype.type(dot64(X.t_dot(counted), Ht) / energy)
    return W, Ht


def _check_clusters(X: Operand, k: int) -> None:
    if k > X.shape[0]:
        raise ValueError(
            f"init='kmeans' needs at least n_components={k} samples, but X has {X.shape[0]}. Use init='random'."
        )


def _seed(rng: np.random.RandomState) -> int:
    return int(rng.randint(np.iinfo(np.int32).max))


def start_at_seeds(X: Operand, W: Array, Ht: Array, directions: Array) -> tuple[Array, Array]:
    """The start with its first components along given ones, and codes that share the samples among these.

    Parameters
    ----------
    X : Operand
    W, Ht : ndarray
        Codes and components of another start, whose lengths are kept.
    directions : ndarray of shape (n_features, n_seeds)
        Of unit norm.
    """
    r = directions.shape[1]
    lengths = column_norms(Ht[:, :r]).astype(Ht.dtype)
    lengths[lengths == 0] = 1
    W, Ht = W.copy(), Ht.copy()
    Ht[:, :r] = directions * lengths
    known = X if X.missing is None else X.known()
    W[:, :r] = known.dot(np.ascontiguousarray(directions)) / (r * lengths)
    return W, Ht
