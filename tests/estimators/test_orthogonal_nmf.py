"""OrthogonalNMF: brute force on small data, where it ends, empty clusters."""

from itertools import product

import numpy as np
import pytest
from small_data import counts

from partwise import OrthogonalNMF


def hard_value(X, labels, k):
    """The least ‖X − WH‖² with WᵀW = I and these clusters: what the leading singular vectors leave of each."""
    return (X**2).sum() - sum(np.linalg.norm(X[labels == j], 2) ** 2 for j in range(k) if (labels == j).any())


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


def test_empty_clusters_are_filled():
    """All samples start in one cluster; the worst ones leave it."""
    X = np.kron(np.eye(3), np.ones((4, 2)))
    start = np.ones((12, 3)) * [1.0, 0.5, 0.5]
    model = OrthogonalNMF(3, init=(start, np.ones((3, 6))), random_state=0).fit(X)
    assert model.objective_ < 1e-10
    assert set(np.bincount(model.labels_)) == {4}
    with pytest.warns(UserWarning, match="not used by any sample"):
        OrthogonalNMF(4, init="random", random_state=0).fit(np.vstack([np.eye(3, 6), np.zeros((2, 6))]))
