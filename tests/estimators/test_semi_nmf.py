"""SemiNMF: its conditions, and weights of samples."""

import numpy as np
from scipy.optimize import nnls
from small_data import signed

from partwise import SemiNMF


def test_it_reaches_its_conditions():
    X = signed() + 2
    model = SemiNMF(3, solver="coordinate", max_iter=5000, tol=1e-10, random_state=0).fit(X)
    W, H = model.embedding_, model.components_
    np.testing.assert_allclose(H, np.linalg.lstsq(W, X, rcond=None)[0], atol=1e-6)
    for w, x in zip(model.transform(X), X, strict=True):
        np.testing.assert_allclose(w, nnls(H.T, x)[0], atol=1e-8)
    np.testing.assert_allclose(model.transform(X), W, atol=1e-3)


def test_weights_of_samples_are_repetitions():
    X, weight = signed(), np.arange(40) % 3 + 1
    W = np.random.RandomState(0).uniform(size=(40, 3))
    H = np.linalg.lstsq(W, X, rcond=None)[0]
    rows = np.repeat(np.arange(40), weight)
    for solver in ("coordinate", "multiplicative"):
        common = {"n_components": 3, "solver": solver, "tol": 0, "max_iter": 20}
        weighted = SemiNMF(init=(W, H), **common).fit(X, sample_weight=weight)
        repeated = SemiNMF(init=(W[rows], H), **common).fit(X[rows])
        np.testing.assert_allclose(weighted.components_, repeated.components_, rtol=1e-6, atol=1e-8)


def test_coordinate_descent_has_components_of_either_sign():
    """With data of rank three it must find them, and the best components for its codes."""
    rng = np.random.RandomState(0)
    X = rng.uniform(size=(40, 3)) @ rng.standard_normal((3, 9))
    model = SemiNMF(3, solver="coordinate", random_state=0, tol=1e-8).fit(X)
    assert (model.components_ < 0).any()
    assert model.objective_ <= 1e-6 * (X**2).sum()
    best = np.linalg.lstsq(model.embedding_, X, rcond=None)[0]
    np.testing.assert_allclose(model.embedding_ @ model.components_, model.embedding_ @ best, atol=1e-6)
