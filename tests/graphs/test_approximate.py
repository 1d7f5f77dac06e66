"""The approximate search against the exact one: what it finds, and what it says of itself."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from unloaded import stored

from partwise import GraphNMF, LocalLearningNMF
from partwise.graphs import approximate, find_neighbors, nearest_neighbors, neighbors, pairs, plan_search
from partwise.terms.graph import LinkedCodes

METRICS = ["cosine", "euclidean"]


@pytest.fixture(scope="module")
def X():
    """Samples in groups, of rank 30 with noise in all features; some zero, some equal."""
    rng = np.random.default_rng(0)
    groups = np.abs(make_blobs(3000, 30, centers=15, cluster_std=2.0, random_state=0)[0])
    X = groups @ rng.gamma(0.3, size=(30, 80)) + 0.5 * rng.random((3000, 80))
    X[1000:1010] = X[7]
    X[[5, 77]] = 0
    return X


def share(found, exact):
    return found.multiply(exact).sum() / exact.sum()


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_it_finds_nearly_all(X, metric, dtype):
    X = X.astype(dtype)
    found = find_neighbors(X, 5, metric, "approximate")
    exact = nearest_neighbors(X, 5, metric, method="exact")
    assert found.search == "cells"
    assert share(found.links, exact) > 0.97
    assert found.recall == pytest.approx(share(found.links, exact), abs=0.02)
    assert found.links.diagonal().sum() == 0
    counts = np.diff(found.links.indptr)
    assert (counts[[5, 77]] == 0).all()
    assert (np.delete(counts, [5, 77]) == 5).all()
    assert found.links[:, [5, 77]].nnz == 0
    # Among equal samples those with the lower indices win, as in the exact search.
    np.testing.assert_array_equal(found.links[[7]].toarray(), exact[[7]].toarray())


@pytest.mark.parametrize("threads", ["1", "3"])
def test_threads_and_units_change_nothing(X, threads, monkeypatch):
    expected = nearest_neighbors(X, 5, method="approximate")
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    assert (nearest_neighbors(X, 5, method="approximate") != expected).nnz == 0
    assert (nearest_neighbors(X * 4.0**40, 5, method="approximate") != expected).nnz == 0


def test_every_neighbour_counts_in_the_recall(X, monkeypatch):
    # With one cell and no more candidates than neighbours, the projections alone decide.
    monkeypatch.setattr(approximate, "_tune", lambda cells, samples, truth: (cells.n_cells, truth.shape[1], True))
    monkeypatch.setattr("partwise.graphs.cells.DIMENSIONS", 6)
    found = find_neighbors(X, 5, "euclidean", "approximate")
    true = share(found.links, nearest_neighbors(X, 5, "euclidean", method="exact"))
    assert 0.1 < true < 0.9
    assert found.recall == pytest.approx(true, abs=0.06)


def test_where_cells_do_not_help_the_search_is_exact_after_all(monkeypatch):
    # Random directions: no projection tells neighbours from others, and no cell has many.
    X = np.random.default_rng(0).standard_normal((2500, 300))
    monkeypatch.setattr(neighbors, "EXACT_ROWS", 2000)
    found = find_neighbors(X, 5)
    assert (found.search, found.recall) == ("products", 1.0)
    assert (found.links != nearest_neighbors(X, 5, method="exact")).nnz == 0
    asked = find_neighbors(X, 5, method="approximate")
    assert asked.search == "cells"
    assert 0.05 < asked.recall < 0.99
    assert plan_search(X, 5) is None


@pytest.mark.parametrize("n", [1, 2, 3, 7, 40, 200])
@pytest.mark.filterwarnings("ignore:n_neighbors")
def test_fewer_samples_than_anything_else(n, monkeypatch):
    monkeypatch.setattr(neighbors, "LEAST_ROWS", 0)
    X = np.random.default_rng(0).random((n, 3))
    found = find_neighbors(X, 5, "euclidean", "approximate")
    exact = nearest_neighbors(X, 5, "euclidean", method="exact")
    # However few members cells have, every sample has as many neighbours as there are.
    np.testing.assert_array_equal(np.diff(found.links.indptr), np.diff(exact.indptr))
    assert exact.nnz == 0 or share(found.links, exact) > 0.8
    X[0] = 0
    counts = (np.diff(nearest_neighbors(X, 5, method=method).indptr) for method in ("approximate", "exact"))
    np.testing.assert_array_equal(*counts)


def test_all_samples_equal_or_zero(monkeypatch):
    for X in (np.ones((2500, 4)), np.zeros((2500, 4))):
        found = find_neighbors(X, 3, method="approximate")
        assert found.recall == 1.0
        assert (np.diff(found.links.indptr) == 3 * X[0, 0]).all()


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("metric", METRICS)
def test_samples_that_are_not_in_memory(X, container, metric, monkeypatch):
    # A fifth of the rows is held at a time, and the data do not fit.
    monkeypatch.setattr(pairs, "HELD_BYTES", X.nbytes // 5)
    monkeypatch.setattr(neighbors, "HELD_BYTES", X.nbytes // 5)
    found = find_neighbors(stored(container(X)), 5, metric)
    assert found.search == "cells"
    assert share(found.links, nearest_neighbors(X, 5, metric, method="exact")) > 0.97
    if container is np.asarray:
        # As in memory, but for candidates that rounding puts in or out.
        assert share(found.links, nearest_neighbors(X, 5, metric, method="approximate")) > 0.999
    with pytest.raises(ValueError, match="not in memory: the exact search needs all of them"):
        find_neighbors(stored(container(X)), 5, metric, "exact")


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_few_samples_are_read_and_searched_exactly(X, container):
    exact = nearest_neighbors(container(X), 5)
    for method in ("auto", "exact"):
        found = find_neighbors(stored(container(X)), 5, "cosine", method)
        assert found.search == {np.asarray: "products", sp.csr_array: "index"}[container]
        assert (found.links != exact).nnz == 0


@pytest.mark.parametrize("metric", METRICS)
def test_new_samples(X, metric):
    new, train = X[:300], X[300:]
    plan = plan_search(train, 5, metric, "approximate")
    links = nearest_neighbors(new, 5, metric, X_train=train, plan=plan)
    assert share(links, nearest_neighbors(new, 5, metric, X_train=train, method="exact")) > 0.97
    assert (nearest_neighbors(new, 5, metric, X_train=train, method="approximate") != links).nnz == 0
    alone = [nearest_neighbors(x[None], 5, metric, X_train=train, plan=plan).toarray() for x in new[:20]]
    np.testing.assert_array_equal(np.vstack(alone), links[:20].toarray())
    # Training samples given as new ones find themselves.
    own = nearest_neighbors(train[:50], 1, metric, X_train=train, plan=plan)
    assert own.diagonal().sum() >= 49 - 1


def test_models_code_new_samples_with_approximate_links(X, monkeypatch):
    monkeypatch.setattr(neighbors, "EXACT_ROWS", 2000)
    settings = {"n_components": 4, "max_iter": 10, "tol": 0, "random_state": 0}
    model = GraphNMF(graph_strength=10.0, **settings).fit(X)
    assert model.graph_method_ == "cells"
    assert 0.97 < model.graph_recall_ <= 1.0
    codes = model.transform(X[:200])
    np.testing.assert_array_equal(codes[:3], model.transform(X[:3]))
    (links,) = (term for term in model._coding if isinstance(term, LinkedCodes))
    exact = replace(links, neighbors_method="exact")
    assert links._plan is not None
    assert exact._plan is None
    with monkeypatch.context() as patch:
        patch.setattr(model, "_coding", [exact if term is links else term for term in model._coding])
        np.testing.assert_allclose(codes, model.transform(X[:200]), atol=0.02 * codes.max())
    local = LocalLearningNMF(local_strength=1.0, **settings).fit(X)
    assert np.isfinite(local.transform(X[:10])).all()
