"""Data in memory, dense or sparse: blocks of rows that fit into the cache are slices."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import partial

from .operand import PARTS_BYTES, BlockFunction, Operand, R
from .together import (
    CodePass,
    CodeRows,
    beside,
    coded,
    coded_together,
    columns_of,
    results,
    sums_of_each,
    wanting,
    zero_grams,
)
from .types import Array, sum_in_order


class HeldOperand(Operand):
    """Data in memory, whose blocks are slices of rows."""

    def _each_block(self, function: BlockFunction[R]) -> list[R]:
        blocks = self._blocks(slice(0, self.shape[0]))
        return self._workers.map(lambda block: function(block, self, block), blocks)

    def t_dot(self, W: Array) -> Array:
        """Xᵀ W, given W (n × k)."""

        def part(rows: slice) -> Array:
            total = self._zero_sum(W.shape[1], W.dtype)
            for block in self._blocks(rows):
                self._add_t_dot_rows(block, W[block], total)
            return total

        return sum_in_order(self._workers.map(part, self._parts(W.shape[1])))

    def code(self, Ht: Array, code_rows: CodeRows, product: Array | None = None) -> tuple[Array, Array]:
        """Every thread codes some of the parts."""
        return self.code_alike([CodePass(Ht, code_rows, self.sample_weight, product)])[0]

    def code_alike(self, passes: Sequence[CodePass]) -> list[tuple[Array, Array]]:
        """Every block is read once, and stays in the cache for the products of every fit."""
        k = passes[0].Ht.shape[1]
        slices = self._parts(k)

        def part(rows: slice, some: Sequence[CodePass]) -> tuple[list[Array], list[Array]]:
            totals, grams = [self._zero_sum(k, each.Ht.dtype) for each in some], zero_grams(some)
            for block in self._blocks(rows):
                for each, total, gram in zip(some, totals, grams, strict=True):
                    product = self._dot_rows(block, each.Ht) if each.product is None else each.product[block]
                    self._add_t_dot_rows(block, coded(each, block, product, gram), total)
            return totals, grams

        # Partial sums of several fits take no more memory than those of one may.
        step = max(1, PARTS_BYTES // (len(slices) * self.shape[1] * k * self.dtype.itemsize))
        found: list[tuple[Array, Array]] = []
        for first in range(0, len(passes), step):
            parts = self._workers.map(partial(part, some=passes[first : first + step]), slices)
            found += zip(*(sums_of_each(list(sums)) for sums in zip(*parts, strict=True)), strict=True)
        return found

    def code_together(self, passes: Sequence[CodePass]) -> list[tuple[Array, Array]]:
        """One pass over the rows for all fits: their products with X are one, and every block is in the cache."""
        if len(passes) == 1:
            return self.code_alike(passes)
        columns = columns_of([each.Ht for each in passes])
        k, Ht = columns[-1].stop, wanting(passes)

        def part(rows: slice) -> tuple[Array, list[Array]]:
            total, grams = self._zero_sum(k, self.dtype), zero_grams(passes)
            for block, codes in coded_together(self, rows, passes, Ht, grams):
                self._add_t_dot_rows(block, beside(codes), total)
            return total, grams

        parts = self._workers.map(part, self._parts(k))
        return results(sum_in_order([total for total, _ in parts]), [grams for _, grams in parts], columns)

    @abstractmethod
    def _dot_rows(self, rows: slice, Ht: Array) -> Array:
        """X[rows] Hᵀ, until this thread asks for the next one."""

    @abstractmethod
    def _add_t_dot_rows(self, rows: slice, W: Array, out: Array) -> None:
        """out += X[rows]ᵀ W, W having one row per row of the slice."""

    @abstractmethod
    def _row_squares(self, rows: slice) -> Array:
        """‖x_i‖² of some rows, in float64."""

    @abstractmethod
    def _column_squares(self, rows: slice) -> Array:
        """Squared norms of the features over some rows, in float64."""

    @abstractmethod
    def _weighted_sums(self, rows: slice) -> tuple[float, float]:
        """The sum of the known entries of some rows, and their number; samples are weighted."""

    @abstractmethod
    def _squared_errors(self, rows: slice, W: Array, Ht: Array) -> Array:
        """‖x_i − w_i H‖² of some rows, W having one row per row of the slice."""
