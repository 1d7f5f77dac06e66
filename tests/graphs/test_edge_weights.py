"""Edge weights against their definitions, pair by pair."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.graphs import (
    heat_bandwidth,
    nearest_neighbors,
    neighbor_graph,
    new_sample_links,
    samples,
    weigh_links,
)

METRICS = ["cosine", "euclidean"]
WEIGHTS = ["binary", "heat", "cosine"]


@pytest.fixture
def X():
    rng = np.random.default_rng(1)
    X = rng.random((40, 6)) * (rng.random((40, 6)) < 0.6)
    X[[5, 39]] = 0
    X[10:14] = X[0]
    return X


def weight(x, y, edge_weights, bandwidth):
    if edge_weights == "binary":
        return 1.0
    if edge_weights == "heat":
        return np.exp(-((x - y) ** 2).sum() / bandwidth)
    return x @ y / np.linalg.norm(x) / np.linalg.norm(y)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("edge_weights", WEIGHTS)
@pytest.mark.parametrize("bandwidth", [None, 0.7])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.csc_matrix])
def test_graph_equals_its_definition(X, metric, edge_weights, bandwidth, container):
    graph = neighbor_graph(container(X), 4, metric, edge_weights, bandwidth)
    links = nearest_neighbors(X, 4, metric).toarray()
    linked = np.maximum(links, links.T)
    pairs = np.argwhere(linked)
    sigma = bandwidth or np.mean([((X[i] - X[j]) ** 2).sum() for i, j in pairs])
    expected = np.zeros_like(linked)
    for i, j in pairs:
        expected[i, j] = weight(X[i], X[j], edge_weights, sigma)
    np.testing.assert_allclose(graph.toarray(), expected, rtol=1e-12, atol=1e-15)

    assert isinstance(graph, sp.csr_array)
    assert graph.dtype == np.float64
    assert graph.has_sorted_indices
    assert (graph.data > 0).all()
    assert (graph.data <= 1).all()
    assert (graph != graph.T).nnz == 0
    assert not graph.diagonal().any()
    assert graph[[5, 39]].nnz == 0


@pytest.mark.parametrize("edge_weights", WEIGHTS)
def test_dense_equals_sparse_and_float32_is_close(X, edge_weights):
    dense = neighbor_graph(X, 3, edge_weights=edge_weights).toarray()
    sparse = neighbor_graph(sp.csr_array(X), 3, edge_weights=edge_weights).toarray()
    np.testing.assert_allclose(sparse, dense, rtol=1e-13)
    single = neighbor_graph(X.astype(np.float32), 3, edge_weights=edge_weights)
    assert single.dtype == np.float64
    np.testing.assert_allclose(single.toarray(), dense, rtol=1e-5)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("edge_weights", WEIGHTS)
@pytest.mark.parametrize("value", [0.1, 1.0, 255.0])
def test_constant_data_gets_weights_of_one(metric, edge_weights, value):
    graph = neighbor_graph(np.full((20, 3), value), 4, metric, edge_weights)
    np.testing.assert_allclose(graph.data, 1.0, rtol=1e-15)
    assert graph.nnz >= 80


def test_duplicates_form_cliques():
    X = np.tile(np.random.default_rng(0).random((50, 6)), (4, 1))
    for edge_weights in WEIGHTS:
        graph = neighbor_graph(X, 3, "euclidean", edge_weights)
        assert graph.nnz == 200 * 3
        np.testing.assert_allclose(graph.data, 1.0, rtol=1e-15)


def test_edges_of_weight_zero_are_dropped():
    X = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 3.0]])
    graph = neighbor_graph(X, 1, "cosine", "cosine")
    np.testing.assert_array_equal(graph.toarray(), [[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    assert neighbor_graph(X, 1, "cosine", "heat", bandwidth=1e-6).nnz == 0


def test_negative_data_gives_no_negative_weights():
    graph = neighbor_graph(np.array([[1.0, 0.1], [-1.0, 0.1], [-1.0, -0.1]]), 2, "cosine", "cosine")
    assert (graph.data > 0).all()


def test_the_default_bandwidth_can_be_had(X):
    links = neighbor_graph(X, 3)
    bandwidth = heat_bandwidth(X, links)
    graph = weigh_links(links, X, edge_weights="heat", bandwidth=bandwidth)
    np.testing.assert_array_equal(graph.toarray(), neighbor_graph(X, 3, edge_weights="heat").toarray())
    assert heat_bandwidth(np.ones((6, 2)), neighbor_graph(np.ones((6, 2)), 3)) == 1.0
    assert heat_bandwidth(X, sp.csr_array((40, 40))) == 1.0


def test_weighing_leaves_the_links_alone(X):
    links = neighbor_graph(X, 3)
    weighted = weigh_links(links, X, edge_weights="cosine")
    weighted.data[:] = weighted.indices[:] = 7
    np.testing.assert_array_equal(links.toarray(), neighbor_graph(X, 3).toarray())


def test_small_blocks_change_nothing(X, monkeypatch):
    whole = neighbor_graph(X, 3, edge_weights="heat").toarray()
    monkeypatch.setattr(samples, "BLOCK_ROWS", 7)
    np.testing.assert_allclose(neighbor_graph(X, 3, edge_weights="heat").toarray(), whole, rtol=1e-14)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("edge_weights", WEIGHTS)
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_new_samples(X, metric, edge_weights, container):
    X_new = np.vstack([np.random.default_rng(2).random((5, 6)), X[:6]])
    links = new_sample_links(container(X_new), X, 3, metric, edge_weights, bandwidth=0.5)
    found = nearest_neighbors(X_new, 3, metric, X_train=X)
    expected = found.toarray()
    for i, j in np.argwhere(expected):
        expected[i, j] = weight(X_new[i], X[j], edge_weights, 0.5)
    np.testing.assert_allclose(links.toarray(), expected, rtol=1e-12)
    assert links[[10]].nnz == 0

    alone = [new_sample_links(container(x[None]), X, 3, metric, edge_weights, 0.5).toarray() for x in X_new]
    np.testing.assert_allclose(np.vstack(alone), links.toarray(), rtol=1e-14)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"edge_weights": "dot"}, "edge_weights='dot' was given"),
        ({"edge_weights": "heat", "bandwidth": 0.0}, "bandwidth=0.0 was given"),
        ({"edge_weights": "heat", "bandwidth": np.nan}, "bandwidth=nan was given"),
        ({"metric": "l1"}, "metric='l1' was given"),
    ],
)
def test_bad_choices(X, arguments, message):
    for build in (neighbor_graph, lambda X, **kwargs: new_sample_links(X, X, **kwargs)):
        with pytest.raises(ValueError, match=message):
            build(X, **arguments)


def test_new_samples_need_the_bandwidth_of_the_training_graph(X):
    with pytest.raises(ValueError, match=r"heat_bandwidth\(X_train, links\)"):
        new_sample_links(X, X, edge_weights="heat")
