"""Local predictors: what they predict, on which samples, and what is refused. (Their values: tests/oracles.)"""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.graphs import local_predictors, nearest_neighbors, rbf_bandwidth

RNG = np.random.RandomState(0)
X = RNG.uniform(size=(40, 6))


def predictors(X, n_neighbors=8, X_train=None, **kwargs):
    return local_predictors(nearest_neighbors(X, n_neighbors, X_train=X_train), X, X_train, **kwargs)


def test_no_sample_predicts_itself():
    G = predictors(X, ridge=1e-3)
    assert not G.diagonal().any()
    assert (np.diff(G.indptr) == 8).all()


@pytest.mark.parametrize("kernel", ["cosine", "rbf", "linear"])
def test_smooth_functions_of_the_samples_are_predicted(kernel):
    """A linear function lies in the span of the linear kernel and, nearly, in that of a wide rbf kernel."""
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    G = predictors(unit, 12, kernel=kernel, ridge=1e-8)
    values = unit @ np.arange(1.0, 7.0)
    np.testing.assert_allclose(G @ values, values, rtol=0.05)


def test_a_large_ridge_shrinks():
    sums = [predictors(X, ridge=ridge).sum(axis=1).mean() for ridge in (0.01, 1.0, 100.0)]
    assert sums[0] > 0.9
    assert 0.4 < sums[1] < 0.6
    assert sums[2] < 0.02


def test_blocks_do_not_matter(monkeypatch):
    whole = predictors(X), predictors(sp.csr_array(X))
    monkeypatch.setattr("partwise.graphs.predictors.BLOCK_ENTRIES", 1)
    for expected, data in zip(whole, (X, sp.csr_array(X)), strict=True):
        np.testing.assert_allclose(predictors(data).toarray(), expected.toarray(), rtol=1e-12)


def test_a_function_of_the_users():
    G = predictors(X, kernel=lambda A, B: np.asarray(A @ B.T))
    np.testing.assert_allclose(G.toarray(), predictors(X, kernel="linear").toarray(), rtol=1e-9)


def test_duplicates_and_zero_samples():
    """Duplicates make K singular, zeros have no direction: neither may break anything."""
    data = np.repeat(X[:10], 4, axis=0)
    data[5] = 0
    for kernel in ("cosine", "rbf", "linear"):
        G = predictors(data, 6, kernel=kernel, ridge=1e-300)
        assert np.isfinite(G.data).all()
        assert not G[[5]].nnz
        assert not G[:, [5]].nnz
    assert predictors(np.zeros((4, 3)), 2).nnz == 0
    assert predictors(np.eye(3)[[0, 0, 0]] * [[1], [0], [0]], 2).nnz == 0


def test_new_samples_are_predicted_from_the_training_samples():
    bandwidth = rbf_bandwidth(X, nearest_neighbors(X, 8))
    G = predictors(X[:3] * 2, X_train=X, kernel="rbf", bandwidth=bandwidth)
    assert G.shape == (3, 40)
    alone = predictors(X[1:2] * 2, X_train=X, kernel="rbf", bandwidth=bandwidth)
    np.testing.assert_allclose(G[[1]].toarray(), alone.toarray(), rtol=1e-12)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"kernel": "poly"}, "kernel='poly'"),
        ({"ridge": 0.0}, "ridge=0.0"),
        ({"ridge": np.nan}, "ridge=nan"),
        ({"kernel": "rbf", "bandwidth": -1.0}, "bandwidth=-1.0"),
        ({"kernel": lambda A, B: np.ones((2, 2))}, r"must give \(8, 8\)"),
        ({"kernel": lambda A, B: np.full((A.shape[0], B.shape[0]), np.nan)}, "NaN or infinity"),
        ({"kernel": "rbf", "X_train": X}, "bandwidth=None was given with new samples"),
    ],
)
def test_bad_parameters(kwargs, message):
    with pytest.raises(ValueError, match=message):
        predictors(X, **kwargs)


def test_uneven_links():
    links = sp.csr_array(np.triu(np.ones((40, 40)), 1))
    with pytest.raises(ValueError, match="different numbers of neighbours"):
        local_predictors(links, X)
