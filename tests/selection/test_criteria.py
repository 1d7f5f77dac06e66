"""Criteria of a clustering against their definitions and against scikit-learn."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import homogeneity_score, silhouette_score

from partwise.selection import modularity, neighbor_information, normalized_cut, silhouette, stability

RNG = np.random.RandomState(0)
X = RNG.gamma(0.7, size=(40, 8))
LABELS = RNG.randint(4, size=40)
EDGES = np.triu(RNG.uniform(size=(40, 40)) * (RNG.uniform(size=(40, 40)) < 0.2), 1)
EDGES = EDGES + EDGES.T


def test_normalized_cut_pair_by_pair():
    shares = []
    for c in range(4):
        inside = sum(EDGES[i, j] for i in range(40) for j in range(40) if LABELS[i] == c == LABELS[j])
        shares.append(1 - inside / EDGES[c == LABELS].sum())
    assert normalized_cut(sp.csr_array(EDGES), LABELS) == pytest.approx(np.mean(shares), rel=1e-12)
    assert normalized_cut(EDGES, LABELS) == pytest.approx(np.mean(shares), rel=1e-12)
    # Two clusters that were asked for and not found are cut off.
    assert normalized_cut(EDGES, LABELS, 6) == pytest.approx((sum(shares) + 2) / 6, rel=1e-12)


def test_one_cluster_gains_nothing():
    together = np.zeros(40, np.intp)
    assert normalized_cut(EDGES, together) == pytest.approx(0, abs=1e-12)
    assert normalized_cut(EDGES, together, 4) == pytest.approx(0.75)


def test_modularity_pair_by_pair():
    degrees, total = EDGES.sum(axis=1), EDGES.sum()
    expected = sum(
        EDGES[i, j] - degrees[i] * degrees[j] / total for i in range(40) for j in range(40) if LABELS[i] == LABELS[j]
    )
    assert modularity(EDGES, LABELS) == pytest.approx(expected / total, rel=1e-12)
    assert modularity(np.zeros((40, 40)), LABELS) == 0


def test_information_is_the_homogeneity_of_the_ends_of_links():
    weights = np.ceil(5 * EDGES).astype(int)
    i, j = np.nonzero(weights)
    ends = (np.repeat(LABELS[side], weights[i, j]) for side in (i, j))
    assert neighbor_information(weights, LABELS) == pytest.approx(homogeneity_score(*ends), rel=1e-10)
    assert neighbor_information(sp.block_diag([np.ones((3, 3))] * 2), np.repeat([0, 2], 3)) == pytest.approx(1)
    assert neighbor_information(EDGES, np.zeros(40, np.intp)) == 0
    assert neighbor_information(np.zeros((40, 40)), LABELS) == 0


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("metric", "theirs"), [("cosine", "cosine"), ("euclidean", "sqeuclidean")])
def test_silhouette_is_that_of_scikit_learn(make, metric, theirs):
    assert silhouette(make(X), LABELS, metric) == pytest.approx(silhouette_score(X, LABELS, metric=theirs), rel=1e-10)


def test_silhouette_of_odd_clusterings():
    alone = np.where(np.arange(40) == 7, 3, LABELS % 2)  # a cluster of one, and a number that is not used
    assert silhouette(X, alone) == pytest.approx(silhouette_score(X, alone, metric="cosine"), rel=1e-10)
    empty = np.vstack([X, np.zeros((2, 8))])
    labels = np.append(LABELS, [0, 1])
    assert silhouette(empty, labels) == pytest.approx(silhouette_score(empty, labels, metric="cosine"), rel=1e-10)
    assert silhouette(X, np.zeros(40, np.intp)) == 0


def test_stability_counts_every_pair():
    same, other = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    assert stability([same, 1 - same]) == 1
    assert stability([same, same, other]) == pytest.approx((1 - 0.5 - 0.5) / 3)
    assert stability([same]) == 1
