"""The quadratic of a factor, added up for coordinate descent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ..core.domains import Domain
from ..core.fixed import Fixed
from ..core.forms import Quadratic
from ..core.objective import Objective
from ..core.rows import Diagonal, RowMatrix
from ..core.scratch import Scratch
from ..core.state import State
from ..core.types import Array, Factor
from .multilevel import Level, RowQuadratic

# From this multiple of the data's own curvature on, links are so strong that rows must move together.
STIFF = 3.0
# Cycles in a sweep. Of many rows a cycle costs as much as the products with X, and sweeps are hardly fewer with three,
# nor with passes before aggregates move.
CYCLES, MANY_ROWS = 3, 20_000


@dataclass
class RowSystem:
    """min over F ≥ 0 of Σ_i weight_i f_i B f_iᵀ + Σ_ij D_ij f_ij² + Σ_j scale_j f_jᵀ S f_j − 2 tr(Fᵀ A).

    Attributes
    ----------
    data : ndarray of shape (rows, 1) or (1, 1)
        The multiple of the data's pull in A.
    push : ndarray of shape (rows, k) or (1, k)
        The rest of A.
    B : ndarray of shape (k, k)
    weight : ndarray of shape (rows,) or (1,)
    D : ndarray of shape (rows, k) or (1, k)
        Curvature of single entries, including the diagonal of S.
    scale : ndarray of shape (k,)
    coupled : tuple of RowMatrix
        The matrices that make up S; empty if rows are independent.
    n_held : int
        How many of the first columns stay as they are, where no rows are coupled.
    """

    data: Array
    push: Array
    B: Array
    weight: Array
    D: Array
    scale: Array
    coupled: tuple[RowMatrix, ...] = ()
    n_held: int = 0

    def of(self, rows: slice) -> RowSystem:
        """The system of some rows, none of which are coupled."""
        parts = {name: getattr(self, name) for name in ("data", "push", "weight", "D")}
        return replace(self, **{name: part if len(part) == 1 else part[rows] for name, part in parts.items()})

    def apart(self) -> tuple[RowSystem, tuple[str, ...], tuple[Array, ...]]:
        """The system without those parts that are on workers, and these by name."""
        names = tuple(name for name in ("data", "push", "D") if not isinstance(getattr(self, name), np.ndarray))
        parts = tuple(getattr(self, name) for name in names)
        return self.having(dict.fromkeys(names, np.zeros((1, 1), self.B.dtype))) if names else self, names, parts

    def having(self, parts: dict[str, Array]) -> RowSystem:
        """The system with other parts."""
        return replace(self, **parts)  # type: ignore[arg-type]

    def pull(self, product: Array, scratch: Scratch | None = None) -> Array:
        """A, given the data's pull; in memory that is used again, if some is given."""
        out = None if scratch is None else scratch.get("pull", product.shape, product.dtype)
        A: Array = np.multiply(self.data, product, out=out)
        A += self.push
        return A

    def descend_rows(
        self, rows: slice, F: Array, product: Array, max_passes: int, tolerance: float, *, jointly: bool, out: Array
    ) -> None:
        """Write improved rows of the factor to `out`, from F and the data's pull; until each, or all, gain little.

        F, product and out hold only these rows.
        """
        from ..kernels.descent import descend_rows

        k = F.shape[1]
        shapes = {F.shape, product.shape, out.shape, (len(F), self.D.shape[1]), (len(F), self.push.shape[1])}
        if len(shapes) > 1 or self.B.shape != (k, k):
            # The compiled loops would read outside.
            raise ValueError(f"The parts of the quadratic do not fit a factor of {k} columns.")
        given = (self.data, self.push, self.B, self.weight, self.D)
        descend_rows(F, product, *given, rows.start, max_passes, tolerance, jointly, self.n_held, out)

    def descend_all(
        self,
        level: Level,
        F: Array,
        product: Array,
        max_passes: int,
        tolerance: float,
        cycles: int | None = None,
        scratch: Scratch | None = None,
    ) -> None:
        """Improve the whole factor in place, rows being coupled; by so many cycles, or as its number of rows says."""
        n = len(F)
        A = self.pull(product, scratch)
        weight = self.weight if len(self.weight) > 1 else np.repeat(self.weight, n)
        quadratic = RowQuadratic(A, self.B, weight, self.D, self.scale)
        curvature = float(weight.mean()) * float(np.diag(self.B).mean())
        if level.has_coarser and float(self.D.mean()) > STIFF * curvature:
            many = n > MANY_ROWS
            for _ in range(cycles or (1 if many else CYCLES)):
                level.cycle(F, quadratic, before=0 if many else 1)
        else:
            level.sweep(F, quadratic, max_passes, tolerance)


def assemble(parts: Iterable[Quadratic], F: Array, n_held: int = 0) -> RowSystem:
    """Add up the quadratics of all terms for the factor F, of which the first columns may be held."""
    k = F.shape[1]
    zero, ones = np.zeros((1, k), F.dtype), np.ones(k, F.dtype)
    system = RowSystem(
        np.zeros((1, 1), F.dtype), zero, np.zeros((k, k), F.dtype), np.ones(1, F.dtype), zero, ones, n_held=n_held
    )
    full = False
    for part in parts:
        if part.data is not None:
            system.data = system.data + np.reshape(part.data, (-1, 1)).astype(F.dtype, copy=False)
        if part.attract is not None:
            system.push = system.push + part.attract
        if part.repel is not None:
            system.push = system.push - part.repel
        for coupling in part.couplings:
            rows, gram = coupling.rows, coupling.gram
            if gram.ndim == 2:
                _add_full(system, gram, rows, first=not full)
                full = True
                continue
            if rows is None:
                system.D = system.D + gram
                continue
            if not rows.spread:
                system.D = system.D + np.multiply.outer(rows.diagonal(), gram)
            if not isinstance(rows, Diagonal):
                _add_coupled(system, rows, gram)
    return system


def system_of(objective: Objective, state: State, factor: Factor, *, closed: bool = False) -> RowSystem:
    """The quadratic terms of a factor, with all of A in `push`; `closed` keeps entries of a mask at zero."""
    system = assemble(objective.quadratics(state, factor), state[factor])
    if system.data.any():
        system.push = system.pull(state.product(factor))
    if closed:
        close(system, objective.domains[factor], state[factor], factor)
    return system


def close(system: RowSystem, domain: Domain, F: Array, factor: Factor) -> None:
    """Keep the entries of a mask at zero: push them below it by more than any data can pull."""
    if isinstance(domain, Fixed) and domain.is_mask:
        # Data are small enough for products of four of their values.
        barrier = F.dtype.type(np.finfo(F.dtype).max ** 0.5)
        system.push = np.where(domain.held(F, factor), -barrier, system.push)


def _add_full(system: RowSystem, gram: Array, rows: object, first: bool) -> None:
    if rows is not None and not isinstance(rows, Diagonal):
        raise NotImplementedError("The coordinate solver needs a diagonal B wherever S links rows.")
    weight = np.ones(1, gram.dtype) if rows is None else rows.weights
    if first:
        system.B, system.weight = np.ascontiguousarray(gram), weight
    elif np.array_equal(weight, system.weight):
        system.B = system.B + gram
    else:
        raise NotImplementedError("The coordinate solver accepts one set of sample weights.")


def _add_coupled(system: RowSystem, rows: RowMatrix, gram: Array) -> None:
    if system.coupled and not np.array_equal(gram, system.scale):
        raise NotImplementedError("The coordinate solver needs one B for all matrices S that couple rows.")
    system.scale = gram
    system.coupled = (*system.coupled, rows)
