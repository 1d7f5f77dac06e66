"""NormalizedCut against scikit-learn and dense eigenvectors."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from partwise import NormalizedCut
from partwise.graphs import neighbor_graph

X = load_digits(n_class=4).data[:200]


@pytest.mark.filterwarnings("ignore:Graph is not fully connected:UserWarning")
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_clusters_are_scikit_learns(make):
    model = NormalizedCut(4, n_neighbors=8, random_state=0).fit(make(X))
    graph = neighbor_graph(X, 8)
    graph.indices, graph.indptr = graph.indices.astype(np.int32), graph.indptr.astype(np.int32)
    peer = SpectralClustering(4, affinity="precomputed", random_state=0).fit(graph)
    assert adjusted_rand_score(model.labels_, peer.labels_) > 0.98
    given = NormalizedCut(4, graph=graph, random_state=0).fit(make(X))
    np.testing.assert_array_equal(given.labels_, model.labels_)


def test_it_minimises_its_objective():
    """The columns are the generalised eigenvectors (D − E) w = μ D w of the smallest μ, dense."""
    model = NormalizedCut(4, n_neighbors=8).fit(X)
    E = neighbor_graph(X, 8).toarray()
    D = np.diag(E.sum(axis=1))
    values, _ = eigh(D - E, D, subset_by_index=[0, 3])
    W = model.embedding_
    W = W / np.sqrt(np.diag(W.T @ D @ W))
    np.testing.assert_allclose(W.T @ D @ W, np.eye(4), atol=1e-6)
    np.testing.assert_allclose(np.trace(W.T @ (D - E) @ W), values.sum(), atol=1e-6)


def test_pieces_and_lonely_samples():
    blocks = np.kron(np.eye(3), np.ones((6, 4))) + np.random.RandomState(0).uniform(0, 0.1, size=(18, 12)) * np.kron(
        np.eye(3), np.ones((6, 4))
    )
    data = np.vstack([blocks, np.zeros((1, 12))])
    model = NormalizedCut(3, n_neighbors=3, random_state=0).fit(data)
    assert not model.embedding_[18].any()
    assert adjusted_rand_score(np.repeat([0, 1, 2], 6), model.labels_[:18]) == 1
    with pytest.raises(ValueError, match="need as many samples"):
        NormalizedCut(30).fit(data)
