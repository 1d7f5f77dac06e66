"""solver="multiplicative" makes the steps that the papers of the baselines print."""

import baseline_rules as rules
import numpy as np
import pytest
import scipy.sparse as sp

from partwise import ConceptFactorization, ConvexNMF, KernelGraphNMF, OrthogonalNMF, OrthogonalTriNMF, SemiNMF

N, M, K = 20, 8, 3
SWEEPS = [1, 2, 15]
CONTAINERS = [np.asarray, sp.csr_array, sp.csc_matrix]


def problem(signed=False):
    rng = np.random.RandomState(5)
    X = rng.gamma(1.0, size=(N, M)) * (rng.uniform(size=(N, M)) < 0.7)
    if signed:
        X = X * rng.choice([-1, 1], size=X.shape)
    E = np.triu(rng.uniform(size=(N, N)) * (rng.uniform(size=(N, N)) < 0.3), 1)
    return X, rng.uniform(0.1, 1, size=(N, K)), rng.uniform(0.1, 1, size=(N, K)) / N, E + E.T


def fit(model, sweeps, X):
    return model.set_params(n_components=K, solver="multiplicative", max_iter=sweeps, tol=0).fit(X)


def repeat(step, sweeps, *factors):
    for _ in range(sweeps):
        factors = step(*factors)
    return factors


def assert_close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-10, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("make", CONTAINERS)
@pytest.mark.parametrize("sweeps", SWEEPS)
def test_semi_nmf(signed, make, sweeps):
    X, W, _, _ = problem(signed)
    F = rules.semi_basis(X.T, W)
    model = fit(SemiNMF(init=(W, F.T)), sweeps, make(X))
    F, G = repeat(lambda F, G: rules.semi_step(X.T, F, G), sweeps, F, W)
    assert_close(model.inverse_transform(model.embedding_), G @ F.T)
    assert_close(model.embedding_, G * np.linalg.norm(F, axis=0))
    np.testing.assert_allclose(model.objective_, ((X.T - F @ G.T) ** 2).sum(), rtol=1e-10)


@pytest.mark.parametrize("kernel", ["linear", "cosine", "precomputed"])
@pytest.mark.parametrize("make", CONTAINERS)
@pytest.mark.parametrize("sweeps", SWEEPS)
def test_convex_nmf(kernel, make, sweeps):
    X, W, P, _ = problem()
    seen = X / np.linalg.norm(X, axis=1, keepdims=True) if kernel == "cosine" else X
    gram = seen @ seen.T
    model = fit(ConvexNMF(init=(W, P), kernel=kernel), sweeps, make(gram if kernel == "precomputed" else X))
    P, W = repeat(lambda P, W: rules.convex_step(gram, 0 * gram, P, W), sweeps, P, W)
    assert_close(model.embedding_ @ model.dual_components_, W @ P.T)
    np.testing.assert_allclose(np.diag(model.dual_components_ @ gram @ model.dual_components_.T), 1)
    np.testing.assert_allclose(model.objective_, ((seen - W @ P.T @ seen) ** 2).sum(), rtol=1e-10)


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
@pytest.mark.parametrize("make", CONTAINERS)
@pytest.mark.parametrize("sweeps", SWEEPS)
def test_convex_nmf_of_signed_data(kernel, make, sweeps):
    """The kernel is split as printed if its entries are given, else as X = X⁺ − X⁻ splits it."""
    X, W, P, _ = problem(signed=True)
    gram, Xp, Xm = X @ X.T, rules.up(X), rules.down(X)
    Kp, Km = rules.up(gram), rules.down(gram)
    if kernel == "linear":
        Kp, Km = Xp @ Xp.T + Xm @ Xm.T, Xp @ Xm.T + Xm @ Xp.T
    model = fit(ConvexNMF(init=(W, P), kernel=kernel), sweeps, make(X if kernel == "linear" else gram))
    P, W = repeat(lambda P, W: rules.convex_step(Kp, Km, P, W), sweeps, P, W)
    assert_close(model.embedding_ @ model.dual_components_, W @ P.T)
    np.testing.assert_allclose(model.objective_, ((X - W @ P.T @ X) ** 2).sum(), rtol=1e-10)


