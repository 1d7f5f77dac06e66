"""Solvers end where the optimality conditions hold, and codes of new samples are the minimisers."""

import numpy as np
import pytest
from explicit import fit_value, joined_by_labels, laplacian
from scipy.optimize import minimize, nnls
from sklearn.base import clone

from partwise import NMF, ConstrainedNMF, GraphNMF, WeightedNMF

RNG = np.random.RandomState(0)
X = RNG.gamma(1.0, size=(24, 4)) @ RNG.gamma(0.5, size=(4, 12)) + 0.3 * RNG.uniform(size=(24, 12))
X_NEW = RNG.gamma(1.0, size=(9, 4)) @ RNG.gamma(0.5, size=(4, 12))
LABELS = np.array([0, 0, 0, 1, 1, 1, 2, 2] + [-1] * 16)
K = 3
SOLVERS = {"coordinate": {"tol": 1e-11, "max_iter": 5000}, "multiplicative": {"tol": 1e-7, "max_iter": 20_000}}


def nearest(A, B, p, same):
    """Brute force: 1 at (i, j) if b_j is among the p nearest of a_i by the cosine."""
    cosines = (A / np.linalg.norm(A, axis=1)[:, None]) @ (B / np.linalg.norm(B, axis=1)[:, None]).T
    if same:
        np.fill_diagonal(cosines, -1)
    E = np.zeros_like(cosines)
    E[np.arange(len(A))[:, None], np.argsort(-cosines, axis=1)[:, :p]] = 1
    return np.maximum(E, E.T) if same else E


def assert_kkt(F, gradient, size, accuracy):
    """F ≥ 0, gradient ≥ 0 and one of them zero everywhere, relative to the size of the gradient's halves."""
    assert (F >= 0).all()
    scaled = gradient / size
    assert scaled.min() >= -accuracy, scaled.min()
    assert (np.abs(scaled) * F).max() <= accuracy * F.max(), (np.abs(scaled) * F).max() / F.max()


def squared_error_gradients(X, W, H, weight=1.0):
    R = weight * (W @ H - X)
    return 2 * R @ H.T, 2 * W.T @ R


def divergence_gradients(X, W, H):
    R = 1 - X / (W @ H)
    return R @ H.T, W.T @ R


# What each method minimises, differentiated by hand; every penalty is measured where the rows of H have unit norm.
def graph_gradients(W, H, E, strength):
    L = laplacian(E)
    squares, energies = (H**2).sum(axis=1), np.diag(W.T @ L @ W)
    return 2 * strength * L @ W * squares, 2 * strength * energies[:, None] * H


def l1_gradients(W, H, strength):
    norms = np.linalg.norm(H, axis=1)
    return strength * np.tile(norms, (len(W), 1)), strength * W.sum(axis=0)[:, None] * H / norms[:, None]


def l2_gradients(W, H, strength):
    return 2 * strength * W * (H**2).sum(axis=1), 2 * strength * (W**2).sum(axis=0)[:, None] * H


METHODS = {
    "NMF": (NMF(), None),
    "l1 codes": (NMF(l1_codes=1.0), lambda W, H: l1_gradients(W, H, 1.0)),
    "l2 codes": (NMF(l2_codes=0.3), lambda W, H: l2_gradients(W, H, 0.3)),
    "graph": (
        GraphNMF(graph_strength=2.0),
        lambda W, H: graph_gradients(W, H, nearest(X, X, 5, True), 2.0),
    ),
    "labels": (
        GraphNMF(graph_strength=0.5, use_labels=True),
        lambda W, H: graph_gradients(W, H, joined_by_labels(nearest(X, X, 5, True), LABELS), 0.5),
    ),
}


@pytest.mark.parametrize(
    ("loss", "solver"),
    [("frobenius", "coordinate"), ("frobenius", "multiplicative"), ("kullback-leibler", "multiplicative")],
)
@pytest.mark.parametrize("method", METHODS)
def test_optimality_conditions(method, loss, solver):
    model, penalty = METHODS[method]
    model = clone(model).set_params(
        n_components=K, loss=loss, solver=solver, init="random", random_state=1, **SOLVERS[solver]
    )
    model.fit(X, LABELS)
    assert model.stop_reason_ == "converged"
    W, H = model.embedding_, model.components_
    gradients = (squared_error_gradients if loss == "frobenius" else divergence_gradients)(X, W, H)
    extra = (0, 0) if penalty is None else penalty(W, H)
    sizes = (2 * X @ H.T, 2 * W.T @ X) if loss == "frobenius" else (H.sum(axis=1), W.sum(axis=0)[:, None])
    accuracy = 1e-5 if solver == "coordinate" else 1e-2
    for F, gradient, more, size in zip((W, H), gradients, extra, sizes, strict=True):
        assert_kkt(F, gradient + more, np.max(size), accuracy)


@pytest.mark.parametrize("solver", SOLVERS)
def test_optimality_conditions_under_label_constraints(solver):
    model = ConstrainedNMF(K, solver=solver, init="random", random_state=1, **SOLVERS[solver]).fit(X, LABELS)
    assert model.stop_reason_ == "converged"
    W, H = model.embedding_, model.components_
    W_gradient, H_gradient = squared_error_gradients(X, W, H)
    accuracy = 1e-5 if solver == "coordinate" else 1e-2
    assert_kkt(H, H_gradient, np.max(2 * W.T @ X), accuracy)
    # Samples of one class move together: their gradients add up.
    for members in [np.flatnonzero(c == LABELS) for c in range(3)] + [np.array([i]) for i in range(8, 24)]:
        assert_kkt(W[members[0]], W_gradient[members].sum(axis=0), np.max(2 * X @ H.T), 10 * accuracy)


