"""Dask arrays and DataFrames on this machine: read chunk by chunk in fits, mapped lazily over chunks otherwise."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from partwise import NMF, ConstrainedNMF
from partwise.blocks import BlockError
from partwise.core.dask_rows import ChunkBlocks, ChunkRows, dask_source

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

rng = np.random.default_rng(0)
DENSE = rng.random((600, 3)) @ rng.random((3, 20)) + 0.1 * rng.random((600, 20))
SPARSE = sp.random_array((600, 20), density=0.3, format="csr", random_state=rng)
MODEL = NMF(3, random_state=0, max_iter=8, tol=0)


@pytest.fixture(autouse=True)
def in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def chunked(X, sizes):
    """A dask array of given chunks, dense or sparse."""
    return da.from_array(X, chunks=(sizes, X.shape[1]), asarray=False)


def assert_equal(a, b):
    np.testing.assert_array_equal(a.embedding_, b.embedding_)
    np.testing.assert_array_equal(a.components_, b.components_)
    np.testing.assert_array_equal(a.labels_, b.labels_)


@pytest.mark.parametrize("sizes", [(250, 250, 100), (100, 0, 300, 200)])
@pytest.mark.parametrize("X", [DENSE, DENSE.astype(np.float32), SPARSE])
def test_fits_are_those_of_arrays_in_memory(X, sizes):
    expected = clone(MODEL).fit(X)
    assert_equal(expected, clone(MODEL).fit(chunked(X, sizes)))


def test_chunks_of_one_size_can_be_read_anywhere():
    alike, ragged = dask_source(chunked(DENSE, (250, 250, 100))), dask_source(chunked(DENSE, (100, 300, 200)))
    assert type(alike) is ChunkRows
    assert type(ragged) is ChunkBlocks
    np.testing.assert_array_equal(alike.rows(240, 510), DENSE[240:510])
    np.testing.assert_array_equal(np.concatenate(list(ragged.blocks())), DENSE)


def test_matrices_by_columns_and_of_the_library_sparse_are_blocks():
    class Coordinates:
        def __init__(self, X):
            self.X, self.shape, self.ndim, self.dtype = X, X.shape, 2, X.dtype

        def to_scipy_sparse(self):
            return self.X.tocoo()

    for made in (sp.csc_array, Coordinates):
        parts = [da.from_delayed(dask.delayed(made)(SPARSE[i : i + 300]), (300, 20), float) for i in (0, 300)]
        assert_equal(clone(MODEL).fit(SPARSE), clone(MODEL).fit(da.concatenate(parts)))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (da.ones((20, 8), chunks=(10, 4)), r"split by columns.*have 4, 4 columns.*rechunk"),
        (da.ones((20, 8), chunks=(10, 8))[da.ones(20, chunks=10) > 0], "compute_chunk_sizes"),
        (da.ones((20, 8, 2), chunks=10), "Expected 2D array"),
        (da.ones((20, 8), chunks=10).astype(complex), "must hold numbers"),
    ],
)
def test_unsuitable_chunks_are_refused_before_they_are_computed(X, message):
    def compute(*_, **__):
        raise AssertionError("computed")

    with dask.config.set(scheduler=compute), pytest.raises(ValueError, match=message):
        clone(MODEL).fit(X)


@pytest.mark.parametrize(("value", "words"), [(np.nan, "NaN in row 417"), (-1.0, "row 417"), (np.inf, "in row 417")])
def test_a_bad_entry_deep_in_one_chunk_is_named_by_its_row(value, words):
    X = DENSE.copy()
    X[417, 11] = value
    with pytest.raises(ValueError, match=words):
        clone(MODEL).fit(chunked(X, (100, 300, 200)))
    lazy = clone(MODEL).fit(DENSE).transform(chunked(X, (100, 300, 200)))
    with pytest.raises(ValueError, match=r"In rows 400 to 599 of X"):
        lazy.compute()


def test_a_chunk_that_is_not_what_its_array_says():
    wrong = da.from_delayed(dask.delayed(DENSE[:90]), (100, 20), float)
    with pytest.raises(BlockError, match=r"has shape \(90, 20\), but .* chunk 1 has the rows 100 to 199"):
        clone(MODEL).fit(da.concatenate([chunked(DENSE[:100], (100,)), wrong]))


def fail():
    raise OSError("the disk is gone")


def test_a_chunk_that_cannot_be_computed_is_named():
    broken = da.from_delayed(dask.delayed(fail)(), (100, 20), float)
    with pytest.raises(BlockError, match=r"Block \d .*the disk is gone"):
        clone(MODEL).fit(da.concatenate([chunked(DENSE[:100], (100,)), broken]))


@pytest.mark.parametrize("X", [DENSE, DENSE.astype(np.float32), SPARSE])
def test_codes_and_labels_of_chunks_are_lazy(X):
    model = clone(MODEL).fit(DENSE)
    lazy = chunked(X, (100, 0, 300, 200))
    codes, labels = model.transform(lazy), model.predict(lazy)
    assert codes.chunks == ((100, 300, 200), (3,))
    assert codes.dtype == model.transform(X).dtype
    # Products with other blocks of rows may differ in their last digits.
    np.testing.assert_allclose(codes.compute(), model.transform(X), rtol=1e-4 if X.dtype == np.float32 else 1e-8)
    np.testing.assert_array_equal(labels.compute(), model.predict(X))


def test_chunks_of_unknown_sizes_and_of_columns_can_be_coded():
    model = clone(MODEL).fit(DENSE)
    by_columns = da.from_array(DENSE, chunks=(200, 7))
    some = chunked(DENSE, (300, 300))[chunked(DENSE, (300, 300))[:, 0] > 0.5]
    np.testing.assert_allclose(model.transform(by_columns).compute(), model.transform(DENSE))
    np.testing.assert_allclose(model.transform(some).compute(), model.transform(DENSE[DENSE[:, 0] > 0.5]))


def test_what_is_sent_to_chunks_has_no_training_codes():
    many = np.tile(DENSE, (20, 1))
    model = clone(MODEL).set_params(callbacks=lambda progress: None, assign="argmax").fit(many)
    model.predict(da.from_array(DENSE))
    assert len(pickle.dumps(model._sendable(da.from_array(DENSE)))) < 20_000 < model.embedding_.nbytes
    assert model.labels_.shape == (12_000,)


def test_classes_of_chunks():
    y = np.where(np.arange(600) % 3, -1, np.argmax(DENSE[:, :3], axis=1))
    lazy = chunked(DENSE, (300, 300))
    labelled = ConstrainedNMF(3, random_state=0, max_iter=5, tol=0).fit(DENSE, y)
    np.testing.assert_array_equal(labelled.predict_classes(lazy).compute(), labelled.predict_classes(DENSE))


def test_data_frames():
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(DENSE, columns=[f"f{i}" for i in range(20)])
    lazy = dd.from_pandas(frame, npartitions=4)
    held, read = clone(MODEL).fit(frame), clone(MODEL).fit(lazy)
    # Frames hold their columns together, which rounds products differently.
    np.testing.assert_allclose(held.components_, read.components_)
    assert list(read.feature_names_in_) == list(frame.columns)
    np.testing.assert_allclose(read.transform(lazy).compute(), held.transform(frame))
    np.testing.assert_array_equal(read.predict(lazy).compute(), held.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        clone(MODEL).fit(frame).transform(lazy.rename(columns={"f0": "other"})).compute()
    with pytest.raises(ValueError, match="must hold numbers"):
        clone(MODEL).fit(dd.from_pandas(frame.assign(text="a"), npartitions=2))


@pytest.mark.parametrize("kind", ["Int64", "Float32", "boolean", "int64[pyarrow]", "sparse", "one boolean"])
def test_data_frames_of_any_numbers(kind):
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(DENSE > 0.8 if kind == "boolean" else np.rint(DENSE)).rename(columns=str)
    kinds = {"one boolean": {"3": bool}, "sparse": pd.SparseDtype(float, 0)}
    frame = frame.astype(kinds.get(kind, kind))
    lazy = dd.from_pandas(frame, npartitions=4)
    held, read = clone(MODEL).fit(frame), clone(MODEL).fit(lazy)
    np.testing.assert_allclose(read.objective_, held.objective_)
    codes = held.transform(lazy)
    assert codes.dtype == codes.compute().dtype == read.embedding_.dtype
    np.testing.assert_allclose(codes.compute(), held.transform(frame))


def test_unknown_entries_of_data_frames():
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(np.rint(DENSE)).rename(columns=str).astype("Int64")
    frame.iloc[417, 2] = pd.NA
    lazy = dd.from_pandas(frame, npartitions=4)
    with pytest.raises(ValueError, match="NaN in row 417"):
        clone(MODEL).fit(lazy)
    known = np.where(frame.isna(), np.nan, np.rint(DENSE))
    of_frame, of_array = (clone(MODEL).set_params(missing="nan").fit(X) for X in (lazy, chunked(known, (150,) * 4)))
    np.testing.assert_allclose(of_frame.objective_, of_array.objective_)


def test_scores():
    model = clone(MODEL).fit(DENSE)
    np.testing.assert_allclose(model.score(chunked(DENSE, (100, 300, 200))), model.score(DENSE))
