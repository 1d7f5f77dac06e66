"""Values of pairs of samples, in memory and read block by block."""

import numpy as np
import pytest
import scipy.sparse as sp
from unloaded import stored

from partwise.core.storage import as_operand
from partwise.core.threads import Workers
from partwise.graphs import heat_bandwidth, nearest_neighbors, pairs, weigh_links

RNG = np.random.default_rng(0)
X = RNG.random((1500, 30)) * (RNG.random((1500, 30)) < 0.3)
A = RNG.random((50, 30)) * (RNG.random((50, 30)) < 0.3)
FIRST, SECOND = RNG.integers(50, size=40_000), RNG.integers(1500, size=40_000)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("keep", [as_operand, stored])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_of_pairs(container, keep, dtype):
    a, x = A.astype(dtype), X.astype(dtype)
    values = pairs.over_pairs(pairs.products, container(a), keep(container(x)), FIRST, SECOND, Workers())
    expected = np.einsum("ij,ij->i", a[FIRST].astype(float), x[SECOND].astype(float))
    np.testing.assert_allclose(values, expected, rtol=1e-12)


def test_indices_in_any_order():
    mixed = sp.csr_array(X)
    for i in range(1500):
        at = slice(mixed.indptr[i], mixed.indptr[i + 1])
        mixed.indices[at], mixed.data[at] = mixed.indices[at][::-1].copy(), mixed.data[at][::-1].copy()
    mixed.has_sorted_indices = False
    values = pairs.products(mixed[:50], mixed, FIRST, SECOND)
    np.testing.assert_allclose(values, np.einsum("ij,ij->i", X[FIRST], X[SECOND]), rtol=1e-12)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("edge_weights", ["heat", "cosine"])
def test_weights_of_links_between_stored_samples(container, edge_weights, monkeypatch):
    # Four times as many rows as are held at once.
    monkeypatch.setattr(pairs, "HELD_BYTES", X.nbytes // 4)
    links = nearest_neighbors(X, 4)
    expected = weigh_links(links, X, edge_weights=edge_weights)
    found = weigh_links(links, stored(container(X)), edge_weights=edge_weights)
    np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-12)
    assert heat_bandwidth(stored(container(X)), links) == pytest.approx(heat_bandwidth(X, links), rel=1e-12)
