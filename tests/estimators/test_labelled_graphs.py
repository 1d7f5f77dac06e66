"""Every method with a graph on its codes lets labels edit it: the objective against dense arithmetic, and classes."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from partwise import ConceptFactorization, GraphNMF, KernelGraphNMF, LocalCoordinateNMF, NormalizedCut
from partwise.graphs import neighbor_graph, neighbors

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

X, TRUTH = load_digits(n_class=4, return_X_y=True)
X, TRUTH = normalize(X[:240]), TRUTH[:240]
Y = np.where(np.random.RandomState(0).uniform(size=len(X)) < 0.2, TRUTH, -1)
# In these the graph is measured as it is written, without a gauge.
MODELS = [
    GraphNMF(4, graph_strength=2.0, scale=None),
    LocalCoordinateNMF(4, coordinate_strength=0.1, graph_strength=2.0),
    LocalCoordinateNMF(4, coordinate_strength=0.1, graph_strength=2.0, loss="kullback-leibler"),
    ConceptFactorization(4, graph_strength=2.0, scale=None),
    KernelGraphNMF(4, graph_strength=2.0),
]
NAMES = [f"{type(model).__name__} {getattr(model, 'loss', '')}" for model in MODELS]


def edited():
    """The graph of neighbours in which classes are joined and cut apart, edge by edge."""
    E = neighbor_graph(X, 5).toarray()
    labelled = np.flatnonzero(Y >= 0)
    for i in labelled:
        for j in labelled:
            E[i, j] = i != j and Y[i] == Y[j]
    return E


@pytest.mark.parametrize("solver", ["auto", "multiplicative"])
@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_the_objective_has_the_edited_graph(model, solver):
    model = clone(model).set_params(use_labels=True, solver=solver, random_state=0, max_iter=30, tol=0).fit(X, Y)
    E, W = edited(), model.embedding_
    distances = ((W[:, None, :] - W[None, :, :]) ** 2).sum(axis=2)
    assert model.history_["graph"][-1] == pytest.approx(2.0 * (E * distances).sum() / 2, rel=1e-8)
    objective = np.array(model.history_["objective"])
    assert np.diff(objective).max() <= 1e-10 * objective[0]


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_multiplicative_steps_are_those_of_a_given_graph(model):
    model = clone(model).set_params(solver="multiplicative", random_state=0, max_iter=10, tol=0)
    labelled = clone(model).set_params(use_labels=True).fit(X, Y)
    given = clone(model).set_params(graph=sp.csr_array(edited())).fit(X)
    np.testing.assert_allclose(labelled.embedding_, given.embedding_, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_classes_are_known(model):
    model = clone(model).set_params(random_state=0, max_iter=100)
    plain = clone(model).fit(X, Y)
    assert not hasattr(plain, "classes_")
    model.set_params(use_labels=True)
    found = clone(model).fit(X, Y)
    np.testing.assert_array_equal(found.classes_, [0, 1, 2, 3])
    np.testing.assert_array_equal(found.transduction_[Y >= 0], Y[Y >= 0])
    assert (found.transduction_ == TRUTH)[Y < 0].mean() > 0.8
    assert (found.predict_classes(X[:50]) == TRUTH[:50]).mean() > 0.8
    np.testing.assert_array_equal(clone(model).fit_predict(X, Y), found.labels_)
    with pytest.raises(ValueError, match="requires y to be passed"):
        clone(model).fit(X)


def test_neighbours_can_be_found_approximately(monkeypatch):
    monkeypatch.setattr(neighbors, "LEAST_ROWS", 100)
    model = LocalCoordinateNMF(4, coordinate_strength=0.1, graph_strength=1.0, neighbors_method="approximate")
    assert model.set_params(max_iter=2, tol=0).fit(X).graph_method_ == "cells"


def test_cuts_take_no_labels():
    with pytest.raises(TypeError, match="use_labels"):
        NormalizedCut(use_labels=True)
