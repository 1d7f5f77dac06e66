"""A sum of terms as one objective: its parts, its gradient, and the measure of how far a point is from the best."""

import numpy as np
import pytest
from scipy.optimize import nnls

from partwise import NMF
from partwise.core.objective import Objective
from partwise.core.state import State
from partwise.core.storage import as_operand
from partwise.terms import L1, L2, BetaDivergence, Frobenius, Smoothness

RNG = np.random.RandomState(0)
X = RNG.uniform(0.1, 1, size=(10, 6))
W, HT = RNG.uniform(0.1, 1, size=(10, 3)), RNG.uniform(0.1, 1, size=(6, 3))
CHAIN = np.diag([1.0, *[2.0] * 8, 1.0]) - np.eye(10, k=1) - np.eye(10, k=-1)


def objective(*terms, data=X):
    return Objective([term.bind(as_operand(data)) for term in terms])


def at(W, Ht, data=X):
    return State(as_operand(data), W, Ht)


def test_values_by_name():
    values = objective(Frobenius(), L1(0.3), L2(2.0, "components"), Smoothness(CHAIN, 1.5)).values(at(W, HT))
    expected = [
        ((X - W @ HT.T) ** 2).sum(),
        0.3 * W.sum(),
        2.0 * (HT**2).sum(),
        1.5 * (np.diff(W, axis=0) ** 2).sum(),
    ]
    np.testing.assert_allclose(list(values.values()), expected)
    assert list(values)[:3] == ["fit", "l1 codes", "l2 components"]


def test_terms_of_one_name_are_told_apart():
    values = objective(Frobenius(), L1(1.0), L1(2.0), L1(3.0)).values(at(W, HT))
    assert list(values) == ["fit", "l1 codes", "l1 codes 2", "l1 codes 3"]
    assert values["l1 codes 3"] == pytest.approx(3 * values["l1 codes"])


SUMS = {
    "squared error": [Frobenius()],
    "penalised": [Frobenius(), L1(0.3), L2(0.2, "components"), Smoothness(CHAIN, 1.5)],
    "divergence": [BetaDivergence("kullback-leibler"), L2(0.5)],
}


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("factor", ["codes", "components"])
def test_gradient_by_finite_differences(name, factor):
    whole, state = objective(*SUMS[name]), at(W, HT)
    down, up = whole.split(state, factor).halves()
    F = state[factor]
    gradient = np.broadcast_to(np.asarray(up) - np.asarray(down), F.shape)

    def value(point):
        return sum(whole.values(state.replace(factor, point)).values())

    slopes = [(value(F + 1e-5 * e) - value(F - 1e-5 * e)) / 2e-5 for e in np.eye(F.size).reshape(-1, *F.shape)]
    np.testing.assert_allclose(gradient.ravel(), slopes, rtol=1e-5, atol=1e-5)


def test_a_term_of_one_factor_is_no_part_of_the_others_quadratic():
    whole = objective(Frobenius(), L2(0.5, "components"))
    assert len(whole.quadratics(at(W, HT), "codes")) == 1
    assert len(whole.quadratics(at(W, HT), "components")) == 2


def test_what_solvers_ask_about_the_terms():
    assert objective(Frobenius(), L1(1.0)).without_quadratic() == []
    assert objective(BetaDivergence(0.5), L1(1.0)).without_quadratic() == ["fit"]
    assert objective(BetaDivergence("kullback-leibler"), L1(1.0)).has_logarithms
    assert not objective(Frobenius(), L1(1.0)).has_logarithms


# --- how far from the best --------------------------------------------------------------------------------------------


def test_nothing_is_left_to_gain_at_a_stationary_point():
    model = NMF(3, l1_codes=0.2, scale=None, l2_components=0.1, tol=0, max_iter=3000, random_state=0).fit(X)
    whole = objective(Frobenius(), L1(0.2), L2(0.1, "components"))
    best = at(model.embedding_, np.ascontiguousarray(model.components_.T))
    assert whole.optimality(best) < 1e-9
    # Active bounds are part of it: some entries are zero and would like to be less.
    assert (model.embedding_ == 0).any()
    assert whole.optimality(at(model.embedding_ + 0.05, best.Ht)) > 1e-4


def test_both_factors_count():
    """The best codes for given components leave nothing to gain by the codes, but something by the components."""
    best = np.array([nnls(HT, x)[0] for x in X])
    whole = objective(Frobenius())
    assert whole.optimality(at(best, HT)) > 1e-3
    down, up = whole.split(at(best, HT), "codes").halves()
    gradient = np.asarray(up) - np.asarray(down)
    assert np.abs(best * gradient).max() < 1e-10
    assert gradient.min() > -1e-10


@pytest.mark.parametrize("unit", [2.0**-200, 2.0**200])
def test_the_measure_has_no_unit(unit):
    here = objective(Frobenius()).optimality(at(W, HT))
    there = objective(Frobenius(), data=unit * X).optimality(at(unit * W, HT, unit * X))
    assert there == pytest.approx(here, rel=1e-9)


def test_the_measure_does_not_depend_on_who_carries_the_scale():
    by = np.array([1e-6, 1.0, 1e6])
    whole = objective(Frobenius())
    assert whole.optimality(at(W * by, HT / by)) == pytest.approx(whole.optimality(at(W, HT)), rel=1e-9)


def test_the_measure_at_zero_is_zero():
    """Where both factors vanish the gradient does too, and there is no size to compare with."""
    assert objective(Frobenius()).optimality(at(np.zeros((10, 3)), np.zeros((6, 3)))) == 0


def test_a_component_that_vanished_says_nothing():
    """Unused, and on features that no other component has: it has no curvature by which a step could be measured."""
    two = HT[:, :2] * (np.arange(6) < 5)[:, None]
    three = np.column_stack([two, np.eye(6)[5]])
    whole = objective(Frobenius())
    expected = whole.optimality(at(W[:, :2], two))
    assert whole.optimality(at(W * [1, 1, 0], three)) == pytest.approx(expected, rel=1e-12)


WEIGHTED = RNG.uniform(0.5, 2.0, size=10)


@pytest.mark.parametrize("terms", [[Frobenius()], [Frobenius(), L1(0.3), L2(0.2)], [Frobenius(), Smoothness(CHAIN)]])
@pytest.mark.parametrize("weight", [None, WEIGHTED])
def test_the_measure_in_blocks_of_rows(terms, weight, monkeypatch):
    data = as_operand(X, None, weight)
    whole = Objective([term.bind(data, sample_weight=weight) for term in terms])
    expected = whole.optimality(State(data, W, HT))
    monkeypatch.setattr("partwise.core.objective.GAIN_ROWS", 3)
    assert whole.optimality(State(data, W, HT)) == pytest.approx(expected, rel=1e-12)
