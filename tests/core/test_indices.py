"""Index arrays: those that would crash compiled code are refused, and routines that count in 32 bits get such."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import NMF
from partwise.core import indices
from partwise.core.indices import narrow
from partwise.files import ReadError, read
from partwise.graphs import check_graph


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


@pytest.mark.parametrize(
    "pointers", [[0, 900, 100, 0], [0, -(2**63), 0, -1], [0, -5, 3, 3], [1, 2, 3, 3], [-1, 0, 0, 0]]
)
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix])
def test_pointers_that_fall(kind, pointers, tmp_path):
    """scipy's check passes over them where the last is not positive."""
    broken = kind((3, 3))
    broken.data, broken.indices, broken.indptr = np.ones(3), np.array([0, 1, 2]), np.array(pointers)
    with pytest.raises(ValueError, match=r"structure is broken \(its index pointers do not rise from zero"):
        NMF(2).fit(broken)
    with pytest.raises(ValueError, match="not a valid sparse matrix"):
        check_graph(broken, 3)
    np.savez(tmp_path / "set.npz", data=broken.data, indices=broken.indices, indptr=broken.indptr, shape=[3, 3],
             format=broken.format.encode())  # fmt: skip
    with pytest.raises(ReadError, match="its sparse matrix is broken"):
        read(tmp_path / "set.npz")
