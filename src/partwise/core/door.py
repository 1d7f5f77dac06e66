"""The one door: whatever holds numbers becomes a float array, or a float `csr_array` with sorted, unique indices.

Every public function that takes data reads them here. Behind the door there is one sparse type, which shares memory
with the caller's matrix where the format allows it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from .annotated import empty_table, is_annotated, matrix_of
from .dask_rows import ChunkBlocks, cluster_of, collection_of, is_dask, is_frame
from .indices import canonical_csr
from .reading import StoredRows
from .sources import RowBlocks, as_source
from .spread_rows import ClusterRows
from .types import Array

FLOATS = (np.float64, np.float32)

IN_BLOCKS = (
    "{name} is a source of row blocks, but {reader} needs all of it in memory. Read it first if it fits, or take a "
    "sample of the rows."
)

PATH = "{name} is the path {path!r}. Give what is there: {advice}."
READ = (
    "partwise.files.read(path) reads tables and matrices, and partwise.blocks.NpyFile(path) reads the rows of an npy "
    "file in blocks"
)
# What opens the files that `partwise.files` does not read, by the end of their names.
OPENED = {
    end: f"{advice} (pip install partwise[disk])"
    for end, advice in {
        ".h5": "a data set of h5py, h5py.File(path)[name]",
        ".hdf5": "a data set of h5py, h5py.File(path)[name]",
        ".h5ad": "anndata.read_h5ad(path), with backed='r' if it does not fit into memory",
        ".zarr": "an array of zarr, zarr.open(path)[name]",
        ".parquet": "pandas.read_parquet(path), or partwise.blocks.RowBlocks of it if it does not fit into memory",
    }.items()
}
ITERATOR = (
    "{name} is an iterator, which can be read only once. Give it to fit_batches of NMF, LocalCoordinateNMF or "
    "ConstrainedNMF, or give an object with shape, dtype and blocks() (partwise.blocks.RowBlocks)."
)

# Libraries whose objects hold data without being arrays, or cannot always be read as one, and what to give instead.
ADVICE = {
    "anndata": "Give the matrix that it holds, in memory: adata.X or adata.layers[name], adata.to_memory().X of a "
    "backed one, or X[:] of a sparse matrix on disk.",
    "mudata": "Give the matrix of one modality, in memory: mdata[name].X.",
    "h5py": "Give one open data set, file[name], or read it into memory, file[name][:].",
    "zarr": "Give one array, group[name], or read it into memory, group[name][:].",
    "dask": "Give its values: X.compute().",
    "xarray": "Give the values of one two-dimensional variable: X.values, or X[name].values of a Dataset.",
    "torch": "Give X.detach().cpu().numpy(), of a sparse tensor X.to_dense() first.",
    "tensorflow": "Give X.numpy().",
    "cupy": "Give X.get(), which copies it to the memory of this machine.",
    "cupyx": "Give X.get(), which copies it to the memory of this machine.",
    "sparse": "Give X.to_scipy_sparse().",
    "pyspark": "Give X.toPandas().",
}


def read_data(
    X: Any,
    *,
    name: str = "X",
    allow_nan: bool = False,
    if_nan: str = "Every entry must be known here.",
    min_samples: int = 1,
    estimator: Any = None,
    reset: bool = False,
    stored: bool = False,
    spread: bool = False,
) -> Any:
    """X as a float32 or float64 array or as a canonical float `csr_array`; copied only if it must be converted.

    Data that are not in memory stay where they are, as `StoredRows`, if the reader takes them.

    Parameters
    ----------
    X : array-like, sparse matrix or array of any format, DataFrame, or AnnData in memory
        Samples × features.
    name : str, default="X"
        For messages.
    allow_nan : bool, default=False
        Whether entries may be NaN; infinite ones are always refused.
    if_nan : str
        What to do about entries that must not be NaN.
    min_samples : int, default=1
    estimator : estimator, optional
        The reader, which checks the number and the names of the features.
    reset : bool, default=False
        Whether the estimator learns these now.
    stored : bool, default=False
        Whether the reader takes rows in blocks; then it must check the entries.
    spread : bool, default=False
        Whether it also takes them on workers, where the chunks of a dask array go if there is a client.
    """
    names = _named_table(X) if estimator is not None else None
    X = matrix_of(X)
    # A dask array need not fit to be read whole.
    source = as_source(X) if stored or not is_dask(X) else None
    if source is not None and stored:
        return _stored(_rows_of(source, X, spread), min_samples, estimator, reset, names)
    if source is not None and source is X:
        raise TypeError(
            IN_BLOCKS.format(name=name, reader="this function" if estimator is None else type(estimator).__name__)
        )
    X = readable(collection_of(X), name)
    if sp.issparse(X):
        X = canonical_csr(X, name)
    _check_form(X, name)
    rules: dict[str, Any] = {
        "accept_sparse": "csr",
        "dtype": FLOATS,
        "ensure_all_finite": "allow-nan",
        "ensure_min_samples": min_samples,
    }
    if estimator is None:
        X = check_array(X, input_name=name, **rules)
    elif names is not None:
        validate_data(estimator, names, reset=reset, skip_check_array=True)
        X = check_array(X, input_name=name, estimator=estimator, **rules)
    else:
        X = validate_data(estimator, X, reset=reset, **rules)
    if sp.issparse(X) and not isinstance(X, sp.csr_array):
        # A DataFrame of sparse columns.
        X = canonical_csr(X, name)
    if not allow_nan and has_nan(X):
        raise ValueError(f"Input {name} contains NaN. {if_nan}")
    return X


def _check_form(X: Any, name: str) -> None:
    """Say what to do about stacks of images and tables with words, which scikit-learn only calls not convertible."""
    if isinstance(X, np.ndarray) and X.ndim > 2:
        raise ValueError(
            f"{name} has shape {X.shape}, but it must have two dimensions: a row for every sample, a column for every "
            f"feature. For images give {name}.reshape(len({name}), -1)."
        )
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        words = [str(label) for i, label in enumerate(X.columns) if not _holds_numbers(X.iloc[:, i])]
        if words:
            raise ValueError(
                f"{name} has columns that do not hold numbers: {', '.join(words[:5])}{', …' * (len(words) > 5)}. "
                f"Leave them out, as {name}.select_dtypes('number') does, or turn them into numbers."
            )


def _holds_numbers(column: Any) -> bool:
    """Whether the entries of a column convert to numbers; only those that may be words are tried."""
    if getattr(column.dtype, "kind", "O") not in "OUSM":
        return True
    try:
        column.astype(float)
    except (TypeError, ValueError):
        return False
    return True


def _named_table(X: Any) -> Any:
    """A DataFrame without rows that has the names of the features, of data that are no DataFrame themselves."""
    if is_annotated(X):
        return empty_table(X)
    return collection_of(X)._meta if is_dask(X) and is_frame(X) else None


def _rows_of(source: RowBlocks, X: Any, spread: bool) -> StoredRows:
    """Rows that are read here, or stay on workers."""
    cluster = cluster_of(X) if spread and isinstance(source, ChunkBlocks) else None
    if cluster is None or not isinstance(source, ChunkBlocks):
        return StoredRows(source)
    return ClusterRows(source, cluster)


def _stored(X: StoredRows, min_samples: int, estimator: Any, reset: bool, names: Any) -> StoredRows:
    """Rows that are not in memory, their number and width checked."""
    for count, least, things in ((X.shape[0], min_samples, "sample"), (X.shape[1], 1, "feature")):
        if count < least:
            raise ValueError(
                f"Found array with {count} {things}(s) (shape={X.shape}) while a minimum of {least} is required."
            )
    validate_data(estimator, X if names is None else names, reset=reset, skip_check_array=True)
    return X


def readable(X: Any, name: str = "X") -> Any:
    """X, or the array that another library's object converts to; otherwise an error that says what to give."""
    if isinstance(X, np.ma.MaskedArray):
        raise TypeError(
            f"{name} is a numpy masked array, whose mask would be ignored. Give {name}.filled(numpy.nan), and "
            "missing='nan' to an estimator that has it."
        )
    if isinstance(X, np.ndarray) or sp.issparse(X):
        return X
    if X is None:
        raise TypeError(f"{name} is None, but an array is needed: a row for every sample, a column for every feature.")
    if isinstance(X, str | os.PathLike):
        raise TypeError(PATH.format(name=name, path=X, advice=OPENED.get(_ending(X), READ)))
    if isinstance(X, Iterator):
        raise TypeError(ITERATOR.format(name=name))
    library = type(X).__module__.partition(".")[0]
    advice = ADVICE.get(library)
    if advice is None:
        return X
    refusal = f"{name} is an object of {library} ({type(X).__name__}), not an array in memory. {advice}"
    if not hasattr(X, "__array__"):
        raise TypeError(refusal)
    try:
        array = np.asarray(X)
    except (TypeError, ValueError, RuntimeError, NotImplementedError) as error:
        raise TypeError(refusal) from error
    if array.dtype.kind == "O":
        raise TypeError(refusal)
    return array


