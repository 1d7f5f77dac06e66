"""Codes on disk: the same to the bit, in a file that outlives the fit; a full disk is an error, not a crash."""

import errno
import os
import resource

import h5py
import numpy as np
import pytest
from row_sources import Blocks

import partwise
from partwise import NMF, ConstrainedNMF, GraphNMF
from partwise.blocks import CodesOnDisk, CsrRows, NpyFile
from partwise.callbacks import Callback, Checkpoint
from partwise.core import rooms

X = np.random.default_rng(0).gamma(1.0, size=(900, 20)).astype(np.float32)


@pytest.mark.parametrize(
    "method",
    [
        NMF(3, tol=1e-4, random_state=0),
        NMF(3, init="random", tol=0, max_iter=15, random_state=0),
        NMF(3, init="sampled", max_iter=5, tol=0, random_state=0),
        NMF(3, loss="kullback-leibler", max_iter=15, tol=0, random_state=0),
        GraphNMF(3, graph_strength=1.0, max_iter=5, tol=0, random_state=0),
        ConstrainedNMF(3, max_iter=5, tol=0, random_state=0),
    ],
    ids=["converged", "random", "sampled", "counts", "graph", "classes"],
)
def test_the_same_codes(method, tmp_path):
    y = np.where(np.arange(len(X)) < 9, np.arange(len(X)) % 3, -1)
    held = partwise.load(saved(method.fit(Blocks(X, (100,) * 9), y), tmp_path))
    stored = method.fit(CodesOnDisk(Blocks(X, (100,) * 9), tmp_path / "codes.npy"), y)
    assert isinstance(stored.embedding_, np.memmap)
    assert not stored.embedding_.flags.writeable
    np.testing.assert_array_equal(np.load(tmp_path / "codes.npy"), stored.embedding_)
    np.testing.assert_array_equal(stored.embedding_, held.embedding_)
    np.testing.assert_array_equal(stored.labels_, held.labels_)


def saved(model, folder):
    model.save(folder / "model.npz")
    return folder / "model.npz"


def test_other_units_and_samples_that_do_not_count(tmp_path):
    method = NMF(3, random_state=0, max_iter=5, tol=0)
    weight = (np.arange(len(X)) > 10).astype(float)
    for data in (X, X * np.float32(2.0**60)):
        held = method.fit(data, sample_weight=weight).embedding_
        stored = method.fit(CodesOnDisk(data, tmp_path / "codes.npy"), sample_weight=weight)
        np.testing.assert_array_equal(stored.embedding_, held)
        np.testing.assert_array_equal(np.load(tmp_path / "codes.npy"), held)


def test_new_samples(tmp_path):
    model = NMF(3, random_state=0).fit(X)
    codes = model.transform(CodesOnDisk(X, tmp_path / "new.npy"))
    assert isinstance(codes, np.memmap)
    np.testing.assert_array_equal(codes, model.transform(X))
    np.testing.assert_array_equal(np.load(tmp_path / "new.npy"), codes)


def test_a_model_stands_by_itself(tmp_path):
    model = NMF(3, random_state=0).fit(CodesOnDisk(X, tmp_path / "codes.npy"))
    path = saved(model, tmp_path)
    codes, labels = np.array(model.embedding_), model.labels_
    del model
    (tmp_path / "codes.npy").unlink()
    again = partwise.load(path)
    np.testing.assert_array_equal(again.embedding_, codes)
    np.testing.assert_array_equal(again.labels_, labels)


def test_nothing_but_the_file_is_left(tmp_path):
    earlier = NMF(3, random_state=0, max_iter=3, tol=0).fit(CodesOnDisk(X, tmp_path / "codes.npy"))
    before = np.array(earlier.embedding_)
    NMF(3, random_state=1, init="random", max_iter=3, tol=0).fit(CodesOnDisk(X, tmp_path / "codes.npy"))
    assert os.listdir(tmp_path) == ["codes.npy"]
    # The earlier model keeps its own codes.
    np.testing.assert_array_equal(earlier.embedding_, before)


