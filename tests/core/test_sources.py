"""Sources of rows: what is recognised as one, and what the files of common libraries give."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import NMF
from partwise.blocks import ArrayRows, CsrRows, NpyFile, RowBlocks
from partwise.core.sources import as_source

X = np.random.default_rng(0).random((50, 7)).astype(np.float32)
S = sp.random(50, 7, 0.3, "csr", random_state=1)


def whole(source):
    blocks = list(source.blocks())
    return sp.vstack(blocks).toarray() if sp.issparse(blocks[0]) else np.concatenate(blocks)


def written_csr(group):
    for name in ("data", "indices", "indptr"):
        group[name] = getattr(S, name)
    group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", S.shape
    return group


def test_arrays_in_memory_are_no_sources():
    assert as_source(X) is None
    assert as_source(S) is None
    assert as_source([[1, 2]]) is None


@pytest.mark.parametrize("library", ["h5py", "zarr"])
def test_arrays_of_libraries(library, tmp_path):
    module = pytest.importorskip(library)
    file = module.File(tmp_path / "x.h5", "w") if library == "h5py" else module.open_group(tmp_path / "x", mode="w")
    # zarr 3 says create_array.
    make = file.create_array if hasattr(file, "create_array") else file.create_dataset
    array = make("X", data=X, chunks=(8, 7))
    source = as_source(array)
    assert isinstance(source, ArrayRows)
    assert (source.shape, source.dtype, source.chunk_rows) == (X.shape, X.dtype, 8)
    np.testing.assert_array_equal(source.rows(3, 21), X[3:21])
    np.testing.assert_array_equal(whole(source), X)


def test_the_csr_group_of_an_h5ad_file(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        source = as_source(written_csr(file.create_group("X")))
        np.testing.assert_array_equal(source.rows(10, 30).toarray(), S[10:30].toarray())
        np.testing.assert_array_equal(whole(source), S.toarray())
        assert source.paths == (str(tmp_path / "x.h5ad"),)
        file["X"].attrs["encoding-type"] = "csc_matrix"
        with pytest.raises(ValueError, match="CSC"):
            as_source(file["X"])


@pytest.mark.parametrize("data", [X, S])
def test_backed_anndata(data, tmp_path):
    anndata = pytest.importorskip("anndata")
    anndata.AnnData(data).write_h5ad(tmp_path / "x.h5ad")
    backed = anndata.read_h5ad(tmp_path / "x.h5ad", backed="r")
    for given in (backed, backed.X):
        np.testing.assert_array_equal(whole(as_source(given)), data.toarray() if sp.issparse(data) else data)
    assert as_source(anndata.AnnData(data)) is None
    view = backed[np.arange(len(backed)) % 2 == 0]
    with pytest.raises(TypeError, match="a view of a backed AnnData"):
        NMF(2).fit(view)
    written = view.copy(tmp_path / "view.h5ad")
    np.testing.assert_array_equal(whole(as_source(written)), view.to_memory().to_df())
    written.file.close()
    backed.file.close()


def test_npy_files(tmp_path):
    np.save(tmp_path / "x.npy", X)
    source = NpyFile(tmp_path / "x.npy")
    assert isinstance(source, RowBlocks)
    assert (len(source), source.shape, source.dtype) == (50, X.shape, X.dtype)
    np.testing.assert_array_equal(source[3:9], X[3:9])
    np.testing.assert_array_equal(whole(source), X)
    slices = [slice(3, 9), slice(20, 50)]
    np.testing.assert_array_equal(np.concatenate([part.copy() for part in source.each(slices)]), X[np.r_[3:9, 20:50]])
    np.save(tmp_path / "f.npy", np.asfortranarray(X))
    with pytest.raises(ValueError, match="C order"):
        NpyFile(tmp_path / "f.npy")
    np.save(tmp_path / "o.npy", np.array([[object()]]), allow_pickle=True)
    with pytest.raises(ValueError, match="objects"):
        NpyFile(tmp_path / "o.npy")


def test_three_arrays_of_a_csr_matrix(tmp_path):
    np.save(tmp_path / "data.npy", S.data)
    np.save(tmp_path / "indices.npy", S.indices)
    files = [NpyFile(tmp_path / f"{name}.npy") for name in ("data", "indices")]
    np.testing.assert_array_equal(whole(CsrRows(*files, S.indptr, S.shape)), S.toarray())
    for indptr in (S.indptr[:-1], S.indptr[::-1], S.indptr + 1):
        with pytest.raises(ValueError, match="index pointers"):
            CsrRows(*files, indptr, S.shape)
    with pytest.raises(ValueError, match="2D"):
        ArrayRows(files[0])


def test_closed_files_and_files_of_something_else(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        array = file.create_dataset("X", data=X)
    with pytest.raises(ValueError, match="file that is closed"):
        as_source(array)
    (tmp_path / "x.npy").write_text("1, 2")
    with pytest.raises(ValueError, match=r"x\.npy is not a file that numpy.save has written"):
        NpyFile(tmp_path / "x.npy")


def test_npy_files_that_are_not_whole(tmp_path):
    np.save(tmp_path / "x.npy", X)
    content = (tmp_path / "x.npy").read_bytes()
    for size, says in ((len(content) - 1, "ends after 49 of its 50 rows"), (50, "is not a file"), (0, "is not a file")):
        (tmp_path / "cut.npy").write_bytes(content[:size])
        with pytest.raises(ValueError, match=rf"cut\.npy {says}"):
            NpyFile(tmp_path / "cut.npy")


UNFINISHED = {
    "without dtype: a source of row blocks has": {"shape": (50, 4)},
    "without shape and dtype: a source of row blocks has": {},
    r"of shape \(None, 4\); a source": {"shape": (None, 4), "dtype": float},
    "of shape 50; a source": {"shape": 50, "dtype": float},
    "of dtype 'number', which numpy does not know": {"shape": (50, 4), "dtype": "number"},
}


@pytest.mark.parametrize("says", UNFINISHED)
def test_sources_that_lack_something(says):
    source = type("Table", (), {"blocks": lambda self: iter([X]), **UNFINISHED[says]})()
    with pytest.raises(TypeError, match=rf"X is a Table .*{says}"):
        NMF(2).fit(source)


def test_an_array_with_a_method_blocks_is_an_array():
    given = type("Table", (), {"blocks": lambda self: None, "__array__": lambda self, *_, **__: X})()
    assert as_source(given) is None
