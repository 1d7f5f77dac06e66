"""Where rows come from if they are not in memory: the protocol of a source, and sources for common files.

A source of rows has a `shape`, a `dtype` and a method `blocks`, and need not be more (:class:`RowBlocks`). It is read
by `core.reading`, which checks what it gives; nothing else knows of files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp

from .dask_rows import dask_source, is_dask
from .rooms import DiskRoom
from .types import Array

# HDF5 and zarr files of AnnData call their matrices by these names.
CSR_NAMES, CSC_NAMES = ("csr_matrix", "csr"), ("csc_matrix", "csc")

# Its X would be read whole when it is asked for.
VIEW = (
    "X is a view of a backed AnnData, of which anndata reads no rows in blocks. Give view.to_memory() if it fits into "
    "memory, or write it to a file, adata = view.copy(filename), and give that."
)


@runtime_checkable
class RowBlocks(Protocol):
    """Data that come in blocks of rows: what `fit`, `transform`, `predict` and `score` take instead of an array.

    Any object with these three is one; there is no need to derive from this class. Three more are optional:

    ``rows(start, stop)``
        Gives any range of rows. Without it, blocks are read in their order from the first one, by one thread.
    ``chunk_rows``
        How many rows are stored together, so that nothing is decompressed twice.
    ``each(slices)``
        Gives some slices of rows, a list that ascends, one array after another; each may be in the memory of the one
        before. Several threads call it at the same time: one reads while the others compute, each with the rows that it
        has just read. A sweep over a dense file such as :class:`NpyFile` then takes about as long as in memory.

    Attributes
    ----------
    shape : tuple of int
        Samples × features.
    dtype : numpy.dtype
        Of all blocks.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise import NMF
    >>> class Squares:
    ...     shape, dtype = (400, 20), np.dtype(np.float64)
    ...     def blocks(self):
    ...         for seed in range(4):
    ...             yield np.random.default_rng(seed).random((100, 20)) ** 2
    >>> model = NMF(3, random_state=0, max_iter=20, tol=0).fit(Squares())
    >>> model.embedding_.shape
    (400, 3)
    """

    @property
    def shape(self) -> tuple[int, int]: ...  # noqa: D102

    @property
    def dtype(self) -> Any: ...  # noqa: D102

    def blocks(self) -> Iterator[Any]:
        """All rows from the first to the last, as consecutive dense arrays or CSR matrices; the same every time."""


class ArrayRows:
    """Rows of anything that gives them by slices, such as a data set of h5py or an array of zarr.

    Parameters
    ----------
    array : object
        Two-dimensional: ``array[start:stop]`` gives rows.
    """

    def __init__(self, array: Any):
        # A data set of h5py is false when its file is closed, and knows nothing any more.
        if type(array).__module__.partition(".")[0] == "h5py" and not array:
            raise ValueError("X is a data set of an HDF5 file that is closed. Open the file, and keep it open.")
        if len(array.shape) != 2:
            raise ValueError(
                f"Expected 2D array: X has {len(array.shape)} dimension(s), but samples × features has two."
            )
        self._array = array
        self.shape: tuple[int, int] = tuple(map(int, array.shape))  # type: ignore[assignment]
        self.dtype = np.dtype(array.dtype)
        chunks = getattr(array, "chunks", None)
        self.chunk_rows = int(chunks[0]) if chunks else 1
        self.paths = _paths_of(array)
        # In HDF5; chunks would be read again for every slice.
        if not chunks and hasattr(array, "read_direct"):
            self.each = self._each

    def rows(self, start: int, stop: int) -> Array:
        """Read some rows."""
        return np.asarray(self._array[start:stop])

    def _each(self, slices: Sequence[slice]) -> Iterator[Array]:
        for rows, out in _in_one_place(slices, self.shape[1:], self.dtype):
            self._array.read_direct(out, np.s_[rows])
            yield out

    def blocks(self) -> Iterator[Array]:
        """All rows, in pieces as they are stored."""
        for start in range(0, self.shape[0], self.chunk_rows):
            yield self.rows(start, start + self.chunk_rows)


class CsrRows:
    """Rows of a sparse matrix in CSR layout whose three arrays are on disk, as in the h5ad files of AnnData.

    Parameters
    ----------
    data, indices : object
        One-dimensional; slices are read when needed.
    indptr : array-like
        Read at once.
    shape : tuple of int
    """

    def __init__(self, data: Any, indices: Any, indptr: Any, shape: tuple[int, int]):
        self._data, self._indices = data, indices
        self._indptr = np.asarray(indptr[:], np.int64)
        self.shape: tuple[int, int] = tuple(map(int, shape))  # type: ignore[assignment]
        self.dtype = np.dtype(data.dtype)
        self.nnz = int(self._indptr[-1]) if len(self._indptr) else 0
        rises = len(self._indptr) == self.shape[0] + 1 and self._indptr[0] == 0 and (np.diff(self._indptr) >= 0).all()
        # Arrays of zarr have a shape, but no length.
        n_entries = int(data.shape[0])
        if not rises or n_entries != self.nnz or int(indices.shape[0]) != self.nnz:
            raise ValueError(
                f"X is not a valid sparse matrix: a CSR matrix of shape {self.shape} needs {self.shape[0] + 1} index "
                f"pointers that rise from zero to the number of entries; there are {len(self._indptr)}, up to "
                f"{self.nnz}, for {n_entries} entries."
            )
        self.paths = _paths_of(data, indices)

    @classmethod
    def of_group(cls, group: Any) -> CsrRows:
        """The matrix of a group of HDF5 or zarr, with its shape among the attributes."""
        return cls(group["data"], group["indices"], group["indptr"], tuple(group.attrs["shape"]))

    def rows(self, start: int, stop: int) -> sp.csr_array:
        """Read some rows."""
        stop = min(stop, self.shape[0])
        first, last = self._indptr[start], self._indptr[stop]
        indices = np.asarray(self._indices[first:last])
        indptr = (self._indptr[start : stop + 1] - first).astype(indices.dtype, copy=False)
        data = np.asarray(self._data[first:last])
        return sp.csr_array((data, indices, indptr), shape=(stop - start, self.shape[1]))

    def blocks(self) -> Iterator[sp.csr_array]:
        """All rows, some thousand at a time."""
        for start in range(0, self.shape[0], 4096):
            yield self.rows(start, start + 4096)


class NpyFile:
    """A dense array in a file that `numpy.save` has written, read by ordinary reads and not mapped into memory.

    A file that becomes shorter while it is read is then an error; a memory map would end the process.

    Parameters
    ----------
    path : path-like
        Of one or two dimensions, in C order.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.paths = (os.fspath(path),)
        with open(path, "rb") as file:
            try:
                version = np.lib.format.read_magic(file)
                read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
                self.shape, fortran, self.dtype = read(file)
            except ValueError as error:
                raise ValueError(f"{self.paths[0]} is not a file that numpy.save has written.") from error
            self._offset = file.tell()
        if fortran and len(self.shape) > 1:
            raise ValueError(
                f"{self.paths[0]} holds its array by columns. Save it in C order: numpy.ascontiguousarray(X)."
            )
        if self.dtype.hasobject:
            raise ValueError(f"{self.paths[0]} holds objects, not numbers.")
        self._row_bytes = int(np.prod(self.shape[1:])) * self.dtype.itemsize
        there = (os.path.getsize(path) - self._offset) // max(1, self._row_bytes)
        if self._row_bytes and there < len(self):
            raise ValueError(
                f"{self.paths[0]} ends after {there} of its {len(self)} rows: it was not written or copied whole."
            )

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, rows: slice) -> Array:
        start, stop, _ = rows.indices(len(self))
        return self.rows(start, stop)

    def rows(self, start: int, stop: int) -> Array:
        """Read some rows."""
        stop = min(stop, len(self))
        out = np.empty((stop - start, *self.shape[1:]), self.dtype)
        with open(self.paths[0], "rb", buffering=0) as file:
            self._fill(out, file, start)
        return out

    def each(self, slices: Sequence[slice]) -> Iterator[Array]:
        """Read some slices of rows, each into the memory of the one before; several threads may do so."""
        with open(self.paths[0], "rb", buffering=0) as file:
            for rows, out in _in_one_place(slices, self.shape[1:], self.dtype):
                self._fill(out, file, rows.start)
                yield out

    def _fill(self, out: Array, file: Any, start: int) -> None:
        """Read rows from the first one on."""
        room = memoryview(out.reshape(-1).view(np.uint8))  # type: ignore[arg-type]
        file.seek(self._offset + start * self._row_bytes)
        filled = 0
        while filled < len(room):
            count = file.readinto(room[filled:])
            if not count:
                raise EOFError(f"the file {self.paths[0]} ends before row {start + len(out)}: it has become shorter")
            filled += count

    def blocks(self) -> Iterator[Array]:
        """All rows, some megabytes at a time."""
        step = max(1, 2**24 // max(1, self._row_bytes))
        for start in range(0, len(self), step):
            yield self.rows(start, start + step)


class CodesOnDisk:
    """Data whose codes are kept in a file, where n_samples × n_components numbers are too many for the memory.

    `fit` then sets `embedding_` to a read-only memory map of the file, and `transform` returns one. Sweeps need about
    three times its size on the same disk, in files that vanish when the fit ends, however it ends. If the disk is full,
    the error says so; a :class:`partwise.callbacks.Checkpoint` keeps what was learned until then.

    Parameters
    ----------
    X : array, source of row blocks, or anything else that is read in blocks
    path : path-like
        Of the file, which :func:`numpy.load` reads. It is replaced whole.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from partwise import NMF
    >>> from partwise.blocks import CodesOnDisk
    >>> X = np.random.default_rng(0).random((500, 30))
    >>> path = os.path.join(tempfile.mkdtemp(), "codes.npy")
    >>> model = NMF(3, random_state=0, max_iter=20, tol=0).fit(CodesOnDisk(X, path))
    >>> np.array_equal(np.load(path), model.embedding_)
    True
    """

    def __init__(self, X: Any, path: str | os.PathLike[str]):
        source = ArrayRows(X) if isinstance(X, np.ndarray) else as_source(X)
        if source is None:
            raise TypeError(
                f"X is a {type(X).__name__}, which is not read in blocks; give an array, or a source of row blocks."
            )
        _check_apart(path, getattr(source, "paths", ()))
        self.codes = DiskRoom(path)
        self.shape: tuple[int, int] = tuple(map(int, source.shape))  # type: ignore[assignment]
        self.dtype = np.dtype(source.dtype)
        self.blocks = source.blocks
        # What a source need not have.
        for name in ("rows", "each", "chunk_rows", "nnz", "paths"):
            if hasattr(source, name):
                setattr(self, name, getattr(source, name))


def _check_apart(path: str | os.PathLike[str], places: Sequence[str]) -> None:
    """Refuse to write codes over the data."""
    for place in places:
        if os.path.exists(path) and os.path.exists(place) and os.path.samefile(path, place):
            raise ValueError(
                f"The codes would replace {os.fspath(path)}, where X is stored. Give the name of another file for them."
            )


def _in_one_place(slices: Sequence[slice], shape: tuple[int, ...], dtype: Any) -> Iterator[tuple[slice, Array]]:
    """Slices of rows of this shape, each with the same memory."""
    room = np.empty((max((rows.stop - rows.start for rows in slices), default=0), *shape), dtype)
    for rows in slices:
        yield rows, room[: rows.stop - rows.start]


def as_source(X: Any) -> RowBlocks | None:
    """The source of rows that X is or holds; None if X is something else, such as an array in memory."""
    if isinstance(X, np.ndarray) or sp.issparse(X):
        return None
    library, kind = type(X).__module__.partition(".")[0], type(X).__name__
    if library == "anndata":
        return _of_anndata(X, kind)
    if is_dask(X):
        return dask_source(X)
    if library in ("h5py", "zarr"):
        encoding = str(getattr(X, "attrs", {}).get("encoding-type", "")) if hasattr(X, "attrs") else ""
        if encoding in CSR_NAMES:
            return CsrRows.of_group(X)
        if encoding in CSC_NAMES:
            raise _by_columns()
        return ArrayRows(X) if kind in ("Dataset", "Array") else None
    return _checked(X) if callable(getattr(X, "blocks", None)) else None


def _checked(X: Any) -> RowBlocks | None:
    """An object with a method `blocks`; refused if it lacks the rest of a source. Arrays may have such a method too."""
    name = type(X).__name__
    lacking = [part for part in ("shape", "dtype") if not hasattr(X, part)]
    if lacking and hasattr(X, "__array__"):
        return None
    if lacking:
        raise TypeError(
            f"X is a {name} with a method blocks, but without {' and '.join(lacking)}: a source of row blocks has "
            "shape, dtype and blocks() (partwise.blocks.RowBlocks)."
        )
    try:
        tuple(map(int, X.shape))
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"X is a {name} of shape {X.shape!r}; a source says how many rows and columns it has."
        ) from error
    try:
        np.dtype(X.dtype)
    except TypeError as error:
        raise TypeError(f"X is a {name} of dtype {X.dtype!r}, which numpy does not know.") from error
    source: RowBlocks = X
    return source


