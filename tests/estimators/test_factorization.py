"""Factorization: the methods it can spell out, sums that no method has, and sums that are none."""

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import clone

from partwise import NMF, Factorization, GraphNMF, LocalCoordinateNMF, LocalLearningNMF
from partwise.core.term import Term
from partwise.terms import L1, L2, BetaDivergence, Frobenius, LocalCoordinates, LocalLearning, NeighborGraph, Smoothness

RNG = np.random.RandomState(0)
X = RNG.gamma(1.0, size=(30, 4)) @ RNG.gamma(0.5, size=(4, 12)) + 0.1
Y = np.array([0, 0, 0, 1, 1, 2, *[-1] * 24])
TEN = {"max_iter": 10, "tol": 0, "random_state": 0}
SPELLED = {
    "NMF": (NMF(3), None),
    "NMF with penalties": (NMF(3, l1_codes=0.3, l2_components=0.2), [Frobenius(), L1(0.3), L2(0.2, "components")]),
    "NMF by counts": (NMF(3, loss="kullback-leibler"), [BetaDivergence("kullback-leibler")]),
    "GraphNMF": (GraphNMF(3, graph_strength=2.0), [Frobenius(), NeighborGraph(2.0)]),
    "SemiGNMF": (GraphNMF(3, graph_strength=2.0, use_labels=True), [Frobenius(), NeighborGraph(2.0, use_labels=True)]),
    "LLNMF": (LocalLearningNMF(3, local_strength=2.0, init="nndsvda"), [Frobenius(), LocalLearning(2.0)]),
    "NLCF": (LocalCoordinateNMF(3, coordinate_strength=0.1), [Frobenius(), LocalCoordinates(0.1)]),
}


