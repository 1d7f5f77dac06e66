"""OrthogonalTriNMF: where it ends, checkerboards, refusals."""

import numpy as np
import pytest
from sklearn.datasets import make_checkerboard
from sklearn.metrics import adjusted_rand_score
from small_data import assert_one_entry, counts

from partwise import OrthogonalTriNMF


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
