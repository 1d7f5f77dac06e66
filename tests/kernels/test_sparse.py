"""Products with the rows of a CSR matrix: rows of every length, and any range of features."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.kernels.sparse import add_t_dot_columns, dot_rows_in_order


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def rows(rng):
    """Rows with 0 to 11 entries, which are taken four at a time."""
    X = np.zeros((24, 30))
    for i in range(24):
        X[i, rng.choice(30, i % 12, replace=False)] = rng.uniform(0.5, 1, i % 12)
    return sp.csr_array(X)


@pytest.mark.parametrize(("first", "last"), [(0, 30), (0, 1), (7, 20), (29, 30), (12, 12)])
def test_sums_over_a_range_of_features_leave_the_others_alone(rows, rng, first, last):
    W, out = rng.uniform(size=(24, 5)), np.ones((30, 5))
    add_t_dot_columns(rows.indptr, rows.indices, rows.data, W, first, last, out)
    expected = np.ones((30, 5))
    expected[first:last] += (rows.toarray().T @ W)[first:last]
    np.testing.assert_allclose(out, expected, rtol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_over_features_and_products_with_the_transpose_have_the_same_bits(rows, rng, dtype):
    X, W = rows.astype(dtype), rng.uniform(size=(24, 5)).astype(dtype)
    transposed = sp.csr_array(X.T)
    by_rows, by_columns = np.zeros((30, 5), dtype), np.empty((30, 5), dtype)
    add_t_dot_columns(X.indptr, X.indices, X.data, W, 0, 30, by_rows)
    dot_rows_in_order(transposed.indptr, transposed.indices, transposed.data, W, 0, 30, by_columns)
    assert np.array_equal(by_rows, by_columns)
