"""The exact searches behind :func:`nearest_neighbors`: by blocked products and by an inverted index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from threading import Lock
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.operand import Operand
from ..core.threads import Workers
from ..core.types import Array, IntArray
from .samples import block_rows, blocks_of

# Half a unit in the last place of float32: relative error of every operation.
ROUNDING = float(np.finfo(np.float32).eps) / 2
# Products over more features than this are computed in float64 from the start: float32 errors would be too large.
MOST_FEATURES = 2**16
# So are those of new samples whose norm exceeds this multiple of the largest among the training samples.
LARGEST_SIZE = 2.0**20
# Rows and columns of a block of products by an index: a row of products stays in the first-level cache. One divides the
# other.
INDEX_ROWS, INDEX_COLUMNS = 256, 2048


@dataclass(frozen=True)
class Query:
    """What to look for: for every row a of X, the p rows b of X_train with the lowest half_b − ⟨a / s_a, b / s_b⟩.

    Attributes
    ----------
    X, X_train : Operand
    p : int
    norms : ndarray of shape (n_samples,)
        ‖a‖.
    scales, train_scales : ndarray of shape (n_samples,) and (n_train,)
        s_a and s_b.
    half : ndarray of shape (n_train,)
        ‖b / s_b‖² / 2; infinite for samples that are no sample's neighbours.
    unit : bool
        Whether samples are compared by their directions: the scales are their norms.
    within : bool
        Whether X and X_train are the same samples, which are not their own neighbours. New samples may equal
        training samples and still count as new.
    """

    X: Operand
    X_train: Operand
    p: int
    norms: Array
    scales: Array
    train_scales: Array
    half: Array
    unit: bool
    within: bool


def search_products(query: Query) -> IntArray:
    """Exact, for dense samples: products of blocks in float32, with close calls repeated in float64.

    The error of a float32 product is bounded. The lists are longer than p, and candidates within twice that bound of
    the p nearest are compared exactly. Where the longer list is still too short (many samples at nearly equal
    distances), the row is searched again in float64.
    """
    n, m = query.X.shape
    found = np.full((n, query.p), -1, np.intp)
    rows = np.arange(n)
    sizes = query.norms / query.scales
    if m < MOST_FEATURES and sizes.max() < LARGEST_SIZE:
        lists = _blocked(query, np.float32, 2 * query.p + 8)
        # Roundings on the way to a score: the m products and sums, the entries before them and the score after them.
        margins = 2 * ROUNDING * (m * sizes + 8 * (1 + sizes))
        rows = _settled(query, lists, margins, found)
    if len(rows):
        found[rows] = _blocked(query, np.float64, query.p, rows).nearest
    return found


def search_index(query: Query) -> IntArray:
    """Exact, for sparse samples: an inverted index lists, for every feature, the training samples that have it."""
    from ..kernels.neighbors import index_products, index_starts

    A, index = query.X.array, query.X_train.array.tocsc()
    columns = blocks_of(index.shape[0], INDEX_COLUMNS)
    starts = index_starts(index.indptr, index.indices, INDEX_COLUMNS, len(columns))

    def products(rows: slice, cols: slice) -> Array:
        block = cols.start // INDEX_COLUMNS
        return index_products(
            *(A.indptr, A.indices, A.data, query.scales, index.indices, index.data, query.train_scales),
            *(starts[block], starts[block + 1], rows.start, rows.stop, cols.start, cols.stop),
        )

    lists = Lists.empty(query.X.shape[0], query.p, np.float64)
    _fill(lists, query, products, blocks_of(query.X.shape[0], INDEX_ROWS), columns)
    return lists.nearest


def _settled(query: Query, lists: Lists, margins: Array, found: IntArray) -> IntArray:
    """Fill `found` from lists of rough scores; returns the rows that could not be settled."""
    from ..kernels.neighbors import settle

    X = query.X.array

    def task(rows: slice) -> IntArray:
        A, scales = X[rows], query.scales[rows]
        candidates = lists.best[rows], lists.nearest[rows], margins[rows], found[rows]
        return rows.start + settle(A, query.X_train.array, scales, query.train_scales, query.half, *candidates)

    workers = Workers()
    with workers.open():
        return np.concatenate(workers.map(task, blocks_of(len(found), block_rows(X))))


@dataclass(frozen=True)
class Lists:
    """The best scores so far of every row, and their samples; rough in float32, exact and rounded in float64."""

    best: Array
    nearest: IntArray

    @classmethod
    def empty(cls, n: int, size: int, dtype: Any) -> Lists:
        """Empty lists."""
        return cls(np.full((n, size), np.inf, dtype), np.full((n, size), -1, np.intp))


def _blocked(query: Query, dtype: Any, size: int, chosen: IntArray | None = None) -> Lists:
    """The `size` best of the chosen rows (all by default), by products of dense blocks."""
    X, X_train = query.X.array, query.X_train.array

    def products(rows: slice, cols: slice) -> Array:
        which = rows if chosen is None else chosen[rows]
        A = scaled(X[which], query.scales[which], dtype)
        if query.within and chosen is None and rows == cols:
            return np.asarray(A @ A.T)
        return np.asarray(A @ scaled(X_train[cols], query.train_scales[cols], dtype).T)

    n = query.X.shape[0] if chosen is None else len(chosen)
    lists = Lists.empty(n, size, dtype)
    columns = blocks_of(X_train.shape[0], block_rows(X_train))
    _fill(lists, query, products, blocks_of(n, block_rows(X)), columns, chosen)
    return lists


def _fill(
    lists: Lists,
    query: Query,
    products: Callable[[slice, slice], Array],
    rows: list[slice],
    columns: list[slice],
    chosen: IntArray | None = None,
) -> None:
    """Offer blocks of products to the lists, in threads.

    Among the samples themselves a block of products serves both the lists of its rows and those of its columns, so
    about half of the blocks are enough. A block of rows must not cross the border of a block of columns.
    """
    from ..kernels.neighbors import offer_columns, offer_rows

    best, nearest, dtype = lists.best, lists.nearest, lists.best.dtype
    exact = dtype == np.float64
    half = query.half.astype(dtype)
    own = np.arange(len(best)) if chosen is None else chosen
    symmetric = query.within and chosen is None
    lock = Lock()

    def task(pair: tuple[slice, slice]) -> None:
        rows, cols = pair
        block = products(rows, cols)
        with lock:
            offer_columns(block, half[cols], best[rows], nearest[rows], own[rows], cols.start, query.within, exact)
            if symmetric and cols.start > rows.start:
                offer_rows(block, half[rows], best[cols], nearest[cols], rows.start, exact)

    workers = Workers()
    with workers.open():
        workers.map(task, [pair for pair in product(rows, columns) if not symmetric or pair[1].stop > pair[0].start])


def scaled(block: Any, scales: Array, dtype: Any) -> Any:
    """Rows divided by their scales."""
    if sp.issparse(block):
        values = np.divide(block.data, np.repeat(scales, np.diff(block.indptr)), dtype=np.float64)
        return sp.csr_array((values.astype(dtype, copy=False), block.indices, block.indptr), shape=block.shape)
    return np.divide(block, scales[:, None], dtype=np.float64).astype(dtype, copy=False)
