"""What workers do with their block of X. Products are made in the same pieces, and added in the same order, as here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .operand import Missing
from .row_pass import RowPass
from .spread import arrived
from .storage import DenseOperand, SparseOperand, fitted_energy
from .threads import one_thread
from .types import Array


class BlockKind(NamedTuple):
    """What a block has in common with all others.

    Attributes
    ----------
    missing : {None, "nan", "unstored"}
    bytes_per_row : int
        Of the whole, on average.
    """

    missing: Missing
    bytes_per_row: int


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
    if not sp.issparse(block):
        return _DenseBlock(arrived(block), kind.missing, weight)
    parts = tuple(map(arrived, (block.data, block.indices, block.indptr)))
    operand = _SparseBlock(sp.csr_array(parts, shape=block.shape), kind.missing, weight)
    operand.whole_bytes = kind.bytes_per_row
    return operand


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
    rows: slice,
    weight: Array | None,
    product: Any,
    *given: Any,
    kind: BlockKind,
    items: tuple[int | None, ...],
    asked: tuple[Array, Any],
) -> tuple[Any, ...]:
    """New codes of a block, in one array or two, and then its shares of XᵀW and WᵀW.

    Parameters
    ----------
    block : ndarray or csr_array
    rows : slice
        Its rows in X.
    weight : ndarray, optional
        Of its samples.
    product : ndarray, optional
        Its X Hᵀ, if it is known.
    *given : ndarray or tuple of ndarray
        The rows of other arrays, each by itself or an item of what another task gave.
    kind : BlockKind
    items : tuple
        Which items.
    asked : tuple
        Hᵀ, and the step of a pass over the rows or a function of rows and product.
    """
    Ht, step = asked
    arrays = tuple(map(arrived, given, items))
    run = RowPass(step.of(rows), arrays) if arrays else step
    with one_thread():
        found = operand_of(block, kind, weight).code(Ht, run, arrived(product))
    return (*(run.results if arrays else ()), found)


def shares(coded: tuple[Any, ...]) -> tuple[Array, Array]:
    """What the components need of coded rows."""
    found: tuple[Array, Array] = coded[-1]
    return found


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
