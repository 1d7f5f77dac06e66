"""Element weights: what they must be, and that sparse ones cost only what they store."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import Factorization
from partwise.core.storage import as_operand
from partwise.terms import BetaDivergence, Frobenius
from partwise.terms.entries import observed_entries

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
