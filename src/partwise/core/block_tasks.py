"""What workers do with their block of X. Products are made in the same pieces, and added in the same order, as here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .operand import Missing, Operand
from .piece_pass import gone_over
from .row_pass import RowPass
from .spread import arrived
from .storage import DenseOperand, SparseOperand, fitted_energy, held_operand
from .stored import PIECE_BYTES
from .threads import one_thread
from .types import Array


class BlockKind(NamedTuple):
    """What a block has in common with all others.

    Attributes
    ----------
    missing : {None, "nan", "unstored"}
    bytes_per_row : int
        Of the whole, on average.
    seen : callable, optional
        What every block is seen as, for example its magnitude.
    """

    missing: Missing
    bytes_per_row: int
    seen: Callable[[Any], Any] | None = None


class _DenseBlock(DenseOperand):
    """Rows that are one part of the sums."""

    def _parts(self, k: int) -> list[slice]:
        return [slice(0, self.shape[0])]


class _SparseBlock(SparseOperand):
    """The same, sparse."""

    whole_bytes: int

    def _bytes_per_row(self) -> int:
        return self.whole_bytes

    def _parts(self, k: int) -> list[slice]:
        return [slice(0, self.shape[0])]

    def t_dot(self, W: Array) -> Array:
        """Without a transposed copy, which would be made in every task."""
        out = self._zero_sum(W.shape[1], W.dtype)
        self.add_t_dot_features(slice(0, self.shape[1]), np.ascontiguousarray(W), out)
        return out


def operand_of(block: Any, kind: BlockKind, weight: Array | None = None) -> DenseOperand | SparseOperand:
    """A block as an operand."""
    block = _arrived_block(block)
    operand: DenseOperand | SparseOperand
    if sp.issparse(block):
        operand = _SparseBlock(block, kind.missing, weight)
        operand.whole_bytes = kind.bytes_per_row
    else:
        operand = _DenseBlock(block, kind.missing, weight)
    return operand if kind.seen is None else kind.seen(operand)


def _arrived_block(block: Any) -> Any:
    """A block whose arrays are aligned."""
    if not sp.issparse(block):
        return arrived(block)
    parts = tuple(map(arrived, (block.data, block.indices, block.indptr)))
    return sp.csr_array(parts, shape=block.shape)


def dot(block: Any, Ht: Array, kind: BlockKind) -> Array:
    """X Hᵀ of a block."""
    with one_thread():
        return operand_of(block, kind).dot(Ht)


def t_dot(block: Any, W: Array, kind: BlockKind) -> tuple[Array]:
    """Its share of Xᵀ W."""
    with one_thread():
        return (operand_of(block, kind).t_dot(arrived(W)),)


def code(
    block: Any,
    step: Any,
    weight: Array | None,
    product: Any,
    *given: Any,
    kind: BlockKind,
    items: tuple[int | None, ...],
    Ht: Array,
) -> tuple[Any, ...]:
    """New codes of a block, in one array or two, and then its shares of XᵀW and WᵀW.

    Parameters
    ----------
    block : ndarray or csr_array
    step : RowStep or callable
        What a pass over its rows does, or a function of rows and product.
    weight : ndarray, optional
        Of its samples.
    product : ndarray, optional
        Its X Hᵀ, if it is known.
    *given : ndarray or tuple of ndarray
        The rows of other arrays, each by itself or an item of what another task gave.
    kind : BlockKind
    items : tuple
        Which items.
    Ht : ndarray of shape (m, k)
    """
    arrays = tuple(map(arrived, given, items))
    run = RowPass(step, arrays) if arrays else step
    with one_thread():
        found = operand_of(block, kind, weight).code(Ht, run, arrived(product))
    return (*(run.results if arrays else ()), found)


def shares_of(block: Any, codes: Any, weight: Array | None, kind: BlockKind, item: int | None) -> tuple[Array, Array]:
    """The shares of XᵀW and WᵀW of a block whose codes are known."""
    W = arrived(codes, item)
    weighted = W if weight is None else weight[:, None] * W
    with one_thread():
        return operand_of(block, kind).t_dot(weighted), W.T @ weighted


def in_pieces(
    block: Any,
    step: Any,
    weight: Array | None,
    *given: Any,
    kind: BlockKind,
    items: tuple[int | None, ...],
    widths: tuple[int, ...],
    join: Callable[[list[Any]], Any] | None,
    Ht: Array,
) -> tuple[Any, ...]:
    """What a step gives for the rows of a block, array by array, and then its share of what is added up.

    Parameters
    ----------
    block : ndarray or csr_array
    step : PieceStep
        For data that consist of this block.
    weight, *given, kind, items
        As for :func:`code`.
    widths, join, Ht
        Of the pass, see `PiecePass`.
    """
    arrays = tuple(map(arrived, given, items))
    out = tuple(np.empty((block.shape[0], width), block.dtype) for width in widths)
    with one_thread():
        share = gone_over(_pieces(block, kind, weight), step, arrays, Ht, join, out)
    return (*out, share)


def _pieces(block: Any, kind: BlockKind, weight: Array | None) -> Iterator[tuple[slice, Operand]]:
    """The rows of a block in pieces of the size that data on disk are read in."""
    n = block.shape[0]
    height = max(1, PIECE_BYTES // max(1, kind.bytes_per_row))
    for start in range(0, n, height):
        rows = slice(start, min(start + height, n))
        part = block if height >= n else block[rows]
        yield rows, held_operand(_arrived_block(part), kind.missing, None if weight is None else weight[rows])


def over_rows(block: Any, function: Callable[[Any], Any], kind: BlockKind, bytes_per_row: int | None) -> list[Any]:
    """What a function gives for the rows of a block, some at a time."""
    with one_thread():
        return operand_of(block, kind).over_rows(function, bytes_per_row)


def row_squares(block: Any, kind: BlockKind) -> Array:
    """‖x_i‖² of every row."""
    return operand_of(block, kind).row_squared_norms()


def column_squares(block: Any, kind: BlockKind) -> tuple[Array]:
    """Its share of the squared norms of the features."""
    return (operand_of(block, kind).column_squared_norms(),)


def weighted_sums(block: Any, weight: Array | None, pieces: list[slice], kind: BlockKind) -> list[tuple[float, float]]:
    """The sums of pieces of its rows, and how many entries they have."""
    operand = operand_of(block, kind, weight)
    return [operand._weighted_sums(rows) for rows in pieces]


def errors(block: Any, W: Array, Ht: Array, kind: BlockKind) -> Array:
    """‖x_i − w_i H‖² of every row; of sparse ones without ‖w_i H‖²."""
    operand, W, out = operand_of(block, kind), arrived(W), np.empty(block.shape[0])
    with one_thread():
        for rows in operand._blocks(slice(0, block.shape[0])):
            out[rows] = operand._squared_errors(rows, W[rows], Ht)
    return out


def energy(W: Array, weight: Array | None, Ht: Array) -> tuple[float]:
    """Σ_i s_i ‖w_i H‖² of a block's codes."""
    with one_thread():
        return (fitted_energy(arrived(W), Ht, weight),)


def applied(block: Any, function: Callable[[Any], Any], kind: BlockKind) -> Any:
    """A function of the block as an operand in memory."""
    return function(operand_of(block, kind))
