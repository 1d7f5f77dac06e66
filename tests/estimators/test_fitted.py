"""What people look for on a fitted model: numbers of components, and errors as scikit-learn has them."""

import warnings

import numpy as np
import pytest
from cases import CASES, HOLES, SPARSE, X, Y, fit, small
from sklearn.base import clone
from sklearn.decomposition import NMF as SklearnNMF
from sklearn.preprocessing import normalize

from partwise import (
    NMF,
    ConstrainedNMF,
    ConvexNMF,
    Factorization,
    LatentSemanticKMeans,
    LocalLearningClustering,
    NormalizedCut,
)
from partwise.terms import BetaDivergence, Frobenius

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::partwise.exceptions.DuplicateComponentsWarning"),
]


@pytest.mark.parametrize("case", CASES)
def test_every_fit_says_its_number_of_components_and_its_error(case):
    estimator, data = CASES[case]
    model = fit(small(estimator, max_iter=3), data)
    of_groups = 2 if case.startswith("GroupNMF") else 0
    assert model.n_components_ == small(estimator).n_components + of_groups == model.embedding_.shape[1]
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
