"""Compiled loops against dense arithmetic, a general solver, or one entry at a time in plain Python."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls

from partwise.kernels.descent import colour_rows, descend_linked, descend_rows, step_further
from partwise.kernels.links import aggregate_rows, edge_energy, products_at
from partwise.kernels.sparse import add_t_dot_rows, dot_rows, list_positive

# More rows than lanes, and a number of components that is not a multiple of four.
ROWS, K = 70, 6


@pytest.fixture
def rng():
    return np.random.RandomState(0)


def graph(rng, n):
    """Links −s_it of a symmetric graph without a diagonal, in CSR form."""
    W = np.triu(rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < 3 / n), 1)
    return sp.csr_array(-(W + W.T))


def cliques(groups):
    """Which rows are in one clique with which others."""
    return (groups[:, None] == groups) & (groups >= 0) & ~np.eye(len(groups), dtype=bool)


@pytest.mark.parametrize("jointly", [False, True])
def test_rows_by_themselves_reach_non_negative_least_squares(rng, jointly):
    H, X = rng.uniform(size=(K, 9)), rng.uniform(size=(ROWS, 9))
    data, push = rng.uniform(0.5, 2, size=(ROWS, 1)), rng.uniform(-0.1, 0.1, size=(1, K))
    F, B = np.zeros((ROWS, K)), H @ H.T
    descend_rows(F, X @ H.T, data, push, B, np.ones(1), np.ones((1, K)), 0, 150, 0.0, jointly, 0, F)
    root = np.linalg.cholesky(B + np.eye(K))
    for i in range(ROWS):
        wanted, _ = nnls(root.T, np.linalg.solve(root, data[i] * (X[i] @ H.T) + push[0]))
        np.testing.assert_allclose(F[i], wanted, atol=1e-8)


def test_a_block_reads_its_own_rows_of_weights_and_curvature(rng):
    B, product = np.eye(2), rng.uniform(size=(3, 2))
    weight, D = rng.uniform(1, 2, size=5), rng.uniform(1, 2, size=(5, 2))
    data, push, out = rng.uniform(1, 2, size=(5, 1)), rng.uniform(size=(5, 2)), np.empty((3, 2))
    descend_rows(np.ones((3, 2)), product, data, push, B, weight, D, 2, 1, 0.0, False, 0, out)
    np.testing.assert_allclose(out, (data[2:] * product + push[2:]) / (weight[2:, None] + D[2:]))


def linked(F, A, B, weight, D, scale, links, groups, n_groups, strength, passes, tolerance=0.0):
    """Passes over linked rows in place; the order they were taken in, and the sums of cliques that were kept."""
    colour = colour_rows(links.indptr, links.indices, groups, n_groups)
    order = np.argsort(colour, kind="stable")
    colours = np.searchsorted(colour[order], np.arange(colour.max() + 2))
    sums = (groups == np.arange(n_groups)[:, None]) @ F
    descend_linked(F, A, B, weight, D, scale, links.indptr, links.indices, links.data, groups, sums, strength, order,
                   colours, passes, tolerance)  # fmt: skip
    return order, sums


@pytest.mark.parametrize("n_groups", [0, 3])
def test_linked_rows_against_one_entry_at_a_time(rng, n_groups):
    links, strength = graph(rng, ROWS), 0.3
    groups = np.where(np.arange(ROWS) % 9 < n_groups, np.arange(ROWS) % 9, -1)
    S = links.toarray() - strength * cliques(groups)
    A, weight = rng.uniform(-0.5, 1, size=(ROWS, K)), rng.uniform(0.5, 2, size=ROWS)
    H, scale = rng.uniform(size=(K, 9)), rng.uniform(0.5, 2, size=K)
    B, D = H @ H.T, rng.uniform(0.5, 1, size=(ROWS, K)) + np.multiply.outer(-S.sum(axis=1), scale)
    F = rng.uniform(size=(ROWS, K))
    wanted = F.copy()
    order, sums = linked(F, A, B, weight, D, scale, links, groups, n_groups, strength, passes=3)
    for _ in range(3):
        for i in order:
            for j in range(K):
                others = weight[i] * (wanted[i] @ B[j] - wanted[i, j] * B[j, j]) + scale[j] * (S[i] @ wanted[:, j])
                wanted[i, j] = max((A[i, j] - others) / (weight[i] * B[j, j] + D[i, j]), 0)
    np.testing.assert_allclose(F, wanted, atol=1e-12)
    np.testing.assert_allclose(sums, (groups == np.arange(n_groups)[:, None]) @ F, atol=1e-12)


def test_passes_end_when_one_gains_little(rng):
    links, nobody = graph(rng, ROWS), np.full(ROWS, -1)
    A, D = rng.uniform(size=(ROWS, K)), np.full((ROWS, K), 9.0)
    ends = []
    for passes, tolerance in ((1, 0.0), (2, 0.0), (9, 1.0)):
        F = np.zeros((ROWS, K))
        linked(F, A, np.eye(K), np.ones(ROWS), D, np.ones(K), links, nobody, 0, 0.0, passes, tolerance)
        ends.append(F)
    assert np.abs(ends[0] - ends[1]).max() > 0
    np.testing.assert_array_equal(ends[1], ends[2])


def test_rows_of_one_colour_do_not_see_each_other(rng):
    links, groups = graph(rng, ROWS), np.where(np.arange(ROWS) % 9 < 3, np.arange(ROWS) % 9, -1)
    colour = colour_rows(links.indptr, links.indices, groups, 3)
    assert not ((colour[:, None] == colour) & ((links.toarray() != 0) | cliques(groups))).any()


def test_steps_further(rng):
    F, last = rng.uniform(size=(2, 5, 3))
    out = np.empty_like(F)
    for share in (0.0, 0.1):
        step_further(F, last, 2.0, share, out)
        np.testing.assert_allclose(out, np.maximum(F + 2 * (F - last), share * F))


def test_energy_of_links(rng):
    S, F = graph(rng, 20), rng.uniform(size=(20, 3))
    laplacian = np.diag(-S.toarray().sum(axis=1)) + S.toarray()
    np.testing.assert_allclose(edge_energy(S.indptr, S.indices, S.data, F), np.diag(F.T @ laplacian @ F))


def test_rows_whose_neighbours_are_taken_join_the_one_that_pulls_most():
    # 0-1 and 2-3 are pairs; 4 hangs on 1 (weakly) and 3 (strongly), which are taken; 5 has no links.
    S = np.zeros((6, 6))
    for i, t, pull in ((0, 1, 1.0), (2, 3, 1.0), (1, 4, 0.1), (3, 4, 0.5)):
        S[i, t] = S[t, i] = -pull
    S = sp.csr_array(S)
    assert aggregate_rows(S.indptr, S.indices, S.data).tolist() == [0, 0, 1, 1, 1, 2]


def test_sparse_products(rng):
    X = sp.csr_array(np.where(rng.uniform(size=(12, 8)) < 0.7, rng.uniform(size=(12, 8)), 0))
    W, Ht = rng.uniform(size=(12, K)), rng.uniform(size=(8, K))
    csr = X.indptr, X.indices, X.data
    np.testing.assert_allclose(products_at(*csr[:2], W, Ht), (W @ Ht.T)[X.nonzero()])
    some, added = np.empty((5, K)), np.ones((8, K))
    dot_rows(*csr, Ht, 3, 8, some)
    np.testing.assert_allclose(some, X[3:8] @ Ht)
    add_t_dot_rows(*csr, W[3:8], 3, 8, added)
    np.testing.assert_allclose(added, 1 + X[3:8].T @ W[3:8])


def test_positive_entries_are_listed_by_rows():
    x = np.array([[0, 2.0, np.nan], [0, 0, 0], [1.0, 0, 3.0]])
    indptr, indices, values = list_positive(x, 3)
    assert indptr.tolist() == [0, 1, 1, 3]
    assert indices.tolist() == [1, 0, 2]
    assert values.tolist() == [2, 1, 3]
    indptr, indices, values = list_positive(x, 2)
    assert indptr.tolist() == [0, 1, 1, 3]
    assert indices.size == values.size == 0
