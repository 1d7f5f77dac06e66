"""Spectral embeddings of the samples, and starts made of clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, lobpcg

from ..core.operand import Operand
from ..core.storage import group_means
from ..core.types import Array, IntArray
from ..core.warn import quiet

# Up to so many samples the dense eigenproblem is the fastest and most exact way.
MOST_DENSE = 2000
LOBPCG_ITERATIONS, LOBPCG_TOLERANCE, LOBPCG_EXTRA = 300, 1e-8, 5
# Share of every other cluster in a sample's first code: none would be locked out by a multiplicative solver.
SHARE = 0.2


def spectral_embedding(B: Any, n_components: int) -> Array:
    """The eigenvectors of BᵀB with the smallest eigenvalues as columns, every row then scaled to unit norm.

    The result is always the same for the same B. Samples in which B has no entry are left out of the eigenproblem and
    get a row of zeros.

    Parameters
    ----------
    B : csr_array of shape (any, n_samples)
    n_components : int
        Number of eigenvectors.
    """
    embedding = np.zeros((B.shape[1], n_components))
    touched = np.flatnonzero(np.asarray(abs(B).sum(axis=0)).ravel())
    k = min(n_components, len(touched))
    if k > 0:
        rows = _smallest_eigenvectors(sp.csr_array(B[:, touched], dtype=np.float64), k)
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        embedding[touched, :k] = rows / np.where(norms > 0, norms, 1)
    return embedding


def _smallest_eigenvectors(B: Any, k: int) -> Array:
    """Of BᵀB, which is formed only if it is small."""
    n = B.shape[1]
    if n <= max(MOST_DENSE, 5 * (k + LOBPCG_EXTRA)):
        return np.asarray(eigh((B.T @ B).toarray(), subset_by_index=[0, k - 1])[1])

    def apply(V: Array) -> Array:
        return np.asarray(B.T @ (B @ V))

    S = LinearOperator((n, n), matvec=apply, matmat=apply, dtype=B.dtype)
    jacobi = sp.diags_array(1 / (B * B).sum(axis=0))
    start = np.random.RandomState(0).standard_normal((n, k + LOBPCG_EXTRA))
    # It warns of low precision, but clusters need the space that the eigenvectors span, not their last digits.
    with quiet():
        values, vectors = lobpcg(S, start, M=jacobi, largest=False, maxiter=LOBPCG_ITERATIONS, tol=LOBPCG_TOLERANCE)
    return np.asarray(vectors[:, np.argsort(values)[:k]])


def start_from_labels(X: Operand, labels: IntArray, n_components: int) -> tuple[Array, Array]:
    """W and Hᵀ: codes at the clusters, with a share of every other one; components at the means of the clusters.

    Parameters
    ----------
    X : Operand
        Complete data.
    labels : ndarray of int, shape (n_samples,)
        Cluster of every sample, 0 … n_components − 1; clusters may be empty.
    n_components : int
    """
    W = np.full((X.shape[0], n_components), SHARE, X.dtype)
    W[np.arange(len(W)), labels] += 1
    used, numbered = np.unique(labels, return_inverse=True)
    means = group_means(X, numbered.ravel(), len(used), np.ones(len(W), X.dtype)).array
    Ht = np.full((X.shape[1], n_components), X.mean(), X.dtype)
    Ht[:, used] = (means.toarray() if sp.issparse(means) else means).T
    energy = float(((W.T @ W) * (Ht.T @ Ht)).sum(dtype=np.float64))
    if energy > 0:
        W *= X.dtype.type(np.sum(X.t_dot(W) * Ht, dtype=np.float64) / energy)
    return W, Ht
