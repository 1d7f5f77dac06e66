"""Data that are not in memory behind the one door: every block of rows is an operand of its own while it is there.

Blocks, parts and the order of sums are those of data in memory, so that results are the same to the bit. Blocks are
read in order, by one thread, while our threads compute with those before (`core.reading`); or, if the source says that
it can be read so, every thread reads the blocks of its own parts, one after another into the same memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from .fetching import BlockError
from .held import HeldOperand
from .operand import LEAST_ROWS, PARTS_BYTES, BlockFunction, Missing, Operand, R, entry_blocks
from .reading import StoredRows
from .storage import LEAST_WIDTH, DenseOperand, SparseOperand, fitted_energy, held_operand
from .threads import thread_count
from .together import CodeRows
from .types import Array, sum_in_order

Held = DenseOperand | SparseOperand

# Blocks that are read and not yet added up, for each thread.
MOST_BLOCKS = 4
# Blocks that a thread reads for itself, one after another.
BLOCKS_IN_TURN = 16
# Rows in memory at a time, for samples that are treated separately.
PIECE_BYTES = 2**23

# Rounding of entries in another unit, as a share of the largest.
ENTRY_SLACK = 1e-5

NEEDS_MEMORY = (
    "X is read from where it is stored, block by block, but {} needs all of it in memory. Read it first if it fits, "
    "for example X[:], or X.compute() of dask, or take a sample of the rows."
)
CHANGED = (
    "Products with rows {first} to {last} of X are not finite, although every entry was when X was first read: it has "
    "changed, or its source does not give the same rows every time."
)
DIFFERENT = (
    "Rows {first} to {last} of X have entries that it did not have when it was first read: it has changed, or its "
    "source does not give the same rows every time."
)


class StoredOperand(Operand):
    """Rows that are read when they are needed.

    Parameters
    ----------
    X : StoredRows
    missing : {None, "nan", "unstored"}, default=None
    sample_weight : ndarray of shape (n,), optional
    seen : callable, optional
        What every block is seen as, for example its magnitude.
    """

    _X: StoredRows

    def __init__(
        self,
        X: StoredRows,
        missing: Missing = None,
        sample_weight: Array | None = None,
        seen: Callable[[Held], HeldOperand] | None = None,
    ):
        super().__init__(X, missing, sample_weight)
        self._seen = seen
        self.room = X.room

    @property
    def in_memory(self) -> bool:
        """They are not."""
        return False

    @property
    def is_sparse(self) -> bool:
        """Whether its blocks are."""
        return self._X.facts.sparse

    @property
    def stored(self) -> StoredRows:
        """Where rows are read."""
        return self._X

    @property
    def array(self) -> Any:
        """Refused: there is no such array."""
        raise ValueError(NEEDS_MEMORY.format("this method"))

    @property
    def narrow_array(self) -> Any:
        """Refused: there is no such array."""
        return self.array

    @cached_property
    def kept(self) -> Operand:
        """Refused: a model does not keep data that are not in memory."""
        raise ValueError(NEEDS_MEMORY.format("a model that keeps its samples"))

    def dot(self, Ht: Array) -> Array:
        """X Hᵀ, given Hᵀ (m × k)."""
        self._check_width(Ht)
        out = self.room.empty((self.shape[0], Ht.shape[1]), Ht.dtype)

        def fill(rows: slice, block: HeldOperand, own: slice) -> None:
            out[rows] = self._product(rows, block, own, Ht)

        self._each_block(fill)
        return out

    def _product(self, rows: slice, block: HeldOperand, own: slice, Ht: Array) -> Array:
        """X[rows] Hᵀ; refused if rows that were finite are so no more."""
        product = block._dot_rows(own, Ht)
        with np.errstate(invalid="ignore", over="ignore"):
            total = product.sum()
        if not (np.isfinite(total) or self._X.facts.has_nan):
            raise BlockError(CHANGED.format(first=rows.start, last=rows.stop - 1))
        return product

    def row_squared_norms(self) -> Array:
        """‖x_i‖² of every sample, in float64; refused as products are."""
        norms = super().row_squared_norms()
        unknown = np.flatnonzero(np.isnan(norms))
        if len(unknown) and not self._X.facts.has_nan:
            raise BlockError(CHANGED.format(first=unknown[0], last=unknown[-1]))
        return norms

    def t_dot(self, W: Array) -> Array:
        """Xᵀ W, given W (n × k)."""
        return self._summed(W.shape[1], W.dtype, lambda rows, block, own: (W[rows], None))[0]

    def code(self, Ht: Array, code_rows: CodeRows, product: Array | None = None) -> tuple[Array, Array]:
        """One pass over the rows: code every block when it is read, and collect what the components need."""
        self._check_width(Ht)

        def coded(rows: slice, block: HeldOperand, own: slice) -> tuple[Array, Array]:
            W = code_rows(rows, self._product(rows, block, own, Ht) if product is None else product[rows])
            weighted = W if self.sample_weight is None else self.sample_weight[rows, None] * W
            return weighted, W.T @ weighted

        return self._summed(Ht.shape[1], Ht.dtype, coded)

    def _summed(self, k: int, dtype: Any, coded: BlockFunction[tuple[Array, Array | None]]) -> tuple[Array, Array]:
        """Xᵀ W and WᵀW, of codes that a function gives for every block, with their Gram matrix if it is of use."""
        by = self._summed_by_threads if self._by_threads else self._summed_in_order
        pulls, grams = by(k, dtype, coded)
        # Codes that are not finite are no fault of X.
        if not (np.isfinite(pulls).all() or self._X.facts.has_nan) and np.isfinite(grams).all():
            raise BlockError(CHANGED.format(first=0, last=self.shape[0] - 1))
        return pulls, grams

    def _summed_in_order(
        self, k: int, dtype: Any, coded: BlockFunction[tuple[Array, Array | None]]
    ) -> tuple[Array, Array]:
        """The same, of blocks that one thread reads."""
        parts = self._parts(k)
        # In memory a sparse X is transposed if there are many components: then there are no parts.
        whole = self.is_sparse and k >= LEAST_WIDTH
        pulls = _Sum([slice(0, self.shape[0])] if whole else parts, lambda: self._zero_sum(k, dtype))
        grams = _Sum(parts, lambda: np.zeros((k, k), dtype))

        def one(item: tuple[slice, HeldOperand]) -> tuple[slice, HeldOperand, Array, Array | None, Array | None]:
            rows, block = item
            own = slice(0, block.shape[0])
            W, gram = coded(rows, block, own)
            pull = None
            if not self.is_sparse:
                pull = self._zero_sum(k, dtype)
                block._add_t_dot_rows(own, W, pull)
            return rows, block, W, pull, gram

        # Sums of blocks that wait for their turn take memory too.
        most = max(thread_count(), PARTS_BYTES // max(1, self.shape[1] * k * np.dtype(dtype).itemsize))
        for rows, block, W, pull, gram in self._flow(
            one, [rows for part in parts for rows in self._blocks(part)], most
        ):
            total = pulls.at(rows)
            if pull is None:
                self._scatter(block, W, total)
            else:
                total += pull
            if gram is not None:
                grams.at(rows)[:] += gram
        return pulls.result(), grams.result()

    def _summed_by_threads(
        self, k: int, dtype: Any, coded: BlockFunction[tuple[Array, Array | None]]
    ) -> tuple[Array, Array]:
        """The same, every thread with some of the parts."""

        def part(rows: slice) -> tuple[Array, Array]:
            pull, total = self._zero_sum(k, dtype), np.zeros((k, k), dtype)
            for own_rows, block in self._read_here(list(self._blocks(rows))):
                own = slice(0, block.shape[0])
                W, gram = coded(own_rows, block, own)
                block._add_t_dot_rows(own, W, pull)
                if gram is not None:
                    total += gram
            return pull, total

        pulls, grams = zip(*self._workers.map(part, self._parts(k)), strict=True)
        return sum_in_order(list(pulls)), sum_in_order(list(grams))

    def _scatter(self, block: HeldOperand, W: Array, total: Array) -> None:
        """Add a sparse block's XᵀW: every thread has some of the features, so that each adds in the order of rows."""
        assert isinstance(block, SparseOperand)  # the blocks of sparse data
        m, count = self.shape[1], thread_count()
        features = [slice(m * i // count, m * (i + 1) // count) for i in range(count)]
        W = np.ascontiguousarray(W)
        self._workers.map(partial(block.add_t_dot_features, W=W, out=total), features)

    def squared_error(self, W: Array, Ht: Array) -> float:
        """Σ_i s_i ‖x_i − w_i H‖² from residuals."""
        error = super().squared_error(W, Ht)
        return max(fitted_energy(W, Ht, self.sample_weight) + error, 0.0) if self.is_sparse else error

    def smallest(self) -> float:
        """The smallest entry, known from the first pass."""
        return self._X.facts.smallest

    def magnitude(self) -> Operand:
        """|X|, computed block by block whenever it is multiplied."""
        return self._as(lambda block: block.magnitude(), self.missing)

    def known(self) -> Operand:
        """Zeros for NaN, filled in block by block whenever it is multiplied."""
        return self._as(lambda block: block.known(), None)

    def _as(self, seen: Callable[[Held], HeldOperand], missing: Missing) -> StoredOperand:
        other = StoredOperand(self._X, missing, self.sample_weight, seen)
        other._workers = self._workers
        return other

    def row_blocks(self, bytes_per_row: int | None = None) -> Iterator[tuple[slice, Any]]:
        """Consecutive rows, dense or CSR, as they are read."""
        for group in self._X.stream(entry_blocks(self.shape[0], max(bytes_per_row or 0, self._bytes_per_row()))):
            for rows, x in group:
                self._check_entries(x, rows.start, rows.stop - 1)
                yield rows, x

    def pieces(self) -> Iterator[tuple[slice, Operand]]:
        """Consecutive rows as operands in memory."""
        # Whole blocks, so that products are the same to the bit.
        step = next(self._blocks(slice(0, self.shape[0]))).stop
        step *= max(1, PIECE_BYTES // max(1, step * self._bytes_per_row()))
        slices = [slice(start, min(start + step, self.shape[0])) for start in range(0, self.shape[0], step)]
        for group in self._X.stream(slices):
            for rows, x in group:
                self._check_entries(x, rows.start, rows.stop - 1)
                yield rows, self._block(rows, x)

    def take(self, rows: Array) -> Operand:
        """The chosen rows, read into memory."""
        x = self._X.take(rows)
        if len(rows):
            self._check_entries(x, rows.min(), rows.max())
        return held_operand(x, self.missing)

    def _check_entries(self, x: Any, first: int, last: int) -> None:
        """Refuse entries outside the range of the first pass, and NaN where there was none."""
        values, facts = x.data if self.is_sparse else x, self._X.facts
        if not values.size:
            return
        least, most = (np.fmin, np.fmax) if facts.has_nan else (np.minimum, np.maximum)
        low, high = (float(extreme.reduce(values, axis=None)) for extreme in (least, most))
        if facts.has_nan and np.isnan(low):
            return
        slack = ENTRY_SLACK * max(facts.largest, -facts.smallest)
        if not (low >= facts.smallest - slack and high <= facts.largest + slack):
            raise BlockError(DIFFERENT.format(first=first, last=last))

    def map_rows(self, function: Callable[[slice], None], n_rows: int, least: int = LEAST_ROWS) -> None:
        """Call a function on slices of rows; on all at once, if they can only be read in order."""
        if self._X.in_order and n_rows == self.shape[0]:
            function(slice(0, n_rows))
        else:
            super().map_rows(function, n_rows, least)

    def _each_block(self, function: BlockFunction[R]) -> list[R]:
        def one(item: tuple[slice, HeldOperand]) -> R:
            return function(item[0], item[1], slice(0, item[1].shape[0]))

        slices = list(self._blocks(slice(0, self.shape[0])))
        if not self._by_threads:
            return list(self._flow(one, slices))

        def in_turn(some: list[slice]) -> list[R]:
            return [one(item) for item in self._read_here(some)]

        groups = [slices[at : at + BLOCKS_IN_TURN] for at in range(0, len(slices), BLOCKS_IN_TURN)]
        return [result for group in self._workers.map(in_turn, groups) for result in group]

    def _flow(
        self, one: Callable[[tuple[slice, HeldOperand]], R], slices: list[slice], most: int | None = None
    ) -> Iterator[R]:
        """A function of every block, in order: threads compute with blocks that have been read, while others are."""
        count = MOST_BLOCKS * thread_count()
        return self._workers.flow(one, self._read(slices), count if most is None else min(most, count))

    def _read(self, slices: list[slice]) -> Iterator[tuple[slice, HeldOperand]]:
        """Rows that have been read, as operands."""
        for group in self._X.stream(slices):
            for rows, x in group:
                yield rows, self._block(rows, x)

    @property
    def _by_threads(self) -> bool:
        return self._X.by_threads and not self.is_sparse

    def _read_here(self, slices: Sequence[slice]) -> Iterator[tuple[slice, HeldOperand]]:
        """The same, read by this thread; each for use before the next."""
        for rows, x in self._X.in_turn(slices):
            yield rows, self._block(rows, x)

    def _block(self, rows: slice, x: Any) -> HeldOperand:
        weight = None if self.sample_weight is None else self.sample_weight[rows]
        block = held_operand(x, self.missing, weight)
        return block if self._seen is None else self._seen(block)

    def _check_width(self, Ht: Array) -> None:
        if len(Ht) != self.shape[1]:
            raise ValueError(f"The data have {self.shape[1]} features but the components {len(Ht)}.")

    def _bytes_per_row(self) -> int:
        return self._X.bytes_per_row

    def _zero_sum(self, k: int, dtype: Any) -> Array:
        return np.zeros((self.shape[1], k), dtype, order="C" if self.is_sparse else "F")


class _Sum:
    """Adds up in parts, and these in order, as data in memory are.

    Parameters
    ----------
    parts : list of slice
        Rows that have a sum of their own.
    zero : callable
        Makes a sum to begin with.
    """

    def __init__(self, parts: list[slice], zero: Callable[[], Array]):
        self._starts = {part.start for part in parts}
        self._zero = zero
        self._part: Array = zero()
        self._whole: Array | None = None

    def at(self, rows: slice) -> Array:
        """The sum of the part to which these rows, which come next, belong."""
        if rows.start in self._starts and rows.start > 0:
            self._close()
            self._part = self._zero()
        return self._part

    def _close(self) -> None:
        if self._whole is None:
            self._whole = self._part
        else:
            self._whole += self._part

    def result(self) -> Array:
        """The sum of all."""
        self._close()
        assert self._whole is not None  # just closed
        return np.ascontiguousarray(self._whole)