@pytest.mark.filterwarnings("ignore:.*components are not used:UserWarning")
@pytest.mark.parametrize("penalty", [{"l1_codes": 60.0}, {"l2_codes": 3.0}, {}], ids=str)
def test_a_component_at_zero_does_not_stop_the_others(penalty):
    """Here reviving it does not pay, and that must not be taken for convergence."""
    W, H = RNG.uniform(0.1, 1, size=(24, K)), RNG.uniform(0.1, 1, size=(K, 12))
    H[2] = 0
    alive = [0, 1]
    two = NMF(2, init=(W[:, alive], H[alive]), tol=1e-8, max_iter=2000, **penalty).fit(X)
    three = NMF(K, init=(W, H), tol=1e-8, max_iter=2000, **penalty).fit(X)
    assert three.objective_ <= 1.001 * two.objective_


def test_both_solvers_reach_the_same_minimum():
    params = {"n_components": K, "init": "random", "random_state": 1}
    first, second = (GraphNMF(graph_strength=2.0, solver=s, **params, **o).fit(X) for s, o in SOLVERS.items())
    assert first.objective_ == pytest.approx(second.objective_, rel=1e-4)


@pytest.mark.parametrize("l2", [0.0, 0.7])
def test_new_codes_against_nnls(l2):
    model = NMF(K, l2_codes=l2, random_state=0).fit(X)
    A = np.vstack([model.components_.T, np.sqrt(l2) * np.eye(K)])
    expected = [nnls(A, np.append(x, np.zeros(K)))[0] for x in X_NEW]
    np.testing.assert_allclose(model.transform(X_NEW), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("strength", [0.1, 10.0, 1e4])
def test_new_codes_against_nnls_with_a_pull_to_neighbours(strength):
    """‖x − wH‖² + λ Σ_t ‖w − w_t‖² over the five nearest training samples is one least-squares system."""
    model = GraphNMF(K, graph_strength=strength, random_state=0).fit(X)
    expected = []
    for x, links in zip(X_NEW, nearest(X_NEW, X, 5, False), strict=True):
        neighbors = model.embedding_[links > 0]
        A = np.vstack([model.components_.T] + [np.sqrt(strength) * np.eye(K)] * len(neighbors))
        expected.append(nnls(A, np.concatenate([x, *(np.sqrt(strength) * neighbors)]))[0])
    np.testing.assert_allclose(model.transform(X_NEW), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("l1", [0.0, 2.0])
def test_new_codes_of_a_divergence_against_a_general_minimiser(l1):
    model = NMF(K, loss="kullback-leibler", l1_codes=l1, random_state=0, tol=1e-4).fit(X)
    H = model.components_
    codes = model.transform(X_NEW)
    for x, w in zip(X_NEW, codes, strict=True):

        def value(w, x=x):
            return fit_value(x[None], w[None], H, beta=1) + l1 * w.sum()

        def slope(w, x=x):
            return H @ (1 - x / (w @ H)) + l1

        start = np.full(K, x.sum() / H.sum())
        bounds = [(1e-9, None)] * K  # without entries at zero it cannot try codes that miss a feature
        best = minimize(value, start, jac=slope, bounds=bounds, tol=1e-14, options={"maxiter": 10_000})
        assert value(w) == pytest.approx(best.fun, rel=1e-6)
        np.testing.assert_allclose(w, best.x, atol=1e-3 * best.x.max())


HUBER = 0.2


def slopes(loss, Y):
    """The derivatives of the losses of all entries with respect to the fit."""
    if loss == "huber":
        return 2 * np.clip(Y - X, -HUBER, HUBER)
    beta = {"frobenius": 2, "kullback-leibler": 1, "itakura-saito": 0}.get(loss, loss)
    return (2 if beta == 2 else 1) * Y ** (beta - 2) * (Y - X)


ENTRIES = {
    "all known": (NMF(), np.ones_like(X)),
    "some unknown": (NMF(missing="nan"), (RNG.uniform(size=X.shape) < 0.8) * 1.0),
    "weighted": (WeightedNMF(), RNG.uniform(0.2, 1, size=X.shape)),
}
LOSSES = ["frobenius", "kullback-leibler", "itakura-saito", 0.5, 1.5, 3, "huber"]


# Huber's is no loss of WeightedNMF.
CASES = [(loss, entries) for loss in LOSSES for entries in ENTRIES if (loss, entries) != ("huber", "weighted")]


@pytest.mark.parametrize(("loss", "entries"), CASES)
def test_every_loss_ends_where_the_rules_find_nothing_to_gain(loss, entries):
    """The optimality conditions hold, and the multiplicative solver, from there, stays."""
    model, V = ENTRIES[entries]
    given = {"loss": loss, "n_components": K, "scale": None}
    if entries == "weighted":
        given["weights"] = V
    elif loss == "huber":
        given["loss_scale"] = HUBER
    data = np.where(V > 0, X, np.nan)
    model = clone(model).set_params(init="random", random_state=1, tol=1e-10, max_iter=4000, **given).fit(data)
    W, H = model.embedding_, model.components_
    R = V * slopes(loss, W @ H)
    assert_kkt(W, R @ H.T, np.abs(R) @ H.T, 1e-2)
    assert_kkt(H, W.T @ R, W.T @ np.abs(R), 1e-2)
    rules = clone(model).set_params(init=(W, H), solver="multiplicative", tol=0, max_iter=20).fit(data)
    assert model.objective_ * (1 - 1e-5) <= rules.objective_ <= model.objective_ * (1 + 1e-3)