@pytest.mark.parametrize("name", SPELLED)
def test_a_method_is_its_terms(name):
    method, terms = SPELLED[name]
    init = method.init if isinstance(method.init, str) else "auto"
    if name == "NLCF":
        # A method may have its own start.
        init = "random"
        method = clone(method).set_params(init=init)
    named = clone(method).set_params(**TEN).fit(X, Y)
    spelled = Factorization(3, terms=terms, init=init, **TEN).fit(X, Y)
    np.testing.assert_allclose(spelled.embedding_, named.embedding_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(spelled.components_, named.components_, rtol=1e-9, atol=1e-12)
    assert spelled.history_.keys() == named.history_.keys()
    np.testing.assert_allclose(spelled.transform(X[:5]), named.transform(X[:5]), rtol=1e-6, atol=1e-9)


def test_a_sum_that_no_method_has():
    """Counts, an order of the samples, and sparse codes, where components have unit norm."""
    steps = np.diff(np.eye(30), axis=0)
    terms = [BetaDivergence("kullback-leibler"), Smoothness(steps.T @ steps, 0.5), L1(0.2)]
    model = Factorization(3, terms=terms, **TEN).fit(X)
    W, H = model.embedding_, model.components_
    fit = (X * np.log(X / (W @ H)) - X + W @ H).sum()
    assert model.objective_ == pytest.approx(fit + 0.5 * (np.diff(W, axis=0) ** 2).sum() + 0.2 * W.sum())
    np.testing.assert_allclose(np.linalg.norm(H, axis=1), 1)


def test_the_order_of_the_terms_does_not_matter():
    terms = [Frobenius(), NeighborGraph(2.0), L1(0.2)]
    one, other = (Factorization(3, terms=sum_, **TEN).fit(X) for sum_ in (terms, terms[::-1]))
    np.testing.assert_allclose(one.embedding_, other.embedding_, rtol=1e-7, atol=1e-10)


def test_labels_are_used_if_a_term_asks_for_them():
    graph = [Frobenius(), NeighborGraph(2.0)]
    plain, ignored = (Factorization(3, terms=graph, **TEN).fit(X, y) for y in (None, Y))
    np.testing.assert_array_equal(plain.embedding_, ignored.embedding_)
    assert not hasattr(ignored, "classes_")
    used = Factorization(3, terms=[Frobenius(), NeighborGraph(2.0, use_labels=True)], **TEN).fit(X, Y)
    np.testing.assert_array_equal(used.classes_, [0, 1, 2])


def test_missing_entries():
    holes = np.where(np.random.RandomState(1).uniform(size=X.shape) < 0.2, np.nan, X)
    model = Factorization(3, terms=[Frobenius(), L2(0.1)], missing="nan", **TEN).fit(holes)
    left = np.nansum((holes - model.embedding_ @ model.components_) ** 2)
    assert model.objective_ == pytest.approx(left + 0.1 * (model.embedding_**2).sum())


def test_a_term_is_bound_once_per_fit_to_the_data_of_that_fit():
    seen = []

    @dataclass(frozen=True)
    class Watched(Term):
        def bind(self, X, y=None, rng=None, sample_weight=None):
            seen.append((X.shape, sample_weight is not None))
            return Frobenius().bind(X, y, rng, sample_weight)

    model = Factorization(3, terms=[Watched()], **TEN)
    model.fit(X)
    model.fit(X[:20], sample_weight=np.ones(20))
    assert seen == [((30, 12), False), ((20, 12), True)]


@pytest.mark.parametrize(
    ("terms", "error", "message"),
    [
        ([], ValueError, "terms is empty"),
        ([Frobenius(), 3.0], TypeError, "terms holds 3.0"),
        ([Frobenius], TypeError, "every element must be a partwise.terms.Term"),
        ("frobenius", ValueError, "terms"),
    ],
)
def test_what_is_no_sum_of_terms(terms, error, message):
    with pytest.raises(error, match=message):
        Factorization(3, terms=terms).fit(X)


SIGNED = RNG.gamma(1.0, size=(30, 3)) @ RNG.standard_normal((3, 12)) + 0.1 * RNG.standard_normal((30, 12))
DOMAINS = {
    "free components": ({"components": "free"}, SIGNED),
    "free codes": ({"codes": "free"}, SIGNED),
    "simplex codes": ({"codes": "simplex"}, X),
    "simplex codes and free components": ({"codes": "simplex", "components": "free"}, SIGNED),
    "one entry": ({"codes": "one-entry"}, X),
    "unit norm": ({"components": "unit-norm"}, X),
}


@pytest.mark.parametrize("case", DOMAINS)
def test_new_samples_are_coded_in_the_domain_each_for_itself(case):
    """The codes of training samples come back, and those of one sample do not depend on the others."""
    domains, data = DOMAINS[case]
    model = Factorization(3, random_state=0, max_iter=300, tol=0, **domains).fit(data)
    codes = model.transform(data)
    np.testing.assert_allclose(codes[4:6], model.transform(data[4:6]), atol=1e-9 * abs(codes).max())
    H = model.components_
    losses = [((data - W @ H) ** 2).sum() for W in (codes, model.embedding_)]
    assert losses[0] <= losses[1] * (1 + 1e-6)
    match domains.get("codes"):
        case "simplex":
            assert (codes >= 0).all()
            np.testing.assert_allclose(codes.sum(axis=1), 1, atol=1e-9)
        case "one-entry":
            assert ((codes > 0).sum(axis=1) <= 1).all()


def test_components_of_unit_norm_are_those_of_the_gauge():
    terms = [Frobenius(), NeighborGraph(2.0)]
    asked = Factorization(3, terms=terms, components="unit-norm", random_state=0).fit(X)
    gauged = Factorization(3, terms=terms, scale="components", random_state=0).fit(X)
    np.testing.assert_array_equal(asked.components_, gauged.components_)
    assert asked.scale_ == "components"
    np.testing.assert_allclose(np.linalg.norm(asked.components_, axis=1), 1)


def test_penalties_beside_components_of_unit_norm():
    """An ℓ1 penalty on components that cannot shrink makes them sparse."""
    plain, sparse = (
        Factorization(3, terms=[Frobenius(), L1(s, "components")], components="unit-norm", random_state=0).fit(X)
        for s in (0.0, 60.0)
    )
    np.testing.assert_allclose(np.linalg.norm(sparse.components_, axis=1), 1)
    assert abs(sparse.components_).sum() < abs(plain.components_).sum()


def test_the_scale_is_settled_by_codes_that_sum_to_one():
    with pytest.raises(ValueError, match="scale is settled by the codes"):
        Factorization(3, codes="simplex", scale="components").fit(X)
    assert Factorization(3, codes="simplex", max_iter=5, tol=0).fit(X).scale_ is None


def test_only_factors_of_either_sign_take_data_of_either_sign():
    with pytest.raises(ValueError, match="Negative values"):
        Factorization(3, codes="simplex").fit(SIGNED)
    with pytest.raises(ValueError, match="has no start of either sign"):
        Factorization(3, components="free", init="nndsvd").fit(SIGNED)
    with pytest.raises(ValueError, match="codes"):
        Factorization(3, codes="cube").fit(X)


def test_codes_with_one_entry_need_complete_samples():
    model = Factorization(3, codes="one-entry", missing="nan", random_state=0).fit(X)
    hole = X[:2].copy()
    hole[0, 0] = np.nan
    with pytest.raises(ValueError, match="all entries known"):
        model.transform(hole)
