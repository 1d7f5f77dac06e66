"""ConstrainedNMF: one code per class, and the smaller problem that it is."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls

from partwise import NMF, ConstrainedNMF

RNG = np.random.RandomState(0)
X = RNG.gamma(1.0, size=(24, 4)) @ RNG.gamma(0.5, size=(4, 10)) + 0.1
Y = np.array([3, 3, 3, 3, 7, 7, 9, *[-1] * 17])
CLASSES = (3, 7, 9)
SIX = {"n_components": 3, "max_iter": 6, "tol": 0, "random_state": 0}


def means_and_sizes(X, y, weight=None):
    """Class means, then the unlabelled samples, with how much each counts."""
    weight = np.ones(len(X)) if weight is None else weight
    rows = [np.average(X[y == c], axis=0, weights=weight[y == c]) for c in CLASSES]
    return np.vstack([*rows, X[y < 0]]), np.r_[[weight[y == c].sum() for c in CLASSES], weight[y < 0]]


def divergence(X, Y, beta):
    if beta == 2:
        return (X - Y) ** 2
    if beta == 1:
        return X * np.log(X / Y) - X + Y
    if beta == 0:
        return X / Y - np.log(X / Y) - 1
    return (X**beta + (beta - 1) * Y**beta - beta * X * Y ** (beta - 1)) / (beta * (beta - 1))


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_samples_of_a_class_share_their_code_and_no_others_do(make):
    W = ConstrainedNMF(3, random_state=0).fit(make(X), Y).embedding_
    for label in CLASSES:
        own = W[label == Y]
        np.testing.assert_array_equal(own, np.broadcast_to(own[0], own.shape))
    assert len(np.unique(W, axis=0)) == 3 + 17


@pytest.mark.parametrize("weight", [None, RNG.uniform(0.5, 2, size=24)], ids=["plain", "weighted"])
@pytest.mark.parametrize("loss", [2, 1, 0, 0.5, 1.5, 3])
def test_the_objective_is_that_of_all_samples(loss, weight):
    """Not of the class means: what these leave out is the term "within classes"."""
    model = ConstrainedNMF(loss=loss, **SIX).fit(X, Y, sample_weight=weight)
    entries = divergence(X, model.embedding_ @ model.components_, loss)
    total = entries.sum() if weight is None else (weight @ entries).sum()
    assert model.objective_ == pytest.approx(total)
    assert set(model.history_) == {"objective", "fit", "within classes", "time"}
    assert len(set(model.history_["within classes"])) == 1
    assert model.reconstruction_err_ == pytest.approx(np.sqrt(total if loss == 2 else 2 * total))


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
def test_it_is_the_factorisation_of_the_class_means(loss):
    rng = np.random.RandomState(1)
    means, sizes = means_and_sizes(X, Y)
    H = rng.uniform(size=(3, 10))
    W = rng.uniform(size=(24, 3))
    start = means_and_sizes(W, Y)[0]
    settings = {"loss": loss, "scale": None, "max_iter": 8, "tol": 0}
    constrained = ConstrainedNMF(3, init=(W, H), **settings).fit(X, Y)
    smaller = NMF(3, init=(start, H), **settings).fit(means, sample_weight=sizes)
    np.testing.assert_allclose(constrained.components_, smaller.components_, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(constrained.embedding_[Y < 0], smaller.embedding_[3:], rtol=1e-8, atol=1e-12)
    within = np.array(constrained.history_["within classes"])
    np.testing.assert_allclose(constrained.history_["objective"], smaller.history_["objective"] + within)


def test_a_given_start_is_averaged_over_each_class():
    rng = np.random.RandomState(1)
    W, H = rng.uniform(size=(24, 3)), rng.uniform(size=(3, 10))
    given = W.copy()
    averaged = W.copy()
    for label in CLASSES:
        averaged[label == Y] = W[label == Y].mean(axis=0)
    model = ConstrainedNMF(3, init=(W, H), scale=None, max_iter=1, tol=0).fit(X, Y)
    assert model.history_["objective"][0] == pytest.approx(((X - averaged @ H) ** 2).sum())
    np.testing.assert_array_equal(W, given)


@pytest.mark.parametrize("y", [None, np.full(24, -1), np.where(np.arange(24) < 3, np.arange(24), -1)])
def test_without_two_samples_of_a_class_it_is_nmf(y):
    model, plain = ConstrainedNMF(**SIX).fit(X, y), NMF(**SIX).fit(X)
    np.testing.assert_allclose(model.embedding_, plain.embedding_, rtol=1e-9)
    assert model.objective_ == pytest.approx(plain.objective_)


def test_all_labels_known_leave_the_scatter_within_classes():
    """With as many components as classes every class mean can be met, and nothing more."""
    y = np.arange(24) % 3
    model = ConstrainedNMF(3, tol=1e-12, max_iter=5000, random_state=0).fit(X, y)
    scatter = sum(((X[y == c] - X[y == c].mean(axis=0)) ** 2).sum() for c in range(3))
    assert model.history_["within classes"][-1] == pytest.approx(scatter)
    assert model.objective_ == pytest.approx(scatter, rel=1e-4)
    np.testing.assert_array_equal(model.transduction_, y)


def test_weights_are_repetitions():
    rng = np.random.RandomState(1)
    weight = np.where(np.arange(24) % 5 == 0, 3, 1)
    # Starts differ between repeated and weighted samples, so both are given the same one.
    W, H = rng.uniform(size=(24, 3)), rng.uniform(size=(3, 10))
    for label in CLASSES:
        W[label == Y] = W[label == Y][0]
    repeated = np.repeat(np.arange(24), weight)
    settings = {"scale": None, "max_iter": 6, "tol": 0}
    weighted = ConstrainedNMF(3, init=(W, H), **settings).fit(X, Y, sample_weight=weight)
    # Unlabelled repetitions are separate samples with the same code.
    other = ConstrainedNMF(3, init=(W[repeated], H), **settings).fit(X[repeated], Y[repeated])
    np.testing.assert_allclose(weighted.components_, other.components_, rtol=1e-8)
    np.testing.assert_allclose(weighted.embedding_[repeated], other.embedding_, rtol=1e-8)
    assert weighted.objective_ == pytest.approx(other.objective_)


def test_classes_are_those_of_y_and_known_samples_keep_theirs():
    model = ConstrainedNMF(3, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.classes_, CLASSES)
    np.testing.assert_array_equal(model.transduction_[Y >= 0], Y[Y >= 0])
    assert set(model.transduction_) <= set(CLASSES)


def test_new_samples_are_coded_as_unlabelled_ones():
    """Each by itself, by non-negative least squares."""
    rng = np.random.RandomState(1)
    model = ConstrainedNMF(3, random_state=0).fit(X, Y)
    new = rng.gamma(1.0, size=(5, 10))
    expected = [nnls(model.components_.T, x)[0] for x in new]
    np.testing.assert_allclose(model.transform(new), expected, rtol=1e-4, atol=1e-6)


def test_samples_that_do_not_count_are_coded_as_new_ones():
    """Groups, not samples, are what is factored: rows of the one must not be taken for rows of the other."""
    rng = np.random.RandomState(0)
    data, classes = rng.uniform(size=(40, 8)), np.where(np.arange(40) < 20, np.arange(40) % 3, -1)
    weight = np.ones(40)
    weight[[25, 35]] = 0
    model = ConstrainedNMF(3, random_state=0).fit(data, classes, weight)
    np.testing.assert_allclose(model.embedding_[[25, 35]], model.transform(data[[25, 35]]), rtol=1e-9)
