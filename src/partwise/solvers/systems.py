"""The quadratic of a factor, added up for coordinate descent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..core.forms import Quadratic
from ..core.rows import Cliques, Diagonal, Links
from ..core.types import Array


@dataclass
class RowSystem:
    """min over F ≥ 0 of Σ_i weight_i f_i B f_iᵀ + Σ_ij D_ij f_ij² + Σ_j scale_j f_jᵀ S f_j − 2 tr(Fᵀ A).

    Attributes
    ----------
    A : ndarray of shape (rows, k)
    B : ndarray of shape (k, k)
    weight : ndarray of shape (rows,) or (1,)
    D : ndarray of shape (rows, k) or (1, k)
        Curvature of single entries, the diagonal of S included.
    links, cliques : Links, Cliques, optional
        The rest of S.
    scale : ndarray of shape (k,)
    """

    A: Array
    B: Array
    weight: Array
    D: Array
    scale: Array
    links: Links | None = None
    cliques: Cliques | None = None

    def descend(self, F: Array, max_passes: int, tolerance: float) -> None:
        """Improve F in place by passes of coordinate descent."""
        from ..kernels.descent import descend_linked, descend_rows

        if self.links is None and self.cliques is None:
            descend_rows(F, self.A, self.B, self.weight, self.D, max_passes, tolerance)
            return
        n, k = F.shape
        groups, sums, strength = np.empty(0, np.intp), np.empty((0, k), F.dtype), 0.0
        if self.cliques is not None:
            groups, strength = self.cliques.groups, self.cliques.strength
            sums = np.ascontiguousarray(self.cliques.group_sums(F))
        indptr, indices, data = np.zeros(n + 1, np.int32), np.empty(0, np.int32), np.empty(0, F.dtype)
        if self.links is not None:
            off = self.links.off
            indptr, indices, data = off.indptr, off.indices, off.data
        descend_linked(
            F, self.A, self.B, self.weight, self.D, indptr, indices, data,
            groups, sums, F.dtype.type(strength), self.scale, max_passes, tolerance,
        )  # fmt: skip


def assemble(parts: Iterable[Quadratic], F: Array) -> RowSystem:
    """Add up the quadratics of all terms for the factor F."""
    n, k = F.shape
    A = np.zeros((n, k), F.dtype)
    system = RowSystem(
        A, np.zeros((k, k), F.dtype), np.ones(1, F.dtype), np.zeros((1, k), F.dtype), np.ones(k, F.dtype)
    )
    full = False
    for part in parts:
        if part.attract is not None:
            A += part.attract
        if part.repel is not None:
            A -= part.repel
        for coupling in part.couplings:
            rows, gram = coupling.rows, coupling.gram
            if gram.ndim == 2:
                _add_full(system, gram, rows, first=not full)
                full = True
                continue
            if rows is None:
                system.D = system.D + gram
                continue
            system.D = system.D + np.multiply.outer(rows.diagonal(), gram)
            if not isinstance(rows, Diagonal):
                _add_links(system, rows, gram)
    return system


def _add_full(system: RowSystem, gram: Array, rows: object, first: bool) -> None:
    if rows is not None and not isinstance(rows, Diagonal):
        raise NotImplementedError("The coordinate solver needs a diagonal B wherever S links rows.")
    weight = np.ones(1, gram.dtype) if rows is None else rows.weights
    if first:
        system.B, system.weight = np.ascontiguousarray(gram), weight
    elif np.array_equal(weight, system.weight):
        system.B = system.B + gram
    else:
        raise NotImplementedError("The coordinate solver takes one set of sample weights.")


def _add_links(system: RowSystem, rows: object, gram: Array) -> None:
    coupled = system.links is not None or system.cliques is not None
    if coupled and not np.array_equal(gram, system.scale):
        raise NotImplementedError("The coordinate solver needs one B for all matrices S that link rows.")
    system.scale = gram
    if isinstance(rows, Links):
        system.links = rows if system.links is None else system.links + rows
    elif isinstance(rows, Cliques) and system.cliques is None:
        system.cliques = rows
    else:
        raise NotImplementedError(f"The coordinate solver cannot sweep {type(rows).__name__}.")