def _of_anndata(X: Any, kind: str) -> RowBlocks | None:
    """The matrix of a backed AnnData, or one of its sparse data sets."""
    if kind == "AnnData":
        if not getattr(X, "isbacked", False):
            return None
        if X.is_view:
            raise TypeError(VIEW)
        return as_source(X.X)
    group = getattr(X, "group", None)
    if group is None:
        return None
    if getattr(X, "format", "csr") in CSC_NAMES:
        raise _by_columns()
    return CsrRows.of_group(group)


def _by_columns() -> ValueError:
    return ValueError(
        "X is a sparse matrix on disk in CSC layout, by columns, but rows are read in blocks. Write it in CSR layout, "
        "or read it into memory."
    )


def _paths_of(*arrays: Any) -> tuple[str, ...]:
    """The files and folders in which arrays of other libraries lie, if they say so."""
    return tuple(dict.fromkeys(path for array in arrays for path in _places_of(array)))


def _places_of(array: Any) -> tuple[str, ...]:
    if hasattr(array, "paths"):
        return tuple(array.paths)
    if isinstance(array, np.memmap):
        # A map of a file without a name has none, or one that is gone.
        name = None if array.filename is None else os.fspath(array.filename)
        return (name,) if name is not None and os.path.exists(name) else ()
    # A data set of h5py has a file; an array of zarr is a folder of a store, which may be a file itself.
    file, store = getattr(array, "file", None), getattr(array, "store", None)
    place = getattr(file, "filename", None) or getattr(store, "root", None) or getattr(store, "path", None)
    if not isinstance(place, str | os.PathLike):
        return ()
    folder = os.path.join(place, str(getattr(array, "path", ""))) if os.path.isdir(place) else os.fspath(place)
    return (folder,) if os.path.exists(folder) else ()