@pytest.mark.parametrize("strength", [0.0, 1.0, 100.0])
@pytest.mark.parametrize("make", CONTAINERS)
@pytest.mark.parametrize("sweeps", SWEEPS)
def test_concept_factorization(strength, make, sweeps):
    X, W, P, E = problem()
    model = ConceptFactorization(init=(W, P), graph_strength=strength, graph=sp.csr_array(E), scale=None)
    fit(model, sweeps, make(X))
    gram = X @ X.T
    P, W = repeat(lambda P, W: rules.concept_step(gram, P, W, E, strength), sweeps, P, W)
    assert_close(model.embedding_, W)
    assert_close(model.dual_components_, P.T)
    penalty = strength * np.trace(W.T @ (np.diag(E.sum(axis=1)) - E) @ W)
    np.testing.assert_allclose(model.objective_, ((X - W @ P.T @ X) ** 2).sum() + penalty, rtol=1e-10)


@pytest.mark.parametrize("strength", [0.0, 2.0])
@pytest.mark.parametrize("orthogonality", [0.5, 100.0])
@pytest.mark.parametrize("sweeps", SWEEPS)
@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
def test_kernel_graph_nmf(strength, orthogonality, sweeps, kernel):
    X, W, P, E = problem()
    gram = X @ X.T
    if kernel == "precomputed":
        gram = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 5)
    common = {"graph_strength": strength, "orthogonality": orthogonality, "graph": sp.csr_array(E), "kernel": kernel}
    model = fit(KernelGraphNMF(init=(W, P), **common), sweeps, gram if kernel == "precomputed" else X)
    step = lambda F, H: rules.kernel_graph_step(gram, F, H, E, strength, orthogonality)  # noqa: E731
    F, H = repeat(step, sweeps, P, W.T)
    assert_close(model.embedding_, H.T)
    assert_close(model.dual_components_, F.T)
    value = rules.kernel_graph_objective(gram, F, H, E, strength, orthogonality)
    np.testing.assert_allclose(model.objective_, value, rtol=1e-9)


@pytest.mark.parametrize("make", CONTAINERS)
@pytest.mark.parametrize("sweeps", SWEEPS)
def test_orthogonal_nmf(make, sweeps):
    X, W, _, _ = problem()
    H = np.random.RandomState(1).uniform(0.1, 1, size=(K, M))
    model = fit(OrthogonalNMF(init=(W, H)), sweeps, make(X))
    F, G = repeat(lambda F, G: rules.orthogonal_step(X.T, F, G), sweeps, H.T, W)
    assert_close(model.inverse_transform(model.embedding_), G @ F.T)
    assert_close(model.embedding_, G / np.linalg.norm(G, axis=0))
    np.testing.assert_allclose(model.objective_, ((X.T - F @ G.T) ** 2).sum(), rtol=1e-10)


@pytest.mark.parametrize("make", CONTAINERS)
@pytest.mark.parametrize("sweeps", SWEEPS)
def test_orthogonal_tri_nmf(make, sweeps):
    X, F, _, _ = problem()
    rng = np.random.RandomState(2)
    S, G = rng.uniform(0.1, 1, size=(K, 4)), rng.uniform(0.1, 1, size=(M, 4))
    model = fit(OrthogonalTriNMF(init=(F, S, G), n_column_clusters=4), sweeps, make(X))
    F, S, G = repeat(lambda F, S, G: rules.tri_step(X, F, S, G), sweeps, F, S, G)
    assert_close(model.embedding_ @ model.association_ @ model.feature_embedding_.T, F @ S @ G.T)
    assert_close(model.feature_embedding_, G / np.linalg.norm(G, axis=0))
    assert_close(model.components_, model.association_ @ model.feature_embedding_.T)
    np.testing.assert_allclose(model.objective_, ((X - F @ S @ G.T) ** 2).sum(), rtol=1e-10)


def test_classic_orthogonal_rules_may_rise():
    """Why they are not the default: from some starts the error rises, though WᵀW is not held at I."""
    rises = {OrthogonalNMF: 0, OrthogonalTriNMF: 0}
    rng = np.random.RandomState(0)
    for method in rises:
        for _ in range(30):
            X = rng.gamma(0.3, size=(12, 6))
            model = fit(method(init="random", random_state=rng.randint(100)), 60, X)
            rises[method] += np.diff(model.history_["objective"]).max() > 1e-9 * (X**2).sum()
    assert min(rises.values()) > 0, rises
