"""The ways to find neighbours: which one is taken, and that the fast ones find what a full sort finds."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors

from partwise import GraphNMF
from partwise.graphs import choose_search, nearest_neighbors, neighbor_graph, neighbors, searches

METRICS = ["cosine", "euclidean"]


@pytest.fixture
def text():
    """Sparse samples with common and rare features, duplicates, and samples without any feature."""
    rng = np.random.default_rng(0)
    columns = np.minimum(rng.pareto(0.7, size=(900, 20)) * 3, 1999).astype(int)
    X = sp.csr_array((rng.random(18_000), (np.repeat(np.arange(900), 20), columns.ravel())), shape=(900, 2000)).tolil()
    X[100:120] = X[:20]
    X[[7, 650]] = 0
    return X.tocsr()


def in_float64(X, p, metric, X_train=None):
    """The links by scores in float64, all at once; ties to the lower index."""
    within = X_train is None
    A, B = np.asarray(X, np.float64), np.asarray(X if within else X_train, np.float64)
    if metric == "cosine":
        A, B = (F / np.maximum(np.linalg.norm(F, axis=1), 1e-300)[:, None] for F in (A, B))
    scores = np.round((B**2).sum(axis=1) / 2 - A @ B.T, 11)
    scores[:, ~B.any(axis=1)] = np.inf
    if within:
        np.fill_diagonal(scores, np.inf)
    links = np.zeros(scores.shape)
    np.put_along_axis(links, np.argsort(scores, axis=1, kind="stable")[:, :p], 1, axis=1)
    links[~A.any(axis=1)] = 0
    return links


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("sizes", [(256, 2048), (16, 64), (5, 5)])
def test_inverted_index_equals_brute_force(text, metric, dtype, sizes, monkeypatch):
    monkeypatch.setattr(searches, "INDEX_ROWS", sizes[0])
    monkeypatch.setattr(searches, "INDEX_COLUMNS", sizes[1])
    X = text.astype(dtype)
    np.testing.assert_array_equal(nearest_neighbors(X, 5, metric).toarray(), in_float64(X.toarray(), 5, metric))
    new = nearest_neighbors(X[:40], 5, metric, X_train=X[40:])
    np.testing.assert_array_equal(new.toarray(), in_float64(X[:40].toarray(), 5, metric, X[40:].toarray()))


def test_inverted_index_equals_scikit_learn_where_nothing_ties(text):
    X = text[[i for i in range(900) if not 100 <= i < 120 and i not in (7, 650)]]
    theirs = NearestNeighbors(n_neighbors=4, metric="cosine", algorithm="brute").fit(X).kneighbors_graph()
    assert (nearest_neighbors(X, 4) != theirs).nnz == 0


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("spread", [1e-3, 1e-5, 1e-8])
def test_close_calls_are_settled_in_float64(metric, spread):
    # Distances differ by less than a product in float32 can tell.
    rng = np.random.default_rng(0)
    X = 1 + spread * rng.random((300, 40))
    links = nearest_neighbors(X, 5, metric).tocoo()
    A = X / np.linalg.norm(X, axis=1)[:, None] if metric == "cosine" else X / np.linalg.norm(X, axis=1).max()
    distances = ((A[:, None] - A) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    fifth = np.sort(distances, axis=1)[:, 4]
    assert links.nnz == 5 * len(X)
    # As documented, squared distances count as equal to about 1e-12.
    assert (distances[links.row, links.col] <= fifth[links.row] + 3e-12).all()


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_training_samples_given_as_new_ones_find_themselves(container):
    X = container(load_digits().data[:50])
    np.testing.assert_array_equal(nearest_neighbors(X, 1, X_train=X).toarray(), np.eye(50))


def test_new_samples_of_any_length():
    rng = np.random.default_rng(0)
    X, X_train = rng.random((5, 4)) * np.array([[1e-30], [1], [1e5], [1e20], [1e100]]), rng.random((50, 4))
    links = nearest_neighbors(X, 3, "euclidean", X_train=X_train).toarray()
    np.testing.assert_array_equal(links[:3], in_float64(X[:3], 3, "euclidean", X_train))
    assert (links.sum(axis=1) == 3).all()


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_threads_change_nothing(container, threads, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    X = load_digits().data[:1500]
    links = nearest_neighbors(container(X), 5)
    np.testing.assert_array_equal(links.toarray(), in_float64(X, 5, "cosine"))


def test_the_choice(monkeypatch):
    few, sparse = np.ones((10, 2)), sp.csr_array(np.eye(3))
    assert choose_search(few) == choose_search(few, "exact") == choose_search(few, "approximate") == "products"
    assert choose_search(sparse) == choose_search(sparse, "exact") == "index"
    monkeypatch.setattr(neighbors, "LEAST_ROWS", 9)
    assert choose_search(few, "approximate") == "cells"
    assert choose_search(few) == "products"
    monkeypatch.setattr(neighbors, "EXACT_ROWS", 9)
    assert choose_search(few) == choose_search(few.tolist()) == "cells"
    assert choose_search(few, "exact") == "products"
    with pytest.raises(ValueError, match="with sparse data"):
        choose_search(sparse, "approximate")
    with pytest.raises(ValueError, match="method='fast' was given"):
        nearest_neighbors(few, 1, method="fast")


def test_the_estimator_says_what_it_did():
    X = load_digits().data[:100]
    settings = {"n_components": 3, "tol": 0, "max_iter": 2}
    model = GraphNMF(graph_strength=10.0, **settings).fit(X)
    assert (model.graph_method_, model.graph_recall_) == ("products", 1.0)
    assert GraphNMF(graph_strength=10.0, **settings).fit(sp.csr_array(X)).graph_method_ == "index"
    assert GraphNMF(graph_strength=10.0, **settings, graph=neighbor_graph(X)).fit(X).graph_method_ == "given"
    assert GraphNMF(**settings, graph_strength=0).fit(X).graph_method_ == "none"
    assert not hasattr(GraphNMF(), "graph_method_")
