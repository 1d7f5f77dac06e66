"""Data from files of arrays: what is read, and what is refused in one sentence."""

import contextlib
import gzip
import io
import os
import pickle
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from reading import refuse, write
from scipy.io import loadmat, mmread, mmwrite, savemat

from partwise.files import ReadError, read
from partwise.files.matlab import matlab_matrices
from partwise.files.matrix_market import matrix_market

RNG = np.random.RandomState(0)
X = np.round(RNG.uniform(0, 9, size=(6, 4)), 2)
SPARSE = sp.csr_array(np.where(X > 4, X, 0))
Y = np.array([3, 7, 3, -1, 7, 3])


def test_npz(tmp_path):
    path = tmp_path / "set.npz"
    np.savez_compressed(path, X=X, y=Y, image_shape=[2, 2], terms=["a", "b", "c", "d"])
    data = read(path)
    np.testing.assert_array_equal(data.X, X)
    assert data.name == "set"
    assert data.y.tolist() == [0, 1, 0, -1, 1, 0]
    assert data.class_names == ("3", "7")
    assert data.image_shape == (2, 2)
    assert data.terms == ("a", "b", "c", "d")


@pytest.mark.parametrize("dtype", [np.uint16, np.float32, bool])
def test_npz_with_a_sparse_matrix(tmp_path, dtype):
    path, S = tmp_path / "set.npz", SPARSE.astype(dtype)
    classes = np.array(["fox", "owl"])
    np.savez(path, data=S.data, indices=S.indices.astype(np.uint32), indptr=S.indptr, shape=S.shape, y=[0, 1] * 3,
             classes=classes)  # fmt: skip
    data = read(path)
    assert data.X.dtype == (np.float32 if dtype == np.float32 else np.float64)
    np.testing.assert_array_equal(data.X.toarray(), S.toarray())
    assert data.class_names == ("fox", "owl")
    assert data.y.tolist() == [0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize("shape", [(6, 6), (6, 4), (3, 8), (1, 6)])
@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("as_array", [True, False])
def test_what_scipy_saves(tmp_path, kind, shape, as_array):
    """Every format that `scipy.sparse.save_npz` writes, of matrices and arrays, square ones and others."""
    rng = np.random.RandomState(0)
    dense = np.where(rng.uniform(size=shape) < 0.4, rng.randint(1, 99, size=shape), 0).astype(np.uint8)
    dense[0, -1], dense[-1, 0] = 7, 0
    S = getattr(sp, f"{kind}_{'array' if as_array else 'matrix'}")(dense)
    sp.save_npz(tmp_path / "set.npz", S, compressed=as_array)
    data = read(tmp_path / "set.npz")
    assert isinstance(data.X, sp.csr_array)
    assert data.X.dtype == np.float64
    np.testing.assert_array_equal(data.X.toarray(), dense)


def test_blocks_and_entries_that_are_added(tmp_path):
    blocks = sp.bsr_array(np.kron(np.eye(2), np.ones((3, 2))), blocksize=(3, 2))
    sp.save_npz(tmp_path / "set.npz", blocks)
    np.testing.assert_array_equal(read(tmp_path / "set.npz").X.toarray(), blocks.toarray())
    twice = sp.coo_array((np.array([200, 100], np.uint8), ([0, 0], [1, 1])), shape=(1, 2))
    sp.save_npz(tmp_path / "set.npz", twice)
    np.testing.assert_array_equal(read(tmp_path / "set.npz").X.toarray(), [[0, 300]])


def test_the_papers_data():
    folder = Path(os.environ.get("PARTWISE_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
    if not (folder / "cstr.npz").exists():
        pytest.skip(f"{folder} is absent; set PARTWISE_DATA to the folder of the papers' data")
    assert read(folder / "cstr.npz").X.shape == (475, 1000)
    images = read(folder / "yale32.npz")
    assert (images.X.shape, images.image_shape, len(images.class_names)) == ((165, 1024), (32, 32), 15)


def test_npy_mtx_mat(tmp_path):
    np.save(tmp_path / "a.npy", np.asfortranarray(X))
    mmwrite(tmp_path / "b.mtx", SPARSE)
    mmwrite(tmp_path / "c.mtx", X)
    savemat(tmp_path / "d.mat", {"fea": SPARSE, "gnd": Y[:, None]})
    savemat(tmp_path / "e.mat", {"X": X, "Y": Y}, do_compression=True)
    for name in ("a.npy", "c.mtx", "e.mat"):
        np.testing.assert_array_equal(read(tmp_path / name).X, X)
    for name in ("b.mtx", "d.mat"):
        np.testing.assert_array_equal(read(tmp_path / name).X.toarray(), SPARSE.toarray())
    assert read(tmp_path / "a.npy").y.tolist() == [-1] * 6
    for name in ("d.mat", "e.mat"):
        assert read(tmp_path / name).y.tolist() == [0, 1, 0, -1, 1, 0]


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"Z": X}, "neither X nor a sparse matrix"),
        ({"X": X, "y": Y[:5]}, "5 labels for 6 samples"),
        ({"X": X, "y": Y + 0.5}, "labels are not whole numbers"),
        ({"X": X, "y": np.full(6, np.inf)}, "labels are not whole numbers"),
        ({"X": X, "y": np.full(6, 1e300)}, "labels are too large"),
        ({"X": X, "y": [0, 1, 2, 0, 1, 2], "classes": ["a", "b"]}, "do not point into its 2 classes"),
        ({"X": X, "image_shape": [3, 2]}, "does not give images of 4 pixels"),
        ({"X": X, "terms": ["a"]}, "names 1 features but has 4"),
        ({"X": X[0]}, "1 dimensions"),
        ({"X": X[:0]}, "holds no data"),
        ({"X": X.astype(str)}, "not numbers"),
        ({"X": X.astype(object)}, "pickled objects"),
        ({"X": X + 1j}, "dtype complex128"),
        ({"X": X.astype("M8[s]")}, "dtype datetime64"),
        ({"data": [1.0], "indices": [9], "indptr": [0, 1], "shape": [1, 4]}, "sparse matrix is broken"),
        ({"data": [1.0], "indices": [-1], "indptr": [0, 1], "shape": [1, 4]}, "sparse matrix is broken"),
        ({"data": [1.0], "indices": [0], "indptr": [0, 1], "shape": [10**12, 4]}, "declares 1000000000000 rows"),
        ({"data": [1.0], "indices": [0], "indptr": [0, 9], "shape": [1, 4]}, "broken"),
        ({"data": [1.0, 2.0], "indices": [0, 1], "indptr": [0, 2, 1, 2], "shape": [3, 4]}, "broken"),
        ({"data": [1.0], "indices": [0.5], "indptr": [0, 1], "shape": [1, 4]}, "not what they should be"),
        ({"data": [1.0], "indices": [0], "indptr": [0, 1], "shape": [1, 4, 2]}, "not a pair"),
        ({"data": [1.0], "indices": [0], "indptr": [0, 1], "shape": [-1, 4]}, "not a pair"),
        ({"data": ["1"], "indices": [0], "indptr": [0, 1], "shape": [1, 4]}, "not numbers"),
        ({"data": [1.0], "indices": [0], "indptr": [0, 1], "shape": [10**12, 1], "format": b"csc"}, "declares 1000"),
        ({"data": [1.0], "indices": [7], "indptr": [0, 1], "shape": [4, 1], "format": b"csc"}, "broken"),
        ({"data": [1.0], "shape": [1, 4], "format": b"csr"}, "lacks indices and indptr"),
        ({"data": [1.0], "shape": [1, 4], "format": b"xyz"}, "is 'xyz', not one of csr, csc, bsr, coo, dia"),
        ({"data": [1.0], "shape": [1, 4], "format": [1, 2]}, "is 'None', not one of"),
        ({"data": [1.0], "row": [0], "col": [4], "shape": [1, 4], "format": b"coo"}, "do not fit shape"),
        ({"data": [1.0], "row": [-1], "col": [0], "shape": [1, 4], "format": b"coo"}, "do not fit shape"),
        ({"data": [1.0], "row": [0, 0], "col": [0, 1], "shape": [1, 4], "format": b"coo"}, "do not fit shape"),
        ({"data": [1.0], "row": [0.0], "col": [0], "shape": [1, 4], "format": b"coo"}, "not what they should be"),
        ({"data": [], "row": [], "col": [], "shape": [10**12, 4], "format": b"coo"}, "not what they|declares 1000"),
        ({"data": [[1.0]], "offsets": [4], "shape": [1, 4], "format": b"dia"}, "lie outside"),
        ({"data": [[1.0]], "offsets": [-(2**63)], "shape": [1, 4], "format": b"dia"}, "lie outside"),
        ({"data": [[1.0], [1.0]], "offsets": [0, 0], "shape": [1, 4], "format": b"dia"}, "diagonals .* not what"),
        ({"data": [1.0], "offsets": [0], "shape": [1, 4], "format": b"dia"}, "diagonals .* not what"),
        ({"data": np.ones((1, 1, 2)), "indices": [2], "indptr": [0, 1], "shape": [1, 4], "format": b"bsr"}, "broken"),
        ({"data": np.ones((1, 1, 3)), "indices": [0], "indptr": [0, 1], "shape": [1, 4], "format": b"bsr"}, "not fit"),
        ({"data": np.ones((1, 0, 2)), "indices": [0], "indptr": [0, 1], "shape": [1, 4], "format": b"bsr"}, "blocks"),
        ({"data": np.ones(1), "indices": [0], "indptr": [0, 1], "shape": [1, 4], "format": b"bsr"}, "blocks"),
    ],
)  # fmt: skip
def test_arrays_that_are_not_data(tmp_path, arrays, sentence):
    np.savez(tmp_path / "set.npz", **arrays)
    refuse(tmp_path / "set.npz", sentence)


