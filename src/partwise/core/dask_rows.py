"""Rows of dask arrays and DataFrames, chunk by chunk; dask is imported by those who have it.

A source reads them on this machine (:func:`dask_source`). What a fitted model does with every sample separately is
mapped over the chunks, and nothing is computed before it is asked for (:func:`mapped`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from .cluster import Cluster, ClusterError, current_client
from .types import Array

REFUSED_COLUMNS = (
    "X is split by columns as well: its chunks have {widths} columns. A sample must lie in one chunk: use "
    "X.rechunk({{0: 'auto', 1: -1}})."
)
NOT_ON_WORKERS = "{} cannot be fitted on the workers of a cluster{}. {}"
READ_HERE = "Give partwise.blocks.DaskRows(X, client=False) to read X chunk by chunk on this machine."
HOLD_HERE = "Give X.compute(), if X fits into the memory of this machine."
REFUSED_MASK = (
    "X is made of numpy masked arrays, whose mask would be ignored. Give dask.array.ma.filled(X, numpy.nan), and "
    "missing='nan' to an estimator that has it."
)
CODES_GONE = (
    "The codes of the fit were on workers that are gone, or their client is closed or not the current one. While its "
    "client is connected, save the model inside `with client.as_current():`, or pickle it: both keep the codes."
)
UNKNOWN_SIZES = "X does not know how many rows its chunks have. Call X.compute_chunk_sizes() first, which counts them."


class DaskRows:
    """A dask array or DataFrame, with the client whose workers a fit should use.

    Without it, `fit` uses the current client of the process, if there is one. What a fit leaves on the workers of
    another client (`embedding_`, `labels_`) is computed inside ``with client.as_current():``.

    Parameters
    ----------
    X : dask.array.Array or dask DataFrame
        In chunks of whole rows.
    client : distributed.Client or False, optional
        By default the current one. False reads X chunk by chunk on this machine.
    patience : float, default=60
        Seconds to wait for a worker when there is none, before the fit ends with an error.

    Examples
    --------
    >>> import dask.array as da
    >>> from partwise import NMF
    >>> from partwise.blocks import DaskRows
    >>> X = da.random.default_rng(0).random((500, 30), chunks=(100, 30))
    >>> NMF(3, random_state=0, max_iter=20, tol=0).fit(DaskRows(X, client=False)).components_.shape
    (3, 30)
    """

    def __init__(self, X: Any, client: Any = None, patience: float = 60.0):
        if not is_dask(X):
            raise TypeError(f"DaskRows needs a dask array or DataFrame, not {type(X).__name__}.")
        if client is not None and client is not False and not hasattr(client, "scheduler_info"):
            raise TypeError(f"The client of DaskRows must be a distributed.Client or False, not {client!r}.")
        self.X = collection_of(X)
        self.client = client
        self.patience = patience

    @property
    def shape(self) -> tuple[Any, ...]:
        """Samples × features, as far as dask knows them."""
        return tuple(self.X.shape)


def is_dask(X: Any) -> bool:
    """Whether X is an array or a DataFrame of dask, with or without a client."""
    if isinstance(X, DaskRows):
        return True
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(X, "dask")


def collection_of(X: Any) -> Any:
    """The array or DataFrame itself."""
    return X.X if isinstance(X, DaskRows) else X


def cluster_of(X: Any) -> Cluster | None:
    """The workers that are to fit X; None if it is to be read on this machine."""
    given = X if isinstance(X, DaskRows) else DaskRows(X)
    client = current_client() if given.client is None else given.client
    return None if client is None or client is False else Cluster(client, given.patience)


def refuse_workers(X: Any, name: str) -> None:
    """Refuse data that a client would have on workers, for a method that needs all of it here."""
    if is_dask(X) and cluster_of(X) is not None:
        raise ValueError(NOT_ON_WORKERS.format(name, "", HOLD_HERE))


def computing(X: Any) -> AbstractContextManager[Any]:
    """Where what a fit to X has left on workers can be computed."""
    cluster = cluster_of(X) if is_dask(X) else None
    context: AbstractContextManager[Any] = nullcontext() if cluster is None else cluster.client.as_current()
    return context


def brought(values: Any) -> Any:
    """What a fit has left on workers, here; anything else as it is."""
    if not is_dask(values):
        return values
    try:
        return np.asarray(values)
    except (CancelledError, ValueError) as error:
        # Without any client, dask misses what the codes are made of.
        raise ClusterError(CODES_GONE) from error


def is_frame(X: Any) -> bool:
    """Whether it is one of pandas' frames in partitions."""
    X = collection_of(X)
    return hasattr(X, "map_partitions") and hasattr(X, "_meta")


