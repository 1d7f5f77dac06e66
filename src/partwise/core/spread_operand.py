"""Data on the workers of a cluster behind the one door: products are made where the rows are, and sums come back.

X never travels, and codes live beside their block. A sweep sends the components to every block and brings back the
blocks' shares of XᵀW and WᵀW, added on the workers in the order of the blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from operator import methodcaller
from typing import Any

import numpy as np

from . import block_tasks as tasks
from .cluster import FAN_IN, last_item
from .linked_pass import LinkedPass
from .operand import Missing, Operand
from .piece_pass import PiecePass
from .row_pass import RowPass
from .rows import RowMatrix
from .spread import Leaf, SpreadRows
from .spread_links import spread_matrix
from .spread_rows import ClusterRows
from .storage import held_operand
from .together import CodeRows
from .types import Array

# Dask keeps all that results were made of, in case that they are lost. After so many passes codes are given to it as
# data, unless they are too large for that; then only components pile up.
CUT_EVERY, CUT_BYTES = 20, 2**30

ON_WORKERS = (
    "X is on workers, but {} needs its rows on this machine. Give partwise.blocks.DaskRows(X, client=False) to read it "
    "chunk by chunk here."
)


class SpreadOperand(Operand):
    """Rows that workers hold."""

    _X: ClusterRows
    spread = True
    _passes = 0

    def __init__(
        self,
        X: ClusterRows,
        missing: Missing = None,
        sample_weight: Array | None = None,
        seen: Callable[[Any], Any] | None = None,
    ):
        super().__init__(X, missing, sample_weight)
        self._seen = seen
        self.room = X.room

    @property
    def in_memory(self) -> bool:
        """Not of this machine."""
        return False

    @property
    def is_sparse(self) -> bool:
        """Whether its blocks are."""
        return self._X.facts.sparse

    @property
    def stored(self) -> ClusterRows:
        """Where rows are."""
        return self._X

    @property
    def array(self) -> Any:
        """Refused: there is no such array."""
        raise ValueError(ON_WORKERS.format("this method"))

    @property
    def narrow_array(self) -> Any:
        """Refused: there is no such array."""
        return self.array

    @cached_property
    def kept(self) -> Operand:
        """Refused: a model does not keep data that are not in memory."""
        raise ValueError(ON_WORKERS.format("a model that keeps its samples"))

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Also make its client the current one: dask arrays of codes are computed there."""
        with super().at_work(), self._X.cluster.client.as_current():
            yield

    def placed(self, W: Any) -> Any:
        """Codes beside their blocks."""
        return self._X.place(W)

    def placed_matrix(self, S: RowMatrix) -> RowMatrix:
        """A matrix over the samples by blocks."""
        return spread_matrix(self._X, S)

    def dot(self, Ht: Array) -> Any:
        """X Hᵀ, given Hᵀ (m × k), on the workers."""
        if len(Ht) != self.shape[1]:
            raise ValueError(f"The data have {self.shape[1]} features but the components {len(Ht)}.")
        futures = self._X.cluster.each("dot", tasks.dot, self._X.blocks, Ht=Ht, kind=self._kind)
        return SpreadRows(self._X, Leaf(futures, None, Ht.shape[1], Ht.dtype))

    def t_dot(self, W: Any) -> Array:
        """Xᵀ W, given W (n × k), here or on the workers."""
        codes = self._X.each(self.placed(W).expression)
        shares = self._X.cluster.each("t_dot", tasks.t_dot, self._X.blocks, codes, kind=self._kind)
        return np.ascontiguousarray(self._X.cluster.total(shares)[0])

    def code(self, Ht: Array, code_rows: CodeRows, product: Any = None) -> tuple[Array, Array]:
        """Every worker codes its blocks; the codes stay there."""
        rows, cluster = self._X, self._X.cluster
        run = code_rows if isinstance(code_rows, RowPass) else None
        if run is not None and run.links:
            return self._code_linked(Ht, run, product)
        products = [None] * len(rows.blocks) if product is None else rows.each(self.placed(product).expression)
        steps = [code_rows] * len(rows.blocks) if run is None else [run.step.of(part) for part in rows.slices]
        leaves = [] if run is None else [rows.leaf(F) for F in run.given]
        coded = cluster.each(
            "code",
            tasks.code,
            rows.blocks,
            steps,
            self._weights,
            products,
            *(leaf.futures for leaf in leaves),
            kind=self._kind,
            items=tuple(leaf.item for leaf in leaves),
            Ht=Ht,
        )
        k = Ht.shape[1]
        pull, gram = cluster.total_of_last(coded, (self.shape[1] + k) * k * self.dtype.itemsize)
        if run is not None:
            run.results = self._cut(self._rows_of(coded, (k,) * run.step.n_results))
        return np.ascontiguousarray(pull), np.ascontiguousarray(gram)

    def _code_linked(self, Ht: Array, run: RowPass, product: Any) -> tuple[Array, Array]:
        """Products with X by blocks, and codes by parts of many blocks."""
        rows, cluster = self._X, self._X.cluster
        products = rows.each((self.dot(Ht) if product is None else self.placed(product)).expression)
        parts = run.links[0].home
        *others, codes = LinkedPass(parts, run, products).moved()
        W = parts.divided(codes.expression)
        given = (rows.blocks, W.expression.futures, self._weights)
        shares = cluster.each("shares", tasks.shares_of, *given, kind=self._kind, item=W.expression.item)
        # The objective needs it next; workers compute it meanwhile.
        for S in run.links:
            S.begin_energy(W)
        pull, gram = cluster.total(shares)
        run.results = self._cut([*others, W])
        return np.ascontiguousarray(pull), np.ascontiguousarray(gram)

    def pass_over(self, run: PiecePass) -> PiecePass:
        """Every worker makes it over its blocks; what has a row for every sample stays there."""
        rows, cluster = self._X, self._X.cluster
        leaves = [self._X.leaf(F) for F in run.given]
        done = cluster.each(
            "pieces",
            tasks.in_pieces,
            rows.blocks,
            [run.step.of(part) for part in rows.slices],
            self._weights,
            *(leaf.futures for leaf in leaves),
            kind=self._kind,
            items=tuple(leaf.item for leaf in leaves),
            widths=run.widths,
            join=run.join,
            Ht=run.Ht,
        )
        if run.join is not None:
            run.share = cluster.joined(run.join, cluster.each("shares", last_item, done))
        if run.widths:
            run.results = self._cut(self._rows_of(done, run.widths))
        return run

    def over_rows(self, function: Callable[[Any], Any], bytes_per_row: int | None = None) -> list[Any]:
        """Every worker applies the function to its rows."""
        found = self._found("found", tasks.over_rows, function=function, bytes_per_row=bytes_per_row)
        return [part for block in found for part in block]

    def _rows_of(self, futures: list[Any], widths: tuple[int, ...]) -> list[SpreadRows]:
        """The first arrays that tasks give, one task for every block."""
        leaves = [Leaf(futures, item, width, self.dtype) for item, width in enumerate(widths)]
        return [SpreadRows(self._X, leaf) for leaf in leaves]

    def _cut(self, results: list[SpreadRows]) -> tuple[Any, ...]:
        """The results of a pass; now and then without their past."""
        whole = self.source
        whole._passes += 1
        if whole._passes % CUT_EVERY or sum(F.nbytes for F in results) > CUT_BYTES:
            return tuple(results)
        return tuple(self._X.place(np.asarray(F)) for F in results)

    @property
    def _kind(self) -> tasks.BlockKind:
        return tasks.BlockKind(self.missing, self._bytes_per_row(), self._seen)

    @property
    def _weights(self) -> list[Any]:
        """Futures of the weights of every block's samples."""
        weight = self.sample_weight
        if weight is None:
            return [None] * len(self._X.blocks)
        if self._placed_weight is None or self._placed_weight[0] is not weight:
            self._placed_weight = weight, self._X.placed(weight)
        return self._placed_weight[1]

    _placed_weight: tuple[Array, list[Any]] | None = None

    def row_squared_norms(self) -> Array:
        """‖x_i‖² of every sample, in float64."""
        return np.concatenate(self._found("norms", tasks.row_squares))

    def column_squared_norms(self) -> Array:
        """Squared norm of every feature over the samples, in float64."""
        shares = self._X.cluster.each("norms", tasks.column_squares, self._X.blocks, kind=self._kind)
        return np.asarray(self._X.cluster.total(shares)[0])

    def mean(self) -> float:
        """Mean of the entries; samples are weighted.

        Up to sixteen blocks, as many as there are parts in memory, rows are added in the pieces that they have there;
        a few rows of two neighbouring blocks are brought here for that.
        """
        slices, n = self._X.slices, self.shape[0]
        pieces = list(self._blocks(slice(0, n)))
        if len(slices) > FAN_IN:
            pieces = [piece for rows in slices for piece in self._blocks(rows)]
        inside = [[p for p in pieces if rows.start <= p.start and p.stop <= rows.stop] for rows in slices]
        starts = [rows.start for rows in slices]
        local = [[slice(p.start - at, p.stop - at) for p in own] for own, at in zip(inside, starts, strict=True)]
        given = (self._X.blocks, self._weights, local)
        found = self._X.cluster.results(self._X.cluster.each("mean", tasks.weighted_sums, *given, kind=self._kind))
        sums = {p.start: s for own, values in zip(inside, found, strict=True) for p, s in zip(own, values, strict=True)}
        for piece in pieces:
            if piece.start not in sums:
                sums[piece.start] = self._sums_here(piece)
        totals, counts = zip(*(sums[piece.start] for piece in pieces), strict=True)
        return sum(totals) / sum(counts) if sum(counts) else 0.0

    def _sums_here(self, rows: slice) -> tuple[float, float]:
        weight = None if self.sample_weight is None else self.sample_weight[rows]
        some = held_operand(self._X.take(np.arange(rows.start, rows.stop)), self.missing, weight)
        return some._weighted_sums(slice(0, some.shape[0]))

    def squared_error(self, W: Any, Ht: Array) -> float:
        """Σ_i s_i ‖x_i − w_i H‖² from residuals."""
        codes, cluster = self._X.each(self.placed(W).expression), self._X.cluster
        errors = np.concatenate(self._found("errors", tasks.errors, codes, Ht=Ht))
        error = float((errors if self.sample_weight is None else self.sample_weight * errors).sum())
        if not self.is_sparse:
            return error
        energy = cluster.total(cluster.each("energy", tasks.energy, codes, self._weights, Ht=Ht))[0]
        return max(float(energy) + error, 0.0)

    def smallest(self) -> float:
        """The smallest entry, known from the first pass."""
        return self._X.facts.smallest

    def by_pieces(self, function: Callable[[Operand], Array], width: int) -> Any:
        """A function of the rows of every block, where they are."""
        # It may hold components.
        given = {"function": self._X.cluster.given(function), "kind": self._kind}
        futures = self._X.cluster.each("applied", tasks.applied, self._X.blocks, **given)
        return SpreadRows(self._X, Leaf(futures, None, width, self.dtype))

    def take(self, rows: Array) -> Operand:
        """The chosen rows, brought here."""
        return held_operand(self._X.take(rows), self.missing)

    def magnitude(self) -> Operand:
        """|X|, computed where the rows are whenever it is multiplied."""
        return self._as(methodcaller("magnitude"), self.missing)

    def known(self) -> Operand:
        """Zeros for NaN, filled in where the rows are whenever it is multiplied."""
        return self._as(methodcaller("known"), None)

    def _as(self, seen: Callable[[Any], Any], missing: Missing) -> SpreadOperand:
        return SpreadOperand(self._X, missing, self.sample_weight, seen)

    def row_blocks(self, bytes_per_row: int | None = None) -> Iterator[tuple[slice, Any]]:
        """Refused: X stays where it is."""
        raise ValueError(ON_WORKERS.format("what was asked for"))

    def pieces(self) -> Iterator[tuple[slice, Operand]]:
        """Refused: X stays where it is."""
        raise ValueError(ON_WORKERS.format("what was asked for"))

    def _found(self, name: str, task: Callable[..., Any], /, *iterables: list[Any], **common: Any) -> list[Any]:
        """What a task for every block gives, brought here."""
        cluster = self._X.cluster
        return cluster.results(cluster.each(name, task, self._X.blocks, *iterables, kind=self._kind, **common))

    def _each_block(self, function: Any) -> Any:
        raise ValueError(ON_WORKERS.format("what was asked for"))

    def _bytes_per_row(self) -> int:
        return self._X.bytes_per_row

    def _zero_sum(self, k: int, dtype: Any) -> Array:
        raise ValueError(ON_WORKERS.format("what was asked for"))


def memory_chunks(shape: tuple[int, int], n_components: int, dtype: Any = np.float64) -> tuple[int, ...]:
    """Sizes of chunks with which a fit on workers adds up its sums as a fit to the same dense array in memory does.

    Parameters
    ----------
    shape : tuple of int
        Samples × features.
    n_components : int
    dtype : dtype, default=float64
        float32 or float64.

    Returns
    -------
    sizes : tuple of int

    Examples
    --------
    >>> from partwise.blocks import memory_chunks
    >>> memory_chunks((100_000, 200), 10)
    (6272, 6272, 6272, 6272, 6272, 6272, 6272, 6272, 6272, 6272, 6272, 6272, 6272, 6272, 6272, 5920)
    """
    from .storage import DenseOperand

    whole = DenseOperand(np.broadcast_to(np.zeros((), dtype), shape))
    return tuple(part.stop - part.start for part in whole._parts(n_components))
