"""Bad input gets a clear error before any work."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from partwise import NMF, ConstrainedNMF, Factorization, GraphNMF
from partwise.terms import L1, BetaDivergence, Frobenius, LocalLearning, Smoothness

ESTIMATORS = [NMF(), GraphNMF(), ConstrainedNMF(), Factorization()]
X = np.random.RandomState(0).uniform(size=(12, 6))


def with_entry(value):
    broken = X.copy()
    broken[3, 2] = value
    return broken


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (with_entry(np.nan), "NaN"),
        (with_entry(np.inf), "infinity"),
        (with_entry(-1e-3), "Negative values in data passed to"),
        (np.empty((0, 6)), "0 sample"),
        (np.empty((6, 0)), "0 feature"),
    ],
)
def test_bad_data(estimator, make, data, message):
    with pytest.raises(ValueError, match=message):
        clone(estimator).fit(make(data))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components"),
        ({"n_components": 2.0}, "n_components"),
        ({"n_components": 10**12}, "GiB"),
        ({"tol": -1.0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"n_init": 0}, "n_init"),
        ({"solver": "newton"}, "solver"),
        ({"init": "ones"}, "init"),
        ({"init": (np.ones((12, 3)),)}, "pair of arrays"),
        ({"init": (np.ones((11, 3)), np.ones((3, 6)))}, r"W has shape \(11, 3\)"),
        ({"init": (np.ones((12, 3)), np.ones((3, 5)))}, r"H has shape \(3, 5\)"),
        ({"init": (np.ones((12, 3)), -np.ones((3, 6)))}, "non-negative"),
        ({"init": (np.ones((12, 3)), np.ones((3, 6))), "n_init": 2}, "must be 1"),
        ({"init": "kmeans", "n_components": 13}, "at least n_components"),
        ({"assign": "vote"}, "assign"),
        ({"scale": "codes"}, "scale"),
    ],
)
@pytest.mark.filterwarnings("ignore:n_components=13:UserWarning")
def test_bad_parameters(estimator, parameters, message):
    with pytest.raises(ValueError, match=message):
        clone(estimator).set_params(n_components=3).set_params(**parameters).fit(X)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(11), "one weight each"),
        (-np.ones(12), "non-negative"),
        (np.full(12, np.nan), "finite"),
        (np.zeros(12), "at least one"),
        (np.array(["a"] * 12), "numbers"),
        (np.full(12, 1e300), "must lie between 1e-154 and 1e.154"),
        (np.full(12, 1e-300), "must lie between 1e-154 and 1e.154"),
    ],
)
def test_bad_sample_weight(estimator, weight, message):
    with pytest.raises(ValueError, match=message):
        clone(estimator).set_params(n_components=3).fit(X, sample_weight=weight)


@pytest.mark.parametrize("name", ["graph_strength", "l1_codes", "l2_components"])
@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, "much"])
def test_bad_strength(name, value):
    estimator = GraphNMF(3, graph_strength=value) if name == "graph_strength" else NMF(3, **{name: value})
    with pytest.raises(ValueError, match=name):
        estimator.fit(X)
    if not isinstance(value, str):
        with pytest.raises(ValueError, match="finite number"):
            Factorization(3, terms=[Frobenius(), L1(value)]).fit(X)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros(11), "11 labels"),
        (np.linspace(0, 1, 12), "Unknown label type"),
        (np.full(12, np.nan), "Unknown label type"),
        (np.array(["a"] * 12), "object array"),
    ],
)
@pytest.mark.parametrize("estimator", [ConstrainedNMF(3), GraphNMF(3, use_labels=True)], ids=["CNMF", "SemiGNMF"])
def test_bad_labels(estimator, y, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, y)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (np.ones((11, 11)), "shape"),
        (np.triu(np.ones((12, 12))), "symmetric"),
        (-np.ones((12, 12)), "negative"),
        (np.full((12, 12), np.nan), "NaN"),
        (lambda X: np.ones((3, 3)), "shape"),
    ],
)
def test_bad_graph(graph, message):
    with pytest.raises(ValueError, match=message):
        GraphNMF(3, graph=graph).fit(X)


@pytest.mark.parametrize(
    ("S", "message"),
    [
        (sp.csr_array((5, 5)), "shape"),
        (sp.csr_array(np.diag([1.0] * 11, 1)), "symmetric"),
        (sp.csr_array(np.diag([-1.0] * 12)), "not positive semidefinite"),
        (sp.csr_array(1 - np.eye(12)), "not positive semidefinite"),
        (sp.csr_array(0.1 * np.eye(12) - np.ones((12, 12))), "not positive semidefinite"),
    ],
)
def test_bad_smoothness(S, message):
    with pytest.raises(ValueError, match=message):
        Factorization(3, terms=[Frobenius(), Smoothness(S)]).fit(X)


@pytest.mark.parametrize(
    ("term", "message"),
    [
        (Frobenius(np.ones((3, 3))), "They must agree"),
        (Frobenius(-np.ones(X.shape)), "non-negative"),
        (Frobenius(np.array([["a"] * 6] * 12)), "numbers"),
        (BetaDivergence("cauchy"), "unknown"),
        (L1(1.0, "rows"), "'codes' or 'components'"),
    ],
)
def test_bad_terms(term, message):
    with pytest.raises(ValueError, match=message):
        Factorization(3, terms=[term]).fit(X)


def test_things_that_do_not_go_together():
    with pytest.raises(ValueError, match="not compatible with the term 'fit'"):
        NMF(3, loss="kullback-leibler", solver="coordinate").fit(X)
    with pytest.raises(ValueError, match="penalised themselves"):
        NMF(3, l2_components=1.0, scale="components").fit(X)
    with pytest.raises(ValueError, match="infinite where X is zero"):
        NMF(3, loss="itakura-saito").fit(with_entry(0.0))
    with pytest.raises(ValueError, match="needs a sparse X"):
        NMF(3, missing="unstored").fit(X)
    with pytest.raises(ValueError, match="needs complete data"):
        NMF(3, missing="nan", init="kmeans").fit(with_entry(np.nan))
    with pytest.raises(ValueError, match="missing entries"):
        Factorization(3, terms=[Frobenius(), LocalLearning(1.0)], missing="nan").fit(with_entry(np.nan))
    with pytest.raises(ValueError, match="terms is empty"):
        Factorization(3, terms=[]).fit(X)
    with pytest.raises(TypeError, match=r"partwise.terms.Term"):
        Factorization(3, terms=["frobenius"]).fit(X)
    with pytest.raises(TypeError, match="callbacks"):
        NMF(3, callbacks=[3]).fit(X)
    with pytest.raises(TypeError, match="masked"):
        NMF(3).fit(np.ma.masked_less(X, 0.5))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_misuse_after_and_before_fit(estimator):
    with pytest.raises(NotFittedError):
        clone(estimator).transform(X)
    with pytest.raises(NotFittedError):
        _ = clone(estimator).labels_
    model = clone(estimator).set_params(n_components=3).fit(X)
    with pytest.raises(ValueError, match="features"):
        model.transform(X[:, :4])
    with pytest.raises(ValueError, match="3 components"):
        model.inverse_transform(np.ones((2, 4)))


@pytest.mark.parametrize(
    ("indices", "indptr"),
    [([0, 9, 1], [0, 2, 3]), ([0, -1, 1], [0, 2, 3]), ([0, 1, 1], [0, 3, 2])],
    ids=["out of range", "negative", "decreasing"],
)
def test_broken_sparse_structure(indices, indptr):
    broken = sp.csr_matrix((2, 3))
    broken.data, broken.indices, broken.indptr = np.ones(3), np.array(indices, np.int32), np.array(indptr, np.int32)
    with pytest.raises(ValueError, match="broken"):
        NMF(1).fit(broken)


@pytest.mark.parametrize(
    "model", [NMF(True), GraphNMF(3, graph_strength=True), ConstrainedNMF(3, max_iter=True)], ids=repr
)
def test_true_is_no_number(model):
    with pytest.raises(ValueError, match=r"must be a number\. Got True instead"):
        model.fit(np.ones((5, 4)))