def as_chunks(X: Any) -> Any:
    """A dask array in chunks of whole rows, whose numbers are known: X, or the values of a DataFrame.

    The rows of a DataFrame's partitions are counted, which computes them once.
    """
    X = collection_of(X)
    if is_frame(X):
        _check_columns(X)
        # Together, columns of pandas' own types, or some that are boolean, would be an array of objects.
        plain = X if _common_type(X).kind in "bfiu" else X.astype(np.float64)
    chunks = plain.to_dask_array(lengths=True) if is_frame(X) else X
    check_form(chunks)
    if any(math.isnan(size) for sizes in chunks.chunks for size in sizes):
        raise ValueError(UNKNOWN_SIZES)
    widths = chunks.chunks[1]
    if len(widths) > 1:
        few = ", ".join(map(str, widths[:4])) + (", …" if len(widths) > 4 else "")
        raise ValueError(REFUSED_COLUMNS.format(widths=few))
    return chunks


def check_form(X: Any) -> None:
    """Refuse what dask knows to be no table of numbers."""
    X = collection_of(X)
    if is_frame(X):
        _check_columns(X)
        return
    if len(X.shape) != 2:
        raise ValueError(f"Expected 2D array: X has {len(X.shape)} dimension(s), but samples × features has two.")
    if X.dtype.kind not in "bfiu":
        raise ValueError(f"X must hold numbers; its chunks have dtype {X.dtype}.")
    if isinstance(X._meta, np.ma.MaskedArray):
        raise TypeError(REFUSED_MASK)


def _check_columns(X: Any) -> None:
    """Refuse a DataFrame with columns that are no numbers, before it is counted."""
    texts = [str(name) for name, kind in X.dtypes.items() if getattr(kind, "kind", "O") not in "bfiu"]
    if texts:
        raise ValueError(f"X must hold numbers; its columns {', '.join(map(repr, texts[:5]))} do not. Leave them out.")


def _common_type(X: Any) -> np.dtype[Any]:
    """The type of the array that holds all columns of a DataFrame."""
    kinds = set(X.dtypes)
    if not all(isinstance(kind, np.dtype) for kind in kinds) or (len(kinds) > 1 and np.dtype(bool) in kinds):
        return np.dtype(object)
    return np.result_type(*kinds)


def float_type(X: Any) -> np.dtype[Any]:
    """The type of the codes of a dask array or DataFrame."""
    X = collection_of(X)
    kind = _common_type(X) if is_frame(X) else np.dtype(X.dtype)
    return np.dtype(np.float32 if kind == np.float32 else np.float64)


class ChunkBlocks:
    """The rows of a dask array in order, a chunk at a time; chunks without rows are passed over.

    Parameters
    ----------
    chunks : dask.array.Array
        Of :func:`as_chunks`.
    """

    def __init__(self, chunks: Any):
        self._chunks = chunks
        self.shape: tuple[int, int] = tuple(map(int, chunks.shape))  # type: ignore[assignment]
        self.dtype = np.dtype(chunks.dtype)
        sizes = chunks.chunks[0]
        self._starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int)

    @property
    def slices(self) -> list[slice]:
        """The rows of every chunk that has some."""
        return [slice(int(start), int(stop)) for start, stop in pairwise(self._starts) if stop > start]

    def delayed(self) -> list[Any]:
        """These chunks, not computed."""
        sizes = np.diff(self._starts)
        return [part for part, size in zip(self._chunks.to_delayed().ravel(), sizes, strict=True) if size]

    def blocks(self) -> Iterator[Any]:
        """All rows."""
        for number in np.flatnonzero(np.diff(self._starts)):
            yield self._computed(int(number), int(number) + 1)

    def _computed(self, first: int, last: int) -> Any:
        """Some consecutive chunks, computed together."""
        from .fetching import joined, named

        import dask  # isort: skip

        lazy = [self._chunks.blocks[number, 0] for number in range(first, last)]
        try:
            parts = dask.compute(*lazy)
        except Exception:
            for number, part in enumerate(lazy, first):
                with named(number, int(self._starts[number])):
                    dask.compute(part)
            raise
        return joined([self._checked(part, first + i) for i, part in enumerate(parts)])

    def _checked(self, chunk: Any, number: int) -> Any:
        from .fetching import named

        start, stop = int(self._starts[number]), int(self._starts[number + 1])
        with named(number, start):
            return of_size(as_block(chunk), start, stop, number)


