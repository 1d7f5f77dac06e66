"""Starts by k-means: where they are, and how many samples they need."""

import numpy as np
import pytest

from partwise.core.storage import as_operand
from partwise.solvers.starts import kmeans_start

X = np.random.RandomState(0).uniform(0.1, 1.0, size=(5, 4))


def test_a_cluster_for_every_sample():
    """Then the centres are the samples, and the codes say which."""
    W, Ht = kmeans_start(as_operand(X), 5, np.random.RandomState(0))
    assert sorted(W.argmax(axis=1)) == list(range(5))
    np.testing.assert_allclose(Ht.T[W.argmax(axis=1)], X)


def test_the_start_has_the_best_scale():
    W, Ht = kmeans_start(as_operand(X), 2, np.random.RandomState(0))
    error = [np.sum((X - scale * W @ Ht.T) ** 2) for scale in (0.99, 1.0, 1.01)]
    assert np.argmin(error) == 1


def test_more_clusters_than_samples_are_refused():
    with pytest.raises(ValueError, match="needs at least n_components=6 samples, X has 5"):
        kmeans_start(as_operand(X), 6, np.random.RandomState(0))
