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


def test_names_may_be_numbers():
    frame = pd.DataFrame(np.eye(3) + 0.1)
    model = NMF(2, max_iter=5, tol=0, random_state=0).fit(frame)
    table = top_features(model, frame.columns, 1)
    assert set(str(table).split()) <= set("012")
    assert "<table" in table._repr_html_()


def test_numbers_that_do_not_fit_are_refused():
    for n in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match=f"n={n} was given; it must be a whole number of at least 1"):
            top_features(np.eye(3), n=n)
    with pytest.raises(ValueError, match="2 names were given for 3 features"):
        top_features(np.eye(3), ["a", "b"])
    with pytest.raises(ValueError, match="must form a matrix"):
        top_features(np.arange(3))
