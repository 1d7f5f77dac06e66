"""Eigenvectors of normalised cuts: those of the normalised Laplacian of a graph with the smallest eigenvalues.

Each connected piece of the graph gives an eigenvector of eigenvalue zero, which needs no search. The others are found
by Lanczos iterations with the graph itself, in the remaining space. That takes many products only if eigenvalues lie
close together, and then the graph has narrow places: it can be factorised with few new entries, and iterations with
the inverse take few products. On a graph without narrow places the same factors would be nearly dense.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu

from ..core.indices import narrow
from ..core.types import Array

# Up to this many samples the dense eigenproblem is the fastest way.
MOST_DENSE = 300
# Residual of an eigenvector; the error of its eigenvalue is about its square.
TOLERANCE = 1e-8
# Lanczos vectors kept beyond twice the number of eigenvectors.
EXTRA_VECTORS = 40
# Products with the graph before the inverse takes over, and the shift that makes the Laplacian invertible.
MOST_PRODUCTS, SHIFT = 3000, 1e-6


def cut_embedding(edges: Any, n_components: int) -> Array:
    """The vectors of :func:`cut_vectors` for any graph: samples without edges have zeros.

    Parameters
    ----------
    edges : csr_array of shape (n_samples, n_samples)
        Symmetric weights without a diagonal.
    n_components : int
        Columns; those beyond the number of samples with edges are zero.
    """
    embedding = np.zeros((edges.shape[0], n_components))
    linked = np.flatnonzero(np.diff(edges.indptr))
    k = min(n_components, len(linked))
    if k > 0:
        # A sample without edges would be a separate eigenvector.
        embedding[linked, :k] = cut_vectors(edges[linked][:, linked], k)
    return embedding


def cut_vectors(edges: Any, k: int) -> Array:
    """W (n × k) that minimises Σ_{i<j} e_ij ‖w_i − w_j‖² with Wᵀ diag(d) W = I, d = E 1.

    The result is always the same for the same graph. Connected pieces come first, from the largest to the smallest.

    Parameters
    ----------
    edges : csr_array of shape (n_samples, n_samples)
        Symmetric weights without a diagonal; every sample has an edge.
    k : int
        At most the number of samples.
    """
    root = np.sqrt(np.asarray(edges.sum(axis=1), np.float64).ravel())
    vectors = _constant_on_pieces(edges, root, k)
    if vectors.shape[1] < k:
        scale = sp.diags_array(1 / root)
        similarity = sp.csr_array(scale @ edges @ scale)
        if len(root) <= max(MOST_DENSE, 5 * k):
            vectors = eigh(-similarity.toarray(), subset_by_index=[0, k - 1])[1]
        else:
            vectors = _leading(similarity, vectors, k)
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(k)])
    return np.asarray(vectors * signs / root[:, None])


def _constant_on_pieces(edges: Any, root: Array, most: int) -> Array:
    """The eigenvectors of eigenvalue zero, one for each connected piece, of the largest pieces."""
    piece = connected_components(edges, directed=False)[1]
    volumes = np.bincount(piece, root * root)
    largest = np.argsort(-volumes, kind="stable")[:most]
    return np.asarray((piece[:, None] == largest) * root[:, None] / np.sqrt(volumes[largest]))


def _leading(similarity: Any, known: Array, k: int) -> Array:
    """The known eigenvectors and those with the next largest eigenvalues.

    Lanczos iterations find one direction of an eigenspace. If an eigenvalue occurs more than once, a second search, in
    the space that the first one has left, finds it.
    """
    search, wanted = _Search(similarity), k - known.shape[1]
    found, values = search.run(known, wanted)
    while True:
        missed, value = search.run(np.hstack([known, found]), 1)
        if value[0] <= values.min() + TOLERANCE:
            return np.hstack([known, found])
        found, values = np.hstack([found, missed]), np.append(values, value)
        best = np.argsort(-values, kind="stable")[:wanted]
        found, values = found[:, best], values[best]


class _Search:
    """Eigenvectors of the largest eigenvalues of a similarity matrix, orthogonal to known ones."""

    def __init__(self, similarity: Any):
        self._similarity = similarity
        self._inverse: Any = None

    def run(self, known: Array, k: int) -> tuple[Array, Array]:
        """The eigenvectors as columns with their eigenvalues, from the largest."""
        if self._inverse is None:
            try:
                return self._lanczos(lambda v: self._similarity @ v + v, known, k)
            except ArpackNoConvergence:
                self._inverse = self._factorised()
        return self._lanczos(self._inverse.solve, known, k)

    def _lanczos(self, apply: Callable[[Array], Array], known: Array, k: int) -> tuple[Array, Array]:
        n = len(known)

        def project(v: Array) -> Array:
            return np.asarray(v - known @ (known.T @ v))

        width = min(2 * k + EXTRA_VECTORS, n)
        _, vectors = eigsh(
            # All eigenvalues are positive, and directions projected out have the eigenvalue zero.
            LinearOperator((n, n), matvec=lambda v: project(apply(v)), dtype=np.float64),
            k,
            which="LA",
            v0=project(np.random.RandomState(known.shape[1]).standard_normal(n)),
            ncv=width,
            tol=TOLERANCE,
            maxiter=-(-MOST_PRODUCTS // (width - k)),
        )
        vectors = vectors[:, ::-1]
        return vectors, np.einsum("ij,ij->j", vectors, self._similarity @ vectors)

    def _factorised(self) -> Any:
        n = self._similarity.shape[0]
        shifted = sp.csc_array(sp.diags_array(np.full(n, 1 + SHIFT)) - self._similarity)
        return splu(
            narrow(shifted, "the factorisation of a graph"),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
