"""The rows, of a matrix that couples samples, that belong to the samples of one task: see `spread_links`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from .rows import Cliques, Links, RowMatrix
from .scratch import Scratch
from .spread import arrived
from .types import Array, IntArray


class BlockMatrix(ABC):
    """The rows of S that belong to a block.

    Attributes
    ----------
    inside : RowMatrix
        Between rows of the block.
    stiffness : ndarray of shape (rows,)
        The diagonal of S, and what the bound on links to blocks that move at the same time adds to it.
    """

    inside: RowMatrix
    stiffness: Array
    # By how much the stiffness exceeds the diagonal of S.
    extra: Array

    def __init__(self) -> None:
        self._kept: dict[str, Any] = {}

    def kept(self, name: str, make: Callable[[], Any]) -> Any:
        """What a solver has built of it, as long as it stays on its worker."""
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_kept": {}}

    @property
    def scratch(self) -> Scratch:
        """Memory for what a step needs of its rows, used again by the next one."""
        scratch: Scratch = self.kept("scratch", Scratch)
        return scratch

    def pull(self, F: Array, others: Any) -> Array:
        """What links to other blocks, or the bound on them, add to the linear part A."""
        return self.extra[:, None] * F - self._outside(F, others)

    @abstractmethod
    def _outside(self, F: Array, others: Any) -> Array:
        """Σ_t s_it f_t over rows of other blocks."""

    @abstractmethod
    def halves(self, F: Array, others: Any) -> tuple[Array, Array]:
        """S⁺ F and S⁻ F."""

    @abstractmethod
    def energy(self, F: Array, others: Any) -> Array:
        """Its share of f_jᵀ S f_j."""


class BlockLinks(BlockMatrix):
    """Links of a block.

    Parameters
    ----------
    diagonal, row_sums : ndarray of shape (rows,)
    inside : csr_array of shape (rows, rows)
        Links between rows of the block.
    across : csr_array of shape (rows, rows of other blocks that are sent)
    residual : tuple of csr_array and float, optional
        If S is a square strength · BᵀB: rows of B, over the rows of the block and then those that are sent, and the
        strength.
    moving : ndarray of bool, optional
        Which of the rows that are sent move at the same time; by default all.
    """

    inside: Links

    def __init__(
        self,
        diagonal: Array,
        row_sums: Array,
        inside: Any,
        across: Any,
        residual: tuple[Any, float] | None = None,
        moving: Array | None = None,
    ):
        super().__init__()
        self.inside = Links(diagonal, inside, row_sums)
        self._across = across
        self._residual = residual
        bounded = np.ones(across.shape[1], diagonal.dtype) if moving is None else moving.astype(diagonal.dtype)
        self.extra = np.asarray(abs(across) @ bounded)
        self.stiffness = diagonal + self.extra

    def _outside(self, F: Array, others: list[Array] | None) -> Array:
        return np.asarray(self._across @ _halo(others, F)) if others else np.zeros_like(F)

    def halves(self, F: Array, others: list[Array] | None) -> tuple[Array, Array]:
        """The positive links and the diagonal; the negative ones."""
        if not others:
            return self.inside.positive(F), self.inside.negative(F)
        halo, (up, down) = _halo(others, F), self.kept("halves", self._halves)
        return self.inside.positive(F) + up @ halo, self.inside.negative(F) + down @ halo

    def _halves(self) -> tuple[Any, Any]:
        return self._across.maximum(0), -(self._across.minimum(0))

    def energy(self, F: Array, others: list[Array] | None) -> Array:
        """Half of that of links to other blocks, which have the other half; or of the rows of B."""
        whole = np.concatenate([F, _halo(others, F)]) if others else F
        if self._residual is not None:
            B, strength = self._residual
            rest = B @ whole
            return strength * np.einsum("ij,ij->j", rest, rest, dtype=np.float64, casting="safe")
        from ..kernels.links import edge_energy

        off = self.kept("edges", self._edges)
        by_edges = edge_energy(off.indptr, off.indices, off.data, whole)
        return by_edges + np.einsum("i,ij,ij->j", self.inside.row_sums, F, F, dtype=np.float64, casting="safe")

    def _edges(self) -> Any:
        n_sent = self._across.shape[1]
        off = sp.hstack([self.inside.off, self._across * self._across.dtype.type(0.5)], format="csr")
        indptr = np.concatenate([off.indptr, np.full(n_sent, off.indptr[-1], off.indptr.dtype)])
        return sp.csr_array((off.data, off.indices, indptr), shape=(off.shape[1], off.shape[1]))


class BlockCliques(BlockMatrix):
    """The members of groups in a block.

    Parameters
    ----------
    groups : ndarray of int, shape (rows,)
        −1 for none.
    moving, sizes : ndarray of int
        Members of every group in blocks that move at the same time, and in all blocks.
    strength : float
    dtype : dtype
    """

    inside: Cliques

    def __init__(self, groups: IntArray, moving: IntArray, sizes: IntArray, strength: float, dtype: Any):
        super().__init__()
        self.inside = Cliques(groups, strength, dtype)
        self._sizes = sizes
        members = groups >= 0
        whole, self.extra = np.zeros((2, len(groups)), dtype)
        whole[members] = strength * (sizes[groups[members]] - 1.0)
        self.extra[members] = strength * moving[groups[members]]
        self.stiffness = whole + self.extra

    def sums(self, F: Array) -> Array:
        """Over the members of every group."""
        out = np.zeros((len(self._sizes), F.shape[1]), F.dtype)
        out[: self.inside.n_groups] = self.inside.group_sums(F)
        return out

    def _outside(self, F: Array, others: Array | None) -> Array:
        groups, out = self.inside.groups, np.zeros_like(F)
        if others is None:
            return out
        members = groups >= 0
        elsewhere = np.maximum(others - self.sums(F), 0)
        out[members] = -F.dtype.type(self.inside.strength) * elsewhere[groups[members]]
        return out

    def halves(self, F: Array, others: Array | None) -> tuple[Array, Array]:
        """The degrees; the sums of the other members."""
        up = (self.stiffness - self.extra)[:, None] * F
        return up, self.inside.negative(F) - self._outside(F, others)

    def energy(self, F: Array, others: Array | None) -> Array:
        """Σ_c n_c Σ_{i in c} (f_ij − mean_cj)² over its members."""
        groups, others = self.inside.groups, self.sums(F) if others is None else others
        own = groups[groups >= 0]
        centred = F[groups >= 0] - (others / np.maximum(self._sizes, 1)[:, None])[own]
        return self.inside.strength * np.einsum("i,ij,ij->j", self._sizes[own], centred, centred, dtype=np.float64)


def _halo(others: list[Array], F: Array) -> Array:
    return np.concatenate([arrived(part) for part in others])
