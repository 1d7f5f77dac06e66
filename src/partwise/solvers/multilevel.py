"""Coordinate descent on coupled rows, on several levels.

Gauss-Seidel carries information over one link per pass. Where links outweigh the data this takes long: the codes of a
whole neighbourhood must move together, and no single row can. So rows are grouped into small aggregates, and each
aggregate is moved as a whole, which is the same problem with fewer rows::

    F + P δ,   P the aggregates,   δ_a ≥ −min over the aggregate of F

With u = δ + min F ≥ 0 it is a quadratic of the form the kernels minimise (S becomes PᵀSP), and they do, aggregates of
aggregates included. Every step minimises the objective exactly along a direction that keeps F ≥ 0, so it never rises.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.indices import countable, narrow
from ..core.rows import Cliques, Links, RowMatrix
from ..core.scratch import Scratch
from ..core.types import Array

FEWEST_ROWS = 4
# The coarsest level gets extra passes: it is small, and none below helps it.
LAST_PASSES = 10
# A level that is not much smaller than the finer one is not worth a visit.
LEAST_REDUCTION = 0.8
NO_LINKS = (np.zeros(0, np.int32), np.zeros(0, np.int32))


@dataclass(frozen=True)
class RowQuadratic:
    """Σ_i weight_i f_i B f_iᵀ + Σ_ij D_ij f_ij² + Σ_j scale_j f_jᵀ S f_j − 2 tr(Fᵀ A); S is with the level."""

    A: Array
    B: Array
    weight: Array
    D: Array
    scale: Array


class Level:
    """Rows coupled by links and cliques, in an order in which they can be swept.

    Parameters
    ----------
    off : csr_array of shape (n, n)
        The links: S without its diagonal.
    cliques : Cliques, optional
    """

    def __init__(self, off: Any, cliques: Cliques | None = None):
        from ..kernels.descent import colour_rows

        # Kernels are compiled for each width of the indices: most graphs share one.
        self.off = off = narrow(off, "a graph") if countable(off) else off
        self.cliques = Cliques(np.full(off.shape[0], -1, np.intp), 0.0, off.dtype) if cliques is None else cliques
        colour = colour_rows(off.indptr, off.indices, self.cliques.groups, self.cliques.n_groups)
        self._order = np.argsort(colour, kind="stable")
        # Rows of colour c, order[colours[c]:colours[c + 1]], are not coupled to each other.
        self._colours = np.searchsorted(colour[self._order], np.arange(colour.max() + 2))
        self._scratch = Scratch()

    @classmethod
    def of(cls, matrices: Sequence[RowMatrix], dtype: Any) -> Level:
        """All matrices S that couple rows, merged."""
        n = len(matrices[0].diagonal())
        off, cliques = sp.csr_array((n, n), dtype=dtype), None
        for matrix in matrices:
            if isinstance(matrix, Links):
                off = off + matrix.off if off.nnz else matrix.off
            elif isinstance(matrix, Cliques):
                # All cliques of a fit come from the same labels.
                strength = matrix.strength + (0.0 if cliques is None else cliques.strength)
                cliques = Cliques(matrix.groups, strength, dtype)
            else:
                raise NotImplementedError(f"The coordinate solver cannot sweep over {type(matrix).__name__}.")
        return cls(off, cliques)

    @cached_property
    def _aggregates(self) -> Array:
        from ..kernels.links import aggregate_rows

        return np.asarray(aggregate_rows(self.off.indptr, self.off.indices, self.off.data))

    @cached_property
    def _gather(self) -> Any:
        """Pᵀ: adds up the rows of every aggregate."""
        n = self.off.shape[0]
        ones = np.ones(n, self.off.dtype)
        return sp.csr_array((ones, (self._aggregates, np.arange(n))), shape=(int(self._aggregates.max()) + 1, n))

    @cached_property
    def _coarser(self) -> tuple[Level, Array] | None:
        """The level of the aggregates, and the links inside each, which belong to its diagonal."""
        n = self.off.shape[0]
        if n <= FEWEST_ROWS or self._gather.shape[0] > LEAST_REDUCTION * n:
            return None
        off = sp.csr_array(self._gather @ self.off @ self._gather.T)
        inside = off.diagonal()
        off.data[off.indices == np.repeat(np.arange(off.shape[0]), np.diff(off.indptr))] = 0
        off.eliminate_zeros()
        return Level(off), inside

    def colours(self) -> Iterator[Array]:
        """All rows, in sets of rows that are not coupled to each other."""
        for start, stop in pairwise(self._colours):
            yield self._order[start:stop]

    def pull(self, rows: Array, F: Array) -> Array:
        """−(S F) without the diagonal of S, for rows that are not coupled to each other."""
        pull = -(self.off[rows] @ F)
        groups = self.cliques.groups[rows]
        members = groups >= 0
        if members.any():
            others = self.cliques.group_sums(F)[groups[members]] - F[rows[members]]
            pull[members] += F.dtype.type(self.cliques.strength) * others
        return np.asarray(pull)

    @property
    def has_coarser(self) -> bool:
        """Whether there are aggregates to move; cliques carry information at once and need none."""
        return self.cliques.n_groups == 0 and self._coarser is not None

    def cycle(self, F: Array, q: RowQuadratic, before: int = 1) -> None:
        """Passes over the rows `before` one over the aggregates (and theirs), and a pass over the rows; in place."""
        if self._coarser is None:
            self.sweep(F, q, LAST_PASSES, 0.0)
            return
        self.sweep(F, q, before, 0.0)
        self._move_aggregates(F, q, before, *self._coarser)
        self.sweep(F, q, 1, 0.0)

    def sweep(self, F: Array, q: RowQuadratic, max_passes: int, tolerance: float) -> None:
        """Gauss-Seidel over the rows, in place."""
        from ..kernels.descent import descend_linked

        off, cliques = self.off, self.cliques
        descend_linked(
            F, q.A, q.B, q.weight, q.D, q.scale, off.indptr, off.indices, off.data,
            cliques.groups, cliques.group_sums(F), F.dtype.type(cliques.strength),
            self._order, self._colours, max_passes, tolerance,
        )  # fmt: skip

    def _move_aggregates(self, F: Array, q: RowQuadratic, before: int, coarser: Level, inside: Array) -> None:
        from ..kernels.links import gather_rows, group_minima, shift_groups
        from ..kernels.sparse import dot_rows_in_order

        def times(off: Any, F: Array, out: Array) -> Array:
            dot_rows_in_order(off.indptr, off.indices, off.data, F, 0, len(F), out)
            return out

        FB, linked = self._memory(F.shape, F.dtype, "FB", "linked")
        A, D, lowest, moved, part = self._memory(
            (len(inside), F.shape[1]), F.dtype, "A", "D", "lowest", "moved", "part"
        )
        groups, weight = self._aggregates, self._gather @ q.weight
        np.matmul(F, q.B, out=FB)
        gather_rows(groups, q.A, q.weight, FB, q.D, F, q.scale, times(self.off, F, linked), A, D)
        group_minima(groups, F, lowest)
        D += np.multiply(inside[:, None], q.scale, out=part)
        A += np.multiply(weight[:, None], np.matmul(lowest, q.B, out=part), out=part)
        A += np.multiply(D, lowest, out=part)
        A += np.multiply(q.scale, times(coarser.off, lowest, part), out=part)
        moved[:] = lowest
        coarser.cycle(moved, RowQuadratic(A, q.B, weight, D, q.scale), before)
        shift_groups(F, groups, np.subtract(moved, lowest, out=part))

    def _memory(self, shape: tuple[int, int], dtype: Any, *names: str) -> list[Array]:
        return [self._scratch.get(name, shape, dtype) for name in names]


class Chain:
    """What couples rows, for kernels that take one row after another; built once and kept."""

    def __init__(self) -> None:
        self._coupled: tuple[RowMatrix, ...] = ()
        self._level: Level | None = None

    def level(self, coupled: tuple[RowMatrix, ...], dtype: Any) -> Level | None:
        """The coupled rows; None if rows are independent."""
        if coupled and (self._level is None or self._coupled != coupled):
            self._coupled, self._level = coupled, Level.of(coupled, dtype)
        return self._level if coupled else None

    def of(self, coupled: tuple[RowMatrix, ...], F: Array) -> tuple[Any, ...]:
        """Links, their values, groups, the sums of F over them and their strength; empty if rows are independent."""
        level = self.level(coupled, F.dtype)
        if level is None:
            return (*NO_LINKS, np.zeros(0, F.dtype), np.zeros(0, np.intp), np.zeros((0, 0), F.dtype), 0.0)
        off, cliques = level.off, level.cliques
        return off.indptr, off.indices, off.data, cliques.groups, cliques.group_sums(F), cliques.strength