class ChunkRows(ChunkBlocks):
    """The same where all chunks, but the last, have as many rows: any of them can be read."""

    def __init__(self, chunks: Any):
        super().__init__(chunks)
        self.chunk_rows = int(chunks.chunks[0][0])

    def rows(self, start: int, stop: int) -> Any:
        """Compute the chunks of some rows."""
        first = start // self.chunk_rows
        whole = self._computed(first, -(-stop // self.chunk_rows))
        begin = start - first * self.chunk_rows
        return whole[begin : begin + stop - start]


def dask_source(X: Any) -> ChunkBlocks:
    """The source of rows of a dask array or DataFrame, read on this machine."""
    chunks = as_chunks(X)
    sizes = chunks.chunks[0]
    alike = len(set(sizes[:-1])) <= 1 and 0 < sizes[-1] <= sizes[0] if sizes else False
    return (ChunkRows if alike else ChunkBlocks)(chunks)


def single_chunks(X: Any) -> list[Any]:
    """Every chunk that has rows as an array of its own, in order, for the same workers."""
    chunks = as_chunks(X)
    parts = [chunks.blocks[number] for number in np.flatnonzero(chunks.chunks[0])]
    return [DaskRows(part, X.client, X.patience) if isinstance(X, DaskRows) else part for part in parts]


def at_chunk(X: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    """A function of the one chunk of an array and of arguments, computed where the chunk is, or here."""
    cluster, (part,) = cluster_of(X), ChunkBlocks(as_chunks(X)).delayed()
    if cluster is None:
        import dask

        return function(as_block(dask.compute(part)[0]), *arguments)
    cluster.check()
    chunk = cluster.client.compute([part])
    return cluster.results(cluster.each("batch", _at_block, chunk, [function], [list(arguments)]))[0]


def _at_block(chunk: Any, function: Callable[..., Any], arguments: list[Any]) -> Any:
    return function(as_block(chunk), *arguments)


def as_block(chunk: Any) -> Any:
    """What a chunk holds, as a numpy array or a sparse matrix of scipy."""
    if hasattr(chunk, "to_scipy_sparse"):
        # An array of the library sparse.
        return chunk.to_scipy_sparse()
    if isinstance(chunk, np.ma.MaskedArray):
        raise TypeError(REFUSED_MASK)
    return chunk if sp.issparse(chunk) else np.asarray(chunk)


def of_size(block: Any, start: int, stop: int, number: int) -> Any:
    """The block, refused if it has not as many rows as its array says."""
    if block.ndim != 2 or block.shape[0] != stop - start:
        raise ValueError(
            f"it has shape {block.shape}, but the array says that chunk {number} has the rows {start} to {stop - 1}. "
            "X.compute_chunk_sizes() counts them"
        )
    return block


def mapped(X: Any, function: Callable[[Any], Array], n_columns: int | None, dtype: Any) -> Any:
    """A dask array of what a function gives for every chunk of rows; nothing is computed yet.

    Parameters
    ----------
    X : dask.array.Array or dask DataFrame
        Sizes of chunks need not be known.
    function : callable
        From a chunk to as many rows.
    n_columns : int or None
        Of its result; None if that is a vector.
    dtype : dtype
    """
    import dask
    import dask.array as da

    cluster = cluster_of(X)
    if cluster is not None and cluster.answers:
        cluster.compare_versions()
    X = collection_of(X)
    if not is_frame(X) and X.ndim == 2 and len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    parts = list(np.ravel(X.to_delayed()))
    sizes = [np.nan] * len(parts) if is_frame(X) else X.chunks[0]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    # One copy of the function, and so of a model, for all chunks.
    shared = dask.delayed(function, pure=True, traverse=False)
    tail = () if n_columns is None else (n_columns,)
    chunks = [
        da.from_delayed(dask.delayed(_applied)(shared, part, float(start), tail, dtype), (size, *tail), dtype)
        for part, start, size in zip(parts, starts, sizes, strict=True)
    ]
    return da.concatenate(chunks, allow_unknown_chunksizes=True)


def _applied(function: Callable[[Any], Array], chunk: Any, start: float, tail: tuple[int, ...], dtype: Any) -> Array:
    """What the function gives for one chunk; its errors say which rows they are about."""
    block = chunk if hasattr(chunk, "columns") else as_block(chunk)
    if not block.shape[0]:
        return np.empty((0, *tail), dtype)
    try:
        return function(block)
    except ValueError as error:
        if math.isnan(start):
            raise
        raise ValueError(f"{error} (In rows {start:.0f} to {start + block.shape[0] - 1:.0f} of X.)") from error
