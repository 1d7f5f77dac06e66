"""NormalizedCut and LatentSemanticKMeans against scikit-learn."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from partwise import LatentSemanticKMeans, NormalizedCut
from partwise.graphs import neighbor_graph

X, Y = load_digits(n_class=4, return_X_y=True)
X, Y = X[:200], Y[:200]


@pytest.mark.filterwarnings("ignore:Graph is not fully connected:UserWarning")
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_normalized_cut_is_scikit_learns(make):
    model = NormalizedCut(4, n_neighbors=8, random_state=0).fit(make(X))
    graph = neighbor_graph(X, 8)
    graph.indices, graph.indptr = graph.indices.astype(np.int32), graph.indptr.astype(np.int32)
    peer = SpectralClustering(4, affinity="precomputed", random_state=0).fit(graph)
    assert adjusted_rand_score(model.labels_, peer.labels_) > 0.98
    given = NormalizedCut(4, graph=graph, random_state=0).fit(make(X))
    np.testing.assert_array_equal(given.labels_, model.labels_)


def test_normalized_cut_minimises_its_objective():
    """The columns are the generalised eigenvectors (D − E) w = μ D w of the smallest μ, dense."""
    model = NormalizedCut(4, n_neighbors=8).fit(X)
    E = neighbor_graph(X, 8).toarray()
    D = np.diag(E.sum(axis=1))
    values, _ = eigh(D - E, D, subset_by_index=[0, 3])
    W = model.embedding_
    W = W / np.sqrt(np.diag(W.T @ D @ W))
    np.testing.assert_allclose(W.T @ D @ W, np.eye(4), atol=1e-6)
    np.testing.assert_allclose(np.trace(W.T @ (D - E) @ W), values.sum(), atol=1e-6)


def test_normalized_cut_of_pieces_and_lonely_samples():
    blocks = np.kron(np.eye(3), np.ones((6, 4))) + np.random.RandomState(0).uniform(0, 0.1, size=(18, 12)) * np.kron(
        np.eye(3), np.ones((6, 4))
    )
    data = np.vstack([blocks, np.zeros((1, 12))])
    model = NormalizedCut(3, n_neighbors=3, random_state=0).fit(data)
    assert not model.embedding_[18].any()
    assert adjusted_rand_score(np.repeat([0, 1, 2], 6), model.labels_[:18]) == 1
    with pytest.raises(ValueError, match="need as many samples"):
        NormalizedCut(30).fit(data)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csc_matrix], ids=["dense", "csr", "csc"])
def test_latent_semantic_kmeans(make):
    signed = X - X.mean()
    model = LatentSemanticKMeans(4, n_dimensions=6, random_state=0).fit(make(signed))
    U, s, Vt = np.linalg.svd(signed, full_matrices=False)
    best = (U[:, :6] * s[:6]) @ Vt[:6]
    np.testing.assert_allclose(model.inverse_transform(model.embedding_), best, atol=0.02 * np.abs(best).max())
    labels = KMeans(4, n_init=20, random_state=0).fit((U * s)[:, :6]).labels_
    assert adjusted_rand_score(labels, model.labels_) > 0.98
    np.testing.assert_array_equal(model.predict(make(signed)), model.labels_)
    np.testing.assert_allclose(model.transform(signed), model.embedding_, atol=1e-9)


@pytest.mark.filterwarnings("ignore:The codes give:UserWarning")
@pytest.mark.parametrize("m", [1, 2, 3, 7, 12, 29])
def test_latent_semantic_kmeans_of_data_that_do_not_vary(m):
    """Whether rounding leaves a variance of zero or next to nothing depends on the BLAS; nothing may divide by it."""
    model = LatentSemanticKMeans(2, random_state=0).fit(np.full((m + 3, m), 0.1 * m))
    assert np.isfinite(model.components_).all()
    np.testing.assert_array_equal(model.labels_, 0)


def test_latent_semantic_kmeans_bad_sizes():
    with pytest.raises(ValueError, match="at most 64"):
        LatentSemanticKMeans(4, n_dimensions=65).fit(X)
    with pytest.raises(ValueError, match="as many samples"):
        LatentSemanticKMeans(201).fit(X)


def test_codes_of_another_width_are_refused_in_a_sentence():
    model = LatentSemanticKMeans(3, random_state=0).fit(np.random.RandomState(0).uniform(size=(20, 6)))
    width = len(model.components_)
    with pytest.raises(ValueError, match=f"W has {width + 1} columns; the model has {width} components"):
        model.inverse_transform(np.ones((2, width + 1)))
