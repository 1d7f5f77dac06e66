"""Weighted squared errors by rows: every row of a factor has its own Gram matrix, computed block by block.

Σ_p v_ip (x_ip − f_i · g_p)² is f_i Q_i f_iᵀ − 2 f_i · b_i and a constant, with Q_i = Σ_p v_ip g_p g_pᵀ and
b_i = Σ_p v_ip x_ip g_p. There are three ways to Q: build it up from the entries that count (`Listed`), subtract the
others from the Gram matrix that all rows share (`TakenDown`), or multiply the weights by all products g_pa g_pb
(`Packed`). Only the Gram matrices of one block of rows are held at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .operand import BLOCK_BYTES, Operand
from .scratch import Scratch
from .state import State
from .types import CODES, OTHER, Array, Factor

# If less than this share of a diagonal entry of the common Gram matrix were left, rounding errors would matter.
LEAST_LEFT = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-2}
# Bytes of the packed Gram matrices of a block: more than elsewhere, as products should be wide.
PACKED_BYTES = 4 * BLOCK_BYTES
# Products with fewer rows than this are slow.
LEAST_ROWS = 64


class GramRows(NamedTuple):
    """Q and b of some rows, in memory that the next block may reuse.

    Attributes
    ----------
    rows : slice
    grams : ndarray of shape (rows, k, k)
    pulls : ndarray of shape (rows, k)
    """

    rows: slice
    grams: Array
    pulls: Array

    def kept(self) -> GramRows:
        """The same in its own memory."""
        return GramRows(self.rows, self.grams.copy(), self.pulls.copy())


BlocksOf = Callable[[slice], Iterator[GramRows]]


class Squares(ABC):
    """Entries x_ip with weights v_ip, seen along either factor.

    Attributes
    ----------
    total : float
        Σ_ip v_ip x_ip².
    """

    total: float

    def __init__(self) -> None:
        self._scratch = Scratch()

    @abstractmethod
    def blocks(self, state: State, factor: Factor) -> BlocksOf:
        """A function that gives Q and b for a slice of the factor's rows, in blocks; threads may call it."""

    def _gram_blocks(self, rows: slice, G: Array) -> Iterator[tuple[slice, Array]]:
        """Blocks of rows whose Gram matrices fit into the cache, with memory for them."""
        k = G.shape[1]
        step = max(1, BLOCK_BYTES // (k * k * G.dtype.itemsize))
        for start in range(rows.start, rows.stop, step):
            block = slice(start, min(start + step, rows.stop))
            yield block, self._scratch.get("grams", (block.stop - start, k, k), G.dtype)


class Listed(Squares):
    """From lists of the entries that count: memory in proportion to them.

    Parameters
    ----------
    x : csr_array of shape (n_samples, n_features)
        Stored entries count.
    weights : ndarray of shape (nnz,), optional
        Weight of every stored entry.
    """

    def __init__(self, x: Any, weights: Array | None = None):
        super().__init__()
        self._x = x
        self._weights = weights
        self.total = float(np.sum(np.square(x.data, dtype=np.float64) * (1 if weights is None else weights)))

    @cached_property
    def _by_samples(self) -> tuple[Array, Array, Array, Array]:
        x, v = self._x, self._weights
        return x.indptr, x.indices, np.empty(0, x.dtype) if v is None else v, x.data if v is None else v * x.data

    @cached_property
    def _by_features(self) -> tuple[Array, Array, Array, Array]:
        indptr, indices, weights, targets = self._by_samples

        def turned(data: Array) -> Any:
            return sp.csr_array((data, indices, indptr), shape=self._x.shape).tocsc()

        by_columns = turned(targets)
        weights = weights if self._weights is None else turned(weights).data
        return by_columns.indptr, by_columns.indices, weights, by_columns.data

    def blocks(self, state: State, factor: Factor) -> BlocksOf:
        """The rows of the other factor are gathered entry by entry."""
        from ..kernels.own_grams import sum_listed

        indptr, indices, weights, targets = self._by_samples if factor == CODES else self._by_features
        G = np.ascontiguousarray(state[OTHER[factor]])

        def blocks(rows: slice) -> Iterator[GramRows]:
            for block, grams in self._gram_blocks(rows, G):
                pulls = self._scratch.get("pulls", grams.shape[:2], G.dtype)
                sum_listed(indptr[block.start : block.stop + 1], indices, weights, targets, G, grams, pulls)
                yield GramRows(block, grams, pulls)

        return blocks


class TakenDown(Squares):
    """From the common Gram matrix and lists of the few entries that are missing.

    Parameters
    ----------
    X : Operand
        With NaN where it is unknown; unstored entries of a sparse array are zero.
    sample_weight : ndarray of shape (n_samples,), optional
    """

    def __init__(self, X: Operand, sample_weight: Array | None = None):
        super().__init__()
        self._known = X.known()
        self._missing = _missing_of(X.array)
        self._sample_weight = sample_weight
        norms = self._known.row_squared_norms()
        self.total = float(norms.sum() if sample_weight is None else norms @ sample_weight)

    @cached_property
    def _missing_by_features(self) -> Any:
        return self._missing.tocsc()

    def blocks(self, state: State, factor: Factor) -> BlocksOf:
        """Samples are weighted; the weights are those of the rows for the codes and those of G for the components."""
        from ..kernels.own_grams import take_down

        G, s = np.ascontiguousarray(state[OTHER[factor]]), self._sample_weight
        common, ones = state.gram(OTHER[factor]), np.ones(1, G.dtype)
        if factor == CODES:
            missing, weights, own = self._missing, np.ones(len(G), G.dtype), ones if s is None else s
            pulls = self._known.dot(G) if s is None else s[:, None] * self._known.dot(G)
        else:
            missing, weights, own = self._missing_by_features, np.ones(len(G), G.dtype) if s is None else s, ones
            pulls = self._known.t_dot(G if s is None else s[:, None] * G)
        least = LEAST_LEFT[G.dtype]

        def blocks(rows: slice) -> Iterator[GramRows]:
            for block, grams in self._gram_blocks(rows, G):
                indptr = missing.indptr[block.start : block.stop + 1]
                scaled = own if len(own) == 1 else own[block]
                take_down(indptr, missing.indices, G, weights, common, least, scaled, grams)
                yield GramRows(block, grams, pulls[block])

        return blocks


class Packed(Squares):
    """From dense weights, as one product for many rows.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        NaN where unknown; unstored entries of a sparse array are zero.
    weights : ndarray of the same shape, optional
    sample_weight : ndarray of shape (n_samples,), optional
    """

    def __init__(self, X: Any, weights: Array | None = None, sample_weight: Array | None = None):
        super().__init__()
        self._X = X
        self._weights = weights
        self._sample_weight = sample_weight
        self.total = sum(self._squared(slice(i, i + LEAST_ROWS)) for i in range(0, X.shape[0], LEAST_ROWS))

    def _squared(self, rows: slice) -> float:
        """Σ v x² of some samples."""
        v, weighed = self._weighed((rows, slice(0, self._X.shape[1])))
        # v x² = (v x)² / v avoids a copy of x without NaN.
        squares = np.divide(weighed.astype(np.float64) ** 2, v, out=np.zeros(v.shape), where=v > 0)
        return float(squares.sum())

    def blocks(self, state: State, factor: Factor) -> BlocksOf:
        """Tiles of X, as large as the cache, times the products of pairs of columns of G."""
        from ..kernels.own_grams import pair_products, unpack

        G = np.ascontiguousarray(state[OTHER[factor]])
        k = G.shape[1]
        n_pairs = k * (k + 1) // 2
        height, width = self._tile(factor, n_pairs)
        tall, wide = (height, width) if factor == CODES else (width, height)

        def blocks(rows: slice) -> Iterator[GramRows]:
            for start in range(rows.start, rows.stop, tall):
                block = slice(start, min(start + tall, rows.stop))
                count = block.stop - start
                packed = self._scratch.get("packed", (count, n_pairs), G.dtype)
                pulls = self._scratch.get("pulls", (count, k), G.dtype)
                for first in range(0, len(G), wide):
                    other = slice(first, min(first + wide, len(G)))
                    near = self._scratch.get("pairs", (other.stop - first, n_pairs), G.dtype)
                    pair_products(G[other], near)
                    v, weighed = self._weighed((block, other) if factor == CODES else (other, block))
                    v, weighed = (v, weighed) if factor == CODES else (v.T, weighed.T)
                    self._add(v, near, packed, first == 0)
                    self._add(weighed, G[other], pulls, first == 0)
                grams = self._scratch.get("grams", (count, k, k), G.dtype)
                unpack(packed, grams)
                yield GramRows(block, grams, pulls)

        return blocks

    def _add(self, left: Array, right: Array, total: Array, first: bool) -> None:
        """Add a product to a total, which starts with the first one."""
        if first:
            np.matmul(left, right, out=total)
        else:
            total += np.matmul(left, right, out=self._scratch.get("product", total.shape, total.dtype))

    def _tile(self, factor: Factor, n_pairs: int) -> tuple[int, int]:
        """How many samples and features are processed together: many features, as they are adjacent in memory."""
        (n, m), size = self._X.shape, self._X.dtype.itemsize
        most = max(LEAST_ROWS, PACKED_BYTES // (n_pairs * size))
        width = min(m, most)
        return min(n, most, max(LEAST_ROWS, BLOCK_BYTES // (width * size))), width

    def _weighed(self, place: tuple[slice, slice]) -> tuple[Array, Array]:
        """The weights of a tile of X, and X multiplied by them."""
        from ..kernels.entries import weigh

        x = self._X[place]
        x = x.toarray() if sp.issparse(x) else x
        given = np.empty((0, 0), x.dtype) if self._weights is None else self._weights[place].astype(x.dtype, copy=False)
        own = np.empty(0, x.dtype) if self._sample_weight is None else self._sample_weight[place[0]]
        v, weighed = (self._scratch.get(name, x.shape, x.dtype) for name in ("weights", "weighed"))
        weigh(x, given, own, v, weighed)
        return v, weighed


def _missing_of(X: Any) -> Any:
    """The pattern of the entries that are NaN."""
    if sp.issparse(X):
        unknown = sp.csr_array((np.isnan(X.data), X.indices, X.indptr), shape=X.shape, copy=True)
        unknown.eliminate_zeros()
        return unknown
    height = max(1, BLOCK_BYTES // (X.dtype.itemsize * X.shape[1]))
    blocks = [sp.csr_array(np.isnan(X[start : start + height])) for start in range(0, X.shape[0], height)]
    return sp.csr_array(sp.vstack(blocks))
