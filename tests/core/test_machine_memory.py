"""What does not fit is refused by what it would take."""

import os

import numpy as np
import pytest

from partwise.core import memory
from partwise.core.memory import check_fits, machine_memory
from partwise.files.archive import MOST_BYTES, most_bytes
from partwise.graphs import nearest_neighbors

X = np.random.RandomState(0).uniform(size=(6, 4))


def test_the_machine_says_what_it_has(monkeypatch):
    assert 2**26 < machine_memory() < 2**60
    monkeypatch.delattr(os, "sysconf")
    assert machine_memory() == float("inf")
    assert most_bytes() == MOST_BYTES


def test_what_fits_and_what_does_not(monkeypatch):
    monkeypatch.setattr(memory, "machine_memory", lambda: 2.0**30)
    check_fits(2**30, "It", "Take less.")
    with pytest.raises(ValueError, match=r"^It needs about 2 GiB, but this machine has 1\. Take less\.$"):
        check_fits(2**31, "It", "Take less.")


def test_neighbours_are_refused_by_their_links(monkeypatch):
    """24 bytes for each of n_neighbors links of six samples, as asked for, though only five are possible."""
    monkeypatch.setattr(memory, "machine_memory", lambda: 24.0 * 6 * 100)
    with pytest.warns(UserWarning, match="n_neighbors=5 is used"):
        assert nearest_neighbors(X, 100).nnz == 30
    with pytest.raises(ValueError, match=r"n_neighbors=101 for 6 samples needs about .* Choose fewer neighbours"):
        nearest_neighbors(X, 101)
    # What new samples are linked to is what there is.
    assert nearest_neighbors(X[:2], 10**12, X_train=X).nnz == 12
