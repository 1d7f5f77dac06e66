"""As good minima as scikit-learn's NMF and as many multiplicative sweeps, from the same starts."""

from functools import cache
from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.decomposition import NMF as SklearnNMF

from partwise import NMF

N_STARTS = 10
# scikit-learn's multiplicative solver has not converged after these.
KL_SWEEPS = 300

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@cache
def data(name):
    """Data and a number of components."""
    rng = np.random.RandomState(0)
    if name == "digits":
        return load_digits().data[:400], 10
    if name == "counts":
        topics, mixture = rng.dirichlet(np.full(200, 0.1), size=6), rng.dirichlet(np.full(6, 0.3), size=120)
        counts = rng.poisson(80 * mixture @ topics)
        return sp.csr_array(counts[:, counts.any(axis=0)], dtype=float), 6
    exact = rng.gamma(0.5, size=(80, 5)) @ rng.gamma(0.5, size=(5, 50))
    return exact + 0.1 * exact.mean() * rng.uniform(size=exact.shape), 5


def starts(X, k):
    for seed in range(N_STARTS):
        rng = np.random.RandomState(seed)
        yield tuple(2 * np.sqrt(X.mean() / k) * rng.uniform(size=size) for size in ((X.shape[0], k), (k, X.shape[1])))


def objective(X, W, H, loss):
    X, Y = X.toarray() if sp.issparse(X) else X, W @ H
    if loss == "frobenius":
        return ((X - Y) ** 2).sum()
    seen = X > 0
    return (X[seen] * np.log(X[seen] / Y[seen])).sum() - X.sum() + Y.sum()


def by_partwise(X, k, loss, W, H, **params):
    model = NMF(k, loss=loss, init=(W, H), **params).fit(X)
    found = objective(X, model.embedding_, model.components_, loss)
    assert found == pytest.approx(model.objective_, rel=1e-8)
    return found


def by_sklearn(X, k, loss, W, H):
    params = (
        {"max_iter": KL_SWEEPS, "tol": 0, "solver": "mu"} if loss != "frobenius" else {"max_iter": 3000, "tol": 1e-7}
    )
    model = SklearnNMF(k, beta_loss=loss, init="custom", **params)
    codes = model.fit_transform(X, W=W.copy(), H=H.copy())
    return objective(X, codes, model.components_, loss)


@cache
def ours(name, loss):
    X, k = data(name)
    params = {"max_iter": 3000, "tol": 1e-8} if loss == "frobenius" else {"max_iter": KL_SWEEPS, "tol": 0}
    return np.array([by_partwise(X, k, loss, *start, **params) for start in starts(X, k)])


def assert_as_good(found, reference):
    assert np.median(found) <= (1 + 1e-4) * np.median(reference), np.median(found) / np.median(reference) - 1
    assert (found <= 1.03 * reference).all(), found / reference


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
@pytest.mark.parametrize("name", ["digits", "counts", "low rank"])
def test_against_sklearn(name, loss):
    X, k = data(name)
    assert_as_good(ours(name, loss), np.array([by_sklearn(X, k, loss, *start) for start in starts(X, k)]))


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
@pytest.mark.parametrize("name", ["digits", "counts"])
def test_against_two_thousand_multiplicative_sweeps(name, loss):
    X, k = data(name)
    params = {"solver": "multiplicative", "max_iter": 2000, "tol": 0}
    count = N_STARTS // 2  # two thousand sweeps take long
    reference = [by_partwise(X, k, loss, *start, **params) for start in islice(starts(X, k), count)]
    assert_as_good(ours(name, loss)[:count], np.array(reference))


@pytest.mark.parametrize("solver", ["auto", "multiplicative"])
@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
@pytest.mark.parametrize("name", ["digits", "counts"])
def test_a_tolerance_stops_within_twice_the_sweeps(name, loss, solver):
    X, k = data(name)
    W, H = next(starts(X, k))
    rules = "mu" if solver == "multiplicative" or loss != "frobenius" else "cd"
    peer = SklearnNMF(k, init="custom", solver=rules, beta_loss=loss, tol=1e-4, max_iter=2000)
    peer.fit_transform(X, W=W.copy(), H=H.copy())
    for dtype in (np.float64, np.float32):
        model = NMF(k, loss=loss, solver=solver, init=(W, H), tol=1e-4, max_iter=2000).fit(X.astype(dtype))
        assert model.stop_reason_ == "converged"
        assert model.n_iter_ <= 2 * peer.n_iter_
