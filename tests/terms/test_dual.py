"""Terms of codes and coefficients against finite differences, and the penalty of codes that overlap."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.core.dual import DualState, FeatureKernel, GivenKernel
from partwise.core.state import State
from partwise.core.storage import as_operand
from partwise.terms import DualFit, LocalSimilarity, Orthogonality, RobustDualFit
from partwise.terms.dual import FixedFit, FixedSimilarity
from partwise.testing import check_term

RNG = np.random.RandomState(3)
X = RNG.uniform(0.1, 1.0, size=(12, 7))
SPARSE = sp.csr_array(np.where(RNG.uniform(size=X.shape) < 0.5, 0, X))
SIGNED = RNG.standard_normal((12, 7))
TERMS = [DualFit(), DualFit(0.5), LocalSimilarity(0.7), *(RobustDualFit(gamma) for gamma in (0.01, 0.5, 0.8, 100.0))]


@pytest.mark.parametrize("term", TERMS, ids=repr)
@pytest.mark.parametrize("data", [X, SPARSE, sp.csc_matrix(SPARSE)], ids=["dense", "csr", "csc"])
def test_dual_terms(term, data):
    check_term(term, data, dual=True)


@pytest.mark.parametrize("term", [DualFit(), LocalSimilarity(0.7)], ids=repr)
def test_features_of_either_sign(term):
    check_term(term, SIGNED, dual=True)


@pytest.mark.parametrize("dual", [True, False])
def test_orthogonality(dual):
    check_term(Orthogonality(0.4), X, dual=dual)


@pytest.mark.parametrize(
    "term",
    [FixedFit(0.5, np.eye(3)), FixedFit(0.5, np.eye(3), np.ones((7, 3))), FixedSimilarity(0.3, *np.ones((2, 3)))],
)
def test_terms_of_new_samples(term):
    bound = term.bind(as_operand(X))
    state = State(as_operand(X), RNG.uniform(size=(12, 3)), RNG.uniform(size=(7, 3)) * 0.1)
    N, P = bound.split(state, "codes").halves()
    step = np.zeros((12, 3))
    step[4, 1] = 1e-6
    slope = (bound.value(state.replace("codes", state.W + step)) - bound.value(state)) / 1e-6
    np.testing.assert_allclose(slope, np.broadcast_to(P - N, (12, 3))[4, 1], rtol=1e-4)
    assert bound.quadratic(state, "components") is None
    assert bound.for_new(state) is term


def states(features):
    W, P = RNG.uniform(size=(12, 3)), RNG.uniform(size=(12, 3))
    yield DualState(FeatureKernel(as_operand(features), signed=bool(features.min() < 0)), W, P)
    K = features @ features.T
    if K.min() >= 0:
        yield DualState(GivenKernel(as_operand(K)), W, P)


@pytest.mark.parametrize("features", [X, SIGNED], ids=["positive", "signed"])
def test_products_of_a_state(features):
    K = features @ features.T
    for state in states(features):
        np.testing.assert_allclose(state.product("codes"), K @ state.P, atol=1e-12)
        np.testing.assert_allclose(state.product("components"), K @ state.W, atol=1e-12)
        np.testing.assert_allclose(state.gram("components"), state.P.T @ K @ state.P, atol=1e-12)
        np.testing.assert_allclose(state.cross(), np.trace(state.W.T @ K @ state.P))
        np.testing.assert_allclose(state.kernel.diagonal(), K.diagonal())
        np.testing.assert_allclose(state.kernel.energy(state.W), np.diag(state.W.T @ K @ state.W))
        up, down = state.kernel.positive(state.W), state.kernel.negative(state.W)
        assert up.min() >= 0
        np.testing.assert_allclose(up if down is None else up - down, K @ state.W, atol=1e-12)
        assert down is None or down.min() >= 0
        # A factor that stays keeps what was computed from it.
        assert state.replace("codes", state.W + 1).product("codes") is state.product("codes")


@pytest.mark.parametrize("data", [X, SPARSE], ids=["dense", "sparse"])
def test_weighted_kernel(data):
    weights = np.linspace(0, 1, 7)
    dense = data.toarray() if sp.issparse(data) else data
    K = dense @ np.diag(weights) @ dense.T
    kernel = FeatureKernel(as_operand(data), weights)
    np.testing.assert_allclose(kernel.diagonal(), K.diagonal())
    np.testing.assert_allclose(kernel.dot(X[:, :3]), K @ X[:, :3])
    np.testing.assert_allclose(kernel.energy(X[:, :3]), np.diag(X[:, :3].T @ K @ X[:, :3]))


def test_refusals():
    operand = as_operand(X)
    plain = State(operand, np.ones((12, 3)), np.ones((7, 3)))
    with pytest.raises(TypeError, match="made of samples"):
        DualFit().bind(operand).value(plain)
    given = DualState(GivenKernel(as_operand(X @ X.T)), np.ones((12, 3)), np.ones((12, 3)))
    with pytest.raises(TypeError, match="weights features"):
        RobustDualFit(1.0).bind(operand).value(given)
    with pytest.raises(TypeError, match="made of samples"):
        DualFit().bind(operand).for_new(plain)
    with pytest.raises(ValueError, match="sample_weight"):
        Orthogonality(1.0).bind(operand, sample_weight=np.ones(12))
    indefinite = np.eye(4)[::-1].copy()
    state = DualState(GivenKernel(as_operand(indefinite)), np.eye(4)[:, :1], np.eye(4)[:, 3:])
    with pytest.raises(ValueError, match="positive semidefinite"):
        DualFit().bind(operand).value(state)


@pytest.mark.parametrize("weighted", [False, True])
def test_new_samples_are_pulled_both_ways(weighted):
    """Minus half of the gradient of ‖X − W H‖² is A − W B, whatever the signs of X and H."""
    H, W = RNG.standard_normal((3, 7)), RNG.uniform(size=(12, 3))
    weights = RNG.uniform(size=7) if weighted else np.ones(7)
    term = FixedFit(0.5, (H * weights) @ H.T, (H * weights).T if weighted else None)
    data = as_operand(SIGNED)
    state, bound = State(data, W, np.ascontiguousarray(H.T)), term.bind(data)
    split = bound.split(state, "codes")
    np.testing.assert_allclose((split.down[0] - split.up[0]) / 2, 0.5 * (SIGNED * weights) @ H.T)
    assert (split.down[0] >= 0).all()
    assert (split.up[0] >= 0).all()
    assert split.up[0].any()
    # By definition, up to what no code changes.
    apart = 0.5 * np.sum(weights * ((SIGNED - W @ H) ** 2 - SIGNED**2))
    assert bound.value(state) == pytest.approx(apart)
