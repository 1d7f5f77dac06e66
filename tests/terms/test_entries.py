"""Element weights: what they must be, and that sparse ones cost only what they store."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from partwise import Factorization
from partwise.core import operand as operands
from partwise.core.storage import as_operand
from partwise.terms import BetaDivergence, Frobenius, entries
from partwise.terms.entries import known_counts, observed_entries, restrict

X = np.random.RandomState(0).uniform(0.1, 1.0, size=(8, 6))

BAD_WEIGHTS = {
    "shape": (np.ones((6, 8)), "shape"),
    "sparse shape": (sp.csr_array(np.ones((6, 8))), "shape"),
    "negative": (np.full(X.shape, -1.0), "non-negative"),
    "sparse negative": (sp.csr_array(np.full(X.shape, -1.0)), "non-negative"),
    "nan": (np.full(X.shape, np.nan), "finite"),
    "infinite": (np.full(X.shape, np.inf), "finite"),
    "words": (np.full(X.shape, "one"), "numbers"),
}


@pytest.mark.parametrize(("weights", "message"), BAD_WEIGHTS.values(), ids=BAD_WEIGHTS)
@pytest.mark.parametrize("fit", [Frobenius, lambda weights: BetaDivergence(1, weights)], ids=["squares", "divergence"])
def test_wrong_weights_are_refused(fit, weights, message):
    with pytest.raises(ValueError, match=message):
        Factorization(2, terms=[fit(weights)]).fit(X)


def test_stored_zeros_do_not_count_and_weights_are_not_modified():
    weights = sp.csr_array(np.ones(X.shape))
    weights.data[::3] = 0
    before = weights.data.copy()
    seen = observed_entries(as_operand(X), weights)
    assert len(seen.x) == np.count_nonzero(before)
    np.testing.assert_array_equal(seen.x, X.ravel()[before > 0])
    np.testing.assert_array_equal(weights.data, before)
    assert weights.nnz == X.size


def test_only_entries_that_are_stored_and_weighted_are_seen():
    stored = sp.csr_array(X * (X > 0.5))
    weights = sp.csr_array((X < 0.8) * 2.0)
    seen = observed_entries(as_operand(stored, "unstored"), weights)
    both = (X > 0.5) & (X < 0.8)
    np.testing.assert_array_equal(seen.x, X[both])
    np.testing.assert_array_equal(seen.weight, np.full(both.sum(), 2.0))


def test_dense_weights_are_taken_in_blocks():
    assert observed_entries(as_operand(X), np.ones(X.shape)) is None


@pytest.mark.parametrize("form", ["dense", "sparse", "unstored"])
@pytest.mark.parametrize("block", [operands.ENTRIES_BYTES, 64])
def test_known_entries_are_counted_over_all_blocks(form, block, monkeypatch):
    monkeypatch.setattr(operands, "ENTRIES_BYTES", block)
    tall = np.random.RandomState(1).uniform(size=(200, 6))
    known = tall < 0.7 + 0.1 * (np.arange(6) % 3)
    holes = np.where(known, tall, np.nan)
    data = {
        "dense": as_operand(holes, "nan"),
        "sparse": as_operand(sp.csr_array(holes), "nan"),
        "unstored": as_operand(sp.csr_array(np.where(known, tall, 0)), "unstored"),
    }[form]
    by_sample, by_feature = known_counts(data)
    np.testing.assert_array_equal(by_sample, known.sum(axis=1))
    np.testing.assert_array_equal(by_feature, known.sum(axis=0))


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("hidden", [0.1, 0.9])
def test_hidden_entries_become_missing_and_samples_keep_their_weight(make, hidden):
    rng = np.random.RandomState(2)
    weights, weight = np.where(rng.uniform(size=X.shape) < hidden, 0, 2.0), rng.uniform(size=len(X))
    shown, kept = restrict(as_operand(X, sample_weight=weight), make(weights))
    np.testing.assert_array_equal(shown.sample_weight, weight)
    known = shown.array.toarray() if sp.issparse(shown.array) else np.nan_to_num(shown.array)
    np.testing.assert_array_equal(known, np.where(weights > 0, X, 0))
    np.testing.assert_array_equal(kept.toarray() if sp.issparse(kept) else kept, weights)


@pytest.mark.parametrize("block", [operands.ENTRIES_BYTES, 64])
@pytest.mark.parametrize("weights", [None, np.arange(48.0).reshape(8, 6)], ids=["alike", "weighted"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_few_known_entries_of_a_dense_array_are_listed(block, weights, dtype, monkeypatch):
    monkeypatch.setattr(operands, "ENTRIES_BYTES", block)
    known = np.random.RandomState(1).uniform(size=X.shape) < 0.2
    known[4] = False
    data = np.where(known, X, np.nan).astype(dtype)
    data[0, 0] = 0.0  # a zero that is known
    known[0, 0] = True
    seen = observed_entries(as_operand(data, "nan"), weights)
    np.testing.assert_array_equal(seen.indptr, np.concatenate([[0], known.sum(axis=1).cumsum()]))
    np.testing.assert_array_equal(seen.indices, np.nonzero(known)[1])
    np.testing.assert_array_equal(seen.x, data[known])
    if weights is None:
        assert seen.weight is None
    else:
        np.testing.assert_array_equal(seen.weight, weights[known].astype(dtype))
    assert observed_entries(as_operand(np.where(X < 0.5, np.nan, X), "nan"), weights) is None


@pytest.mark.parametrize(
    ("term", "solver"),
    [
        (Frobenius, "auto"),
        (partial(BetaDivergence, 1), "auto"),
        # By default only blocks of these have Newton steps.
        (partial(BetaDivergence, 0.5), "multiplicative"),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_listed_and_blocked_entries_give_the_same_model(term, solver, weighted, monkeypatch):
    rng = np.random.RandomState(0)
    data = rng.gamma(1.0, size=(40, 2)) @ rng.gamma(1.0, size=(2, 20))
    hidden = rng.uniform(size=data.shape) < 0.85
    hidden[np.arange(40), np.arange(40) % 20] = False
    data[hidden] = np.nan
    model = Factorization(
        2, terms=[term(rng.uniform(size=data.shape) if weighted else None)], missing="nan", max_iter=10, tol=0
    )
    model.set_params(random_state=0, assign="argmax", solver=solver)
    listed = clone(model).fit(data)
    answers = listed.transform(data[:5]), listed.score(data), listed.labels_
    monkeypatch.setattr(entries, "MOSTLY_HIDDEN", 1.1)
    blocked = clone(model).fit(data)
    np.testing.assert_allclose(listed.embedding_, blocked.embedding_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(listed.components_, blocked.components_, rtol=1e-8, atol=1e-10)
    assert listed.objective_ == pytest.approx(blocked.objective_)
    for found, expected in zip(
        answers, (blocked.transform(data[:5]), blocked.score(data), blocked.labels_), strict=True
    ):
        # Lists have only multiplicative rules for β = 0.5, which end less exactly.
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-8)
