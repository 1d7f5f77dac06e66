"""Gram matrices of single rows and descent on them, against plain numpy and scipy's least squares."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls

from partwise.kernels.gathered import CHUNK
from partwise.kernels.own_grams import descend_own, pair_products, sum_listed, take_down, unpack

DTYPES = pytest.mark.parametrize("dtype", [np.float64, np.float32])
RTOL = {np.float64: 1e-10, np.float32: 1e-4}


def problem(m, dtype, n=7, k=5, hidden=0.4):
    """Rows of the other factor, weights and data; of the first row nothing counts, of the second one everything."""
    rng = np.random.RandomState(m)
    V = rng.uniform(size=(n, m)) * (rng.uniform(size=(n, m)) >= hidden)
    V[0], V[1] = 0, rng.uniform(0.1, 1, size=m)
    return (a.astype(dtype) for a in (rng.gamma(0.5, size=(m, k)), V, rng.gamma(1.0, size=(n, m))))


def room(G, n):
    return np.full((n, *2 * G.shape[1:]), np.nan, G.dtype), np.full((n, G.shape[1]), np.nan, G.dtype)


@DTYPES
@pytest.mark.parametrize("m", [3, 40, 2 * CHUNK + 5])
@pytest.mark.parametrize("weighed", [True, False])
def test_sums_over_lists(m, dtype, weighed):
    G, V, X = problem(m, dtype)
    V = V if weighed else (V > 0).astype(dtype)
    v, t = sp.csr_array(V), sp.csr_array(V)
    t.data = v.data * X[V > 0]
    grams, pulls = room(G, len(V))
    sum_listed(v.indptr, v.indices, v.data if weighed else np.empty(0, dtype), t.data, G, grams, pulls)
    np.testing.assert_allclose(grams, np.einsum("ip,pa,pb->iab", V, G, G), rtol=RTOL[dtype])
    np.testing.assert_allclose(pulls, (V * X) @ G, rtol=RTOL[dtype])


@DTYPES
@pytest.mark.parametrize("m", [3, 40, 2 * CHUNK + 5])
@pytest.mark.parametrize("own", [1.0, 0.3])
def test_what_is_hidden_is_taken_down(m, dtype, own):
    """Also where nothing is left, and where nearly all of a column is taken away."""
    G, V, _ = problem(m, dtype)
    G[:, 0] *= np.arange(m) < 1
    counts = V > 0
    counts[3], counts[4:, 0] = True, False
    counts[3, 0] = False
    weights, hidden = np.linspace(1, 2, m).astype(dtype), sp.csr_array(~counts)
    grams, _ = room(G, len(V))
    common = np.ascontiguousarray(G.T @ (weights[:, None] * G))
    take_down(hidden.indptr, hidden.indices, G, weights, common, 1e-2, np.full(1, own, dtype), grams)
    expected = own * np.einsum("ip,pa,pb->iab", counts * weights, G, G)
    np.testing.assert_allclose(grams, expected, rtol=RTOL[dtype], atol=1e-6 * common.max() * (dtype == np.float32))
    assert not grams[:1].any()
    assert not grams[3:, 0].any()


@DTYPES
def test_packed_products(dtype):
    G, V, _ = problem(40, dtype)
    pairs, (grams, _) = np.empty((40, 15), dtype), room(G, len(V))
    pair_products(G, pairs)
    unpack(V @ pairs, grams)
    np.testing.assert_allclose(grams, np.einsum("ip,pa,pb->iab", V, G, G), rtol=RTOL[dtype])


NO_LINKS = (np.zeros(0, np.int32), np.zeros(0, np.int32))


def descend(grams, pulls, F, push=None, D=None, links=None, passes=1, tolerance=0.0, n_held=0):
    """New rows and what they explain, by the kernel."""
    k, dtype = F.shape[1], F.dtype
    none = np.zeros((1, k), dtype)
    unlinked = (*NO_LINKS, np.zeros(0, dtype), np.zeros(0, np.intp), np.zeros((0, 0), dtype), 0.0)
    new, explained = F.copy(), np.empty(len(F))
    given = (none if push is None else push, none if D is None else D, np.ones(k, dtype))
    descend_own(grams, pulls, *given, *(links or unlinked), 0, passes, tolerance, n_held, new, explained)
    return new, explained


@pytest.mark.parametrize("seed", range(10))
def test_rows_reach_the_least_squares_of_scipy(seed):
    rng = np.random.RandomState(seed)
    G, X = rng.gamma(0.5, size=(30, 4)), rng.normal(size=(8, 30)) ** 2
    seen = rng.uniform(size=X.shape) < 0.5
    grams, pulls = np.einsum("ip,pa,pb->iab", seen, G, G), (seen * X) @ G
    F, explained = descend(grams, pulls, rng.uniform(size=(8, 4)), passes=5000)
    for i in range(8):
        expected, residual = nnls(G[seen[i]], X[i, seen[i]])
        np.testing.assert_allclose(F[i], expected, atol=1e-7)
        np.testing.assert_allclose((X[i, seen[i]] ** 2).sum() - explained[i], residual**2, rtol=1e-7)


def test_held_columns_stay():
    rng = np.random.RandomState(0)
    G, X, F = rng.gamma(0.5, size=(30, 4)), rng.gamma(1.0, size=(5, 30)), rng.uniform(size=(5, 4))
    seen = (rng.uniform(size=X.shape) < 0.5) & (np.arange(5) > 0)[:, None]
    new, _ = descend(np.einsum("ip,pa,pb->iab", seen, G, G), (seen * X) @ G, F, passes=5000, n_held=2)
    np.testing.assert_array_equal(new[:, :2], F[:, :2])
    assert not new[0, 2:].any()
    for i in range(1, 5):
        expected, _ = nnls(G[seen[i], 2:], X[i, seen[i]] - G[seen[i], :2] @ F[i, :2])
        np.testing.assert_allclose(new[i, 2:], expected, atol=1e-7)


@DTYPES
@pytest.mark.parametrize("cliques", [False, True])
def test_no_pass_rises_and_links_reach_the_joint_minimum(dtype, cliques):
    """Against the value of the whole quadratic, links and penalties included, and its optimality condition."""
    rng = np.random.RandomState(0)
    n, k = 6, 3
    G, X = rng.gamma(0.5, size=(20, k)), rng.gamma(1.0, size=(n, 20))
    seen = rng.uniform(size=X.shape) < 0.5
    seen[2] = False
    E = np.triu(rng.uniform(size=(n, n)), 1) * (not cliques)
    groups = np.array([0, 0, 1, 1, 0, -1])
    joined = (groups[:, None] == groups) & (groups >= 0)[:, None] & ~np.eye(n, dtype=bool) if cliques else 0.0
    S = E + E.T + 0.7 * joined
    S = np.diag(S.sum(axis=1)) - S
    push, ridge = rng.normal(size=(n, k)), rng.uniform(size=(n, k))
    grams, pulls = np.einsum("ip,pa,pb->iab", seen, G, G), (seen * X) @ G

    def value(F):
        F = F.astype(np.float64)
        own = np.einsum("ia,iab,ib->", F, grams, F) + (ridge * F**2).sum() + np.trace(F.T @ S @ F)
        return own - 2 * ((pulls + push) * F).sum()

    off = sp.csr_array(-(E + E.T))
    F, D = rng.uniform(size=(n, k)).astype(dtype), (ridge + np.diag(S)[:, None]).astype(dtype)
    values = [value(F)]
    for _ in range(300):
        sums = np.array([F[groups == g].sum(axis=0) for g in (0, 1)], dtype)
        members = groups if cliques else np.full(n, -1)
        links = (off.indptr, off.indices, off.data.astype(dtype), members, sums, dtype(0.7))
        F, _ = descend(grams.astype(dtype), pulls.astype(dtype), F, push.astype(dtype), D, links)
        values.append(value(F))
    assert np.diff(values).max() <= (1e-12 if dtype == np.float64 else 1e-5) * abs(values[0])
    gradient = np.einsum("iab,ib->ia", grams, F) + ridge * F + S @ F - pulls - push
    tolerance = 1e-8 if dtype == np.float64 else 1e-3
    assert gradient.min() > -tolerance
    assert np.abs(gradient * F).max() < tolerance
