"""Nearest neighbours against a full sort of all distances."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from sklearn.datasets import load_digits

from partwise.graphs import nearest_neighbors, samples

METRICS = ["cosine", "euclidean"]
CONTAINERS = [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array, sp.csr_matrix, sp.coo_matrix]

matrices = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, min_side=2), elements=st.integers(0, 3))


def neighbors_by_sorting(X, p, metric, Y=None):
    """Dense 0/1 links: the distances one by one, ties to the lower index."""
    within = Y is None
    Y = X if within else Y
    links = np.zeros((len(X), len(Y)))
    for i, x in enumerate(X):
        allowed = [j for j, y in enumerate(Y) if x.any() and y.any() and not (within and i == j)]
        if metric == "cosine":
            distance = {j: 1 - x @ Y[j] / np.linalg.norm(x) / np.linalg.norm(Y[j]) for j in allowed}
        else:
            distance = {j: ((x - Y[j]) ** 2).sum() for j in allowed}
        links[i, sorted(allowed, key=lambda j: (round(distance[j], 10), j))[:p]] = 1
    return links


@pytest.fixture
def X(rng):
    X = rng.random((60, 8)) * (rng.random((60, 8)) < 0.5)
    X[[3, 17, 59]] = 0
    X[20:30] = X[:10]
    return X


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("container", CONTAINERS)
def test_equal_to_sorting_all_distances(X, metric, container):
    links = nearest_neighbors(container(X), 5, metric)
    assert isinstance(links, sp.csr_array)
    assert links.has_sorted_indices
    np.testing.assert_array_equal(links.toarray(), neighbors_by_sorting(X, 5, metric))


@given(matrices, st.integers(1, 3), st.sampled_from(METRICS), st.booleans())
@settings(max_examples=60, deadline=None)
@pytest.mark.filterwarnings("ignore:n_neighbors")
def test_many_ties_and_zero_rows(X, p, metric, sparse):
    links = nearest_neighbors(sp.csr_array(X) if sparse else X, p, metric)
    np.testing.assert_array_equal(links.toarray(), neighbors_by_sorting(X, p, metric))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_small_blocks_change_nothing(X, metric, container, monkeypatch):
    whole = nearest_neighbors(container(X), 5, metric)
    monkeypatch.setattr(samples, "BLOCK_ROWS", 7)
    np.testing.assert_array_equal(nearest_neighbors(container(X), 5, metric).toarray(), whole.toarray())


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("train_container", [np.asarray, sp.csr_matrix])
def test_new_samples(X, rng, metric, container, train_container):
    X_new = np.vstack([rng.random((5, 8)), X[:3], np.zeros((1, 8))])
    links = nearest_neighbors(container(X_new), 4, metric, X_train=train_container(X))
    np.testing.assert_array_equal(links.toarray(), neighbors_by_sorting(X_new, 4, metric, X))
    rows = [nearest_neighbors(container(x[None]), 4, metric, X_train=train_container(X)).toarray() for x in X_new]
    np.testing.assert_array_equal(np.vstack(rows), links.toarray())


@pytest.mark.parametrize("metric", METRICS)
def test_the_sample_is_masked_by_index(rng, metric):
    X = np.tile(rng.random((50, 6)), (4, 1))
    links = nearest_neighbors(X, 3, metric).tocoo()
    assert links.diagonal().sum() == 0
    assert links.nnz == 3 * len(X)
    assert (links.row % 50 == links.col % 50).all()


@pytest.mark.parametrize("metric", METRICS)
def test_digits_dense_equal_sparse(metric):
    X = load_digits().data
    dense, sparse = nearest_neighbors(X, 5, metric), nearest_neighbors(sp.csr_array(X), 5, metric)
    assert (dense != sparse).nnz == 0
    assert (nearest_neighbors(X.astype(np.float32), 5, metric) != dense).nnz == 0


@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
def test_the_scale_of_the_data_does_not_matter(X, scale):
    np.testing.assert_array_equal(
        nearest_neighbors(scale * X, 3, "euclidean").toarray(), nearest_neighbors(X, 3, "euclidean").toarray()
    )


def test_64_bit_indices_unsorted_and_duplicate_entries_leave_the_input_alone(X):
    plain = sp.csr_array(X)
    indices, data = plain.indices.astype(np.int64), plain.data
    # Every entry stored as two halves, in descending order of columns.
    hard = sp.csr_array(plain.shape)
    hard.indptr = 2 * plain.indptr.astype(np.int64)
    hard.indices = np.concatenate(
        [np.repeat(indices[a:b][::-1], 2) for a, b in zip(plain.indptr, plain.indptr[1:], strict=False)]
    )
    hard.data = np.concatenate(
        [np.repeat(data[a:b][::-1] / 2, 2) for a, b in zip(plain.indptr, plain.indptr[1:], strict=False)]
    )
    hard.has_canonical_format = hard.has_sorted_indices = False
    before = hard.data.copy(), hard.indices.copy(), hard.indptr.copy()
    for metric in METRICS:
        expected = nearest_neighbors(X, 4, metric).toarray()
        np.testing.assert_array_equal(nearest_neighbors(hard, 4, metric).toarray(), expected)
    for array, old in zip((hard.data, hard.indices, hard.indptr), before, strict=True):
        np.testing.assert_array_equal(array, old)
        assert array.dtype == old.dtype


def test_read_only_input(X):
    X.flags.writeable = False
    assert nearest_neighbors(X, 3).nnz == 3 * X.any(axis=1).sum()


def test_too_many_neighbors_are_clipped(X):
    X = X[4:9]
    with pytest.warns(UserWarning, match="n_neighbors=5 was given, but each of the 5 samples has only 4 others"):
        links = nearest_neighbors(X, 5)
    np.testing.assert_array_equal(links.toarray(), 1 - np.eye(5))
    assert nearest_neighbors(X[:2], 9, X_train=X).nnz == 10


@pytest.mark.filterwarnings("ignore:n_neighbors")
@pytest.mark.parametrize("X", [[[1.0, 2.0]], np.zeros((4, 3))])
def test_one_sample_and_all_zero_samples_have_no_links(X):
    for metric in METRICS:
        assert nearest_neighbors(X, 2, metric).nnz == 0


def test_memory_stays_bounded_and_sparse_data_sparse(rng):
    n, m = 6000, 50_000
    X = sp.csr_array((rng.random(25 * n), (np.arange(25 * n) % n, rng.integers(m, size=25 * n))), shape=(n, m))
    tracemalloc.start()
    nearest_neighbors(X, 5)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100e6  # n × n would take 288 MB, X as a dense array 2.4 GB


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors=0 was given"),
        ({"n_neighbors": 2.0}, "n_neighbors=2.0 was given"),
        ({"metric": "manhattan"}, "metric='manhattan' was given"),
        ({"X": [[1.0, np.nan]]}, "X contains NaN"),
        ({"X": np.full((3, 2), 1e200)}, "divide X by its largest entry"),
        ({"X_train": np.ones((3, 5))}, "X_new has 8 features and X_train has 5"),
    ],
)
def test_bad_input(X, changes, message):
    with pytest.raises(ValueError, match=message):
        nearest_neighbors(**{"X": X, "n_neighbors": 3, "metric": "cosine", **changes})


def test_indices_out_of_range_are_refused():
    X = sp.csr_array(np.eye(4))
    X.indices[2] = 10_000_000
    with pytest.raises(ValueError, match=r"indices|index values"):
        nearest_neighbors(X, 2)
