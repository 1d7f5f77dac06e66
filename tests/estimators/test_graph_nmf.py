"""GraphNMF: its penalty by brute force, what its graph options do, and its limits."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls

from partwise import NMF, GraphNMF
from partwise.graphs import SampleGraph

RNG = np.random.RandomState(0)
X = RNG.gamma(1.0, size=(30, 4)) @ RNG.gamma(0.5, size=(4, 12)) + 0.1
Y = np.array([0, 0, 0, 1, 1, 2, *[-1] * 24])
TEN = {"max_iter": 10, "tol": 0, "random_state": 0}


def distances(X, metric):
    """Every pair, written out."""
    if metric == "cosine":
        units = X / np.linalg.norm(X, axis=1)[:, None]
        return 1 - units @ units.T
    return ((X[:, None] - X[None]) ** 2).sum(axis=2)


def brute_force(X, n_neighbors, metric="cosine", edge_weights="binary", bandwidth=None):
    """Two samples are joined if either is among the nearest of the other."""
    far = distances(X, metric) + np.diag(np.full(len(X), np.inf))
    links = np.zeros_like(far)
    np.put_along_axis(links, np.argsort(far, axis=1)[:, :n_neighbors], 1, axis=1)
    squares = distances(X, "euclidean")
    joined = np.maximum(links, links.T)
    if edge_weights == "binary":
        return joined
    if edge_weights == "cosine":
        return joined * (1 - distances(X, "cosine"))
    return joined * np.exp(-squares / bandwidth)


def pairs(E, W):
    """Σ_{i<j} e_ij ‖w_i − w_j‖², pair by pair."""
    return sum(E[i, j] * ((W[i] - W[j]) ** 2).sum() for j in range(len(W)) for i in range(j))


def divergence(loss, X, Y):
    return ((X - Y) ** 2).sum() if loss == "frobenius" else (X * np.log(X / Y) - X + Y).sum()


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("scale", ["auto", None])
@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
def test_the_objective_is_what_it_says(loss, scale, make):
    model = GraphNMF(3, graph_strength=2.5, loss=loss, scale=scale, **TEN).fit(make(X))
    W, H = model.embedding_, model.components_
    fit, graph = divergence(loss, X, W @ H), pairs(brute_force(X, 5), W)
    assert model.objective_ == pytest.approx(fit + 2.5 * graph)
    assert model.history_["fit"][-1] == pytest.approx(fit)
    assert model.history_["graph"][-1] == pytest.approx(2.5 * graph)
    assert model.scale_ == ("components" if scale == "auto" else None)
    if scale == "auto":
        np.testing.assert_allclose(np.linalg.norm(H, axis=1), 1)


@pytest.mark.parametrize("n_neighbors", [1, 4])
@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize(("edge_weights", "bandwidth"), [("binary", None), ("heat", 0.7), ("cosine", None)])
@pytest.mark.filterwarnings("ignore:The graph of the samples falls")
def test_options_of_the_graph(edge_weights, bandwidth, metric, n_neighbors):
    options = {"n_neighbors": n_neighbors, "metric": metric, "edge_weights": edge_weights, "bandwidth": bandwidth}
    model = GraphNMF(3, graph_strength=1.0, **options, **TEN).fit(X)
    E = brute_force(X, n_neighbors, metric, edge_weights, bandwidth)
    assert model.history_["graph"][-1] == pytest.approx(pairs(E, model.embedding_))


def test_the_bandwidth_is_the_mean_squared_distance_of_neighbours():
    model = GraphNMF(3, graph_strength=1.0, edge_weights="heat", **TEN).fit(X)
    bandwidth = distances(X, "euclidean")[brute_force(X, 5) > 0].mean()
    E = brute_force(X, 5, edge_weights="heat", bandwidth=bandwidth)
    assert model.history_["graph"][-1] == pytest.approx(pairs(E, model.embedding_))


def test_labels_join_a_class_and_cut_classes_apart():
    model = GraphNMF(3, graph_strength=1.0, use_labels=True, **TEN).fit(X, Y)
    E = brute_force(X, 5)
    for i in range(30):
        for j in range(30):
            if i != j and Y[i] >= 0 and Y[j] >= 0:
                E[i, j] = Y[i] == Y[j]
    assert model.history_["graph"][-1] == pytest.approx(pairs(E, model.embedding_))
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])


def test_labels_that_are_not_asked_for_change_nothing():
    with_labels, without = (GraphNMF(3, graph_strength=1.0, **TEN).fit(X, y) for y in (Y, None))
    np.testing.assert_array_equal(with_labels.embedding_, without.embedding_)


def test_a_graph_of_ones_own_in_three_ways():
    E = np.abs(np.subtract.outer(np.arange(30), np.arange(30))) == 1.0
    E = E * np.linspace(1, 2, 30)
    E = (E + E.T) / 2
    given = GraphNMF(3, graph_strength=1.0, graph=sp.coo_array(E), **TEN).fit(X)
    assert given.history_["graph"][-1] == pytest.approx(pairs(E, given.embedding_))
    for graph in (E, lambda X: sp.csr_array(E), SampleGraph(X, E)):
        other = GraphNMF(3, graph_strength=1.0, graph=graph, **TEN).fit(X)
        np.testing.assert_allclose(other.embedding_, given.embedding_, rtol=1e-9)
        assert other.graph_method_ == "given"


@pytest.mark.parametrize(
    ("parameters", "make", "method"),
    [
        ({}, np.asarray, "products"),
        ({}, sp.csr_array, "index"),
        ({"graph": sp.eye_array(30, k=1) + sp.eye_array(30, k=-1)}, np.asarray, "given"),
        ({"graph_strength": 0.0}, np.asarray, "none"),
    ],
)
def test_where_the_graph_comes_from(parameters, make, method):
    model = GraphNMF(3, **{"graph_strength": 1.0, **parameters}, **TEN).fit(make(X))
    assert model.graph_method_ == method


# --- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
def test_no_strength_is_nmf(loss):
    model, plain = GraphNMF(3, graph_strength=0.0, loss=loss, **TEN).fit(X), NMF(3, loss=loss, **TEN).fit(X)
    np.testing.assert_array_equal(model.embedding_, plain.embedding_)
    np.testing.assert_array_equal(model.components_, plain.components_)
    assert "graph" not in model.history_


def test_a_strength_beyond_all_makes_the_codes_of_a_piece_equal():
    """Two pieces: all that is left is one code, and so one reconstruction, for each: the mean of its samples."""
    E = np.kron(np.eye(2), np.ones((15, 15))) - np.eye(30)
    model = GraphNMF(2, graph_strength=1e7, graph=E, tol=1e-10, max_iter=3000, random_state=0).fit(X)
    found = model.embedding_ @ model.components_
    for piece in (slice(0, 15), slice(15, 30)):
        np.testing.assert_allclose(found[piece], np.broadcast_to(X[piece].mean(axis=0), (15, 12)), rtol=0.01, atol=0.01)


def test_a_stronger_graph_makes_neighbours_more_alike():
    """Along minimisers the penalty per unit falls and the error rises with the strength."""
    fits = [GraphNMF(3, graph_strength=s, tol=1e-9, max_iter=3000, random_state=0).fit(X) for s in (0.1, 1.0, 10.0)]
    unit = [model.history_["graph"][-1] / model.graph_strength for model in fits]
    error = [model.history_["fit"][-1] for model in fits]
    assert unit == sorted(unit, reverse=True)
    assert error == sorted(error)


def test_the_gauge_cannot_be_cheated():
    """As printed, shrinking the codes makes the penalty vanish; measured at unit norm it costs what it should."""
    gauged, free = (
        GraphNMF(3, graph_strength=5.0, scale=scale, tol=0, max_iter=300, random_state=0).fit(X)
        for scale in ("auto", None)
    )
    assert free.history_["graph"][-1] < 0.1 * gauged.history_["graph"][-1]
    norms = np.linalg.norm(free.components_, axis=1)
    honest = free.history_["fit"][-1] + 5.0 * pairs(brute_force(X, 5), free.embedding_ * norms)
    assert gauged.objective_ < honest


# --- open strengths ---------------------------------------------------------------------------------------------------


def test_auto_is_one_of_the_grid_and_fits_with_it():
    model = GraphNMF(3, random_state=0).fit(X)
    chosen = model.selection_.choice["graph_strength"]
    assert chosen in (0, *10.0 ** np.arange(-2, 4))
    assert model.graph_strength == "auto"
    graph = pairs(brute_force(X, 5), model.embedding_)
    assert model.objective_ == pytest.approx(((X - model.embedding_ @ model.components_) ** 2).sum() + chosen * graph)


def test_where_there_is_nothing_to_compare_it_is_ten():
    model = GraphNMF(1, random_state=0).fit(X)
    assert model.selection_.choice["graph_strength"] == 10
    fixed = GraphNMF(1, graph_strength=10, random_state=0).fit(X)
    np.testing.assert_allclose(model.embedding_, fixed.embedding_)


@pytest.mark.parametrize("name", ["n_components", "n_neighbors", "graph_strength"])
def test_a_choice_among_values_that_are_given(name):
    values = {"n_components": [2, 3], "n_neighbors": [3, 6], "graph_strength": [0.5, 50.0]}[name]
    model = GraphNMF(**{"n_components": 3, "graph_strength": 1.0, name: values}, random_state=0).fit(X)
    assert model.selection_.choice[name] in values
    assert getattr(model, name) is values


# --- new samples ------------------------------------------------------------------------------------------------------


def test_a_new_sample_is_coded_by_itself_and_its_nearest_training_samples():
    rng = np.random.RandomState(1)
    model = GraphNMF(2, graph_strength=3.0, tol=1e-9, max_iter=2000, random_state=0).fit(X)
    new = rng.gamma(1.0, size=(4, 12))
    codes = model.transform(new)
    units = [A / np.linalg.norm(A, axis=1)[:, None] for A in (new, X)]
    for x, code, cosines in zip(new, codes, units[0] @ units[1].T, strict=True):
        neighbours = model.embedding_[np.argsort(-cosines)[:5]]
        # ‖x − w H‖² + 3 Σ ‖w − w_j‖² as one non-negative least squares problem.
        A = np.vstack([model.components_.T, *[np.sqrt(3) * np.eye(2)] * 5])
        b = np.concatenate([x, *(np.sqrt(3) * neighbours)])
        np.testing.assert_allclose(code, nnls(A, b)[0], rtol=1e-5, atol=1e-7)
