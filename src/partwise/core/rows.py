"""The matrices S of tr(Fᵀ S F B): symmetric, positive semidefinite, one row per row of the factor.

Each is known by what it does: its two non-negative halves S = S⁺ − S⁻ applied to a factor, its diagonal, and its energy
f_jᵀ S f_j per column, computed without cancellation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from .types import Array, IntArray


class RowMatrix(ABC):
    """A symmetric positive semidefinite matrix over the rows of a factor.

    Attributes
    ----------
    spread : bool
        Whether its rows are beside those of X on workers.
    """

    spread: ClassVar[bool] = False

    @property
    def across(self) -> bool:
        """Whether its rows are in several parts on workers."""
        return False

    @abstractmethod
    def positive(self, F: Array) -> Array:
        """S⁺ F."""

    @abstractmethod
    def negative(self, F: Array) -> Array | None:
        """S⁻ F; None where S⁻ is empty."""

    def dot(self, F: Array) -> Array:
        """S F."""
        up, down = self.positive(F), self.negative(F)
        return up if down is None else up - down

    @abstractmethod
    def diagonal(self) -> Array:
        """The diagonal of S."""

    def reach(self) -> Array:
        """Σ_t |s_it| over the other rows t of every row, or more."""
        raise NotImplementedError(f"{type(self).__name__} has no entries.")

    @abstractmethod
    def energy(self, F: Array) -> Array:
        """f_jᵀ S f_j for every column, in float64."""


class Diagonal(RowMatrix):
    """S = diag(weights).

    Parameters
    ----------
    weights : ndarray of shape (n,)
        Non-negative.
    """

    def __init__(self, weights: Array):
        self.weights = weights

    def positive(self, F: Array) -> Array:
        """diag(weights) F."""
        return self.weights[:, None] * F

    def negative(self, F: Array) -> None:
        """Nothing: weights are non-negative."""
        return None

    def diagonal(self) -> Array:
        """The weights."""
        return self.weights

    def reach(self) -> Array:
        """Nothing: no row is linked."""
        return np.zeros_like(self.weights)

    def energy(self, F: Array) -> Array:
        """Σ_i weight_i f_ij²."""
        return np.einsum("i,ij,ij->j", self.weights, F, F, dtype=np.float64, casting="safe")


class Links(RowMatrix):
    """A sparse S: links between rows, with entries of either sign.

    Parameters
    ----------
    diagonal : ndarray of shape (n,)
    off : csr_array of shape (n, n)
        S without its diagonal.
    row_sums : ndarray of shape (n,), optional
        S 1, if known more exactly than by summation: zero for a graph Laplacian.
    """

    def __init__(self, diagonal: Array, off: Any, row_sums: Array | None = None):
        self._diagonal = diagonal
        self.off = off
        if row_sums is None:
            row_sums = diagonal + np.asarray(off.sum(axis=1, dtype=np.float64)).ravel()
        self.row_sums = row_sums

    @classmethod
    def laplacian(cls, edges: Any, strength: float, dtype: Any) -> Links:
        """strength · (D − E) of non-negative edge weights E, with D the sums of its rows.

        Parameters
        ----------
        edges : sparse matrix of shape (n, n)
            E, symmetric.
        strength : float
        dtype : dtype
            Of the data.
        """
        edges = sp.csr_array(edges, dtype=dtype)
        degrees = np.asarray(edges.sum(axis=1)).ravel()
        return cls((strength * degrees).astype(dtype), edges * dtype.type(-strength), np.zeros(len(degrees), dtype))

    @classmethod
    def of_matrix(cls, S: Any, strength: float, dtype: Any) -> Links:
        """strength · S of any symmetric sparse S.

        Parameters
        ----------
        S : sparse matrix of shape (n, n)
        strength : float
        dtype : dtype
            Of the data.
        """
        S = sp.csr_array(S, dtype=dtype) * dtype.type(strength)
        diagonal = S.diagonal()
        off = sp.csr_array(S - sp.diags_array(diagonal, format="csr"))
        off.eliminate_zeros()
        return cls(diagonal, off)

    @cached_property
    def _off_positive(self) -> Any:
        return self.off.maximum(0) if self.off.nnz and self.off.data.max() > 0 else None

    @cached_property
    def _off_negative(self) -> Any:
        return -(self.off.minimum(0)) if self._off_positive is not None else -self.off

    def positive(self, F: Array) -> Array:
        """The diagonal and the positive links."""
        out = self._diagonal[:, None] * F
        if self._off_positive is not None:
            out += self._off_positive @ F
        return out

    def negative(self, F: Array) -> Array:
        """The negative links with their sign reversed: for a Laplacian, the edge weights."""
        return np.asarray(self._off_negative @ F)

    def diagonal(self) -> Array:
        """The diagonal of S."""
        return self._diagonal

    def reach(self) -> Array:
        """The sums of the links' sizes."""
        return np.asarray(abs(self.off).sum(axis=1)).ravel().astype(self._diagonal.dtype, copy=False)

    def energy(self, F: Array) -> Array:
        """Σ_edges −s_it (f_ij − f_tj)² + Σ_i (S1)_i f_ij²: summed by edges, exact where the codes agree."""
        from ..kernels.links import edge_energy

        by_edges = edge_energy(self.off.indptr, self.off.indices, self.off.data, F)
        return by_edges + np.einsum("i,ij,ij->j", self.row_sums, F, F, dtype=np.float64, casting="safe")


