"""Positive entries along either factor, however they are stored."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.core import counts as module
from partwise.core.counts import SparseCounts, counts_of
from partwise.core.types import CODES, COMPONENTS

RNG = np.random.RandomState(0)
X = RNG.poisson(0.8, size=(23, 11)).astype(float)
X[3, 4] = np.nan
V = RNG.uniform(size=X.shape)
S = RNG.uniform(size=len(X))


def rebuilt(counts, factor):
    """Entries and counts as dense arrays, by samples; from two slices, as threads would ask for them."""
    n = len(X) if factor == CODES else X.shape[1]
    values, weighed = np.zeros((n, X.size // n)), np.zeros((n, X.size // n))
    for rows in (slice(0, 5), slice(5, n)):
        for block in counts.blocks(factor, rows):
            for i, row in enumerate(range(block.rows.start, block.rows.stop)):
                own = slice(block.indptr[i], block.indptr[i + 1])
                values[row, block.indices[own]] = block.values[own]
                weighed[row, block.indices[own]] = block.counts[own]
    return (values, weighed) if factor == CODES else (values.T, weighed.T)


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("factor", [CODES, COMPONENTS])
@pytest.mark.parametrize(("weights", "sample_weight"), [(None, None), (V, None), (None, S), (V, S)])
def test_both_ways_of_storing_give_the_same(monkeypatch, factor, weights, sample_weight, kept):
    monkeypatch.setattr(module, "MOST_KEPT", 1.0 if kept else 0.0)
    known = np.nan_to_num(X)
    by_entry = (1 if weights is None else weights) * (1 if sample_weight is None else sample_weight[:, None])
    stored = sp.csr_array(X)
    rows = np.repeat(np.arange(len(X)), np.diff(stored.indptr))
    at = None if np.ndim(by_entry) == 0 else np.broadcast_to(by_entry, X.shape)[rows, stored.indices]
    for counts in (counts_of(X, weights, sample_weight), SparseCounts(stored, at)):
        values, weighed = rebuilt(counts, factor)
        np.testing.assert_array_equal(values, known)
        np.testing.assert_allclose(weighed, known * by_entry)
        np.testing.assert_allclose(counts.total(), (known * by_entry).sum())
