"""The one door to the data: X is accessed only through a few products, norms and row blocks.

Everything above this module sees an :class:`Operand`. A new kind of storage (blocks on workers) is a new subclass
beside those of `core.storage` (in memory) and `core.stored` (read block by block); terms and solvers do not change.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self, TypeVar

import numpy as np
import scipy.sparse as sp

from .indices import narrow
from .piece_pass import PiecePass
from .rooms import MEMORY
from .rows import RowMatrix
from .threads import Workers
from .together import CodePass, CodeRows, beside, columns_of, cut
from .types import CODES, Array, Factor, sum_in_order

if TYPE_CHECKING:
    from .held import HeldOperand

Missing = Literal["nan", "unstored"] | None

# A block of rows fits into the cache together with what is computed from it.
BLOCK_BYTES = 2**20
# Temporaries of whole passes that read every entry may be larger.
ENTRIES_BYTES = 8 * 2**20
# Sums over the rows are computed in parts and added in a fixed order: they do not depend on the number of threads.
MOST_PARTS, PARTS_BYTES = 16, 64 * 2**20
# Rows in blocks come in multiples of this, the width of the compiled kernels.
ROW_MULTIPLE = 64
# Fewer rows of a factor than this are not worth a thread.
LEAST_ROWS = 256

R = TypeVar("R", covariant=True)


class BlockFunction(Protocol[R]):
    """A function of a block of rows."""

    def __call__(self, rows: slice, block: HeldOperand, own: slice) -> R:
        """What the rows give; the operand `block` holds them as its rows `own`."""


class Operand(ABC):
    """Data X, n samples × m features; most methods require non-negative entries.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
        float32 or float64; factors are kept in the same.
    missing : {None, "nan", "unstored"}
        Which entries are unknown: none, those stored as NaN, or those not stored at all.
    sample_weight : ndarray of shape (n,), optional
        How often each sample counts.
    room : Room
        Where arrays with a row for every sample are kept.
    lent : bool
        Whether the memory may be the caller's, who is free to change it after the fit.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    lent: bool = False
    # Whether the rows, and the codes with them, are on the workers of a cluster.
    spread: ClassVar[bool] = False
    # Products of more columns than this gain little.
    best_columns: ClassVar[int] = 200

    def __init__(self, X: Any, missing: Missing = None, sample_weight: Array | None = None):
        self._X = X
        self.shape = X.shape
        self.dtype = X.dtype
        self.missing: Missing = missing
        self.sample_weight = sample_weight
        self._workers = Workers()
        self._source: Self | None = None
        self.room = MEMORY

    @cached_property
    def kept(self) -> Operand:
        """The data for a model to keep: a copy, made once, if the memory is the caller's."""
        return type(self)(self._X.copy(), self.missing, self.sample_weight) if self.lent else self

    def weighed(self, sample_weight: Array | None) -> Self:
        """The same data with other sample weights; products with them are shared."""
        other = copy(self)
        # What depends on the weights is computed again; what does not is computed once for all.
        for name in ("kept", "squared_norm"):
            other.__dict__.pop(name, None)
        other.sample_weight, other._source = sample_weight, self.source
        return other

    @property
    def source(self) -> Self:
        """The operand that makes the products of all that differ from it only in their sample weights."""
        return self if self._source is None else self._source

    def at_work(self) -> AbstractContextManager[None]:
        """Use our own threads for products within the context, and one thread for BLAS."""
        return self._workers.open()

    @property
    @abstractmethod
    def is_sparse(self) -> bool:
        """Whether entries that are not stored are zero, or unknown."""

    @property
    def in_memory(self) -> bool:
        """Whether :attr:`array` holds all rows; if not, they are read when needed."""
        return True

    def row_squared_norms(self) -> Array:
        """‖x_i‖² of every sample, in float64."""
        norms = np.empty(self.shape[0])

        def fill(rows: slice, block: HeldOperand, own: slice) -> None:
            norms[rows] = block._row_squares(own)

        self._each_block(fill)
        return norms

    def column_squared_norms(self) -> Array:
        """Squared norm of every feature over the samples, in float64."""
        return sum_in_order(self._each_block(lambda rows, block, own: block._column_squares(own)))

    def mean(self) -> float:
        """Mean of the known entries; samples are weighted."""
        sums = self._each_block(lambda rows, block, own: block._weighted_sums(own))
        total, count = (sum(values) for values in zip(*sums, strict=True))
        return total / count if count else 0.0

    @abstractmethod
    def smallest(self) -> float:
        """The smallest entry of complete data, including zeros that are not stored."""

    @abstractmethod
    def magnitude(self) -> Operand:
        """|X|, entry by entry."""

    @abstractmethod
    def known(self) -> Operand:
        """X with zeros where it is NaN, for products and norms."""

    @abstractmethod
    def row_blocks(self, bytes_per_row: int | None = None) -> Iterator[tuple[slice, Any]]:
        """Consecutive slices of rows with their data, dense or CSR, each of a bounded size, for use before the next.

        Parameters
        ----------
        bytes_per_row : int, optional
            What the caller needs per row of a block, if more than the row itself.
        """

    @abstractmethod
    def take(self, rows: Array) -> Operand:
        """The chosen rows, as a new operand in memory."""

    def placed(self, W: Any) -> Any:
        """Codes where the rows are: as they are, unless these are on workers."""
        return W

    def placed_matrix(self, S: RowMatrix) -> RowMatrix:
        """A matrix over the samples where these are."""
        return S

    def pass_over(self, run: PiecePass) -> PiecePass:
        """Make a pass over pieces of the rows, where these are."""
        return run.over(self)

    def over_rows(self, function: Callable[[Any], R], bytes_per_row: int | None = None) -> list[R]:
        """What a function gives for all rows, a block of them at a time, dense or CSR as in `row_blocks`."""
        return [function(x) for _, x in self.row_blocks(bytes_per_row)]

    def by_pieces(self, function: Callable[[Operand], Array], width: int) -> Array:
        """What a function of samples, which are treated separately, gives for all; `width` columns."""
        if self.in_memory:
            return function(self)
        out = self.room.empty((self.shape[0], width), self.dtype)
        for rows, piece in self.pieces():
            out[rows] = function(piece)
        return out

    def pieces(self) -> Iterator[tuple[slice, Operand]]:
        """Consecutive rows as operands in memory, for samples that are treated separately: all at once, if they fit."""
        yield slice(0, self.shape[0]), self

    @abstractmethod
    def _bytes_per_row(self) -> int:
        """Size of a row as it is stored."""

    @abstractmethod
    def _zero_sum(self, k: int, dtype: Any) -> Array:
        """Zeros (m × k) in the memory order best for `_add_t_dot_rows`."""

    @abstractmethod
    def _each_block(self, function: BlockFunction[R]) -> list[R]:
        """The results of a function of every block of rows that fits into the cache, in order."""

    def dot(self, Ht: Array) -> Array:
        """X Hᵀ, given Hᵀ (m × k)."""
        out = self.room.empty((self.shape[0], Ht.shape[1]), Ht.dtype)

        def fill(rows: slice, block: HeldOperand, own: slice) -> None:
            out[rows] = block._dot_rows(own, Ht)

        self._each_block(fill)
        return out

    @abstractmethod
    def t_dot(self, W: Array) -> Array:
        """Xᵀ W, given W (n × k)."""

    @abstractmethod
    def code(self, Ht: Array, code_rows: CodeRows, product: Array | None = None) -> tuple[Array, Array]:
        """One pass over the rows: code every block while it is in the cache, and collect what the components need.

        Parameters
        ----------
        Ht : ndarray of shape (m, k)
        code_rows : callable
            Given a slice of rows and X[rows] Hᵀ, returns the codes of these rows. Called from several threads.
        product : ndarray of shape (n, k), optional
            X Hᵀ, if it is already known.

        Returns
        -------
        XtW : ndarray of shape (m, k)
            Xᵀ W, with the sample weights.
        WtW : ndarray of shape (k, k)
            WᵀW, with the sample weights.
        """

    def code_together(self, passes: Sequence[CodePass]) -> list[tuple[Array, Array]]:
        """The same for several fits, each with its own sample weights.

        Parameters
        ----------
        passes : sequence of CodePass

        Returns
        -------
        results : list of (XtW, WtW)
        """
        return self.code_alike(passes)

    def code_alike(self, passes: Sequence[CodePass]) -> list[tuple[Array, Array]]:
        """The same for several fits of as many components each, to the bit as each by itself."""
        return [self.weighed(each.sample_weight).code(each.Ht, each.code_rows, each.product) for each in passes]

    def dots_alike(self, factors: Sequence[Array], of: Factor) -> list[Array]:
        """The same as `dots`, for factors of the same shape, to the bit as each by itself."""
        return [self.dot(F) if of == CODES else self.t_dot(F) for F in factors]

    def dots(self, factors: Sequence[Array], of: Factor) -> list[Array]:
        """The data's pull on one factor of several fits, given the other factors of each: one product for all."""
        stacked = beside(factors)
        product = self.dot(stacked) if of == CODES else self.t_dot(stacked)
        return [cut(product, place) for place in columns_of(factors)]

    def map_rows(self, function: Callable[[slice], None], n_rows: int, least: int = LEAST_ROWS) -> None:
        """Call a function on slices that cover `n_rows` rows, in threads; each has at least so many, but the last."""
        step = _round_up(max(-(-n_rows // MOST_PARTS), least))
        self._workers.map(function, (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)))

    def _parts(self, k: int) -> list[slice]:
        """The rows in a few long slices, one partial sum each, whatever the number of threads."""
        n, m = self.shape
        count = int(np.clip(PARTS_BYTES // (m * k * self.dtype.itemsize), 2, MOST_PARTS))
        # At least a block each: small data are not worth the calls.
        least = BLOCK_BYTES // (self._bytes_per_row() + k * self.dtype.itemsize)
        step = _round_up(max(-(-n // count), least))
        return [slice(start, min(start + step, n)) for start in range(0, n, step)]

    def _blocks(self, rows: slice) -> Iterator[slice]:
        """A slice of rows in pieces that fit into the cache."""
        step = _round_up(BLOCK_BYTES // max(1, self._bytes_per_row()))
        for start in range(rows.start, rows.stop, step):
            yield slice(start, min(start + step, rows.stop))

    def squared_error(self, W: Array, Ht: Array) -> float:
        """Σ_i s_i ‖x_i − w_i H‖² from residuals: exact where the fit is, at the cost of another product."""
        errors = np.empty(self.shape[0])

        def fill(rows: slice, block: HeldOperand, own: slice) -> None:
            errors[rows] = block._squared_errors(own, W[rows], Ht)

        self._each_block(fill)
        return float((errors if self.sample_weight is None else self.sample_weight * errors).sum())

    @cached_property
    def squared_norm(self) -> float:
        """Σ_i s_i ‖x_i‖²."""
        norms = self.row_squared_norms()
        return float(norms.sum() if self.sample_weight is None else norms @ self.sample_weight)

    @property
    def stored(self) -> Any:
        """Rows that are read when needed, if the data are not in memory."""
        raise ValueError("The data are in memory.")

    @property
    def nbytes(self) -> int:
        """Memory of the data, or of its files."""
        return self.shape[0] * self._bytes_per_row()

    @property
    def array(self) -> Any:
        """The data as one in-memory array, for routines that need it whole."""
        return self._X

    @property
    def narrow_array(self) -> Any:
        """The same with 32-bit indices, if there are any: scikit-learn's k-means accepts no others."""
        return narrow(self._X, "k-means") if sp.issparse(self._X) else self._X


def _round_up(n: int) -> int:
    return max(1, -(-n // ROW_MULTIPLE)) * ROW_MULTIPLE


def entry_blocks(n: int, bytes_per_row: int) -> Iterator[slice]:
    """n rows in slices, for passes that read every entry."""
    step = max(1, ENTRIES_BYTES // max(1, bytes_per_row))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))
