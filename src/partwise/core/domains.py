"""What a factor may be: non-negative, of either sign, with columns of unit norm, on the simplex, and so on.

A domain is a small frozen value that knows no solver. It brings a start into itself, says whether the gradient can tell
how far a factor is from the best one, and whether a column may be stretched, so that the scale can move to the other
factor. Factors come as W and Hᵀ: a column belongs to a component, a row to a sample or a feature.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .outer_products import outer_products, split_modes
from .projections import onto_sparseness
from .types import Array, Factor, column_norms

Half = Array | float


@dataclass(frozen=True)
class Domain(ABC):
    """A set of factors.

    Attributes
    ----------
    signed : bool
        Entries may be negative.
    stretches : bool
        A column may be stretched without leaving the domain.
    measured : bool
        The gradient along the domain tells how far a factor is from the best one. If False, the factor does not enter
        the optimality measure: what a sweep gains must do.
    """

    signed: ClassVar[bool] = False
    stretches: ClassVar[bool] = True
    measured: ClassVar[bool] = True

    @abstractmethod
    def entered(self, F: Array, factor: Factor) -> tuple[Array, Array]:
        """A non-negative start brought into the domain, and the lengths that its columns left to the other factor."""

    def tangent(self, F: Array, N: Half, P: Half, factor: Factor) -> tuple[Half, Half]:
        """The gradient P − N along the domain, in non-negative halves again."""
        return N, P


@dataclass(frozen=True)
class NonNegative(Domain):
    """No entry is negative."""

    def entered(self, F: Array, factor: Factor) -> tuple[Array, Array]:
        """As it is."""
        return F, _ones(F)


NON_NEGATIVE = NonNegative()


@dataclass(frozen=True)
class Free(Domain):
    """Entries of either sign. Solvers find the best factor for the other one exactly."""

    signed = True
    measured = False

    def entered(self, F: Array, factor: Factor) -> tuple[Array, Array]:
        """As it is."""
        return F, _ones(F)


@dataclass(frozen=True)
class UnitNorm(Domain):
    """No entry is negative, and every column has unit norm."""

    stretches = False

    def entered(self, F: Array, factor: Factor) -> tuple[Array, Array]:
        """Its columns at unit norm; an empty one with equal entries."""
        norms = column_norms(F).astype(F.dtype)
        empty = norms == 0
        F = F / np.where(empty, 1, norms)
        F[:, empty] = 1 / np.sqrt(len(F))
        return F, norms

    def tangent(self, F: Array, N: Half, P: Half, factor: Factor) -> tuple[Half, Half]:
        """Take out of each column the part along the column itself."""
        radial = np.einsum("ij,ij->j", F, np.asarray(P) - np.asarray(N), dtype=np.float64)
        return N + F * np.maximum(radial, 0), P + F * np.maximum(-radial, 0)


@dataclass(frozen=True)
class Simplex(Domain):
    """No entry is negative, and every component sums to one."""

    stretches = False

    def entered(self, F: Array, factor: Factor) -> tuple[Array, Array]:
        """Its columns divided by their sums; an empty one with equal entries."""
        sums = F.sum(axis=0)
        uniform = F.dtype.type(1 / len(F))
        return np.where(sums > 0, F / np.where(sums > 0, sums, 1), uniform), sums

    def tangent(self, F: Array, N: Half, P: Half, factor: Factor) -> tuple[Half, Half]:
        """Every entry of a column may give to every other: what moves all of them alike does not count."""
        radial = np.einsum("ij,ij->j", F, np.broadcast_to(P, F.shape) - N, dtype=np.float64)
        return N + np.maximum(radial, 0), P + np.maximum(-radial, 0)


@dataclass(frozen=True)
class OneEntry(Domain):
    """One entry in every row, not negative: columns that are orthogonal to each other."""

    measured = False

    def entered(self, F: Array, factor: Factor) -> tuple[Array, Array]:
        """Of every row the largest entry is kept."""
        rows, largest = np.arange(len(F)), F.argmax(axis=1)
        kept = np.zeros_like(F)
        kept[rows, largest] = F[rows, largest]
        return kept, _ones(F)


@dataclass(frozen=True)
class Sparse(Domain):
    """No entry is negative, and every column has a given sparseness (√n − ‖f‖₁ / ‖f‖₂) / (√n − 1) (Hoyer 2004).

    Parameters
    ----------
    sparseness : float
        From 0, all entries equal, to 1, a single entry.
    """

    sparseness: float
    measured: ClassVar[bool] = False

    def entered(self, F: Array, factor: Factor) -> tuple[Array, Array]:
        """The nearest columns of this sparseness."""
        columns = [onto_sparseness(column, self.sparseness) for column in F.T]
        return np.ascontiguousarray(np.column_stack(columns)), _ones(F)


@dataclass(frozen=True)
class RankOne(Domain):
    """Every column is an outer product of one non-negative vector for each axis of a sample.

    Parameters
    ----------
    shape : tuple of int
        Of a sample.
    """

    shape: tuple[int, ...]
    measured: ClassVar[bool] = False

    def entered(self, F: Array, factor: Factor) -> tuple[Array, Array]:
        """Its columns at rank one, by their sums along the axes."""
        return outer_products(split_modes(F, self.shape)), _ones(F)


def _ones(F: Array) -> Array:
    return np.ones(F.shape[1], F.dtype)
