"""The graph of neighbours as a term: what it warns about, and the precision it works in."""

import warnings

import numpy as np
import pytest

from partwise.core.storage import as_operand
from partwise.terms import NeighborGraph, Smoothness

# Four pairs of samples in four directions: each is its partner's nearest, so the graph has four pieces.
X = np.repeat(np.eye(4), 2, axis=0) + 0.01 * np.arange(8)[:, None]


def test_classes_join_the_pieces_of_a_graph():
    y = np.array([0, -1, 0, -1, 1, -1, 1, -1])
    with pytest.warns(UserWarning, match="falls into 4 unconnected pieces, and n_components=2"):
        NeighborGraph(1.0, 1).bind(as_operand(X), y).consider(2)
    joined = NeighborGraph(1.0, 1, use_labels=True).bind(as_operand(X), y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        joined.consider(2)
    with pytest.warns(UserWarning, match="falls into 2 unconnected pieces, and n_components=1"):
        joined.consider(1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_form_has_the_precision_of_the_factor(dtype):
    S = np.diag(np.full(8, 2.0)) - np.roll(np.eye(8), 1, 0) - np.roll(np.eye(8), -1, 0)
    form = Smoothness(S, 1.5).bind(as_operand(X.astype(dtype))).form(np.ones((8, 3), dtype))
    assert [coupling.gram.dtype for coupling in form.couplings] == [dtype]
