"""D. Sparse structure, as it should be and as it should not."""

from itertools import pairwise
from unittest.mock import patch

import numpy as np
import scipy.sparse as sp
from case import Answered, Case, Refused, X, transforms
from sklearn.base import clone

from partwise.core import indices

# They hand a matrix of 32-bit indices to k-means, for their start.
NARROW = ("ConceptFactorization", "ConvexNMF", "LocalSimilarityNMF", "OrthogonalNMF", "OrthogonalTriNMF", "SemiNMF")
FORMATS = ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")


def counts_itself(model):
    return type(model).__name__ not in NARROW


def in_format(name, kind):
    return lambda: getattr(sp, f"{name}_{kind}")(X)


def like_dense(model, data):
    """The same labels as for the dense array."""
    assert np.array_equal(model.labels_, clone(model).fit(X).labels_)


def parts(indices=np.int32, indptr=np.int32):
    matrix = sp.csr_array(X)
    return matrix.data.copy(), matrix.indices.astype(indices), matrix.indptr.astype(indptr)


def long_indices():
    matrix = sp.csr_array(X)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


def beyond_32_bits(model):
    """As if 32 bits could not count the entries: 2³¹ of them would take 24 GB."""
    with patch.object(indices, "MOST", 20):
        model.fit(long_indices())
    like_dense(model, None)


def same_codes(model):
    codes = model.fit(X).transform(long_indices())
    np.testing.assert_allclose(codes, model.transform(X), rtol=1e-6, atol=1e-9)


def unsorted():
    data, indices, indptr = parts()
    for start, stop in pairwise(indptr):
        data[start:stop], indices[start:stop] = data[start:stop][::-1].copy(), indices[start:stop][::-1].copy()
    matrix = sp.csr_array((data, indices, indptr), shape=X.shape)
    matrix.has_sorted_indices = False
    return matrix


def duplicates():
    rows, columns = np.nonzero(X)
    halves = X[rows, columns] / 2
    twice = np.concatenate
    coo = sp.coo_array((twice([halves, halves]), (twice([rows, rows]), twice([columns, columns]))), shape=X.shape)
    order = np.argsort(coo.row, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(coo.row, minlength=len(X)))])
    return sp.csr_array((coo.data[order], coo.col[order], indptr), shape=X.shape)


def explicit_zeros():
    matrix = sp.csr_array(np.where(X == 0, 7.0, X))
    matrix.data[matrix.data == 7.0] = 0
    return matrix


def hostile(change, form=sp.csr_matrix):
    """A matrix whose index arrays are changed behind its back."""

    def make():
        matrix = form(X)
        change(matrix)
        return matrix

    return make


def setting(part, where, value):
    def change(matrix):
        getattr(matrix, part)[where] = value

    return change


def cutting(part, length):
    def change(matrix):
        setattr(matrix, part, getattr(matrix, part)[:length].copy())

    return change


HOSTILE = {
    "index beyond the columns": setting("indices", 4, 99),
    "index far beyond the columns": setting("indices", 4, 2**31 - 1),
    "negative index": setting("indices", 4, -1),
    "very negative index": setting("indices", 0, -(2**31)),
    "index pointer that decreases": setting("indptr", 3, 0),
    "index pointer beyond the data": setting("indptr", 3, 10**6),
    "negative index pointer": setting("indptr", 2, -5),
    "index pointer that does not begin at zero": setting("indptr", 0, 1),
    "last index pointer too large": setting("indptr", -1, 10**6),
    "fewer indices than data": cutting("indices", 5),
    "fewer data than indices": cutting("data", 5),
    "index pointer too short": cutting("indptr", 4),
    "no indices": cutting("indices", 0),
}
# Each of them is tried in another process first (test_hostile.py): it must not die.
HOSTILE_DATA = {
    f"{name}, {form.__name__}": hostile(change, form)
    for name, change in HOSTILE.items()
    for form in (sp.csr_matrix, sp.csc_array)
}


def hostile_new(make):
    return lambda model: model.fit(X).transform(make())


BROKEN = Refused((ValueError, IndexError), "")
SAME = Answered(holds=like_dense, says="labels of the dense array")
CASES = [
    *(Case("D", f"{name}_{kind}", in_format(name, kind), SAME) for name in FORMATS for kind in ("array", "matrix")),
    Case("D", "64-bit indices", long_indices, SAME),
    Case("D", "64-bit indices, new samples", applies=transforms, act=same_codes, expected=Answered(says="equal codes")),
    Case("D", "more entries than 32 bits count", applies=counts_itself, act=beyond_32_bits, expected=SAME),
    Case(
        "D",
        "more entries than 32 bits count, routines of scikit-learn",
        applies=lambda model: not counts_itself(model),
        act=beyond_32_bits,
        expected=Refused(ValueError, "which can only count to"),
    ),
    Case("D", "indices not sorted", unsorted, SAME),
    Case("D", "entries stored in two halves", duplicates, SAME),
    Case("D", "stored zeros", explicit_zeros, SAME),
    *(Case("D", name, make, BROKEN) for name, make in HOSTILE_DATA.items()),
    *(
        Case("D", f"{name}, new samples", expected=BROKEN, applies=transforms, act=hostile_new(hostile(change)))
        for name, change in list(HOSTILE.items())[:5]
    ),
]
