"""Matrices over the rows of a factor, each against the dense matrix that it stands for."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from partwise.core.rows import Cliques, Diagonal, FormedSquare, Links, Square

FLOAT = np.dtype(np.float64)
RNG = np.random.RandomState(0)
N = 8
EDGES = np.triu(RNG.uniform(size=(N, N)) * (RNG.uniform(size=(N, N)) < 0.5), 1)
EDGES = EDGES + EDGES.T
B = RNG.standard_normal((11, N)) * (RNG.uniform(size=(11, N)) < 0.6)
GROUPS = np.array([0, 0, -1, 1, 1, 1, -1, 2])
SAME = (GROUPS[:, None] == GROUPS) & (GROUPS[:, None] >= 0)
LAPLACIAN = np.diag(EDGES.sum(axis=1)) - EDGES

# Every matrix with what it stands for, written out.
MATRICES = {
    "diagonal": (lambda dtype: Diagonal(np.arange(N).astype(dtype)), np.diag(np.arange(N))),
    "laplacian": (lambda dtype: Links.laplacian(sp.csr_array(EDGES), 2.5, dtype), 2.5 * LAPLACIAN),
    "no edges": (lambda dtype: Links.laplacian(sp.csr_array((N, N)), 2.5, dtype), np.zeros((N, N))),
    "links of either sign": (lambda dtype: Links.of_matrix(sp.csr_array(B.T @ B), 0.5, dtype), 0.5 * B.T @ B),
    "cliques": (lambda dtype: Cliques(GROUPS, 1.5, dtype), 1.5 * (np.diag(SAME.sum(axis=1)) - SAME)),
    "no clique": (lambda dtype: Cliques(np.full(N, -1), 1.5, dtype), np.zeros((N, N))),
    "product": (lambda dtype: Square(sp.csr_array(B), 2.0, dtype), 2 * B.T @ B),
    "product, scaled": (lambda dtype: Square(sp.csr_array(B), 2.0, dtype).scaled(3.0), 6 * B.T @ B),
    "product, formed": (lambda dtype: Square(sp.csr_array(B), 2.0, dtype).formed(), 2 * B.T @ B),
    "formed, scaled": (lambda dtype: Square(sp.csr_array(B), 2.0, dtype).formed().scaled(3.0), 6 * B.T @ B),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", MATRICES)
def test_halves_diagonal_and_energy(name, dtype):
    rng = np.random.RandomState(1)
    make, S = MATRICES[name]
    matrix = make(np.dtype(dtype))
    F = rng.uniform(size=(N, 3)).astype(dtype)
    close = {"rtol": 1e-9 if dtype == np.float64 else 1e-4, "atol": 1e-9 if dtype == np.float64 else 1e-4}
    up, down = matrix.positive(F), matrix.negative(F)
    down = np.zeros_like(up) if down is None else down
    assert up.min() >= 0
    assert down.min() >= 0
    np.testing.assert_allclose(up - down, S @ F, **close)
    np.testing.assert_allclose(matrix.diagonal(), S.diagonal(), **close)
    energy = matrix.energy(F)
    np.testing.assert_allclose(energy, np.diag(F.T @ S @ F), **close)
    assert energy.dtype == np.float64
    assert up.dtype == down.dtype == matrix.diagonal().dtype == dtype


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), rows=st.integers(1, 9), strength=st.floats(0, 1e3))
def test_a_product_and_its_matrix_agree(seed, rows, strength):
    rng = np.random.RandomState(seed)
    B = sp.csr_array(rng.standard_normal((rows, 8)) * (rng.uniform(size=(rows, 8)) < 0.5))
    F = rng.uniform(size=(8, 3))
    S = strength * (B.T @ B).toarray()
    product = Square(B, strength, np.dtype(float))
    formed = product.formed()
    assert isinstance(formed, FormedSquare)
    for matrix in (product, formed):
        up, down = matrix.positive(F), matrix.negative(F)
        assert up.min() >= 0
        assert down.min() >= 0
        np.testing.assert_allclose(up - down, S @ F, rtol=1e-9, atol=1e-9 * (1 + strength))
        np.testing.assert_allclose(matrix.diagonal(), S.diagonal(), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(matrix.energy(F), np.einsum("ij,ij->j", F, S @ F), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("matrix", "F"),
    [
        (Links.laplacian(sp.csr_array(EDGES), 1e6, FLOAT), np.full((N, 1), 1e8 / 3)),
        (Cliques(GROUPS, 1e6, FLOAT), np.where(GROUPS < 0, 3.0, 2.0**GROUPS)[:, None] * 2**26),
        (Square(sp.csr_array([[1.0, -0.25, -0.75]]), 1e6, FLOAT), np.full((3, 1), 1e8)),
        (Square(sp.csr_array([[1.0, -0.25, -0.75]]), 1e6, FLOAT).formed(), np.full((3, 1), 1e8)),
    ],
    ids=["laplacian", "cliques", "product", "product, formed"],
)
def test_energy_is_exact_where_rows_agree(matrix, F):
    """Differences are taken before squares: codes that agree have no energy, at any size and strength."""
    np.testing.assert_array_equal(matrix.energy(F), 0)


def test_one_row_has_no_neighbours():
    for matrix in (Links.laplacian(sp.csr_array((1, 1)), 1.0, FLOAT), Cliques(np.zeros(1, int), 1.0, FLOAT)):
        assert matrix.energy(np.ones((1, 2))).tolist() == [0, 0]
        assert not matrix.positive(np.ones((1, 2))).any()
        assert not matrix.negative(np.ones((1, 2))).any()


def test_sums_of_cliques():
    F = np.arange(2.0 * N).reshape(N, 2)
    expected = [F[group == GROUPS].sum(axis=0) for group in range(3)]
    np.testing.assert_allclose(Cliques(GROUPS, 1.5, FLOAT).group_sums(F), expected)


def test_formed_products_hold_their_entries():
    S = 2 * B.T @ B
    formed = Square(sp.csr_array(B), 2.0, FLOAT).formed()
    np.testing.assert_allclose(formed.off.toarray(), S - np.diag(S.diagonal()), atol=1e-12)
