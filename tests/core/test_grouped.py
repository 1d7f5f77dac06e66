"""Means of groups, and graphs, of samples that are not in memory."""

import numpy as np
import pytest
import scipy.sparse as sp
from row_sources import AnyRows, Blocks, stored

from partwise import ConstrainedNMF, GraphNMF, LocalCoordinateNMF, OrthogonalNMF, SemiNMF, SparsenessNMF, TensorNMF
from partwise.core.storage import as_operand, group_means
from partwise.graphs import neighbor_graph

rng = np.random.default_rng(0)
X = rng.gamma(0.5, size=(300, 4)) @ rng.gamma(0.5, size=(4, 20)) + 0.01
CLASSES = np.where(np.arange(300) % 4 == 0, np.arange(300) % 3, -1)


@pytest.mark.parametrize("kind", [Blocks, AnyRows])
@pytest.mark.parametrize("data", [X, sp.csr_array(np.where(X > 0.5, X, 0))])
def test_means(kind, data):
    groups = CLASSES.copy()
    groups[groups < 0] = 3 + np.arange((groups < 0).sum())
    weight = rng.random(300)
    held = group_means(as_operand(data), groups, groups.max() + 1, weight)
    read = group_means(as_operand(stored(kind(data, (40,) * 8))), groups, groups.max() + 1, weight)
    assert not read.in_memory
    eye = np.eye(20)
    np.testing.assert_allclose(read.dot(eye), held.dot(eye), rtol=1e-12)
    np.testing.assert_allclose(read.sample_weight, held.sample_weight)
    few = group_means(as_operand(stored(kind(data, (40,) * 8))), np.arange(300) % 3, 3, weight)
    assert few.in_memory
    np.testing.assert_allclose(few.dot(eye), group_means(as_operand(data), np.arange(300) % 3, 3, weight).dot(eye))


METHODS = [
    LocalCoordinateNMF(3, coordinate_strength=0.1, random_state=0, max_iter=8, tol=0),
    OrthogonalNMF(3, random_state=0, max_iter=8, tol=0),
    SemiNMF(3, random_state=0, max_iter=8, tol=0),
    SparsenessNMF(3, random_state=0, max_iter=8, tol=0),
    TensorNMF(3, sample_shape=(4, 5), random_state=0, max_iter=8, tol=0),
    ConstrainedNMF(3, random_state=0, max_iter=8, tol=0),
    ConstrainedNMF(3, loss=1, random_state=0, max_iter=40, tol=0),
]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_methods_whose_samples_are_not_coupled(method):
    held = method.fit(X, CLASSES).objective_
    read = method.fit(AnyRows(X), CLASSES)
    np.testing.assert_allclose(read.objective_, held, rtol=1e-9 if read.solver_ != "piecewise" else 0.02)
    assert read.transform(AnyRows(X)).shape == (300, 3)


def test_graphs():
    links = neighbor_graph(X, 5)
    given = GraphNMF(3, graph_strength=1.0, graph=links, random_state=0, max_iter=8, tol=0)
    expected = given.fit(X).embedding_
    read = given.fit(AnyRows(X))
    np.testing.assert_array_equal(read.embedding_, expected)
    with pytest.raises(ValueError, match="function of X"):
        given.set_params(graph=lambda X: links).fit(AnyRows(X))
    found = GraphNMF(3, graph_strength=1.0, random_state=0, max_iter=8, tol=0).fit(AnyRows(X))
    np.testing.assert_allclose(found.embedding_, expected, atol=1e-6)
