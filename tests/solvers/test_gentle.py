"""Multiplicative sweeps that go further: they fall, as far as several ordinary ones, and keep what those get right."""

import numpy as np
import pytest

from partwise import NMF
from partwise.core.objective import Objective
from partwise.core.state import State
from partwise.core.storage import as_operand
from partwise.core.types import CODES
from partwise.solvers.gentle import Gentle, Hastened
from partwise.solvers.multiplicative import Multiplicative
from partwise.solvers.point import Point
from partwise.solvers.steps import answered
from partwise.terms import L1, L2, BetaDivergence, NeighborGraph

RNG = np.random.RandomState(0)
X = RNG.poisson(3 * RNG.gamma(0.6, size=(60, 4)) @ RNG.gamma(0.6, size=(4, 25))).astype(float) + np.eye(60, 25)
START = RNG.uniform(0.1, 1, size=(60, 4)), RNG.uniform(0.1, 1, size=(4, 25))
KULLBACK = BetaDivergence("kullback-leibler")


def begun(terms=(KULLBACK,), dtype=np.float64):
    """An objective, and where its fit begins."""
    operand = as_operand(X.astype(dtype), None)
    objective = Objective([term.bind(operand) for term in terms])
    W, H = (F.astype(dtype) for F in START)
    return objective, State(operand, W, np.ascontiguousarray(H.T))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("terms", [(), (L1(0.3), L2(0.2)), (NeighborGraph(1.0),)], ids=["plain", "penalties", "graph"])
def test_a_sweep_goes_further_than_an_ordinary_one(terms, dtype):
    objective, state = begun((KULLBACK, *terms), dtype)
    rules, gentle = Multiplicative(objective), Gentle(objective)
    plain = further = answered(rules.steps(Point.at(objective, state)))
    for _ in range(3):
        plain, last = answered(rules.steps(plain)), further
        further = answered(gentle.steps(last))
        assert further.total < plain.total
        assert further.total < last.total


def test_rows_keep_their_size():
    """The sum of W H over a sample is that of its counts after a step of the codes."""
    objective, state = begun()
    new = Gentle(objective).step(state, CODES)
    np.testing.assert_allclose((new.W @ new.Ht.T).sum(axis=1), X.sum(axis=1), rtol=1e-10)


def test_a_sweep_that_would_rise_is_not_made(monkeypatch):
    monkeypatch.setattr("partwise.solvers.gentle.HASTE", 30.0)
    objective, state = begun()
    point = Point.at(objective, state)
    assert answered(Gentle(objective).steps(point)) is point
    model = NMF(4, loss="kullback-leibler", init=START, max_iter=4, tol=0).fit(X)
    assert (np.diff(model.history_["objective"]) < 0).all()


@pytest.mark.parametrize("beta", [0.3, 0.5])
def test_divergences_of_data_with_zeros_fall_faster_than_by_the_rules(beta):
    """Sweeps lead further than ordinary ones, none rises, and a fit can be resumed at any."""
    how = {"n_components": 4, "loss": beta, "init": START, "tol": 0}
    thinned = X * (np.random.RandomState(1).uniform(size=X.shape) < 0.7)
    rules = NMF(**how, solver="multiplicative", max_iter=40).fit(thinned)
    model = NMF(**how, max_iter=40).fit(thinned)
    assert model.solver_ == "hastened"
    assert model.objective_ < rules.objective_
    assert (np.diff(model.history_["objective"]) <= 0).all()
    objective, state = begun((BetaDivergence(beta),))
    one, other = Hastened(objective), Hastened(objective)
    point = Point.at(objective, one.prepare(state))
    for _ in range(12):
        other.restore(one.memory(), point.state)
        point, same = one.sweep(point), other.sweep(point)
        np.testing.assert_array_equal(point.state.W, same.state.W)
