"""Classes that labels give to a fit: of its samples and of new ones."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from cases import X, Y, fit
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import partwise
from partwise import (
    NMF,
    ConstrainedNMF,
    Factorization,
    GraphNMF,
)
from partwise.terms import Frobenius, NeighborGraph

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::partwise.exceptions.DuplicateComponentsWarning"),
]


LABELLED = {
    "ConstrainedNMF": ConstrainedNMF(4, random_state=0, max_iter=30),
    "GraphNMF": GraphNMF(4, graph_strength=10.0, use_labels=True, random_state=0, max_iter=30),
    "Factorization": Factorization(
        4, terms=[Frobenius(), NeighborGraph(10.0, use_labels=True)], random_state=0, max_iter=30
    ),
}
by_name = pytest.mark.parametrize("name", LABELLED)
NAMES = np.array(["ant", "bee", "cow"], dtype=object)
TARGETS = {
    "integers": Y,
    "a list": Y.tolist(),
    "floats": np.where(Y >= 0, Y * 2.0, -1),
    "small integers": Y.astype(np.int8),
    "names": np.where(Y >= 0, NAMES[Y], -1),
    "names and numbers": np.where(Y == 2, "cow", Y.astype(object)),
}


@by_name
@pytest.mark.parametrize("target", TARGETS)
def test_classes(name, target, tmp_path):
    y = TARGETS[target]
    model = fit(LABELLED[name], X, y=y)
    y = np.asarray(y, dtype=object)
    known = Y >= 0
    assert list(model.classes_) == sorted({*y[known]}, key=lambda label: (isinstance(label, str), label))
    assert model.classes_.dtype == (object if "names" in target else np.asarray(TARGETS[target]).dtype)
    assert model.transduction_.shape == (70,)
    assert model.transduction_.dtype == model.classes_.dtype
    assert list(model.transduction_[known]) == list(y[known])
    assert {*model.transduction_} <= {*model.classes_}
    new = model.predict_classes(sp.csr_array(X[:7]))
    assert new.dtype == model.classes_.dtype
    assert {*new} <= {*model.classes_}
    # Clusters are numbers whatever the classes are.
    assert model.predict(X[:7]).dtype == model.labels_.dtype == np.intp
    model.save(tmp_path / "model.npz")
    for other in (partwise.load(tmp_path / "model.npz"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.classes_, model.classes_, strict=True)
        np.testing.assert_array_equal(other.transduction_, model.transduction_, strict=True)
        np.testing.assert_array_equal(other.predict_classes(X[:7]), model.predict_classes(X[:7]), strict=True)
    assert not hasattr(clone(model), "classes_")


@by_name
def test_classes_do_not_depend_on_the_unit_or_on_what_is_done_to_the_codes(name):
    model = fit(LABELLED[name], X)
    expected, found = model.transduction_, model.predict_classes(X)
    huge = clone(LABELLED[name])
    if name != "Factorization":
        huge = fit(huge, X * 4.0**200)
        np.testing.assert_array_equal(huge.transduction_, expected)
        np.testing.assert_array_equal(huge.predict_classes(X * 4.0**200), found)
    model.classes_[:] = 7
    np.testing.assert_array_equal(model.predict_classes(X), found)


@by_name
def test_without_labels_there_are_no_classes(name):
    model = fit(LABELLED[name], X, y=np.full(70, -1))
    for attribute in ("classes_", "transduction_"):
        assert not hasattr(model, attribute)
    with pytest.raises(AttributeError, match="fitted without labels"):
        model.predict_classes(X)


def test_a_fit_without_labels_forgets_those_of_the_last_one():
    model = GraphNMF(4, graph_strength=10.0, use_labels=True, random_state=0, max_iter=10).fit(X, Y)
    assert hasattr(model, "classes_")
    model.set_params(use_labels=False).fit(X, Y)
    with pytest.raises(AttributeError, match=r"Fit it with y and use_labels=True"):
        _ = model.classes_
    assert not hasattr(NMF(2), "predict_classes")


@pytest.mark.parametrize("name", ["GraphNMF", "Factorization"])
@pytest.mark.parametrize("method", ["fit", "fit_predict", "fit_transform"])
def test_use_labels_needs_labels(name, method):
    with pytest.raises(ValueError, match=r"use_labels=True was given.* −1 where it is unknown"):
        getattr(clone(LABELLED[name]), method)(X)


def test_labels_are_optional_where_they_are_not_asked_for():
    without = ConstrainedNMF(4, random_state=0, max_iter=10).fit(X)
    np.testing.assert_array_equal(without.embedding_, NMF(4, random_state=0, max_iter=10).fit(X).embedding_)


@pytest.mark.parametrize(
    ("model", "least"),
    [
        (ConstrainedNMF(20, random_state=0, max_iter=100), 0.75),
        (GraphNMF(10, graph_strength=10.0, use_labels=True, random_state=0, max_iter=100), 0.85),
    ],
    ids=["ConstrainedNMF", "GraphNMF"],
)
def test_few_labels_are_enough_for_digits(model, least):
    data, y = load_digits(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(y))
    data, y = data[order], y[order]
    few = np.where(np.arange(1000) < 100, y[:1000], -1)
    model = model.fit(data[:1000], few)
    assert np.mean(model.transduction_[100:] == y[100:1000]) > least
    assert np.mean(model.predict_classes(data[1000:]) == y[1000:]) > least


def test_labels_in_a_cross_validation():
    """Folds get their part of y."""
    model = make_pipeline(FunctionTransformer(), LABELLED["GraphNMF"])
    scores = cross_validate(model, X, np.where(Y >= 0, Y, np.arange(70) % 3), cv=2, error_score="raise")
    assert np.isfinite(scores["test_score"]).all()
