"""LocalSimilarityNMF against dense transcriptions, sweep by sweep and whatever holds the data."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
import similarity_rules as rules

from partwise import LocalSimilarityNMF
from partwise.core.dual import DualState, FeatureKernel
from partwise.core.storage import as_operand
from partwise.core.types import CODES, COMPONENTS
from partwise.terms import DualFit, LocalSimilarity, RobustDualFit

SWEEPS = (1, 2, 30)
N, M, K = 24, 15, 3
CONTAINERS = {"dense": np.ascontiguousarray, "csr": sp.csr_array, "csc": sp.csc_matrix}
GAMMAS = [np.inf, 3.0, 0.3, 0.001]


@cache
def problem():
    rng = np.random.RandomState(0)
    X = rng.gamma(1.0, size=(N, K + 2)) @ rng.gamma(0.5, size=(K + 2, M)) * (rng.uniform(size=(N, M)) < 0.6)
    return X, rng.uniform(0.1, 1.0, size=(N, K)), rng.uniform(0.1, 1.0, size=(N, K)) / N


def fitted(data, sweeps, solver="multiplicative", **parameters):
    _, W, P = problem()
    return LocalSimilarityNMF(K, solver=solver, init=(W, P), tol=0, max_iter=sweeps, **parameters).fit(data)


def given(lam, gamma, beta):
    return {"similarity_strength": lam, "outlier_strength": gamma, "orthogonality": beta}


@cache
def path(lam, gamma, beta):
    X, G, W = problem()
    D = rules.distances(X.T)
    pairs, values = [(G, W)], [rules.objective(X.T, W, G, D, lam, gamma, beta)]
    for _ in range(max(SWEEPS)):
        W, G = rules.step(X.T, W, G, D, lam, gamma, beta)
        pairs.append((G, W))
        values.append(rules.objective(X.T, W, G, D, lam, gamma, beta))
    return pairs, values


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("lam", [0.0, 0.01, 1.0])
@pytest.mark.parametrize("beta", [1.0, 100.0])
def test_multiplicative_rule(container, lam, gamma, beta):
    X = problem()[0]
    pairs, values = path(lam, gamma, beta)
    for s in SWEEPS:
        model = fitted(CONTAINERS[container](X), s, **given(lam, gamma, beta))
        W, P = pairs[s]
        for found, expected in ((model.embedding_, W), (model.dual_components_.T, P), (model.components_, P.T @ X)):
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-13 * expected.max())
        np.testing.assert_allclose(model.history_["objective"], values[: s + 1], rtol=1e-10)
        E = rules.outliers(X.T, P, W, gamma)
        share = np.linalg.norm(E, axis=1) / np.linalg.norm(X.T - X.T @ P @ W.T, axis=1)
        if np.isfinite(gamma):
            np.testing.assert_allclose(model.outliers_, share, rtol=1e-9, atol=1e-12)


def test_cosine_kernel_is_the_linear_one_of_unit_samples():
    X = problem()[0]
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    one, other = fitted(X, 5, kernel="cosine"), fitted(unit, 5)
    np.testing.assert_allclose(one.embedding_, other.embedding_, rtol=1e-10)
    np.testing.assert_allclose(one.components_, other.components_, rtol=1e-10)


@pytest.mark.parametrize("solver", ["multiplicative", "projected"])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_precomputed_linear_kernel(solver, make):
    X = problem()[0]
    common = {"outlier_strength": np.inf, "orthogonality": 2.0, "solver": solver}
    one, other = fitted(X, 5, **common), fitted(make(X @ X.T), 5, kernel="precomputed", **common)
    np.testing.assert_allclose(one.embedding_, other.embedding_, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(one.history_["objective"], other.history_["objective"], rtol=1e-9)
    assert other.transform(make(X @ X.T)).shape == (N, K)
    with pytest.raises(ValueError, match="no components"):
        other.inverse_transform(np.ones((1, K)))


@pytest.mark.parametrize("solver", ["multiplicative", "projected"])
def test_all_samples_as_landmarks_are_the_kernel_itself(solver):
    X = problem()[0]
    K_rbf = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 20.0)
    common = {"solver": solver, "orthogonality": 2.0}
    given_kernel = fitted(K_rbf, 60, kernel="precomputed", **common)
    mapped = fitted(X, 60, kernel="rbf", bandwidth=20.0, n_landmarks=1000, **common)
    called = fitted(X, 60, kernel=lambda A, B: np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2) / 20.0), **common)
    np.testing.assert_allclose(mapped.embedding_, called.embedding_, rtol=1e-6)
    # The steps differ, because K is split in another way; the objective is the same.
    np.testing.assert_allclose(mapped.history_["objective"][0], given_kernel.history_["objective"][0], rtol=1e-9)
    np.testing.assert_allclose(mapped.objective_, given_kernel.objective_, rtol=0.02)


# --- the rules as printed ---------------------------------------------------------------------------------------------


def split_at_start(gamma, lam, factor):
    X, W, P = problem()
    operand = as_operand(X)
    state = DualState(FeatureKernel(operand), W, P)
    terms = [(RobustDualFit(gamma) if np.isfinite(gamma) else DualFit(0.5)), LocalSimilarity(lam)]
    splits = [term.bind(operand).split(state, factor) for term in terms]
    return X, W, P, splits


@pytest.mark.parametrize("lam", [0.001, 0.1, 1.0])
def test_printed_coefficients_are_the_root_of_the_step(lam):
    """Eq. 12 without outliers: its ratio, squared, is the library's."""
    X, _, P = problem()
    model = fitted(X, 1, **given(lam, np.inf, 1.0))
    printed = rules.printed_coefficients(X.T, P, model.embedding_, rules.distances(X.T), 0.0, lam)
    assert np.isfinite(printed).all()
    np.testing.assert_allclose(model.dual_components_.T / P, (printed / P) ** 2, rtol=1e-10)


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("lam", [0.001, 0.1])
@pytest.mark.parametrize("factor", [CODES, COMPONENTS])
def test_gradient_is_that_of_the_printed_rules(gamma, lam, factor):
    """With E fixed as printed, N and P both hold what E takes out of the fit; N − P is the same."""
    X, W, P, splits = split_at_start(gamma, lam, factor)
    D, E = rules.distances(X.T), rules.outliers(X.T, P, W, gamma)
    if factor == COMPONENTS:
        printed = rules.printed_coefficients(X.T, P, W, D, E, lam) / P
        up = X @ X.T @ P @ W.T @ W + lam * D @ W
        assert np.isfinite(printed).all()
        down = up * printed**2
    else:
        up = W @ P.T @ X @ X.T @ P + lam * D @ P
        down = (X.T - E).T @ X.T @ P
    halves = [split.halves() for split in splits]
    gradient = sum(P - N for N, P in halves)
    np.testing.assert_allclose(gradient, up - down, rtol=1e-9, atol=1e-10 * np.abs(up).max())


