"""Rows from a source: whatever is wrong with it, or becomes so, is an error that names the place."""

import os
import shutil
from types import SimpleNamespace

import h5py
import numpy as np
import pytest
import scipy.sparse as sp
from row_sources import AnyRows, Blocks, EachInTurn

from partwise import NMF
from partwise.blocks import ArrayRows, BlockError, CsrRows, NpyFile
from partwise.callbacks import Callback

X = np.random.default_rng(0).random((60, 5))


def raising(*_):
    raise KeyError("gone")


BAD = {
    "an empty block": ([X[:30], X[30:30], X[30:]], "Block 1 .* is empty"),
    "another width": ([X[:30], X[30:, :4]], r"Block 1 of X \(from row 30 on\) has shape \(30, 4\); it must have 5"),
    "another type": ([X[:30], X[30:].astype(np.float32)], "Block 1 .* dtype float32; the source says float64"),
    "another kind": ([X[:30], sp.csr_array(X[30:])], "Block 1 .* is sparse, but others are dense"),
    "masked": ([X[:30], np.ma.masked_less(X[30:], 0.5)], "Block 1 .* is a masked array, whose mask would be ignored"),
    "no array": ([X[:30], [1, 2]], "Block 1 .* is a list"),
    "too few rows": ([X[:30]], "end after 30 rows"),
    "too many rows": ([X, X], "more rows than its shape"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_blocks_are_named(name):
    source = Blocks(X)
    source.blocks = lambda: iter(BAD[name][0])
    with pytest.raises(BlockError, match=BAD[name][1]):
        NMF(2).fit(source)


def test_a_method_that_gives_no_blocks():
    source = Blocks(X)
    source.blocks = lambda: None
    with pytest.raises(BlockError, match=r"blocks\(\) of X gives a NoneType"):
        NMF(2).fit(source)
    source.blocks = raising
    with pytest.raises(BlockError, match=r"Block 0 of X .* cannot be read: KeyError: 'gone'"):
        NMF(2).fit(source)


def test_errors_of_a_source_reach_the_user():
    source = AnyRows(X)
    source.rows = raising
    with pytest.raises(BlockError, match=r"Block 0 of X \(from row 0 on\) cannot be read: KeyError: 'gone'") as caught:
        NMF(2).fit(source)
    assert isinstance(caught.value.__cause__, KeyError)
    source = AnyRows(X)
    source.rows = lambda start, stop: X[start : stop - 1]
    with pytest.raises(BlockError, match="59 rows; 60 were asked for"):
        NMF(2).fit(source)


EACH = {
    "cannot be read: KeyError: 'gone'": raising,
    "is missing; its source gave none": lambda slices: iter([]),
    r"has 1 rows; 60 were asked for": lambda slices: iter([X[:1]]),
    r"has shape \(60, 4\); it must have 5": lambda slices: iter([X[:, :4]]),
}


@pytest.mark.parametrize("message", EACH)
def test_errors_of_rows_that_threads_read(message):
    source = EachInTurn(X)
    source.each = EACH[message]
    with pytest.raises(BlockError, match=rf"Block 0 of X \(from row 0 on\) {message}"):
        NMF(2).fit(source)


def test_a_file_that_becomes_shorter_between_two_blocks(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((1000, 500)))

    class Cut(NpyFile):
        def each(self, slices):
            blocks = super().each(slices)
            yield next(blocks)
            os.truncate(self.paths[0], 1000)
            yield from blocks

    with pytest.raises(BlockError, match=r"Block 1 of X .* EOFError: the file .* it has become shorter"):
        NMF(2).fit(Cut(tmp_path / "x.npy"))


def test_broken_indices_never_reach_compiled_code():
    data = sp.csr_array(np.where(X > 0.5, X, 0))
    data.indices[-1] = 1000
    with pytest.raises(BlockError, match="not a valid sparse matrix"):
        NMF(2).fit(Blocks(data, (60,)))


class Folder:
    """Rows in one file for every 20, as an array of zarr has them; those of a file that is gone are zero."""

    def __init__(self, root):
        self.shape, self.dtype, self.chunks = X.shape, X.dtype, (20, 5)
        self.store, self.path = SimpleNamespace(root=root), "x"
        (root / "x").mkdir()
        for i in range(3):
            np.save(root / "x" / f"{i}.npy", X[20 * i : 20 * i + 20])

    def __getitem__(self, rows):
        files = [self.store.root / "x" / f"{i}.npy" for i in range(3)]
        return np.concatenate([np.load(file) if file.exists() else np.zeros((20, 5)) for file in files])[rows]


def opened(kind, folder):
    """A source of rows in that folder, and a file of it."""
    if kind == "npy":
        np.save(folder / "x.npy", X)
        return NpyFile(folder / "x.npy"), folder / "x.npy"
    if kind == "zarr":
        return ArrayRows(Folder(folder)), folder / "x" / "1.npy"
    path, sparse = folder / "x.h5", sp.csr_array(X)
    with h5py.File(path, "w") as file:
        file["X"] = X
        for name in ("data", "indices", "indptr"):
            file[name] = getattr(sparse, name)
    file = h5py.File(path)
    if kind == "h5py":
        return file["X"], path
    return CsrRows(file["data"], file["indices"], file["indptr"], X.shape), path


CHANGES = {
    "shorter": lambda path: os.truncate(path, 1000),
    "written": lambda path: os.utime(path, (1, 1)),
    "removed": os.remove,
    "gone": lambda path: shutil.rmtree(path.parent),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", ["npy", "h5py", "csr", "zarr"])
def test_data_that_change_while_they_are_read(kind, change, tmp_path):
    (tmp_path / "data").mkdir()
    source, path = opened(kind, tmp_path / "data")

    class Meddler(Callback):
        def on_sweep(self, progress):
            CHANGES[change](path)

    with pytest.raises(BlockError, match=r"X has changed since it was first read: .* was (written to|removed)"):
        NMF(2, max_iter=5, tol=0, callbacks=Meddler()).fit(source)


def test_a_file_that_is_closed_or_becomes_shorter_during_a_pass(tmp_path):
    source, path = opened("h5py", tmp_path)

    class Closes(Callback):
        def on_sweep(self, progress):
            source.file.close()

    with pytest.raises(BlockError, match=r"Block 0 of X \(from row 0 on\) cannot be read"):
        NMF(2, max_iter=5, tol=0, callbacks=Closes()).fit(source)
    file, path = opened("npy", tmp_path)
    os.truncate(path, 1000)
    with pytest.raises(EOFError, match="ends before row 60: it has become shorter"):
        file.rows(0, 60)


@pytest.mark.parametrize("kind", [Blocks, AnyRows, EachInTurn])
def test_rows_that_are_not_finite_later(kind):
    source = kind(X.copy())

    class Spoils(Callback):
        def on_sweep(self, progress):
            source.data[33] = np.nan

    with pytest.raises(BlockError, match=r"rows 0 to 59 of X are not finite, although .* it has changed"):
        NMF(2, max_iter=5, tol=0, callbacks=Spoils()).fit(source)
