"""Seeds: the value by its formula, gradients, majorisers and steps by `check_term`."""

import numpy as np
import pytest

from partwise.core.state import State
from partwise.core.storage import as_operand
from partwise.terms import Seeds
from partwise.testing import check_term

RNG = np.random.RandomState(0)
S = RNG.uniform(size=(2, 7))


@pytest.mark.parametrize("sample_weight", [None, RNG.uniform(size=12)])
def test_it_is_consistent(sample_weight):
    check_term(Seeds(0.8, S), sample_weight=sample_weight)


def test_its_value_is_what_products_have_beside_the_seeds():
    W, H = RNG.uniform(size=(5, 3)), RNG.uniform(size=(3, 7))
    state = State(as_operand(RNG.uniform(size=(5, 7))), W, np.ascontiguousarray(H.T))
    expected = 0.0
    for j, seed in enumerate(S):
        direction = seed / np.linalg.norm(seed)
        part = np.outer(W[:, j], H[j])
        expected += 0.8 * ((part - np.outer(part @ direction, direction)) ** 2).sum()
    assert Seeds(0.8, S).bind(state.X).value(state) == pytest.approx(expected, rel=1e-12)
