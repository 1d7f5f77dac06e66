"""Data that are read block by block: every product, and every fit, is to the bit that of data in memory."""

import h5py
import numpy as np
import pytest
import scipy.sparse as sp
from row_sources import AnyRows, Blocks, EachInTurn
from row_sources import stored as checked
from sklearn.base import clone

from partwise import NMF
from partwise.blocks import BlockError, NpyFile
from partwise.callbacks import Callback, Checkpoint
from partwise.core import fetching, operand, stored
from partwise.core.storage import as_operand

rng = np.random.default_rng(0)
DENSE = rng.random((1500, 4)) @ rng.random((4, 30)) + 0.1 * rng.random((1500, 30))
SPARSE = sp.random_array((1500, 30), density=0.2, format="csr", random_state=rng)
W, H = rng.random((1500, 9)), rng.random((30, 9))


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """As if blocks, parts and units were a few rows, so that there are many of each."""
    monkeypatch.setattr(operand, "BLOCK_BYTES", 2**13)
    monkeypatch.setattr(fetching, "UNIT_BYTES", 2**15)
    monkeypatch.setattr(stored, "PIECE_BYTES", 2**15)


def both(data, kind, **given):
    sizes = (113,) * 14
    return as_operand(data, **given), as_operand(checked(kind(data, sizes)), **given)