def test_pickles_are_not_opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    class Bomb:
        def __reduce__(self):
            return open, ("exploded", "w")

    np.save(tmp_path / "a.npy", np.array([[Bomb()]], object))
    refuse(tmp_path / "a.npy", "pickled objects, which could run any code")
    (tmp_path / "b.npy").write_bytes(pickle.dumps(Bomb()))
    refuse(tmp_path / "b.npy", "damaged or something else")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npy", "b.npy"]


def test_files_that_declare_more_than_they_hold(tmp_path, monkeypatch):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)})
    (tmp_path / "a.npy").write_bytes(stream.getvalue())
    refuse(tmp_path / "a.npy", "declares an array of 8000000000000 bytes but holds 0")
    coordinate = "%%MatrixMarket matrix coordinate real general\n"
    write(tmp_path / "b.mtx", coordinate + "3 3 99999999999\n1 1 1\n")
    refuse(tmp_path / "b.mtx", "declares 99999999999 entries but holds 1")
    write(tmp_path / "c.mtx", coordinate + "999999999999 3 1\n1 1 1\n")
    refuse(tmp_path / "c.mtx", "are read")
    write(tmp_path / "d.mtx", "%%MatrixMarket matrix array real general\n99999 99999\n1\n")
    refuse(tmp_path / "d.mtx", "declares 9999800001 entries but holds 1")
    write(tmp_path / "e.mtx", coordinate + "3 3 1\n4 1 1\n")
    refuse(tmp_path / "e.mtx", "an entry lies outside its matrix")
    write(tmp_path / "f.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n")
    refuse(tmp_path / "f.mtx", "complex")
    np.savez_compressed(tmp_path / "g.npz", X=np.zeros((2**10, 2**10)))
    monkeypatch.setattr("partwise.files.archive.MOST_BYTES", 2**20)
    refuse(tmp_path / "g.npz", "GiB are allowed")


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
@pytest.mark.parametrize("field", ["real", "integer", "pattern"])
def test_mtx_files_against_scipy(tmp_path, symmetry, field):
    square = np.round(X[:4] * (X[:4] > 4))
    whole = {"general": square, "symmetric": square + square.T, "skew-symmetric": square - square.T}[symmetry]
    dtype = np.int64 if field == "integer" else np.float64
    mmwrite(tmp_path / "a.mtx", sp.coo_array(whole.astype(dtype)), field=field, symmetry=symmetry, comment="% words")
    np.testing.assert_array_equal(matrix_market(tmp_path / "a.mtx").toarray(), mmread(tmp_path / "a.mtx").toarray())
    for written in ("general", symmetry):
        mmwrite(tmp_path / "b.mtx", whole.astype(dtype), symmetry=written)
        np.testing.assert_array_equal(matrix_market(tmp_path / "b.mtx"), whole)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("matrix coordinate real general\n", "does not give the size"),
        ("matrix coordinate real general\n3 x 1\n", "does not give the size"),
        ("matrix coordinate real general\n3 3\n", "does not give the size"),
        ("matrix coordinate real general\n-3 3 1\n", "does not give the size"),
        ("vector coordinate real general\n", "not a Matrix Market file"),
        ("matrix coordinate real general\n3 3 1\n1 1\n", "lines hold 2 numbers but should hold 3"),
        ("matrix coordinate real general\n3 3 1\n1 one 1\n", "damaged"),
        ("matrix coordinate real general\n3 3 1\n1.5 1 1\n", "outside"),
        ("matrix coordinate real general\n3 3 1\nnan 1 1\n", "outside"),
        ("matrix coordinate real general\n3 3 1\n0 1 1\n", "outside"),
        ("matrix coordinate real general\n3 3 1\n", "declares 1 entries but holds 0"),
        ("matrix coordinate real symmetric\n3 2 1\n1 1 1\n", "not square"),
        ("matrix array real symmetric\n2 3\n1\n", "symmetric but not square"),
        ("matrix array real symmetric\n2 2\n1\n2\n2\n1\n", "declares 3 entries but holds 4"),
        ("matrix array real general\n0 0\n", "no data"),
    ],
)
def test_mtx_files_that_are_not_data(tmp_path, text, sentence):
    refuse(write(tmp_path / "a.mtx", f"%%MatrixMarket {text}"), sentence)


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"])
def test_mat_files_against_scipy(tmp_path, dtype, compressed):
    matrix = np.round(X).astype(dtype)
    savemat(tmp_path / "a.mat", {"other": "text", "X": matrix, "cell": [{}], "y": Y}, do_compression=compressed)
    np.testing.assert_array_equal(matlab_matrices(tmp_path / "a.mat")["X"], loadmat(tmp_path / "a.mat")["X"])
    assert set(matlab_matrices(tmp_path / "a.mat")) == {"X", "y"}
    np.testing.assert_array_equal(read(tmp_path / "a.mat").X, matrix)


