"""Spectral embeddings of the samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, lobpcg

from ..core.types import Array
from ..core.warn import quiet

# Up to this many samples the dense eigenproblem is fastest and most exact.
MOST_DENSE = 2000
LOBPCG_ITERATIONS, LOBPCG_TOLERANCE, LOBPCG_EXTRA = 300, 1e-8, 5


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
    # It warns about low precision, but clusters need the space that the eigenvectors span, not their last digits.
    with quiet():
        values, vectors = lobpcg(S, start, M=jacobi, largest=False, maxiter=LOBPCG_ITERATIONS, tol=LOBPCG_TOLERANCE)
    return np.asarray(vectors[:, np.argsort(values)[:k]])
