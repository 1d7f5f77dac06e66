"""Data sets by name: the order of search, the layout of files, downloads, and what is said when there is none."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import datasets
from partwise.datasets import CATALOGUE, DataSetError, catalogue, files, find, load, names, remote

pytestmark = pytest.mark.usefixtures("no_data")


def write_images(folder, name="yale32", fill=1, n=4):
    folder.mkdir(exist_ok=True)
    X = np.full((n, 6), fill, np.uint8)
    np.savez(folder / f"{name}.npz", X=X, y=np.arange(n) % 2 + 5, image_shape=np.array([2, 3]))


def test_every_entry_says_what_the_user_needs():
    assert set(CATALOGUE) | {"digits"} == set(names())
    for name, entry in CATALOGUE.items():
        assert entry.name == name
        assert entry.citation
        assert entry.licence
        if entry.image_shape is not None:
            assert entry.image_shape[0] * entry.image_shape[1] == entry.shape[1]


def test_images(tmp_path):
    write_images(tmp_path / "mine", fill=200)
    data = load("yale32", tmp_path / "mine")
    assert data.X.dtype == np.float64
    assert (data.X == 200).all()
    np.testing.assert_array_equal(data.y, [0, 1, 0, 1])
    assert data.image_shape == (2, 3)
    assert data.class_names == ("0", "1")
    assert "Belhumeur" in data.citation


def test_texts_are_sparse_and_counts_do_not_wrap_around(tmp_path):
    X = sp.csr_array(np.array([[60000, 0, 2], [0, 3, 0]], np.uint16))
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
    np.savez(tmp_path / "cstr.npz", **parts, y=[1, 0], terms=["a", "b", "c"], classes=["p", "q"])
    data = load("cstr", tmp_path)
    assert isinstance(data.X, sp.csr_array)
    assert data.X.sum() == 60005
    assert (2 * data.X).max() == 120000
    assert data.terms == ("a", "b", "c")
    assert data.class_names == ("p", "q")


def test_the_argument_goes_before_the_variable_before_the_cache(tmp_path, monkeypatch):
    write_images(datasets.cache_folder().parent, "unrelated")
    files.write(datasets.cache_folder() / "yale32.npz", {"X": np.ones((2, 6)), "y": np.array([0, 1])})
    assert find("yale32") == datasets.cache_folder() / "yale32.npz"
    write_images(tmp_path / "variable")
    monkeypatch.setenv("PARTWISE_DATA", str(tmp_path / "variable"))
    assert find("yale32") == tmp_path / "variable" / "yale32.npz"
    write_images(tmp_path / "argument")
    assert find("yale32", tmp_path / "argument") == tmp_path / "argument" / "yale32.npz"


def test_what_is_not_here_and_has_no_source():
    with pytest.raises(
        DataSetError, match=r"Put jaffe\.npz \(213 × 676, 10 classes\) into a folder that PARTWISE_DATA"
    ):
        load("jaffe")


def test_unknown_names_and_folders(tmp_path):
    with pytest.raises(ValueError, match="There is no data set 'faces'; the known ones are: coil100"):
        load("faces")
    with pytest.raises(DataSetError, match="There is no folder"):
        load("yale32", tmp_path / "nowhere")


def arrays_of_wrong_length(path):
    np.savez(path, X=np.ones((3, 2)), y=[0, 1])


def without_labels(path):
    np.savez(path, X=np.ones((3, 2)))


def with_pickles(path):
    np.savez(path, X=np.array([{"a": 1}], object), y=[0])


def no_archive(path):
    path.write_text("not a zip file")


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (arrays_of_wrong_length, "3 samples in X, but 2 in y"),
        (without_labels, "has no y"),
        (with_pickles, "cannot be read as a data set"),
        (no_archive, "cannot be read as a data set"),
    ],
)
def test_bad_files(tmp_path, spoil, sentence):
    spoil(tmp_path / "yale32.npz")
    with pytest.raises(DataSetError, match=sentence):
        load("yale32", tmp_path)


@pytest.fixture
def small_source(monkeypatch, tmp_path):
    """A Matlab file of two images of 2 × 3 pixels, stored column by column, in place of a download."""
    from scipy.io import savemat

    upright = np.array([[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12]]])
    savemat(tmp_path / "small.mat", {"X": upright.transpose(0, 2, 1).reshape(2, 6), "Y": [[3], [8]]})
    asked = []

    def retrieve(address, known_hash, path):
        asked.append(address)
        return str(tmp_path / "small.mat")

    monkeypatch.setitem(sys.modules, "pooch", SimpleNamespace(retrieve=retrieve))
    entry = catalogue.Entry(
        "small", "", (2, 6), 2, catalogue.Matlab("a/b", "c0ffee", "d/e.mat"), "", image_shape=(2, 3)
    )
    monkeypatch.setitem(CATALOGUE, "small", entry)
    return entry, upright, asked


def test_a_download_is_turned_upright_and_kept(small_source):
    _, upright, asked = small_source
    for _ in range(2):
        data = load("small")
        np.testing.assert_array_equal(data.X.reshape(2, 2, 3), upright)
        np.testing.assert_array_equal(data.y, [0, 1])
    assert asked == ["https://raw.githubusercontent.com/a/b/c0ffee/d/e.mat"]


def test_a_download_with_other_numbers_is_refused(small_source, monkeypatch):
    entry = small_source[0]
    changed = catalogue.Entry(**{**vars(entry), "digest": "0" * 64})
    with pytest.raises(DataSetError, match="no longer holds the expected numbers"):
        remote.fetch(changed)
    assert find("small") is None


@pytest.mark.parametrize("name", ["yale32", "tdt2"])
def test_offline(name, monkeypatch):
    def retrieve(*_, **__):
        raise OSError("no route to host")

    monkeypatch.setitem(sys.modules, "pooch", SimpleNamespace(retrieve=retrieve))
    with pytest.raises(DataSetError, match=r"the download failed \(no route to host\)\. Put .*npz .* into a folder"):
        load(name)


def test_without_pooch(monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(DataSetError, match="pip install 'partwise"):
        load("yale32")


def test_fetchers_of_scikit_learn(monkeypatch):
    import sklearn.datasets

    X, y = np.arange(12.0).reshape(4, 3), np.array(["b", "a", "b", "a"])
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda *_, **__: SimpleNamespace(data=X, target=y))
    source = catalogue.Fetcher("fetch_openml", "some", last=3)
    monkeypatch.setitem(CATALOGUE, "some", catalogue.Entry("some", "", (3, 3), 2, source, ""))
    data = load("some")
    np.testing.assert_array_equal(data.X, X[1:])
    np.testing.assert_array_equal(data.y, [0, 1, 0])


def test_checksums_see_values_places_and_classes():
    X, y = np.array([[0.0, 1.5], [2.0, 0.0]]), np.array([0, 1])
    same = files.content_digest(X, y)
    assert files.content_digest(sp.csr_array(X), y) == same
    others = [(X * 2, y), (X.T, y), (X, y[::-1]), (np.pad(X, ((0, 0), (0, 1))), y)]
    assert len({same, *(files.content_digest(*other) for other in others)}) == 5
