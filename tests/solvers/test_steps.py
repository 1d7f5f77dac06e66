"""Fits as generators of requests."""

import numpy as np
import pytest

from partwise.core.objective import Objective
from partwise.core.state import State
from partwise.core.storage import as_operand
from partwise.core.types import CODES, COMPONENTS
from partwise.solvers.steps import Product, answered, most_live, side_by_side, wanted
from partwise.terms import L2, BetaDivergence, Frobenius

RNG = np.random.RandomState(0)
X = as_operand(RNG.uniform(size=(12, 7)))


def state_of(k, weight=None):
    operand = X if weight is None else X.weighed(weight)
    return State(operand, RNG.uniform(size=(12, k)), RNG.uniform(size=(7, k)))


def test_products_with_different_weights_are_those_of_each():
    weight = RNG.uniform(size=12)
    states = [state_of(2), state_of(3, weight), state_of(1)]

    def asking():
        yield [Product(state, factor) for state in states for factor in (CODES, COMPONENTS)]

    answered(asking())
    for state in states:
        assert state.has_product(CODES)
        s = 1 if state.X.sample_weight is None else state.X.sample_weight[:, None]
        np.testing.assert_allclose(state.product(CODES), X.array @ state.Ht)
        np.testing.assert_allclose(state.product(COMPONENTS), X.array.T @ (s * state.W))


def test_nothing_is_asked_for_twice_or_in_vain():
    state = state_of(2)
    squares = Objective([Frobenius().bind(X), L2(1.0, CODES).bind(X)])
    assert [request.factor for request in wanted(squares, state, CODES)] == [CODES]
    state.product(CODES)
    assert wanted(squares, state, CODES) == []
    assert wanted(Objective([BetaDivergence(1.0).bind(X)]), state_of(2), CODES) == []


def test_fits_end_in_their_own_time_and_make_room():
    live, most, ends = set(), [], []

    def fit(index, length):
        live.add(index)
        for _ in range(length):
            most.append(len(live))
            yield [Product(state_of(1), CODES)]
        live.remove(index)
        return length

    lengths = [3, 1, 4, 0, 2]
    makers = [lambda index=index, length=length: fit(index, length) for index, length in enumerate(lengths)]
    answered(side_by_side(makers, lambda index, length: ends.append((index, length)), 2))
    assert sorted(ends) == list(enumerate(lengths))
    assert ends[0] == (1, 1)
    assert max(most) == 2


def test_an_interrupt_reaches_the_fit():
    def fit():
        try:
            yield [Interrupting()]
        except KeyboardInterrupt:
            return "heard"

    assert answered(fit()) == "heard"


class Interrupting(Product):
    """A request during which Ctrl-C is pressed."""

    def __init__(self):
        super().__init__(state_of(2), CODES)

    @property
    def multiplied(self):
        raise KeyboardInterrupt


@pytest.mark.parametrize("k", [1, 7, 500])
def test_room_for_fits(k):
    assert 1 <= most_live(X, k) <= max(1, X.best_columns // k)
