"""The table of the largest entries."""

import numpy as np
import pandas as pd
import pytest

from partwise import NMF
from partwise.plots import top_features


def test_largest_first_as_shares():
    table = top_features(np.array([[1.0, 0, 3], [0, 0, 0]]), ["a", "b", "c"], 2)
    assert table.names.tolist() == [["c", "a"], ["a", "b"]]
    assert np.allclose(table.shares, [[0.75, 0.25], [0, 0]])
    assert str(table) == "0  c a\n1  a b"


def test_names_come_from_the_data_frame():
    frame = pd.DataFrame(np.eye(3) + 0.1, columns=["x", "y", "z"])
    model = NMF(2, max_iter=5, tol=0, random_state=0).fit(frame)
    assert set(top_features(model, n=3).names[0]) == {"x", "y", "z"}
    assert top_features(model.components_, n=1).names[0, 0].startswith("feature ")


def test_numbers_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="2 names were given for 3 features"):
        top_features(np.eye(3), ["a", "b"])
    with pytest.raises(ValueError, match="must form a matrix"):
        top_features(np.arange(3))
