"""What people look for on a fitted model: numbers of components, errors as scikit-learn has them, classes."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from cases import CASES, HOLES, SPARSE, X, Y, fit, small
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.decomposition import NMF as SklearnNMF
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, normalize

import partwise
from partwise import (
    NMF,
    ConstrainedNMF,
    ConvexNMF,
    Factorization,
    GraphNMF,
    LatentSemanticKMeans,
    LocalLearningClustering,
    NormalizedCut,
)
from partwise.terms import BetaDivergence, Frobenius, NeighborGraph

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::partwise.exceptions.DuplicateComponentsWarning"),
]


@pytest.mark.parametrize("case", CASES)
def test_every_fit_says_its_number_of_components_and_its_error(case):
    estimator, data = CASES[case]
    model = fit(small(estimator, max_iter=3), data)
    assert model.n_components_ == small(estimator).n_components == model.embedding_.shape[1]
    assert isinstance(model.reconstruction_err_, float)
    assert 0 < model.reconstruction_err_ < np.inf


@pytest.mark.parametrize("kind", [NormalizedCut, LocalLearningClustering, LatentSemanticKMeans])
def test_clusterers_say_their_number_of_components(kind):
    model = kind(3, random_state=0).fit(X)
    assert model.n_components_ == 3
    assert clone(model).set_params(n_components=4).fit(X).n_components_ == 4
    if kind is LatentSemanticKMeans:
        np.testing.assert_allclose(
            model.reconstruction_err_, np.linalg.norm(X - model.embedding_ @ model.components_), rtol=1e-8
        )
        scale = 2.0**600
        assert clone(model).fit(X * scale).reconstruction_err_ == pytest.approx(model.reconstruction_err_ * scale)


def test_the_number_of_components_that_was_chosen():
    model = NMF([2, 3, 5], max_iter=20, random_state=0).fit(X)
    assert model.n_components == [2, 3, 5]
    assert model.n_components_ == len(model.components_) == model.selection_.choice["n_components"]


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler", "itakura-saito", 0.5, 2.0])
def test_the_error_is_that_of_scikit_learn(loss):
    rng = np.random.RandomState(1)
    W, H = rng.uniform(size=(70, 4)), rng.uniform(size=(4, 15))
    ours = NMF(4, loss=loss, solver="multiplicative", init=(W, H), max_iter=5, tol=0).fit(X)
    theirs = SklearnNMF(4, beta_loss=loss, solver="mu", init="custom", max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs.fit_transform(X, W=W.copy(), H=H.copy())
    from sklearn.decomposition._nmf import _beta_divergence

    expected = _beta_divergence(X, ours.embedding_, ours.components_, loss, square_root=True)
    assert ours.reconstruction_err_ == pytest.approx(expected, rel=1e-8)
    assert theirs.reconstruction_err_ > 0


def test_the_error_of_scikit_learn_at_a_minimum():
    data = normalize(X)
    ours = NMF(3, tol=1e-9, max_iter=2000, random_state=0).fit(data)
    theirs = SklearnNMF(3, init="nndsvda", tol=1e-9, max_iter=5000, random_state=0).fit(data)
    assert ours.reconstruction_err_ == pytest.approx(theirs.reconstruction_err_, rel=0.02)


def test_the_error_counts_what_the_fit_counts():
    weight = np.arange(70) % 4 + 0.5
    model = NMF(4, l1_codes=0.1, random_state=0, max_iter=20).fit(X, sample_weight=weight)
    left = X - model.embedding_ @ model.components_
    assert model.reconstruction_err_ == pytest.approx(np.sqrt((weight[:, None] * left**2).sum()), rel=1e-8)
    model = NMF(4, missing="nan", random_state=0, max_iter=20).fit(HOLES)
    left = (HOLES - model.embedding_ @ model.components_)[~np.isnan(HOLES)]
    assert model.reconstruction_err_ == pytest.approx(np.linalg.norm(left), rel=1e-8)
    model = ConstrainedNMF(4, random_state=0, max_iter=20).fit(SPARSE, Y)
    left = SPARSE.toarray() - model.embedding_ @ model.components_
    assert model.reconstruction_err_ == pytest.approx(np.linalg.norm(left), rel=1e-8)
    model = ConvexNMF(4, random_state=0, max_iter=20).fit(X)
    assert model.reconstruction_err_ == pytest.approx(np.linalg.norm(X - model.embedding_ @ model.components_), 1e-8)


@pytest.mark.filterwarnings("ignore:The objective of data of this size")
@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
@pytest.mark.parametrize("scale", [4.0**150, 4.0**-150, 4.0**250])
def test_the_error_has_the_unit_of_the_data(loss, scale):
    """Also where the objective, its square, has no number."""
    model = NMF(4, loss=loss, random_state=0, max_iter=5)
    unit = scale if loss == "frobenius" else np.sqrt(scale)
    once, scaled = clone(model).fit(X), clone(model).fit(X * scale)
    assert scaled.reconstruction_err_ == pytest.approx(once.reconstruction_err_ * unit, rel=1e-6)


def test_no_error_without_one_fit():
    two = Factorization(3, terms=[Frobenius(), BetaDivergence(1.0)], max_iter=3, random_state=0).fit(X)
    with pytest.raises(AttributeError, match="2 fits among its terms"):
        _ = two.reconstruction_err_


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
