"""The one door: whatever holds numbers becomes a float array, or a float `csr_array` with sorted, unique indices.

Every public function that takes data reads them here. Behind the door there is one sparse type, which shares memory
with the caller's matrix where the format allows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from .indices import check_pointers
from .types import Array

FLOATS = (np.float64, np.float32)

# Libraries whose objects hold data without being arrays, or cannot always be read as one, and what to give instead.
ADVICE = {
    "anndata": "Give the matrix that it holds, in memory: adata.X or adata.layers[name], adata.to_memory().X of a "
    "backed one, or X[:] of a sparse matrix on disk.",
    "mudata": "Give the matrix of one modality, in memory: mdata[name].X.",
    "h5py": "Give one data set, read into memory: file[name][:].",
    "zarr": "Give one array, read into memory: group[name][:].",
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
) -> Any:
    """X as a float32 or float64 array or as a canonical float `csr_array`; copied only if it must be converted.

    Parameters
    ----------
    X : array-like, sparse matrix or array of any format, or DataFrame
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
    """
    X = readable(X, name)
    if sp.issparse(X):
        X = canonical_csr(X, name)
    rules: dict[str, Any] = {
        "accept_sparse": "csr",
        "dtype": FLOATS,
        "ensure_all_finite": "allow-nan",
        "ensure_min_samples": min_samples,
    }
    if estimator is None:
        X = check_array(X, input_name=name, **rules)
    else:
        X = validate_data(estimator, X, reset=reset, **rules)
    if sp.issparse(X) and not isinstance(X, sp.csr_array):
        # A DataFrame of sparse columns.
        X = canonical_csr(X, name)
    if not allow_nan and has_nan(X):
        raise ValueError(f"Input {name} contains NaN. {if_nan}")
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


def canonical_csr(matrix: Any, name: str = "X") -> Any:
    """A sparse matrix or array as `csr_array` with valid, sorted, unique indices; shares memory where possible.

    Broken index arrays are refused: compiled code would read or write outside the matrix.
    """
    if matrix.ndim != 2:
        raise ValueError(
            f"Expected 2D array: the sparse {name} has {matrix.ndim} dimension(s), but samples × features has two."
        )
    if matrix.dtype.kind in "iu":
        # Small integers overflow when entries stored twice are added up.
        matrix = matrix.astype(np.float64)
    try:
        csr = sp.csr_array(_checked(matrix))
        if matrix.format not in ("csr", "csc", "bsr"):
            csr.check_format(full_check=True)
    except (ValueError, IndexError) as error:
        raise ValueError(
            f"{name} is not a valid sparse matrix, its structure is broken ({error}); rebuild it from its entries."
        ) from error
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return csr


def read_links(links: Any, name: str = "links") -> Any:
    """A matrix over pairs of samples, dense or sparse in any format, as canonical `csr_array`."""
    links = readable(links, name)
    return canonical_csr(links if sp.issparse(links) else sp.csr_array(np.asarray(links)), name)


def _checked(matrix: Any) -> Any:
    """A plain scipy matrix over the same memory, its indices checked where conversions would trust them."""
    kinds = {"csr": sp.csr_array, "csc": sp.csc_array, "bsr": sp.bsr_array}
    if matrix.format in kinds:
        check_pointers(matrix.indptr)
        # A second object over the same memory: the check may replace the index arrays of the one it is called on.
        matrix = kinds[matrix.format]((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
        matrix.check_format(full_check=True)
    elif matrix.format == "coo" and matrix.nnz:
        for index, length in zip((matrix.row, matrix.col), matrix.shape, strict=True):
            if not 0 <= index.min() <= index.max() < length:
                raise ValueError("indices out of range")
    return matrix


def values_of(X: Any) -> Array:
    """The numbers that X stores."""
    values: Array = X.data if sp.issparse(X) else X
    return values


def has_nan(X: Any) -> bool:
    """Whether an entry is NaN."""
    values = values_of(X)
    # The smallest entry is NaN if any is: one pass, and no array of flags.
    return bool(values.size) and bool(np.isnan(values.min()))


def is_lent(X: Any, given: Any) -> bool:
    """Whether X, as read here, may share memory with data that the caller may still change."""
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
