"""Neighbours by the features that both of two samples know, against loops over all pairs."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from partwise.graphs import nearest_neighbors, shared_neighbors
from partwise.graphs import shared as module

RNG = np.random.RandomState(0)
X = RNG.gamma(1.0, size=(40, 30))
HOLES = np.where(RNG.uniform(size=X.shape) < 0.4, np.nan, X)
HOLES[3], HOLES[4, 2:] = np.nan, np.nan


def stored(data):
    rows, columns = np.nonzero(~np.isnan(data))
    return sp.csr_array((data[rows, columns], (rows, columns)), shape=data.shape)


FORMS = {"nan": lambda data: (data, "nan"), "sparse nan": lambda data: (sp.csr_array(data), "nan")}
FORMS["unstored"] = lambda data: (stored(data), "unstored")


def by_definition(A, B, p, metric, within):
    """The p nearest of every row, pair by pair."""
    links = np.zeros((len(A), len(B)), bool)
    mean_square = np.nanmean(B**2)
    for i, a in enumerate(A):
        distances = np.full(len(B), np.inf)
        for j, b in enumerate(B):
            both = ~np.isnan(a) & ~np.isnan(b)
            c = both.sum()
            if c < 5 or (within and i == j):
                continue
            if metric == "cosine":
                distances[j] = 1 - a[both] @ b[both] / np.sqrt((a[both] ** 2).sum() * (b[both] ** 2).sum()) * c / (
                    c + 2
                )
            else:
                distances[j] = (((a[both] - b[both]) ** 2).sum() + 4 * mean_square) / (c + 2)
        nearest = np.argsort(distances)[:p]
        links[i, nearest[np.isfinite(distances[nearest])]] = True
    return links


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [200, 2**22])
def test_links_are_those_of_the_definition(monkeypatch, form, metric, size):
    monkeypatch.setattr(module, "BLOCK_DISTANCES", size)
    data, missing = FORMS[form](HOLES)
    links = shared_neighbors(data, 4, metric, missing=missing)
    np.testing.assert_array_equal(links.toarray() > 0, by_definition(HOLES, HOLES, 4, metric, True))
    assert not links.toarray()[3:5].any()
    new, missing_new = FORMS[form](HOLES[:9] * 1.1)
    links = shared_neighbors(new, 4, metric, missing=missing_new, X_train=data, missing_train=missing)
    np.testing.assert_array_equal(links.toarray() > 0, by_definition(HOLES[:9] * 1.1, HOLES, 4, metric, False))


@pytest.mark.parametrize("scale", [1e-130, 1.0, 1e130])
def test_nothing_missing_gives_the_cosines_of_all(scale):
    """Even of numbers whose squares overflow."""
    found = shared_neighbors(scale * X, 5)
    np.testing.assert_array_equal(found.toarray(), nearest_neighbors(X, 5).toarray())


def test_neighbours_of_digits_with_holes_are_mostly_of_their_class():
    digits, y = load_digits(return_X_y=True)
    for share, least in ((0.3, 0.85), (0.5, 0.7)):
        holes = np.where(np.random.RandomState(0).uniform(size=digits.shape) < share, np.nan, digits)
        i, j = shared_neighbors(holes, 5).nonzero()
        assert (y[i] == y[j]).mean() > least