def test_mat_files_of_the_other_byte_order(tmp_path):
    """As big-endian machines write them: a matrix put together by hand."""

    def element(kind, content):
        return struct.pack(">II", kind, len(content)) + content + bytes(-len(content) % 8)

    parts = [element(6, struct.pack(">II", 6, 0)), element(5, struct.pack(">ii", 2, 2)), element(1, b"X")]
    matrix = element(14, b"".join(parts) + element(9, struct.pack(">4d", 1, 2, 3, 4)))
    (tmp_path / "a.mat").write_bytes(b"MATLAB 5.0 MAT-file".ljust(124) + b"\x01\x00MI" + matrix)
    np.testing.assert_array_equal(read(tmp_path / "a.mat").X, [[1, 3], [2, 4]])


def test_mat_files_that_are_not_data(tmp_path):
    savemat(tmp_path / "a.mat", {"Z": X})
    refuse(tmp_path / "a.mat", "none of X, fea.*but 'Z'")
    for name, value in {"text": np.array(["text"]), "cell": np.array([[{}, 1]], object), "complex": X + 1j}.items():
        savemat(tmp_path / f"{name}.mat", {"X": value})
        refuse(tmp_path / f"{name}.mat", "nor any other matrix of real numbers")
    (tmp_path / "d.mat").write_bytes(b"MATLAB 7.3 MAT-file, Platform: GLNXA64" + bytes(600))
    refuse(tmp_path / "d.mat", "save it with -v7")
    savemat(tmp_path / "e.mat", {"X": X}, format="4")
    refuse(tmp_path / "e.mat", "not a MATLAB file of version 5 to 7")


