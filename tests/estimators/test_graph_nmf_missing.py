"""GraphNMF with missing entries."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from partwise import NMF, GraphNMF
from partwise.graphs import shared_neighbors
from partwise.metrics import clustering_accuracy

pytestmark = pytest.mark.filterwarnings("ignore:.* components are distinct")
DIGITS, Y = (part[:600] for part in load_digits(return_X_y=True))
HOLES = np.where(np.random.RandomState(0).uniform(size=DIGITS.shape) < 0.3, np.nan, DIGITS)
RUN = {"graph_strength": 10.0, "random_state": 0, "missing": "nan"}


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
def test_the_graph_is_what_it_says(loss):
    model = GraphNMF(10, loss=loss, **RUN).fit(HOLES)
    assert model.graph_method_ == "shared"
    assert model.solver_ == ("coordinate" if loss == "frobenius" else "newton")
    links = shared_neighbors(HOLES, 5)
    given = GraphNMF(10, loss=loss, graph=links.maximum(links.T), **RUN).fit(HOLES)
    np.testing.assert_array_equal(given.embedding_, model.embedding_)


def test_the_graph_helps():
    with_graph, without = GraphNMF(10, **RUN).fit(HOLES), NMF(10, missing="nan", random_state=0).fit(HOLES)
    assert clustering_accuracy(Y, with_graph.labels_) > clustering_accuracy(Y, without.labels_)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_new_samples_are_linked_by_what_is_shared(make):
    model = GraphNMF(10, max_iter=30, tol=0, **RUN).fit(make(HOLES[:500]))
    new = make(HOLES[500:520])
    codes = model.transform(new)
    one_by_one = np.vstack([model.transform(new[i : i + 1]) for i in range(20)])
    np.testing.assert_allclose(codes, one_by_one, rtol=1e-6, atol=1e-6 * codes.max())
    # The minimum of ‖x − w H‖² over what is known + λ Σ_t ‖w − w_t‖² over the neighbours.
    links = shared_neighbors(HOLES[500:520], 5, X_train=HOLES[:500], missing_train="nan").toarray()
    H, known = model.components_, ~np.isnan(HOLES[500:520])
    residual = np.where(known, np.nan_to_num(HOLES[500:520]) - codes @ H, 0)
    gradient = -residual @ H.T + 10.0 * (links.sum(axis=1)[:, None] * codes - links @ model.embedding_)
    assert gradient.min() > -1e-6 * np.abs(HOLES[known.any()]).size
    assert np.abs(gradient * codes).max() < 1e-6 * np.nansum(HOLES[500:520] ** 2)
    assert model.score(new) < 0
    assert model.predict(new).shape == (20,)
    full = model.transform(DIGITS[500:520])
    assert np.isfinite(full).all()


def test_an_unknown_sample_is_as_its_neighbours_in_a_given_graph():
    holes = HOLES[:100].copy()
    holes[7] = np.nan
    chain = sp.diags_array([np.ones(99)] * 2, offsets=[-1, 1], shape=(100, 100), format="csr")
    with pytest.warns(UserWarning, match="Nothing is observed of 1 sample"):
        model = GraphNMF(4, graph=chain, **RUN).fit(holes)
    between = (model.embedding_[6] + model.embedding_[8]) / 2
    np.testing.assert_allclose(model.embedding_[7], between, atol=1e-4 * between.max())


def test_the_strength_is_the_default_where_none_is_given():
    run = {"max_iter": 20, "tol": 0, "random_state": 0, "missing": "nan"}
    model = GraphNMF(4, **run).fit(HOLES)
    assert model.selection_.choice == {"graph_strength": 10.0}
    assert "nothing to compare" in str(model.selection_)
    np.testing.assert_array_equal(model.embedding_, GraphNMF(4, graph_strength=10.0, **run).fit(HOLES).embedding_)
    both = GraphNMF([2, 4], **run).fit(HOLES[:200])
    assert both.selection_.choice["graph_strength"] == 10.0
    assert both.selection_.paths[0].decided_by == ("prediction",)


def test_what_is_not_possible_is_refused():
    with pytest.raises(ValueError, match=r"'heat' was given with missing entries.*edge_weights='binary'"):
        GraphNMF(4, edge_weights="heat", **RUN).fit(HOLES)
    with pytest.raises(ValueError, match="graph_strength cannot be chosen from data with missing or weighted entries"):
        GraphNMF(4, graph_strength=[1, 10], missing="nan").fit(HOLES)
    few = np.where(np.random.RandomState(0).uniform(size=(50, 40)) < 0.95, np.nan, 1.0)
    few[:, 0] = 1.0
    with pytest.raises(ValueError, match="samples share too few known features with any other"):
        GraphNMF(4, **RUN).fit(few)


def test_a_model_with_missing_entries_can_be_saved(tmp_path):
    from partwise import load

    model = GraphNMF(4, max_iter=5, tol=0, **RUN).fit(HOLES[:100])
    model.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.transform(HOLES[100:110]), model.transform(HOLES[100:110]))
