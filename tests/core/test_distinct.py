"""Rows that differ by more than rounding, and clusters of codes that do not."""

import numpy as np
import pytest

from partwise.clusters import Assignment
from partwise.core.distinct import CHUNK, count_distinct

RNG = np.random.RandomState(0)
THREE = RNG.uniform(0.1, 1, size=(3, 5))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("unit", [1e-30, 1.0, 1e30])
def test_rounding_makes_no_row_different(dtype, unit):
    rows = (THREE * unit).astype(dtype)[np.arange(2 * CHUNK) % 3]
    rows *= 1 + 4 * np.finfo(dtype).eps * RNG.choice([-1, 0, 1], size=rows.shape).astype(dtype)
    assert count_distinct(rows, 10) == 3
    assert count_distinct(rows, 2) == 2


def test_rows_are_compared_at_their_own_size():
    rows = np.vstack([THREE, 1e-20 * THREE, np.zeros((2, 5))])
    assert count_distinct(rows, 100) == 7
    assert count_distinct(rows[:0], 3) == 0
    late = np.vstack([np.repeat(THREE[:1], 3 * CHUNK, axis=0), THREE[1:]])
    assert count_distinct(late, 100) == 3


def test_equal_codes_up_to_rounding_are_one_cluster():
    codes = THREE[:2][np.arange(40) % 2] * (1 + 1e-15 * RNG.choice([-1, 0, 1], size=(40, 1)))
    with pytest.warns(UserWarning, match="The codes give 2 clusters, not n_components=5"):
        labels = Assignment(codes, "kmeans", 0).labels
    assert (labels == labels[np.arange(40) % 2]).all()