class Cliques(RowMatrix):
    """Every group of rows fully linked: S = strength · Σ_c (n_c I_c − 1_c 1_cᵀ), stored in n numbers.

    Parameters
    ----------
    groups : ndarray of int, shape (n,)
        Group of every row, −1 for none.
    strength : float
    dtype : dtype
        Of the data.
    """

    def __init__(self, groups: IntArray, strength: float, dtype: Any):
        self.groups = groups
        self.strength = float(strength)
        members = np.flatnonzero(groups >= 0)
        self.n_groups = int(groups.max(initial=-1)) + 1
        ones = np.ones(len(members), dtype)
        self._sums = sp.csr_array((ones, (groups[members], members)), shape=(self.n_groups, len(groups)))
        sizes = np.bincount(groups[members], minlength=self.n_groups)
        self._diagonal = np.zeros(len(groups), dtype)
        self._diagonal[members] = strength * (sizes[groups[members]] - 1.0)
        self._sizes = sizes

    def group_sums(self, F: Array) -> Array:
        """Sum of the rows of every group."""
        return np.asarray(self._sums @ F)

    def positive(self, F: Array) -> Array:
        """The degrees n_c − 1."""
        return self._diagonal[:, None] * F

    def negative(self, F: Array) -> Array:
        """Every row gets the sum of its group's other rows."""
        members = self.groups >= 0
        out = np.zeros_like(F)
        out[members] = self.strength * np.maximum(self.group_sums(F)[self.groups[members]] - F[members], 0)
        return out

    def diagonal(self) -> Array:
        """The degrees n_c − 1."""
        return self._diagonal

    def reach(self) -> Array:
        """The same: all links of a row together."""
        return self._diagonal

    def energy(self, F: Array) -> Array:
        """Σ_c n_c Σ_{i in c} (f_ij − mean_cj)²."""
        members = self.groups >= 0
        own = self.groups[members]
        centred = F[members] - (self.group_sums(F) / self._sizes[:, None])[own]
        return self.strength * np.einsum("i,ij,ij->j", self._sizes[own], centred, centred, dtype=np.float64)


class Square(RowMatrix):
    """S = strength · BᵀB of a sparse B with entries of either sign, applied and never multiplied out.

    Its split is that of B = B⁺ − B⁻: S⁺ = B⁺ᵀB⁺ + B⁻ᵀB⁻ and S⁻ = B⁺ᵀB⁻ + B⁻ᵀB⁺.

    Parameters
    ----------
    B : csr_array of shape (any, n)
    strength : float
    """

    def __init__(self, B: Any, strength: float, dtype: Any):
        self._B = sp.csr_array(B, dtype=dtype)
        self._strength = dtype.type(strength)

    @cached_property
    def _halves(self) -> tuple[Any, Any]:
        return self._B.maximum(0), -self._B.minimum(0)

    def positive(self, F: Array) -> Array:
        """strength · (B⁺ᵀB⁺ + B⁻ᵀB⁻) F."""
        up, down = self._halves
        return np.asarray(self._strength * (up.T @ (up @ F) + down.T @ (down @ F)))

    def negative(self, F: Array) -> Array:
        """strength · (B⁺ᵀB⁻ + B⁻ᵀB⁺) F."""
        up, down = self._halves
        return np.asarray(self._strength * (up.T @ (down @ F) + down.T @ (up @ F)))

    def diagonal(self) -> Array:
        """strength · squared norms of the columns of B."""
        return np.asarray(self._strength * (self._B * self._B).sum(axis=0)).ravel()

    def reach(self) -> Array:
        """strength · |B|ᵀ |B| 1, less what is in it of the diagonal."""
        sizes = abs(self._B)
        whole = np.asarray(sizes.T @ (sizes @ np.ones(sizes.shape[1], sizes.dtype)))
        return np.asarray(self._strength * whole) - self.diagonal()

    def energy(self, F: Array) -> Array:
        """strength · ‖B f_j‖²."""
        residual = self._B @ F
        return float(self._strength) * np.einsum("ij,ij->j", residual, residual, dtype=np.float64, casting="safe")

    def scaled(self, factor: float) -> Square:
        """factor · S."""
        return Square(self._B, float(self._strength) * factor, self._B.dtype)

    @property
    def residual(self) -> tuple[Any, IntArray, float]:
        """B, to which row of S each of its rows is counted, rising, and the strength."""
        n_rows, n = self._B.shape
        return self._B, np.arange(n_rows) * n // max(n_rows, 1), float(self._strength)

    def formed(self) -> FormedSquare:
        """The same S with its entries."""
        links = Links.of_matrix(self._B.T @ self._B, float(self._strength), self._B.dtype)
        return FormedSquare(links, self)


class FormedSquare(Links):
    """BᵀB multiplied out, so that its entries can be swept. Its energy is that of B: exact where B f vanishes."""

    def __init__(self, links: Links, square: Square):
        super().__init__(links.diagonal(), links.off, links.row_sums)
        self._square = square

    @property
    def residual(self) -> tuple[Any, IntArray, float]:
        """B, to which row of S each of its rows is counted, rising, and the strength."""
        return self._square.residual

    def scaled(self, factor: float) -> FormedSquare:
        """factor · S, without multiplying out again."""
        by = self.off.dtype.type(factor)
        links = Links(self._diagonal * by, self.off * by, self.row_sums * factor)
        return FormedSquare(links, self._square.scaled(factor))

    def energy(self, F: Array) -> Array:
        """strength · ‖B f_j‖²."""
        return self._square.energy(F)
