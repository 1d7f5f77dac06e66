"""OrthogonalNMF and OrthogonalTriNMF: exact constraints, brute force on small data, no rise, hard data."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_checkerboard
from sklearn.metrics import adjusted_rand_score

from partwise import OrthogonalNMF, OrthogonalTriNMF

METHODS = [OrthogonalNMF(), OrthogonalTriNMF()]
by_name = {"ids": lambda estimator: type(estimator).__name__}


def counts(n=40, m=15, seed=0):
    rng = np.random.RandomState(seed)
    return rng.gamma(0.6, size=(n, m)) * (rng.uniform(size=(n, m)) < 0.6)


def hard_value(X, labels, k):
    """The least ‖X − WH‖² with WᵀW = I and these clusters: what the leading singular vectors leave of each."""
    return (X**2).sum() - sum(np.linalg.norm(X[labels == j], 2) ** 2 for j in range(k) if (labels == j).any())


def assert_one_entry(F):
    assert (F >= 0).all()
    assert (np.count_nonzero(F, axis=1) <= 1).all()
    used = F.any(axis=0)
    np.testing.assert_allclose((F.T @ F)[np.ix_(used, used)], np.eye(used.sum()), atol=1e-6)


def test_best_of_all_partitions():
    X = counts(7, 5, seed=3)
    best = min(hard_value(X, np.array(labels), 2) for labels in product(range(2), repeat=7))
    found = OrthogonalNMF(2, init="random", n_init=20, tol=1e-12, random_state=0).fit(X)
    np.testing.assert_allclose(found.objective_, best, rtol=1e-6)


def test_end_is_stationary():
    """Every sample at the component that explains most of it, every component the leading vector of its samples."""
    X = counts()
    model = OrthogonalNMF(4, tol=1e-13, max_iter=2000, random_state=0).fit(X)
    W, H = model.embedding_, model.components_
    explained = (X @ H.T) ** 2 / (H**2).sum(axis=1)
    np.testing.assert_allclose(explained[W > 0], explained.max(axis=1)[W.any(axis=1)])
    np.testing.assert_allclose(H, W.T @ X, atol=1e-12)
    np.testing.assert_allclose(model.objective_, hard_value(X, model.labels_, 4), rtol=1e-8)
    np.testing.assert_allclose(model.transform(X), W, atol=1e-5)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_end_of_three_factors_is_stationary():
    X = counts()
    model = OrthogonalTriNMF(4, n_column_clusters=3, tol=1e-13, max_iter=2000, random_state=0).fit(X)
    F, S, G = model.embedding_, model.association_, model.feature_embedding_
    np.testing.assert_allclose(S, F.T @ X @ G, atol=1e-12)
    for codes, rows, seen in ((F, S, X @ G), (G, S.T, X.T @ F)):
        assert_one_entry(codes)
        explained = np.maximum(seen @ rows.T, 0) ** 2 / (rows**2).sum(axis=1)
        np.testing.assert_allclose(explained[codes > 0], explained.max(axis=1)[codes.any(axis=1)])
    np.testing.assert_allclose(model.objective_, ((X - F @ S @ G.T) ** 2).sum(), rtol=1e-10)
    np.testing.assert_array_equal(model.row_labels_, model.labels_)
    np.testing.assert_allclose(model.components_, S @ G.T)
    assert model.column_labels_.shape == (15,)


def test_checkerboard():
    X, rows, columns = make_checkerboard((80, 50), (4, 3), noise=1, minval=5, maxval=50, random_state=1)
    model = OrthogonalTriNMF(4, n_column_clusters=3, n_init=10, random_state=0).fit(np.maximum(X, 0))
    row_truth = rows.reshape(4, 3, -1)[:, 0].argmax(axis=0)
    column_truth = columns.reshape(4, 3, -1)[0].argmax(axis=0)
    assert adjusted_rand_score(row_truth, model.row_labels_) > 0.9
    assert adjusted_rand_score(column_truth, model.column_labels_) > 0.9


@settings(max_examples=60, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.data())
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_never_rises(data):
    n, m, k = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 10)), data.draw(st.integers(1, 5))
    rng = np.random.RandomState(data.draw(st.integers(0, 2**16)))
    X = rng.gamma(0.7, size=(n, m)) * (rng.uniform(size=(n, m)) < 0.6)
    if data.draw(st.booleans()):
        X[rng.randint(n)] = 0
        X[:, rng.randint(m)] = 0
    X[rng.randint(n)] = X[0]
    X = X.astype(data.draw(st.sampled_from([np.float64, np.float32])))
    method = clone(data.draw(st.sampled_from(METHODS))).set_params(n_components=k, random_state=0, max_iter=15, tol=0)
    method.set_params(init=data.draw(st.sampled_from(["auto", "random"])))
    model = method.fit(data.draw(st.sampled_from([np.asarray, sp.csr_array, sp.csc_matrix]))(X))
    assert_one_entry(model.embedding_)
    objective = np.array(model.history_["objective"])
    size = max(float((X.astype(float) ** 2).sum()), 1e-60)
    assert np.diff(objective).max() <= 1e-10 * size
    fitted = model.embedding_ @ model.components_
    assert abs(objective[-1] - ((X.astype(float) - fitted) ** 2).sum()) <= (1e-10 if X.dtype == float else 1e-5) * size
    assert model.embedding_.dtype == model.components_.dtype == X.dtype


@pytest.mark.parametrize("method", METHODS, **by_name)
@pytest.mark.parametrize("solver", ["assignment", "multiplicative"])
@pytest.mark.parametrize(
    "X", [np.zeros((6, 4)), np.ones((6, 4)), np.eye(6), np.eye(3), np.vstack([np.zeros((3, 4)), np.ones((3, 4))])]
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_hard_data(method, solver, X):
    model = clone(method).set_params(n_components=4, solver=solver, random_state=0, max_iter=10, tol=0).fit(X)
    assert np.isfinite(model.history_["objective"]).all()
    assert np.isfinite(model.transform(X)).all()
    assert model.labels_.shape == (len(X),)


def test_empty_clusters_are_filled():
    """All samples start in one cluster; the worst ones leave it."""
    X = np.kron(np.eye(3), np.ones((4, 2)))
    start = np.ones((12, 3)) * [1.0, 0.5, 0.5]
    model = OrthogonalNMF(3, init=(start, np.ones((3, 6))), random_state=0).fit(X)
    assert model.objective_ < 1e-10
    assert set(np.bincount(model.labels_)) == {4}
    with pytest.warns(UserWarning, match="not used by any sample"):
        OrthogonalNMF(4, init="random", random_state=0).fit(np.vstack([np.eye(3, 6), np.zeros((2, 6))]))


@pytest.mark.parametrize("method", METHODS, **by_name)
def test_warm_start_and_given_start(method):
    X = counts()
    model = clone(method).set_params(n_components=4, max_iter=3, tol=0, random_state=0, warm_start=True).fit(X)
    first = model.objective_
    assert model.fit(X).history_["objective"][0] == pytest.approx(first)
    assert model.objective_ <= first


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"solver": "coordinate"}, "solver"),
        ({"init": "sampled"}, "init"),
        ({"n_column_clusters": 0}, "n_column_clusters"),
        ({"init": (np.ones((40, 3)), np.ones((3, 15)))}, r"three arrays \(F, S, G\)"),
        ({"init": (np.ones((40, 3)), np.ones((3, 3)), np.ones((14, 3)))}, r"G has shape \(14, 3\)"),
        ({"init": (np.ones((40, 3)), -np.ones((3, 3)), np.ones((15, 3)))}, "S must be non-negative"),
        ({"init": (np.ones((40, 3)), np.ones((3, 3)), np.ones((15, 3))), "n_init": 2}, "must be 1"),
        ({"init": "kmeans", "n_column_clusters": 16}, "at least"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        OrthogonalTriNMF(3).set_params(**parameters).fit(counts())


@pytest.mark.parametrize("method", METHODS, **by_name)
def test_negative_data_are_refused(method):
    with pytest.raises(ValueError, match="Negative values"):
        clone(method).fit(-counts())
