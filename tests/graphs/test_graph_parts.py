"""The graph of all samples in fits to some of them."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import normalize

import partwise
from partwise import GraphNMF
from partwise.graphs import SampleGraph, neighbor_graph
from partwise.selection import get_scorer

X = load_digits(n_class=3).data[:120]
EDGES = neighbor_graph(X, 6, "cosine", "cosine")
GRAPH = SampleGraph(X, EDGES)
ROWS = np.random.RandomState(0).permutation(120)[:70]
MODEL = GraphNMF(3, graph=GRAPH, graph_strength=10.0, max_iter=30, tol=0, random_state=0)


@pytest.mark.parametrize("whole", [np.asarray, sp.csr_matrix, lambda X: X.astype(np.uint8), lambda X: sp.coo_array(X)])
@pytest.mark.parametrize("part", [np.asfortranarray, sp.csc_array, lambda X: X.astype(np.float32)])
def test_rows_are_found_by_their_values(whole, part):
    found = SampleGraph(whole(X), EDGES)(part(X[ROWS]))
    np.testing.assert_array_equal(found.toarray(), EDGES.toarray()[np.ix_(ROWS, ROWS)])


def test_equal_samples_take_their_rows_in_order():
    twice = np.vstack([X[:3], X[:3]])
    edges = np.arange(36.0).reshape(6, 6)
    edges += edges.T
    np.fill_diagonal(edges, 0)
    graph = SampleGraph(twice, edges)
    np.testing.assert_array_equal(graph(twice).toarray(), edges)
    # A bootstrap may hold a sample more often than there are such.
    again = graph(twice[[0, 0, 0]]).toarray()
    assert again[0, 1] == edges[0, 3]


@pytest.mark.filterwarnings("ignore:The graph of the samples falls into")
def test_a_search_uses_the_links_of_each_fold():
    search = GridSearchCV(
        MODEL, {"graph_strength": [0.1, 100.0]}, scoring=get_scorer("connectedness"), cv=3, error_score="raise"
    ).fit(X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    direct = clone(MODEL).set_params(graph=EDGES[ROWS][:, ROWS]).fit(X[ROWS])
    np.testing.assert_array_equal(clone(MODEL).fit(X[ROWS]).embedding_, direct.embedding_)


def test_a_matrix_in_a_search_fails_with_a_sentence_that_says_what_to_give():
    search = GridSearchCV(clone(MODEL).set_params(graph=EDGES), {"graph_strength": [1.0]}, cv=3)
    with pytest.raises(ValueError, match=r"partwise\.graphs\.SampleGraph\(X, graph\)"):
        search.fit(X)


def test_one_failing_fold_warns_with_our_sentence():
    sizes = [(np.arange(120), np.arange(30)), (np.arange(60), np.arange(60, 120))]
    with pytest.warns(FitFailedWarning, match=r"partwise\.graphs\.SampleGraph\(X, graph\)"):
        scores = cross_val_score(clone(MODEL).set_params(graph=EDGES), X, cv=sizes)
    assert np.isfinite(scores[0])
    assert np.isnan(scores[1])


def test_samples_that_it_does_not_know_are_refused():
    with pytest.raises(ValueError, match=r"2 of 3 samples are not among the 120.*steps of a pipeline"):
        GRAPH(np.vstack([X[:1], X[1:3] + 1]))
    with pytest.raises(ValueError, match="steps of a pipeline"):
        clone(MODEL).fit(normalize(X))


def test_it_travels_with_the_model(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert clone(MODEL).graph is GRAPH
        assert (pickle.loads(pickle.dumps(GRAPH))(X[ROWS]) != GRAPH(X[ROWS])).nnz == 0
    model = clone(MODEL).fit(X)
    model.save(tmp_path / "model.npz")
    loaded = partwise.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.transform(X[:4]), model.transform(X[:4]))
    assert (loaded.graph(X[ROWS]) != GRAPH(X[ROWS])).nnz == 0
    assert repr(GRAPH).startswith("SampleGraph(120 samples")
