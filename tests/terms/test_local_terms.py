"""Local learning and local coordinates against finite differences, and against their definitions."""

import numpy as np
import pytest
import scipy.sparse as sp

import partwise.terms.local_learning
from partwise.core.state import State
from partwise.core.storage import as_operand
from partwise.terms import LocalCoordinates, LocalLearning, NeighborGraph
from partwise.terms.local_coordinates import BoundKnownCoordinates, BoundLocalCoordinates
from partwise.testing import check_term

RNG = np.random.RandomState(3)
X = RNG.uniform(0.1, 1.0, size=(12, 7))
HOLES = np.where(RNG.uniform(size=X.shape) < 0.3, np.nan, X)
COUNTS = sp.csr_array(np.where(RNG.uniform(size=X.shape) < 0.5, 0, X))
SAMPLE_WEIGHT = np.arange(12) % 4


@pytest.fixture
def never_formed(monkeypatch):
    monkeypatch.setattr(partwise.terms.local_learning, "LONGEST_ROW", 0)
    monkeypatch.setattr(partwise.terms.local_learning, "_stored_per_row", lambda X: 0)


def polynomial(A, B):
    product = A @ B.T
    return ((product.toarray() if sp.issparse(product) else product) + 1) ** 2


@pytest.mark.parametrize("kernel", ["cosine", "rbf", "linear", polynomial])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_local_learning(kernel, make):
    check_term(LocalLearning(2.0, 4, kernel), make(X))


@pytest.mark.usefixtures("never_formed")
def test_local_learning_as_a_product():
    check_term(LocalLearning(2.0, 4), X)
    assert not LocalLearning(2.0, 4).bind(as_operand(X)).offers_entries


@pytest.mark.parametrize("sample_weight", [None, SAMPLE_WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize(
    ("data", "missing"),
    [(X, None), (COUNTS, None), (HOLES, "nan"), (sp.csr_array(HOLES), "nan"), (COUNTS, "unstored")],
    ids=["dense", "sparse", "holes", "sparse holes", "stored"],
)
def test_local_coordinates(data, missing, sample_weight):
    check_term(LocalCoordinates(0.7), data, missing=missing, sample_weight=sample_weight)


def test_values_are_what_they_say():
    W, Ht = RNG.uniform(size=(12, 3)), RNG.uniform(size=(7, 3))
    state = State(as_operand(HOLES, "nan"), W, Ht)
    far = np.nansum((HOLES[:, :, None] - Ht[None]) ** 2, axis=1)
    assert np.isclose(LocalCoordinates(0.7).bind(state.X).value(state), 0.7 * (W * far).sum())
    bound = LocalLearning(2.0, 4).bind(as_operand(X))
    predicted = bound.predictors @ W
    assert np.isclose(bound.value(State(as_operand(X), W, Ht)), 2.0 * ((W - predicted) ** 2).sum())


def test_known_entries_are_a_case_of_all_entries():
    """Nothing missing, said two ways."""
    state = State(as_operand(X), RNG.uniform(size=(12, 3)), RNG.uniform(size=(7, 3)))
    whole, known = BoundLocalCoordinates(state.X, 0.7), BoundKnownCoordinates(state.X, 0.7)
    assert np.isclose(whole.value(state), known.value(state))
    for factor in ("codes", "components"):
        for a, b in zip(whole.split(state, factor).halves(), known.split(state, factor).halves(), strict=True):
            np.testing.assert_allclose(a, b)


def test_samples_without_neighbours_are_left_out():
    data = X.copy()
    data[[2, 7]] = 0
    bound = LocalLearning(1.0, 4).bind(as_operand(data))
    assert bound.residual.shape == (10, 12)
    assert not bound.residual[:, [2, 7]].nnz
    state = State(as_operand(data[:3]), np.full((3, 2), 5.0), np.ones((7, 2)))
    new = bound.for_new(State(as_operand(data), np.ones((12, 2)), state.Ht)).bind(state.X)
    assert not new.quadratic(state, "codes").couplings[0].rows.diagonal()[2]


def test_a_prediction_may_be_negative():
    """The pull of new codes is split by its sign."""
    bound = LocalLearning(1.5, 6, ridge=1e-6).bind(as_operand(X))
    operand = as_operand(RNG.uniform(size=(20, 7)))
    state = State(operand, RNG.uniform(size=(20, 2)), np.ones((7, 2)))
    codes = RNG.uniform(size=(12, 2)) * [[1, 50]] * (np.arange(12) % 3 == 0)[:, None]
    new = bound.for_new(State(as_operand(X), codes, state.Ht)).bind(operand)
    parts = new.quadratic(state, "codes")
    assert parts.attract.max() > 0
    assert parts.repel.max() > 0
    W = state.W
    numerical = [
        (new.value(state.replace("codes", W + 1e-6 * e)) - new.value(state.replace("codes", W - 1e-6 * e))) / 2e-6
        for e in np.eye(40).reshape(40, 20, 2)
    ]
    N, P = new.split(state, "codes").halves()
    np.testing.assert_allclose((P - N).ravel(), numerical, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("term", "message"),
    [
        (LocalLearning(-1.0), "strength of LocalLearning"),
        (LocalLearning(1.0, 0), "n_neighbors=0"),
        (LocalLearning(1.0, 3, "poly"), "kernel='poly'"),
        (LocalLearning(1.0, 3, ridge=0), "ridge=0"),
        (LocalLearning(1.0, 3, metric="city"), "metric='city'"),
        (LocalCoordinates(np.nan), "strength of LocalCoordinates"),
    ],
)
def test_bad_parameters(term, message):
    with pytest.raises(ValueError, match=message):
        term.bind(as_operand(X))


def test_local_learning_needs_complete_data():
    with pytest.raises(ValueError, match="missing entries"):
        LocalLearning(1.0, 3).bind(as_operand(HOLES, "nan"))


@pytest.mark.parametrize("term", [LocalLearning, LocalCoordinates, NeighborGraph])
def test_another_strength_of_the_same_term(term):
    data = as_operand(X)
    state = State(data, RNG.uniform(size=(12, 2)), RNG.uniform(size=(7, 2)))
    bound = term(1.0).bind(data)
    assert bound.with_strength(2.5).value(state) == pytest.approx(2.5 * bound.value(state), rel=1e-12)
    assert bound.value(state) > 0
