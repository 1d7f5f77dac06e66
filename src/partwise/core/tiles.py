"""Blocks of rows of X, or of Xᵀ, as dense arrays with their weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .operand import BLOCK_BYTES
from .scratch import Scratch
from .types import CODES, Array, Factor

# Rows of a block: at least so many as one product is worth, and more if they are short.
BLOCK_ROWS, BLOCK_ENTRIES = 64, 2**15
# Bytes of what is gathered for a block of lists.
GATHERED_BYTES = 4 * BLOCK_BYTES


class Tile(NamedTuple):
    """Some rows of X, or of Xᵀ.

    Attributes
    ----------
    x : ndarray of shape (rows, width)
    v : ndarray of shape (rows, width) or (1, width)
        Weights of the entries; a single row if all rows have the same. An unknown entry has weight zero, and any value.
    columns : ndarray of int, shape (rows, width), or None
        Where in their rows the entries are; None if a row has all of them.
    """

    x: Array
    v: Array
    columns: Array | None = None


class Tiles(ABC):
    """Entries with weights, seen along either factor."""

    @abstractmethod
    def tile(self, factor: Factor, rows: Any) -> Tile:
        """Some rows of a factor, chosen by a slice or an array."""

    @abstractmethod
    def blocks(self, factor: Factor, rows: Any, k: int, *, wide: bool) -> Iterator[Any]:
        """Some rows in blocks that fit into memory together with k numbers per entry.

        With `wide`, blocks have as many rows as are fast, otherwise as few: these have something in common.
        """

    @abstractmethod
    def all(self) -> Iterator[Tile]:
        """All samples, a block at a time."""


class DenseTiles(Tiles):
    """Most entries count. Only a block of rows is ever dense.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        NaN where unknown; unstored entries are zero.
    weights : ndarray of the same shape, optional
    sample_weight : ndarray of shape (n_samples,), optional
    complete : bool
        Whether no entry is unknown.
    """

    def __init__(self, X: Any, weights: Array | None, sample_weight: Array | None, complete: bool):
        self._X = X
        self._weights = weights
        self._sample_weight = sample_weight
        self._complete = complete
        self._scratch = Scratch()

    @cached_property
    def _by_features(self) -> Any:
        return self._X.T.tocsr() if sp.issparse(self._X) else self._X.T

    def tile(self, factor: Factor, rows: Any) -> Tile:
        """Some rows, with all of their entries."""
        x = (self._X if factor == CODES else self._by_features)[rows]
        if sp.issparse(x):
            x = x.toarray()
        elif not x.flags.c_contiguous:
            x = self._copied(x)
        v = self._weights_of(factor, rows, x)
        if not self._complete:
            unknown = np.isnan(x)
            v = np.where(unknown, x.dtype.type(0), v)
            x = np.where(unknown, x.dtype.type(1), x)
        return Tile(x, np.ascontiguousarray(v))

    def blocks(self, factor: Factor, rows: Any, k: int, *, wide: bool) -> Iterator[Any]:
        """Slices of a slice, pieces of an array."""
        height = BLOCK_ROWS
        if wide:
            width = self._X.shape[1 if factor == CODES else 0]
            height = max(height, min(BLOCK_ENTRIES // width, 2 * BLOCK_ENTRIES // (k * k)))
        if not isinstance(rows, slice):
            yield from (rows[start : start + height] for start in range(0, len(rows), height))
            return
        for start in range(rows.start, rows.stop, height):
            yield slice(start, min(start + height, rows.stop))

    def all(self) -> Iterator[Tile]:
        """All samples, a block at a time."""
        n = self._X.shape[0]
        return (self.tile(CODES, slice(i, min(i + BLOCK_ROWS, n))) for i in range(0, n, BLOCK_ROWS))

    def _weights_of(self, factor: Factor, rows: Any, x: Array) -> Array:
        s, v = self._sample_weight, np.ones((1, x.shape[1]), x.dtype)
        if self._weights is not None:
            v = (self._weights if factor == CODES else self._weights.T)[rows].astype(x.dtype, copy=False)
        if s is None:
            return v
        return v * (s[rows, None] if factor == CODES else s).astype(x.dtype, copy=False)

    def _copied(self, x: Array) -> Array:
        """In rows, in memory that is reused."""
        out = self._scratch.get("x", x.shape, x.dtype)
        out[:] = x
        return out


class ListedTiles(Tiles):
    """Few entries count. Those of a block are gathered, rows of similar length together.

    Parameters
    ----------
    x : csr_array of shape (n_samples, n_features)
        Stored entries count.
    weights : ndarray of shape (nnz,), optional
        Weight of every stored entry.
    """

    def __init__(self, x: Any, weights: Array | None = None):
        self._by_samples = x, np.ones_like(x.data) if weights is None else weights

    @cached_property
    def _by_features(self) -> tuple[Any, Array]:
        x, v = self._by_samples
        # Positions of the entries, counted from one so that none of them is a zero.
        order = sp.csr_array((np.arange(1, x.nnz + 1), x.indices, x.indptr), shape=x.shape).T.tocsr()
        places = order.data - 1
        return sp.csr_array((x.data[places], order.indices, order.indptr), shape=order.shape), v[places]

    def tile(self, factor: Factor, rows: Any) -> Tile:
        """Some rows, each with its own entries; shorter ones are filled with entries of weight zero."""
        x, v = self._by_samples if factor == CODES else self._by_features
        starts = x.indptr[:-1][rows]
        lengths = x.indptr[1:][rows] - starts
        width = max(int(lengths.max(initial=0)), 1)
        real = np.arange(width) < lengths[:, None]
        if not x.nnz:
            return Tile(np.ones(real.shape, x.dtype), np.zeros(real.shape, x.dtype), np.zeros(real.shape, np.intp))
        places = np.where(real, starts[:, None] + np.arange(width), 0)
        one, none = x.dtype.type(1), x.dtype.type(0)
        return Tile(np.where(real, x.data[places], one), np.where(real, v[places], none), x.indices[places])

    def blocks(self, factor: Factor, rows: Any, k: int, *, wide: bool) -> Iterator[Any]:
        """Arrays, the shortest rows first."""
        x, _ = self._by_samples if factor == CODES else self._by_features
        if isinstance(rows, slice):
            rows = np.arange(rows.start, rows.stop)
        lengths = np.diff(x.indptr)[rows]
        order = np.argsort(lengths, kind="stable")
        rows, lengths = rows[order], lengths[order]
        entries = GATHERED_BYTES // (k * x.dtype.itemsize)
        height, start = max(entries // k, 1), 0
        while start < len(rows):
            # As many rows as fit, if all were as long as the last of them.
            some = np.maximum(lengths[start : start + height], 1)
            count = max(int(np.searchsorted(np.arange(1, len(some) + 1) * some, entries, side="right")), 1)
            yield rows[start : start + count]
            start += count

    def all(self) -> Iterator[Tile]:
        """One row with all entries."""
        x, v = self._by_samples
        yield Tile(x.data[None, :], v[None, :], x.indices[None, :])
