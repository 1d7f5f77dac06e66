"""Eigenvectors of BᵀB against the dense way, and what no sample has a say in."""

import numpy as np
import scipy.sparse as sp

from partwise.solvers.spectral import spectral_embedding


def test_smallest_eigenvectors_and_samples_without_entries():
    B = np.random.RandomState(0).standard_normal((12, 9))
    B[:, [2, 7]] = 0
    found = spectral_embedding(sp.csr_array(B), 3)
    assert not found[[2, 7]].any()
    kept = np.setdiff1d(np.arange(9), [2, 7])
    vectors = np.linalg.eigh(B[:, kept].T @ B[:, kept])[1][:, :3]
    expected = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    # The sign of an eigenvector is arbitrary: products of rows do not depend on it.
    np.testing.assert_allclose(found[kept] @ found[kept].T, expected @ expected.T, atol=1e-7)
