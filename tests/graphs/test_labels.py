"""Partially known labels, and what they do to a graph."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

from partwise.graphs import check_graph, check_labels, edit_by_labels


@pytest.mark.parametrize(
    ("y", "groups", "classes"),
    [
        (None, [-1, -1, -1, -1], []),
        ([-1, -1, -1, -1], [-1, -1, -1, -1], []),
        ([5, -1, 2, 5], [1, -1, 0, 1], [2, 5]),
        (np.array([5.0, -1.0, 2.0, 5.0], np.float32), [1, -1, 0, 1], [2, 5]),
        (np.array([3, 0, 3, 1], np.uint8), [2, 0, 2, 1], [0, 1, 3]),
        (np.array([-2, -1, 0, -2]), [0, -1, 1, 0], [-2, 0]),
        (["dog", -1, "cat", "dog"], [1, -1, 0, 1], ["cat", "dog"]),
        (np.array(["dog", -1, "cat", "dog"], dtype=object), [1, -1, 0, 1], ["cat", "dog"]),
        (np.array(["a", -1.0, 7, "a"], dtype=object), [1, -1, 0, 1], [7, "a"]),
        (np.array([3, -1, 3.0, 1], dtype=object), [1, -1, 1, 0], [1, 3]),
        (pd.Series(["x", -1, "y", "x"], index=[9, 8, 7, 6]), [0, -1, 1, 0], ["x", "y"]),
    ],
)
def test_accepted(y, groups, classes):
    found, names = check_labels(y, 4)
    assert found.dtype == np.intp
    assert found.tolist() == groups
    assert names.tolist() == classes


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0.5, 1.5, -1.0, 2.0], "Unknown label type"),
        (np.array([0.1, 0.7, 0.2, 0.3]), "Unknown label type"),
        (np.array([0.0, np.nan, -1.0, 1.0]), "y holds .*nan"),
        (np.array([0.0, np.inf, -1.0, 1.0]), "y holds .*inf"),
        (np.array(["a", None, -1, "b"], dtype=object), "y holds None"),
        (np.array(["a", np.nan, -1, "b"], dtype=object), "y holds nan"),
        (pd.Series([1, None, -1, 2], dtype="Int64"), "y holds .*nan"),
        (np.array([1j, 1, 1, 1]), "Complex data"),
        (np.array(["2020-01-01"] * 4, dtype="datetime64[D]"), "Unknown label type"),
        (np.array([(1,), (2,), "a", -1], dtype=object), "Unknown label type"),
        (np.array(["a", "b", "-1", "a"]), "dtype=object"),
        (np.array(["a", "b", "-1", "a"], dtype=object), 'the string "-1"'),
        (np.array([True, False, True, True]), "dtype bool, which cannot hold"),
        ([0, 1, -1], "y has 3 labels and X has 4 samples"),
        ([], "y has 0 labels"),
        (np.zeros((4, 2)), "1d array"),
    ],
)
def test_refused(y, message):
    with pytest.raises(ValueError, match=message):
        check_labels(y, 4)


def test_a_column_is_flattened_with_a_warning():
    with pytest.warns(DataConversionWarning):
        groups, _ = check_labels(np.array([[1], [-1], [3]]), 3)
    assert groups.tolist() == [0, -1, 1]


def test_labels_are_left_alone():
    y = np.array([3.0, -1.0, 2.0])
    groups, classes = check_labels(y, 3)
    groups[:] = classes[:] = 9
    assert y.tolist() == [3.0, -1.0, 2.0]


@given(st.integers(0, 1000), st.lists(st.integers(-1, 2), min_size=2, max_size=9))
@settings(max_examples=50, deadline=None)
def test_exactly_the_edges_between_labelled_samples_go(seed, y):
    n = len(y)
    weights = np.random.default_rng(seed).random((n, n))
    graph = check_graph(weights + weights.T, n)
    before = graph.toarray()
    edited, groups = edit_by_labels(graph, y)
    expected = before.copy()
    for i in range(n):
        for j in range(n):
            if y[i] != -1 and y[j] != -1:
                expected[i, j] = 0
    assert isinstance(edited, sp.csr_array)
    np.testing.assert_array_equal(edited.toarray(), expected)
    assert (edited.data > 0).all()
    np.testing.assert_array_equal(graph.toarray(), before)
    np.testing.assert_array_equal(groups, check_labels(y, n)[0])


def test_no_labels_change_nothing():
    graph = check_graph(np.ones((4, 4)), 4)
    edited, groups = edit_by_labels(graph, None)
    np.testing.assert_array_equal(edited.toarray(), graph.toarray())
    assert (groups == -1).all()
