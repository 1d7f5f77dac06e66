"""Hoyer's sparseness."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from partwise.metrics import sparseness

matrices = arrays(np.float64, array_shapes(min_dims=2, max_dims=2), elements=st.sampled_from([0, 0, 1, -2, 0.3]))


def sparseness_by_loops(x):
    n = len(x)
    if n == 1 or not any(x):
        return 0.0
    l1, l2 = sum(abs(v) for v in x), sum(v * v for v in x) ** 0.5
    return (n**0.5 - l1 / l2) / (n**0.5 - 1)


@given(matrices)
@settings(max_examples=60, deadline=None)
def test_equals_the_formula_for_rows_and_columns_dense_and_sparse(X):
    for container in (np.asarray, sp.csr_array, sp.csc_matrix):
        by_row, by_column = sparseness(container(X)), sparseness(container(X), axis=0)
        np.testing.assert_allclose(by_row, [sparseness_by_loops(x) for x in X], atol=1e-12)
        np.testing.assert_allclose(by_column, [sparseness_by_loops(x) for x in X.T], atol=1e-12)
        np.testing.assert_array_equal(sparseness(container(X), axis=1), by_row)
        assert by_row.min() >= 0
        assert by_row.max() <= 1


@pytest.mark.parametrize("scale", [1e-200, 0.1, 3.0, 1e200])
@pytest.mark.parametrize("n", [2, 7, 100])
def test_constant_is_zero_and_a_single_entry_is_one(n, scale):
    assert sparseness(np.full(n, scale)) == pytest.approx(0.0, abs=1e-14)
    assert sparseness(scale * np.eye(n)[0]) == 1.0


def test_where_the_formula_says_nothing():
    assert sparseness([0.0, 0.0, 0.0]) == 0.0
    assert sparseness([3.0]) == 0.0
    np.testing.assert_array_equal(sparseness(np.array([[0.1], [0.7], [0.0], [3.0]])), 0.0)


def test_a_vector_gives_a_float():
    assert type(sparseness([1.0, 2.0])) is float


def test_duplicate_entries_are_summed_and_the_input_is_left_alone():
    X = sp.csr_array(([2.0, -1.0, 1.0], [0, 0, 1], [0, 3]), shape=(1, 2))
    assert sparseness(X) == pytest.approx([0.0], abs=1e-14)
    assert X.nnz == 3


@pytest.mark.parametrize(
    ("X", "axis", "message"),
    [([1.0, np.nan], -1, "NaN"), ([], -1, "minimum of 1"), ([1.0, 2.0], 1, "axis=1 was given")],
)
def test_bad_input(X, axis, message):
    with pytest.raises(ValueError, match=message):
        sparseness(X, axis=axis)
