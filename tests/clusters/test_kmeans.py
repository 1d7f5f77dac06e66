"""k-means of many samples: the starts are compared on a part, and the best ends where it does with all."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from partwise.clusters import Assignment, cluster, kmeans


def spread(X, centres, weight=1.0):
    return float((weight * ((X[:, None] - centres) ** 2).sum(axis=2).min(axis=1)).sum())


def compare_starts_on(n_rows, monkeypatch):
    for name in ("MANY_ROWS", "PART_ROWS"):
        monkeypatch.setattr(kmeans, name, n_rows)
    monkeypatch.setattr(kmeans, "ROWS_PER_CLUSTER", 1)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_part_of_the_samples_is_enough_to_compare_starts(weighted, dtype, monkeypatch):
    X, truth = make_blobs(3000, 5, centers=6, random_state=0)
    X = X.astype(dtype)
    weight = np.random.default_rng(0).random(3000).astype(dtype) if weighted else None
    labels, centres = cluster(X, 6, 5, 0, weight)
    compare_starts_on(400, monkeypatch)
    faster, others = cluster(X, 6, 5, 0, weight)
    assert others.dtype == dtype
    assert adjusted_rand_score(labels, faster) > 0.999
    assert adjusted_rand_score(truth, faster) > 0.9
    size = 1.0 if weight is None else weight
    assert spread(X, others, size) == pytest.approx(spread(X, centres, size), rel=1e-3)
    # The order of the samples does not matter.
    shuffled = np.random.default_rng(1).permutation(3000)
    again, _ = cluster(X[shuffled], 6, 5, 0, None if weight is None else weight[shuffled])
    np.testing.assert_array_equal(again, faster[shuffled])


def test_rare_samples_are_not_left_out(monkeypatch):
    # Three values, of which a part of the samples has only two.
    compare_starts_on(100, monkeypatch)
    X = np.zeros((1000, 2))
    X[:500] = 1
    X[777] = 5
    labels, _ = cluster(X, 3, 4, 0)
    assert len(np.unique(labels)) == 3


@pytest.mark.parametrize(("dtype", "size"), [(np.float32, 1e18), (np.float64, 1e36)])
def test_scikit_learn_says_nothing_of_clusters_lost_to_rounding(dtype, size):
    """It blames duplicates, which there are none of; the model says how many clusters there are."""
    codes = np.random.RandomState(0).rand(120, 4).astype(dtype)
    codes[0] *= dtype(size)
    codes[1] *= dtype(size**0.5)
    with pytest.warns(UserWarning, match="The codes give 3 clusters") as caught:
        Assignment(codes, "kmeans", 0).predict(codes)
    assert len(caught) == 1
