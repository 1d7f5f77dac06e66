"""Newton steps on rows of a Poisson likelihood, against plain numpy and a general optimiser."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from partwise.kernels.log_models import bound_rows, descend_models, model_rows
from partwise.kernels.logarithms import CHUNK, attract_rows, newton_rows
from partwise.kernels.own_grams import descend_own

NO_LINKS = (np.zeros(0, np.int32), np.zeros(0, np.int32))
FLOORS = {np.float64: 1e-100, np.float32: 1e-15}


def problem(seed, n=6, m=40, k=4, share=0.5, dtype=np.float64):
    """Counts by rows, a factor and the one it multiplies; some rows and columns of the counts are empty."""
    rng = np.random.RandomState(seed)
    G = rng.gamma(0.5, size=(m, k)) * rng.choice([0, 1], size=(m, k), p=[0.2, 0.8]) + 1e-3
    x = rng.poisson(rng.gamma(1.0, size=(n, k)) @ G.T * 5) * (rng.uniform(size=(n, m)) < share)
    x[0] = 0
    return sp.csr_array(x.astype(dtype)), rng.uniform(0.1, 1, size=(n, k)).astype(dtype), G.astype(dtype)


def value(x, F, G, linear, ridge):
    """φ of every row."""
    logs = np.where(x > 0, x * np.log(np.where(x > 0, F @ G.T, 1)), 0)
    return (linear * F).sum(axis=1) + (ridge * F**2).sum(axis=1) - logs.sum(axis=1)


def step(
    counts, F, G, linear, ridge, steps=1, tolerance=0.0, links=None, scale=None, held=None, keeps_sum=False, alpha=None,
    common=None,
):  # fmt: skip
    """New rows and the sums of logarithms, by the kernel."""
    k, dtype = F.shape[1], F.dtype
    scale = np.ones(k, dtype) if scale is None else scale
    none = (*NO_LINKS, np.zeros(0, dtype), np.zeros(0, np.intp), np.zeros((0, 0), dtype), 0.0)
    held = np.zeros((1, k), bool) if held is None else held
    alpha = np.empty((0, 0), dtype) if alpha is None else alpha
    common = (np.empty((0, 0), dtype), np.ones(1, dtype)) if common is None else common
    new, logs = F.copy(), np.empty(len(F))
    newton_rows(
        counts.indptr, counts.indices, counts.data, counts.data, G, linear, ridge, FLOORS[dtype.type], scale,
        *(none if links is None else links), 0, steps, tolerance, held, keeps_sum, alpha, *common, new, logs,
    )  # fmt: skip
    return new, logs


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("m", [40, 2 * CHUNK + 7])
def test_pulls_and_logarithms(dtype, m):
    counts, F, G = problem(0, m=m, dtype=dtype)
    N, logs = np.empty_like(F), np.empty(len(F))
    attract_rows(counts.indptr, counts.indices, counts.data, counts.data, G, FLOORS[dtype], F, N, logs)
    x, y = counts.toarray(), F.astype(float) @ G.T
    np.testing.assert_allclose(N, (x / y) @ G, rtol=1e-5 if dtype == np.float32 else 1e-12)
    ratio = np.where(x > 0, y / np.where(x > 0, x, 1), 1)
    np.testing.assert_allclose(logs, (x * np.log(ratio)).sum(axis=1), rtol=1e-4 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("m", [40, CHUNK + 3])
def test_no_step_rises_and_many_reach_the_minimum(seed, m):
    counts, F, G = problem(seed, m=m, k=5, share=0.1 + 0.04 * seed)
    rng = np.random.RandomState(seed)
    linear = G.sum(axis=0) + rng.uniform(-0.5, 0.5, size=(len(F), 5)) * (seed % 2)
    ridge = rng.uniform(size=(1, 5)) * (seed % 3)
    linear = np.maximum(linear, 0.1) if seed % 3 == 0 else linear
    x = counts.toarray()
    F[1] *= 1e-6  # far from where it will be
    F[2, 0] = 0
    before = value(x, F, G, linear, ridge)
    new = F
    for _ in range(5):
        new, _ = step(counts, new, G, linear, ridge)
        after = value(x, new, G, linear, ridge)
        assert (after <= before + 1e-12 * (1 + np.abs(before))).all()
        assert (new >= 0).all()
        before = after
    ended, _ = step(counts, F, G, linear, ridge, steps=200, tolerance=1e-15)
    for i, start in enumerate(F):

        def phi(f, i=i):
            return value(x[i : i + 1], f[None], G, linear[i : i + 1], ridge)[0]

        best = minimize(phi, np.maximum(start, 1e-3), bounds=[(0, None)] * 5, method="L-BFGS-B", tol=1e-12).fun
        assert phi(ended[i]) <= best + 1e-6 * (1 + abs(best))


@pytest.mark.parametrize("seed", range(6))
def test_another_gram_matrix(seed):
    """Rows that also have a quadratic in common fall, to where a general optimiser finds nothing better."""
    counts, F, G = problem(seed)
    rng, x = np.random.RandomState(seed), counts.toarray()
    Z = rng.gamma(1.0, size=(9, 4)) * 10.0 ** (seed % 4 - 2)
    B, weights = Z.T @ Z, rng.uniform(0.5, 2, size=len(F) if seed % 2 else 1)
    linear, ridge = G.sum(axis=0) - rng.uniform(size=(len(F), 4)), np.zeros((1, 4))

    def values(F, rows=slice(None)):
        weight = np.broadcast_to(weights, len(x))[rows]
        return value(x[rows], F, G, linear[rows], ridge) + weight * np.einsum("ij,jl,il->i", F, B, F)

    new, before = F, values(F)
    for _ in range(30):
        new, _ = step(counts, new, G, linear, ridge, common=(B, weights))
        after = values(new)
        assert (after <= before + 1e-12 * (1 + np.abs(before))).all()
        before = after
    for i, reached in enumerate(before):

        def phi(f, i=i):
            return values(f[None], slice(i, i + 1))[0]

        best = minimize(phi, new[i] + 1e-6, bounds=[(0, None)] * 4, method="L-BFGS-B", tol=1e-12).fun
        assert reached <= best + 1e-6 * (1 + abs(best))


def test_linked_rows_fall_together():
    counts, F, G = problem(3, n=12)
    rng = np.random.RandomState(3)
    edges = sp.csr_array(np.triu(rng.uniform(size=(12, 12)) < 0.3, 1).astype(float))
    edges = sp.csr_array(edges + edges.T)
    groups = np.array([0, 0, 1, 1, 1, -1, -1, -1, 0, -1, -1, 1])
    cliques = (groups[:, None] == groups) & (groups[:, None] >= 0)
    S = sp.csgraph.laplacian(edges.toarray() + 0.5 * (cliques & ~np.eye(12, dtype=bool)))
    scale = np.array([0.5, 1.0, 2.0, 3.0])
    linear, ridge = G.sum(axis=0)[None], np.outer(np.diag(S), scale)

    def total(F):
        return value(counts.toarray(), F, G, linear, np.zeros((1, 4))).sum() + np.einsum("ij,it,tj,j", F, S, F, scale)

    for _ in range(5):
        sums = np.array([F[groups == g].sum(axis=0) for g in range(2)])
        new, _ = step(
            counts, F, G, linear, ridge, scale=scale,
            links=(edges.indptr, edges.indices, -edges.data, groups, sums, 0.5),
        )  # fmt: skip
        np.testing.assert_allclose(sums, [new[groups == g].sum(axis=0) for g in range(2)])
        assert total(new) < total(F)
        F = new


@pytest.mark.parametrize("seed", range(6))
def test_rows_on_the_simplex_and_held_entries(seed):
    """Neither the sum nor a held entry changes, no step rises, and a general optimiser finds nothing better."""
    counts, F, G = problem(seed, n=5)
    rng = np.random.RandomState(seed)
    linear, ridge = G.sum(axis=0) + rng.uniform(-0.5, 0.5, size=(5, 4)), rng.uniform(size=(1, 4)) * (seed % 2)
    x, held = counts.toarray(), rng.uniform(size=(5, 4)) < 0.3
    for how in ({"keeps_sum": True}, {"held": held}):
        begun = F / F.sum(axis=1, keepdims=True) if "keeps_sum" in how else F
        new, before = begun, value(x, begun, G, linear, ridge)
        for _ in range(5):
            new, _ = step(counts, new, G, linear, ridge, **how)
            after = value(x, new, G, linear, ridge)
            assert (after <= before + 1e-12 * (1 + np.abs(before))).all()
            before = after
        ended, _ = step(counts, begun, G, linear, ridge, steps=300, tolerance=1e-15, **how)
        assert (ended >= 0).all()
        if "held" in how:
            np.testing.assert_array_equal(ended[held], F[held])
        else:
            np.testing.assert_allclose(ended.sum(axis=1), 1, rtol=1e-12)
        for i, start in enumerate(begun):
            bounds = [(f, f) if fix and "held" in how else (1e-12, None) for f, fix in zip(start, held[i], strict=True)]
            sums = [{"type": "eq", "fun": lambda f: f.sum() - 1}] if "keeps_sum" in how else []

            def phi(f, i=i):
                return value(x[i : i + 1], f[None], G, linear[i : i + 1], ridge)[0]

            best = minimize(phi, start, bounds=bounds, constraints=sums, method="SLSQP", tol=1e-10).fun
            assert phi(ended[i]) <= best + 1e-6 * (1 + abs(best))


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("zeros", [0.0, 0.5])
def test_long_rows_make_the_steps_of_short_ones(zeros, held):
    """A count divided into many parts leaves φ as it is; zeros of f may grow, which a row of many chunks finds late."""
    counts, F, G = problem(3)
    F[np.random.RandomState(3).uniform(size=F.shape) < zeros] = 0
    F[:, 0] += 0.1
    parts = CHUNK // 4
    many = sp.csr_array(
        (np.repeat(counts.data / parts, parts), np.repeat(counts.indices, parts), counts.indptr * parts), counts.shape
    )
    assert np.diff(many.indptr).max() > 2 * CHUNK
    linear, ridge = np.ascontiguousarray(G.sum(axis=0)[None]), np.full((1, 4), 0.1)
    stays = np.arange(4)[None] == 3 if held else None
    short, long = (step(x, F, G, linear, ridge, held=stays)[0] for x in (counts, many))
    np.testing.assert_allclose(long, short, rtol=1e-9, atol=1e-12)
    assert not zeros or ((F == 0) & (long > 0)).any()


def modelled(counts, G, slopes, F):
    """What `model_rows` gives: pulls, responses, the packed models, and their Gram matrices with zeros filled in."""
    pulls, responses = np.empty_like(F), np.zeros_like(F)
    packed, places, widths = np.empty(16 * len(F)), np.empty(len(F), np.int64), np.empty(len(F), np.int32)
    chosen = np.empty((len(F), 4), np.int32)
    models = packed, places, chosen, widths
    model_rows(counts.indptr, counts.indices, counts.data, G, 1e-100, slopes, F, pulls, 0, *models, responses)
    grams = np.zeros((len(F), 4, 4))
    for gram, place, own, width in zip(grams, places, chosen, widths, strict=True):
        gram[np.ix_(own[:width], own[:width])] = packed[place : place + width**2].reshape(width, width)
    return pulls, responses, models, grams


@pytest.mark.parametrize("cliques", [False, True])
def test_a_pass_over_packed_models_is_one_over_whole_ones(cliques):
    """The kernel for missing entries makes the same pass, where entries that may not move are pulled down for ever."""
    counts, F, G = problem(4)
    n, rng = len(F), np.random.RandomState(4)
    F[rng.uniform(size=F.shape) < 0.4] = 0
    slopes = np.where(rng.uniform(size=F.shape) < 0.5, 1e9, -1e9)
    pulls, responses, models, grams = modelled(counts, G, slopes, F)
    may_move = (F > 0) | (slopes < 0)
    assert 0.2 < may_move.mean() < 0.95
    links = sp.random_array((n, n), density=0.3, random_state=rng)
    links = sp.csr_array(-(links + links.T))
    D, scale, targets = rng.uniform(0.1, 2.0, size=F.shape), rng.uniform(0.5, 2.0, size=4), responses + pulls / 2
    groups = np.arange(n) % 3 - 1 if cliques else np.full(n, -1)

    def coupling(F):
        sums = np.stack([F[groups == c].sum(axis=0) for c in range(2)])
        return D, scale, links.indptr, links.indices, links.data, groups, sums, 0.1

    packed, whole = F.copy(), F.copy()
    descend_models(*models, targets, *coupling(F), packed)
    pull = np.where(may_move, targets, -np.inf)
    descend_own(grams, pull, np.zeros((1, 4)), *coupling(F), 0, 1, 0.0, 0, whole, np.empty(0))
    np.testing.assert_allclose(packed, whole, rtol=1e-12)
    np.testing.assert_array_equal(packed[~may_move], 0)
    assert (packed[may_move & (F == 0)] > 0).any()


@pytest.mark.parametrize("m", [40, CHUNK + 3])
def test_models_of_rows_and_the_bound_on_their_steps(m):
    counts, F, G = problem(1, m=m)
    F[2:4, 0], slopes = 0, np.full_like(F, 1e9)
    slopes[2] = -1e9  # a reason to grow, which the zero of the next row has not
    entries, x, y = (counts.indptr, counts.indices, counts.data), counts.toarray(), F @ G.T
    pulls, responses, models, grams = modelled(counts, G, slopes, F)
    np.testing.assert_allclose(responses, np.einsum("iab,ib->ia", grams, F), rtol=1e-12)
    np.testing.assert_allclose(pulls, (x / y) @ G, rtol=1e-12)
    expected = np.einsum("ip,pa,pb->iab", x / y**2, G, G) / 2
    expected[3, 0], expected[3, :, 0] = 0, 0
    np.testing.assert_allclose(grams, expected, rtol=1e-12)
    rng = np.random.RandomState(1)
    for length in (0.01, 0.3, 1.0):
        wanted = length * rng.uniform(-1, 1, size=F.shape) * F
        steps = wanted.copy()
        bound = bound_rows(*entries, G, 1e-100, F, *models, steps)
        t = steps @ G.T / y
        assert (x * (t - np.log1p(t))).sum() <= bound
        assert t[x > 0].min() >= -0.7 - 1e-12
        same = (-wanted @ G.T / y * (x > 0)).max(axis=1) <= 0.7
        np.testing.assert_array_equal(steps[same], wanted[same])