@pytest.mark.parametrize("kind", [Blocks, AnyRows, EachInTurn])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("data", [DENSE, SPARSE])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [3, 9])
def test_products_and_sums(kind, dtype, data, weighted, k, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    weight = rng.random(1500).astype(dtype) if weighted else None
    held, read = both(data.astype(dtype), kind, sample_weight=weight)
    w, h = W[:, :k].astype(dtype), H[:, :k].astype(dtype)
    with held.at_work(), read.at_work():
        np.testing.assert_array_equal(held.dot(h), read.dot(h))
        np.testing.assert_array_equal(held.t_dot(w), read.t_dot(w))
        for one, other in zip(
            held.code(h, lambda rows, product: product), read.code(h, lambda rows, product: product), strict=True
        ):
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(held.row_squared_norms(), read.row_squared_norms())
        np.testing.assert_array_equal(held.column_squared_norms(), read.column_squared_norms())
        assert held.mean() == read.mean()
        assert held.smallest() == read.smallest() or data is DENSE
        assert held.squared_error(w, h) == read.squared_error(w, h)
        np.testing.assert_array_equal(held.magnitude().dot(h), read.magnitude().dot(h))
    np.testing.assert_allclose(read.dot(h), data @ h, rtol=1e-5)
    np.testing.assert_allclose(read.t_dot(w), data.T @ w, rtol=1e-4)


@pytest.mark.parametrize("kind", [AnyRows, EachInTurn])
def test_missing_entries(kind):
    data = np.where(rng.random(DENSE.shape) < 0.2, np.nan, DENSE)
    held, read = both(data, kind, missing="nan")
    np.testing.assert_array_equal(held.known().dot(H), read.known().dot(H))
    np.testing.assert_array_equal(held.known().row_squared_norms(), read.known().row_squared_norms())
    assert held.mean() == read.mean()


def assert_equal(a, b):
    np.testing.assert_array_equal(a.embedding_, b.embedding_)
    np.testing.assert_array_equal(a.components_, b.components_)
    assert a.history_["objective"] == b.history_["objective"]


@pytest.mark.parametrize("kind", [Blocks, AnyRows, EachInTurn])
@pytest.mark.parametrize(
    ("data", "init"), [(DENSE, "nndsvda"), (DENSE, "random"), (DENSE, "sampled"), (SPARSE, "auto")]
)
def test_fits_are_equal_to_the_bit(kind, data, init):
    model = NMF(4, init=init, random_state=0, max_iter=12, tol=0, l1_codes=0.1)
    held, read = model.fit(data), clone(model).fit(kind(data, (113,) * 14))
    assert_equal(held, read)
    np.testing.assert_array_equal(held.labels_, read.labels_)
    new = kind(data[:300], (100, 100, 100))
    np.testing.assert_array_equal(held.transform(data[:300]), read.transform(new))
    np.testing.assert_array_equal(held.predict(data[:300]), read.predict(new))
    # A score is a difference of larger sums, added by other blocks: on some processors its 12th digit differs.
    np.testing.assert_allclose(held.score(data[:300]), read.score(new), rtol=1e-10)


@pytest.mark.parametrize("kind", [AnyRows, EachInTurn])
def test_other_units_and_weights(kind):
    weight = rng.random(1500)
    weight[::7] = 0
    model = NMF(3, random_state=0, max_iter=8, tol=0)
    big = DENSE * 2.0**450
    assert_equal(model.fit(big, sample_weight=weight), clone(model).fit(kind(big), sample_weight=weight))
    ncut = NMF(3, weighting="ncut", random_state=0, max_iter=8, tol=0)
    assert_equal(ncut.fit(DENSE), clone(ncut).fit(kind(DENSE)))


def test_whole_numbers_files_and_memory_maps(tmp_path):
    pixels = (255 * DENSE / DENSE.max()).astype(np.uint8)
    model = NMF(3, random_state=0, max_iter=8, tol=0)
    expected = model.fit(pixels)
    assert_equal(expected, clone(model).fit(AnyRows(pixels)))
    np.save(tmp_path / "x.npy", pixels)
    assert_equal(expected, clone(model).fit(NpyFile(tmp_path / "x.npy")))
    assert_equal(expected, clone(model).fit(np.load(tmp_path / "x.npy", mmap_mode="r")))
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["whole"] = pixels
        file.create_dataset("chunks", data=pixels, chunks=(100, 7), compression="gzip")
        file.create_dataset("other_end", data=pixels.astype(">f8"))
        for name in file:
            assert_equal(expected, clone(model).fit(file[name]))


class Changing(Blocks):
    """Rows that become others after some passes."""

    def __init__(self, data, after, passes):
        super().__init__(data)
        self.after, self.passes = after, passes

    def blocks(self):
        self.passes -= 1
        yield self.data if self.passes >= 0 else self.after


# The products of the squared error tell only whether entries are finite.
@pytest.mark.parametrize(
    ("loss", "wrong"), [("frobenius", np.nan), *(("kullback-leibler", wrong) for wrong in (np.nan, np.inf, -1.0, 1e9))]
)
@pytest.mark.parametrize("init", ["nndsvd", "random"])
@pytest.mark.parametrize("passes", [1, 3, 6])
def test_other_entries_than_at_first_are_refused(loss, init, passes, wrong):
    data = DENSE[:200, :12].copy()
    after = data.copy()
    after[150, 3] = wrong
    model = NMF(3, loss=loss, init=init, random_state=0, max_iter=20, tol=0)
    with pytest.raises(BlockError, match="it has changed, or its source"):
        model.fit(Changing(data, after, passes))


class Interrupt(Callback):
    def on_sweep(self, progress):
        if progress.sweep == 5:
            raise RuntimeError("killed")


def test_checkpoints(tmp_path):
    model = NMF(3, random_state=0, max_iter=9, tol=0)
    expected = clone(model).fit(DENSE)
    path = tmp_path / "fit.npz"
    with pytest.raises(RuntimeError, match="killed"):
        clone(model).set_params(callbacks=[Checkpoint(path, every=2), Interrupt()]).fit(AnyRows(DENSE))
    assert_equal(expected, clone(model).set_params(callbacks=Checkpoint(path, every=2)).fit(AnyRows(DENSE)))
    other = DENSE.copy()
    other[0] += 1
    with pytest.raises(ValueError, match="another fit"):
        clone(model).set_params(callbacks=Checkpoint(path, every=2)).fit(AnyRows(other))


def test_models_of_data_on_disk_can_be_saved(tmp_path):
    from partwise import load

    model = NMF(3, random_state=0, max_iter=5, tol=0).fit(AnyRows(DENSE))
    model.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(load(tmp_path / "model.npz").transform(DENSE[:9]), model.transform(DENSE[:9]))


def test_numbers_of_components_are_chosen_on_a_sample(monkeypatch):
    from partwise.selection import choice

    monkeypatch.setattr(choice, "MOST_ROWS", 200)
    model = NMF([2, 4], random_state=0, max_iter=5, tol=0)
    held, read = clone(model).fit(DENSE), clone(model).fit(AnyRows(DENSE))
    assert held.n_components_ == read.n_components_
    assert_equal(held, read)


def test_many_codes_are_clustered_by_a_sample(monkeypatch):
    from partwise.clusters import assignment

    codes = np.repeat(np.eye(3), 100, axis=0) + 0.01 * rng.random((300, 3))
    expected = assignment.Assignment(codes, "kmeans", 0).labels
    monkeypatch.setattr(assignment, "MOST_CODES", 200)
    monkeypatch.setattr(assignment, "SAMPLED_CODES", 50)
    found = assignment.Assignment(codes, "kmeans", 0).labels
    assert len(set(zip(expected, found, strict=True))) == 3
