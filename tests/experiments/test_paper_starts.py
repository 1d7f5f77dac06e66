"""The papers' starts and rules for clusters."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import LocalLearningNMF
from partwise.experiments.paper_starts import STARTS, one_kmeans


@pytest.mark.parametrize("name", STARTS)
def test_starts(name):
    X = np.random.RandomState(0).uniform(size=(30, 5))
    W, H = STARTS[name](X, 3, 0)
    assert W.shape == (30, 3)
    assert H.shape == (3, 5)
    assert min(W.min(), H.min()) >= 0
    assert np.ptp(STARTS[name](X, 3, 1)[0] - W) > 0
    if name == "unit components":
        np.testing.assert_allclose(np.linalg.norm(H, axis=1), 1)
    if name == "samples":
        assert {tuple(row) for row in H} <= {tuple(row) for row in X}


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_start_from_local_learning(kind):
    """Three groups far apart are its clusters, with the neighbours of the settings; and it is a start of LLNMF."""
    X = np.kron(np.eye(3), np.ones((10, 4))) + 0.01 * np.random.RandomState(0).uniform(size=(30, 12))
    settings = {"n_neighbors": 4, "local_strength": 10.0}
    starts = [STARTS["local learning"](kind(X), 3, state, settings) for state in range(5)]
    W, H = next((W, H) for W, H in starts if len(set(W.argmax(axis=1))) == 3)
    labels = W.argmax(axis=1)
    np.testing.assert_array_equal(labels, np.repeat(labels[::10], 10))
    assert set(W.ravel()) == {0.2, 1.2}
    np.testing.assert_allclose(H[0], np.average(X, axis=0, weights=W[:, 0]))
    model = LocalLearningNMF(3, scale="codes", init=(W, H), assign="argmax", **settings).fit(X)
    assert len(set(zip(model.labels_, labels, strict=True))) == 3


def test_one_kmeans_finds_clusters_that_are_far_apart():
    model = SimpleNamespace(embedding_=np.r_[np.zeros((5, 2)), np.ones((4, 2))] + np.linspace(0, 0.1, 9)[:, None])
    labels = one_kmeans(model, 2, 0)
    assert len(set(labels[:5])) == len(set(labels[5:])) == 1 != len(set(labels))
