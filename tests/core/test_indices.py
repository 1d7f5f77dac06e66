"""Indices of 32 bits for routines that take no others."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.core import indices
from partwise.core.indices import narrow


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_the_same_matrix(kind, dtype):
    X = kind(np.random.RandomState(0).poisson(0.5, size=(5, 4)).astype(float))
    X.indices, X.indptr = X.indices.astype(dtype), X.indptr.astype(dtype)
    made = narrow(X, "them")
    assert type(made) is kind
    assert made.indices.dtype == made.indptr.dtype == np.int32
    assert X.indices.dtype == dtype
    assert made.data is X.data
    np.testing.assert_array_equal(made.toarray(), X.toarray())


def test_too_many_entries(monkeypatch):
    X = sp.csr_array(np.ones((5, 4)))
    monkeypatch.setattr(indices, "MOST", 20)
    narrow(X, "them")
    for most in (19, 4):
        monkeypatch.setattr(indices, "MOST", most)
        with pytest.raises(
            ValueError, match=rf"shape \(5, 4\) with 20 entries was given to them, which .* to {most}\."
        ):
            narrow(X, "them")
