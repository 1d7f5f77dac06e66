"""Where a fit stands: products by their definition, each computed once, and kept as long as it holds."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.core.state import State
from partwise.core.storage import as_operand

RNG = np.random.RandomState(0)
X = RNG.uniform(size=(9, 5)) * (RNG.uniform(size=(9, 5)) < 0.7)
W, HT = RNG.uniform(size=(9, 3)), RNG.uniform(size=(5, 3))
WEIGHT = np.arange(9) / 4


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_products_by_their_definition(make, weight):
    state = State(as_operand(make(X), None, weight), W, HT)
    D = np.diag(np.ones(9) if weight is None else weight)
    np.testing.assert_allclose(state.product("codes"), X @ HT)
    np.testing.assert_allclose(state.product("components"), X.T @ D @ W)
    np.testing.assert_allclose(state.gram("codes"), W.T @ D @ W)
    np.testing.assert_allclose(state.gram("components"), HT.T @ HT)
    np.testing.assert_allclose(state.norms("codes"), np.sqrt(np.diag(W.T @ D @ W)))
    np.testing.assert_allclose(state.norms("components"), np.linalg.norm(HT, axis=0))
    for factor, M in (("codes", D), ("components", np.eye(5))):
        metric = state.metric(factor)
        F = state[factor]
        np.testing.assert_allclose(F if metric is None else metric.positive(F), M @ F)
    np.testing.assert_array_equal(state.components, HT.T)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("at_hand", ["codes", "components"])
def test_the_cross_term_comes_from_the_product_at_hand(at_hand, weight):
    state = State(as_operand(X, None, weight), W, HT)
    state.product(at_hand)
    expected = np.sum((X if weight is None else weight[:, None] * X) * (W @ HT.T))
    np.testing.assert_allclose(state.cross(), expected)
    assert state.has_product(at_hand)
    assert not state.has_product({"codes": "components", "components": "codes"}[at_hand])


def test_products_computed_on_the_way_are_those_of_the_new_codes():
    state = State(as_operand(X), W, HT)
    state.product("components")
    pull, gram = X.T @ (2 * W), 4 * W.T @ W
    new = state.with_codes(2 * W, pull, gram)
    assert new.product("components") is pull
    assert new.gram("codes") is gram
    np.testing.assert_array_equal(new.W, 2 * W)
    np.testing.assert_allclose(state.product("components"), X.T @ W)


def test_norms_do_not_overflow_in_single_precision():
    huge = np.full((4, 1), 1e30, np.float32)
    state = State(as_operand(np.ones((4, 2), np.float32)), huge, huge[:2])
    np.testing.assert_allclose(state.norms("codes"), 2e30, rtol=1e-6)


def test_a_result_is_computed_once():
    state = State(as_operand(X), W, HT)
    assert state.product("codes") is state.product("codes")
    calls = []
    for _ in range(2):
        assert state.recall("mine", None, lambda: calls.append("work") or 7) == 7
    assert calls == ["work"]


@pytest.mark.parametrize(("replaced", "kept"), [("codes", "components"), ("components", "codes")])
def test_the_next_state_keeps_what_does_not_depend_on_the_replaced_factor(replaced, kept):
    state = State(as_operand(X), W, HT)
    for factor in ("codes", "components"):
        state.gram(factor)
        state.product(factor)
    state.remember("of one", kept, "kept")
    state.remember("of the other", replaced, "old")
    state.remember("of both", None, "old")
    new = state.replace(replaced, 2 * state[replaced])
    assert new.gram(kept) is state.gram(kept)
    # X Hᵀ pulls at the codes and depends on the components, and the other way round.
    assert new.product(replaced) is state.product(replaced)
    assert new.recall("of one", kept, lambda: "new") == "kept"
    assert new.recall("of the other", replaced, lambda: "new") == "new"
    assert new.recall("of both", None, lambda: "new") == "new"
    np.testing.assert_allclose(new.gram(replaced), 4 * state.gram(replaced))
    np.testing.assert_allclose(new.product(kept), 2 * state.product(kept))


def test_a_state_is_never_changed():
    state = State(as_operand(X), W, HT)
    before = state.product("components").copy()
    new = state.replace("codes", W + 1)
    new.product("components")
    new.remember("later", "components", 1)
    np.testing.assert_array_equal(state.W, W)
    np.testing.assert_array_equal(state.product("components"), before)
    assert new["codes"] is not state["codes"]
    assert new["components"] is state["components"]


def test_factors_by_name_make_the_state_again():
    state = State(as_operand(X), W, HT)
    other = State(as_operand(X), W + 1, HT + 1).with_arrays(state.arrays())
    np.testing.assert_array_equal(other.W, W)
    np.testing.assert_array_equal(other.Ht, HT)
    np.testing.assert_allclose(other.product("codes"), X @ HT)