def test_mat_files_that_crash_other_readers(tmp_path):
    """Lengths and indices that point outside; found by fuzzing."""
    savemat(tmp_path / "a.mat", {"X": SPARSE})
    whole = (tmp_path / "a.mat").read_bytes()
    for place in range(128, len(whole) - 3, 4):
        for value in (b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff", b"\x09\x00\x00\x00"):
            (tmp_path / "b.mat").write_bytes(whole[:place] + value + whole[place + 4 :])
            with contextlib.suppress(ReadError):
                read(tmp_path / "b.mat")


def test_a_compressed_bomb(tmp_path, monkeypatch):
    savemat(tmp_path / "a.mat", {"X": np.zeros((2**9, 2**9))}, do_compression=True)
    assert (tmp_path / "a.mat").stat().st_size < 2**14
    monkeypatch.setattr("partwise.files.archive.MOST_BYTES", 2**20)
    refuse(tmp_path / "a.mat", "unpacks to more than allowed")


@pytest.mark.parametrize("suffix", ["npz", "npy", "mat", "mtx", "csv", "tsv"])
@pytest.mark.parametrize(
    "content",
    [b"", RNG.bytes(700), b"\x00" * 600, gzip.compress(b"text", mtime=0), b"\xff\xe9\xe8"],
    ids=["empty", "random", "zeros", "gzip", "another encoding"],
)
def test_nonsense(tmp_path, suffix, content):
    (tmp_path / f"set.{suffix}").write_bytes(content)
    refuse(tmp_path / f"set.{suffix}", rf"set\.{suffix} cannot be read as data: ")


@pytest.mark.parametrize("suffix", ["npz", "npy", "mat"])
@pytest.mark.parametrize("share", [0.3, 0.8, 0.99])
def test_truncated(tmp_path, suffix, share):
    path = tmp_path / f"set.{suffix}"
    {"npz": lambda: np.savez(path, X=X), "npy": lambda: np.save(path, X), "mat": lambda: savemat(path, {"X": X})}[
        suffix
    ]()
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    refuse(path, "cannot be read as data")


def test_zip_entries_that_point_outside_are_not_unpacked(tmp_path):
    with zipfile.ZipFile(tmp_path / "set.npz", "w") as file:
        file.writestr("../../X.npy", b"x")
    refuse(tmp_path / "set.npz", "damaged|neither")
    assert not (tmp_path.parent.parent / "X.npy").exists()