@pytest.mark.parametrize("gamma", GAMMAS)
def test_printed_codes_share_their_fixed_points(gamma):
    """Eq. 18 has the ratio 1 where G is orthogonal and stationary on that set: N and P are those of the gradient."""
    X, _, P, _ = split_at_start(gamma, 0.01, CODES)
    G = np.kron(np.eye(K), np.full((N // K, 1), (N // K) ** -0.5))
    D, E = rules.distances(X.T), rules.outliers(X.T, P, G, gamma)
    printed = rules.printed_codes(X.T, P, G, D, E, 0.01)
    assert np.isfinite(printed).all()
    used = G > 0
    pull, push = ((X.T - E).T @ X.T @ P)[used], (0.01 * D @ P)[used]
    theta = np.einsum("ij,ij->j", G, (X.T - E).T @ X.T @ P - 0.01 * D @ P)
    tangential = (pull - push) - (G * theta)[used]
    assert np.array_equal(np.sign(np.round(printed[used] / G[used] - 1, 10)), np.sign(np.round(tangential, 10)))


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("lam", [0.0, 0.1, 10.0])
@pytest.mark.parametrize("beta", [1.0, 100.0])
def test_weights_gain_more_than_fixed_outliers(gamma, lam, beta):
    """The errata's rule falls too; turning E into weights falls at least about as fast."""
    X, G, W = problem()
    D = rules.distances(X.T)

    def value(G):
        return rules.objective(X.T, W, G, D, lam, gamma, beta)

    fixed = rules.step_fixed_outliers(X.T, W, G, D, lam, gamma, beta)
    assert value(fixed) <= value(G) * (1 + 1e-12)
    if np.isinf(gamma):
        _, ours = rules.step(X.T, W, G, D, lam, gamma, beta)
        np.testing.assert_allclose(ours, fixed, rtol=1e-12)


def test_power_of_the_codes():
    """With orthogonality their ratio has the power ¼, without it the power 1."""
    X, W, _ = problem()
    D = rules.distances(X.T)
    for beta in (1.0, 0.0):
        model = fitted(X, 1, **given(0.1, np.inf, beta))
        _, ours = rules.step(X.T, problem()[2], W, D, 0.1, np.inf, beta)
        # Without orthogonality nothing fixes the scale, and columns of unit norm are returned.
        ours = ours if beta else ours / np.linalg.norm(ours, axis=0)
        np.testing.assert_allclose(model.embedding_, ours, rtol=1e-10)
