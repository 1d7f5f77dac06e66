"""A user's graph: what is accepted, what is refused, and the warning for one that falls apart."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.graphs import check_graph, edit_by_labels, neighbor_graph, warn_if_scattered

FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]


@pytest.fixture
def edges():
    rng = np.random.default_rng(0)
    weights = rng.random((8, 8)) * (rng.random((8, 8)) < 0.4)
    return weights + weights.T + np.diag([1.0, 0, 2, 0, 0, 0, 0, 3])


@pytest.mark.parametrize(
    "container",
    [
        np.asarray,
        np.asfortranarray,
        np.ndarray.tolist,
        *(lambda G, f=f: sp.csr_array(G).asformat(f) for f in FORMATS),
        *(lambda G, f=f: sp.csr_matrix(G).asformat(f) for f in FORMATS),
    ],
)
def test_every_container_gives_the_same_clean_graph(edges, container):
    graph = check_graph(container(edges), 8)
    assert isinstance(graph, sp.csr_array)
    assert graph.dtype == np.float64
    assert graph.has_canonical_format
    np.testing.assert_array_equal(graph.toarray(), edges - np.diag(np.diag(edges)))
    assert (graph.data > 0).all()


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.float32])
def test_other_types_become_float64(edges, dtype):
    graph = check_graph(sp.csr_array((edges > 0).astype(dtype)), 8)
    assert graph.dtype == np.float64
    assert set(graph.data) == {1.0}


def test_the_input_is_left_alone(edges):
    given = sp.csr_array(edges)
    given.indices, given.indptr = given.indices.astype(np.int64), given.indptr.astype(np.int64)
    graph = check_graph(given, 8)
    graph.data[:] = graph.indices[:] = 0
    np.testing.assert_array_equal(given.toarray(), edges)
    assert given.indices.dtype == given.indptr.dtype == np.int64


def test_duplicates_are_summed_on_a_copy():
    given = sp.csr_array(([1.0, 1.0, 2.0], [1, 1, 0], [0, 2, 3]), shape=(2, 2))
    np.testing.assert_array_equal(check_graph(given, 2).toarray(), [[0, 2], [2, 0]])
    assert given.nnz == 3


def test_rounding_errors_are_made_symmetric(edges):
    graph = check_graph(np.tril(edges) + np.triu(edges, 1) * (1 + 1e-12), 8)
    assert (graph != graph.T).nnz == 0


def test_an_empty_graph_is_a_graph():
    assert check_graph(sp.csr_array((3, 3)), 3).nnz == 0
    assert check_graph(np.zeros((1, 1)), 1).nnz == 0


def _broken(indices=None, indptr=None, format="csr"):
    graph = sp.csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]).asformat(format)
    if indices is not None:
        graph.indices[:] = indices
    if indptr is not None:
        graph.indptr[:] = indptr
    return graph


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (np.ones((3, 4)), r"shape \(3, 4\)"),
        (np.ones((4, 4)), "it must be square"),
        (np.ones(3), r"shape \(3,\)"),
        (np.ones((3, 3, 3)), r"shape \(3, 3, 3\)"),
        (np.triu(np.ones((3, 3))), "not symmetric"),
        (sp.csr_array(np.triu(np.ones((3, 3)))), "not symmetric"),
        (-np.ones((3, 3)), "negative edge weights, down to -1"),
        (sp.csr_array(np.diag([1.0, np.nan, 0.0])), "NaN"),
        (np.full((3, 3), np.inf), "infinity"),
        (np.full((3, 3), "a"), "dtype <U1"),
        (np.ones((3, 3), dtype=complex), "dtype complex128"),
        (_broken(indices=[1, 0, 10**7, 1]), "not a valid sparse matrix"),
        (_broken(indices=[1, 0, -(10**7), 1]), "not a valid sparse matrix"),
        (_broken(indptr=[0, 3, 1, 4]), "not a valid sparse matrix"),
        (_broken(indices=[1, 0, 10**7, 1], format="csc"), "not a valid sparse matrix"),
        (_broken(indices=[1, 0, 10**7, 1], format="bsr"), "not a valid sparse matrix"),
    ],
)
def test_what_is_wrong_is_named(graph, message):
    with pytest.raises(ValueError, match=message):
        check_graph(graph, 3)


def _cliques(*sizes):
    graph = sp.block_diag([np.ones((size, size)) for size in sizes], format="csr")
    return check_graph(graph, sum(sizes))


def test_more_pieces_than_components_warn():
    with pytest.warns(UserWarning, match=r"falls into 3 unconnected pieces.*n_components=2.*Raise n_neighbors"):
        warn_if_scattered(_cliques(2, 3, 4), 2)


@pytest.mark.parametrize(
    ("graph", "n_components"),
    [
        (_cliques(2, 3, 4), 3),
        (_cliques(3, 3, 1, 1, 1), 2),
        (neighbor_graph(np.vstack([np.eye(2).repeat(4, axis=0), np.zeros((5, 2))]), 3), 2),
        (sp.csr_array((5, 5)), 1),
    ],
)
def test_samples_without_edges_do_not_count(graph, n_components):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_scattered(graph, n_components)


def test_samples_of_a_class_count_as_linked():
    graph, groups = edit_by_labels(_cliques(2, 3, 4), [7, -1, 7, -1, -1, 7, -1, -1, -1])
    warn_if_scattered(graph, 1, groups=groups)
    with pytest.warns(UserWarning, match="3 unconnected pieces"):
        warn_if_scattered(graph, 1)
