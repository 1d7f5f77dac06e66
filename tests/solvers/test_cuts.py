"""The eigenvectors of normalised cuts against dense ones, on graphs that are hard for Lanczos iterations."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh

from partwise.solvers import cuts

RNG = np.random.RandomState(0)
SPLU = cuts.splu


def linked(n, sources, targets, weights=None):
    weights = np.ones(len(sources)) if weights is None else weights
    one_way = sp.coo_array((weights, (sources, targets)), shape=(n, n)).tocsr()
    edges = sp.csr_array(one_way.maximum(one_way.T))
    edges.setdiag(0)
    edges.eliminate_zeros()
    return edges


def random_graph(n, per_sample=6, weights=False):
    """Without narrow places: a factorisation would be nearly dense."""
    sources = np.repeat(np.arange(n), per_sample)
    strengths = RNG.uniform(0.1, 10, size=len(sources)) if weights else None
    return linked(n, sources, RNG.randint(n, size=len(sources)), strengths)


def ring(n):
    return linked(n, np.arange(n), (np.arange(n) + 1) % n)


def cube(dimension):
    corners = np.arange(2**dimension)
    sources, axis = np.repeat(corners, dimension), np.tile(np.arange(dimension), len(corners))
    return linked(len(corners), sources, sources ^ (1 << axis))


GRAPHS = {
    "random": random_graph(700),
    "random, weighted": random_graph(700, weights=True),
    "small": random_graph(60),
    "ring, whose eigenvalues come in pairs": ring(500),
    "cube, with an eigenvalue nine times": cube(9),
    "pieces": sp.csr_array(sp.block_diag([random_graph(300), random_graph(20), ring(200)])),
    "path": linked(800, np.arange(799), np.arange(1, 800)),
}


def check(edges, k):
    """Orthogonal eigenvectors of the smallest eigenvalues."""
    W = cuts.cut_vectors(edges, k)
    E = edges.toarray()
    D = np.diag(E.sum(axis=1))
    values = eigh(D - E, D, eigvals_only=True, subset_by_index=[0, k - 1])
    np.testing.assert_allclose(W.T @ D @ W, np.eye(k), atol=1e-10)
    np.testing.assert_allclose(np.trace(W.T @ (D - E) @ W), values.sum(), atol=1e-9)
    own = np.einsum("ij,ij->j", W, (D - E) @ W)
    root = np.sqrt(E.sum(axis=1))[:, None]
    assert np.linalg.norm(((D - E) @ W - (D @ W) * own) / root, axis=0).max() < 1e-6
    np.testing.assert_array_equal(cuts.cut_vectors(edges, k), W)


@pytest.mark.parametrize("k", [1, 2, 7, 12])
@pytest.mark.parametrize("name", GRAPHS)
def test_eigenvectors(name, k):
    check(GRAPHS[name], k)


@pytest.mark.parametrize("name", ["ring, whose eigenvalues come in pairs", "pieces", "path"])
def test_the_inverse_takes_over_where_lanczos_iterations_are_slow(name, monkeypatch):
    used = []
    monkeypatch.setattr(cuts, "MOST_PRODUCTS", 40)
    monkeypatch.setattr(cuts, "splu", lambda *given, **named: used.append(1) or SPLU(*given, **named))
    check(GRAPHS[name], 6)
    assert used


def test_a_graph_without_narrow_places_is_not_factorised(monkeypatch):
    monkeypatch.setattr(cuts, "splu", None)
    cuts.cut_vectors(random_graph(20_000), 10)


def test_more_pieces_than_vectors():
    sizes = [10, 40, 25, 5]
    edges = sp.csr_array(sp.block_diag([ring(size) for size in sizes]))
    W = cuts.cut_vectors(edges, 2)
    piece = np.repeat(np.arange(4), sizes)
    for column, largest in enumerate((1, 2)):
        np.testing.assert_allclose(W[:, column], np.where(piece == largest, 1 / np.sqrt(2 * sizes[largest]), 0))