class Quota:
    """No file of this process may become larger than a page once it is set, as on a disk that is full."""

    def __enter__(self):
        self._before = resource.getrlimit(resource.RLIMIT_FSIZE)
        return self

    def set(self):
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, self._before[1]))

    def __exit__(self, *_):
        resource.setrlimit(resource.RLIMIT_FSIZE, self._before)


@pytest.mark.parametrize("reserved", [True, False], ids=["reserved", "written"])
def test_a_full_disk_is_an_error_before_any_sweep(reserved, tmp_path, monkeypatch):
    if not reserved:
        monkeypatch.delattr(os, "posix_fallocate", raising=False)
    method, source = NMF(3, random_state=0), CodesOnDisk(X, tmp_path / "codes.npy")
    with Quota() as quota:
        quota.set()
        with pytest.raises(OSError, match=r"The codes need 0\.\d+ MiB in .* Free some space") as caught:
            method.fit(source)
    assert caught.value.errno in (errno.EFBIG, errno.ENOSPC)
    assert os.listdir(tmp_path) == []


class FillsUp(Callback):
    """The disk is full after some sweeps."""

    def __init__(self):
        self.quota = Quota()

    def on_sweep(self, progress):
        if progress.sweep == 7:
            self.quota.set()


def test_what_was_learned_is_in_the_checkpoint(tmp_path):
    method = NMF(3, random_state=0, max_iter=12, tol=0)
    whole = method.fit(X).embedding_
    checkpoint, full = Checkpoint(tmp_path / "fit.npz", every=3), FillsUp()
    source = CodesOnDisk(X, tmp_path / "codes.npy")
    method.set_params(callbacks=[checkpoint, full])
    with full.quota, pytest.raises(OSError, match="The codes need"):
        method.fit(source)
    resumed = []
    method.set_params(callbacks=[checkpoint, lambda progress: resumed.append(progress.sweep)]).fit(source)
    assert resumed[0] == 7
    np.testing.assert_array_equal(method.embedding_, whole)


def test_paths_and_data_that_cannot_be(tmp_path):
    with pytest.raises(ValueError, match="there is no folder"):
        CodesOnDisk(X, tmp_path / "none" / "codes.npy")
    with pytest.raises(ValueError, match="which is a folder"):
        CodesOnDisk(X, tmp_path)
    with pytest.raises(TypeError, match="X is a list, which is not read in blocks"):
        CodesOnDisk([[1.0]], tmp_path / "codes.npy")


def test_the_memory_of_the_machine_limits_only_codes_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("partwise.core.memory.machine_memory", lambda: 50_000.0)
    method = NMF(3, random_state=0, max_iter=2, tol=0)
    with pytest.raises(ValueError, match="or keep the codes on disk"):
        method.fit(Blocks(X, (100,) * 9))
    method.fit(CodesOnDisk(X, tmp_path / "codes.npy"))


def test_copies_are_whole_whatever_their_size(tmp_path, monkeypatch):
    monkeypatch.setattr(rooms, "COPIED_BYTES", 1000)
    room = rooms.DiskRoom(tmp_path / "codes.npy")
    copy = room.copied(X)
    np.testing.assert_array_equal(room.kept(copy), X)
    np.testing.assert_array_equal(np.load(tmp_path / "codes.npy"), X)


def test_codes_never_replace_the_data(tmp_path):
    data, other = tmp_path / "x.npy", tmp_path / "other.npy"
    np.save(data, np.ones((6, 4)))
    other.symlink_to(data)
    arrays = [tmp_path / f"{name}.npy" for name in ("data", "indices", "indptr")]
    for path, array in zip(arrays, (np.ones(2), np.zeros(2, int), np.arange(3)), strict=True):
        np.save(path, array)
    stored = CsrRows(*(np.load(path, mmap_mode="r") for path in arrays), (2, 4))
    with h5py.File(tmp_path / "x.h5", "w") as file:
        array = file.create_dataset("X", data=np.ones((6, 4)))
        sources = [(NpyFile(data), data), (NpyFile(data), other), (np.load(data, mmap_mode="r"), data)]
        for X, path in [*sources, (stored, arrays[0]), (array, tmp_path / "x.h5")]:
            with pytest.raises(ValueError, match="where X is stored"):
                CodesOnDisk(X, path)