def _ending(path: str | os.PathLike[str]) -> str:
    """The end of the name of a file or folder, in lower case."""
    return Path(os.fsdecode(path)).suffix.lower()


def read_links(links: Any, name: str = "links") -> Any:
    """A matrix over pairs of samples, dense or sparse in any format, as canonical `csr_array`."""
    links = readable(links, name)
    return canonical_csr(links if sp.issparse(links) else sp.csr_array(np.asarray(links)), name)


def values_of(X: Any) -> Array:
    """The numbers that X stores."""
    values: Array = X.data if sp.issparse(X) else X
    return values


def has_nan(X: Any) -> bool:
    """Whether an entry is NaN."""
    if isinstance(X, StoredRows):
        return X.facts.has_nan
    values = values_of(X)
    # The smallest entry is NaN if any is: one pass, and no array of flags.
    return bool(values.size) and bool(np.isnan(values.min()))


def is_lent(X: Any, given: Any) -> bool:
    """Whether X, as read here, may share memory with data that the caller may still change."""
    if isinstance(X, StoredRows):
        return False
    given = matrix_of(given)
    if isinstance(given, np.ndarray) or sp.issparse(given):
        theirs = list(_parts(given))
        return any(np.may_share_memory(ours, part) for ours in _parts(X) for part in theirs)
    # Anything else that converts without a copy, such as a DataFrame, gives a view.
    return any(part.base is not None for part in _parts(X))


def _parts(X: Any) -> Iterator[Array]:
    """The arrays that make up X."""
    if not sp.issparse(X):
        yield X
        return
    for name in ("data", "indices", "indptr", "row", "col", "offsets"):
        part = getattr(X, name, None)
        if isinstance(part, np.ndarray):
            yield part
