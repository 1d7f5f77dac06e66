"""What a factor may be: non-negative, of either sign, with columns of unit norm, on the simplex, and so on.

A domain is a small frozen value that knows no solver. It brings a start into itself, gives the nearest factor in it,
says whether the gradient shows how far a factor is from the best one, and which columns may be stretched, so that
the scale can move to the other factor. Factors come as W and Hᵀ: a column belongs to a component, a row to a sample or
a feature.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import prod
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from .operand import Operand
from .outer_products import outer_products, split_modes
from .projections import onto_nonnegative, onto_simplex, onto_sparseness, onto_unit
from .types import CODES, Array, Factor, column_norms

Half = Array | float


@dataclass(frozen=True)
class Domain(ABC):
    """A set of factors.

    In its methods `F` is a factor: codes (n_samples, n_components), or components turned over (n_features,
    n_components); `factor` is "codes" or "components".

    Attributes
    ----------
    words : str
        What factors in it are, for messages: "the codes …".
    signed : bool
        Entries may be negative.
    stretches : bool
        A column may be stretched without leaving the domain.
    measured : bool
        The gradient along the domain shows how far a factor is from the best one. If False, the factor does not enter
        the optimality measure, and the gain of a sweep is used instead.
    """

    words: ClassVar[str]
    signed: ClassVar[bool] = False
    stretches: ClassVar[bool] = True
    measured: ClassVar[bool] = True

    def bind(self, X: Operand, factor: Factor, n_components: int) -> Domain:
        """The domain for a factor of these data; refuses what does not fit them.

        Parameters
        ----------
        X : Operand
            The data.
        factor : {"codes", "components"}
        n_components : int
        """
        return self

    def entered(self, F: Array, factor: Factor) -> tuple[Array, Array]:
        """A non-negative start brought into the domain, and the scales its columns leave to the other factor."""
        return self.project(F, factor), np.ones(F.shape[1], F.dtype)

    @abstractmethod
    def project(self, F: Array, factor: Factor) -> Array:
        """The nearest factor in the domain."""

    def tangent(self, F: Array, N: Half, P: Half, factor: Factor) -> tuple[Half, Half]:
        """The gradient P − N along the domain, again in non-negative halves.

        Parameters
        ----------
        F : ndarray of shape (n_rows, n_components)
        N, P : ndarray of the same shape, or None
            The halves of the gradient at F; None is zero.
        factor : {"codes", "components"}
        """
        return N, P

    def stretchable(self, F: Array, factor: Factor) -> Array:
        """Which columns may be stretched."""
        return np.full(F.shape[1], self.stretches)

    def n_held(self, factor: Factor) -> int:
        """How many of the first columns stay as they are."""
        return 0

    def held(self, F: Array, factor: Factor) -> Array:
        """Which entries stay as they are; a single row if it is the same in all."""
        return np.zeros((1, F.shape[1]), bool)

    def for_new(self) -> Domain:
        """The domain of the code of a single new sample."""
        return self


@dataclass(frozen=True)
class NonNegative(Domain):
    """No entry is negative."""

    words = "non-negative"

    def entered(self, F: Array, factor: Factor) -> tuple[Array, Array]:
        """Unchanged."""
        return F, np.ones(F.shape[1], F.dtype)

    def project(self, F: Array, factor: Factor) -> Array:
        """Negative entries become zero."""
        return onto_nonnegative(F)


NON_NEGATIVE = NonNegative()


@dataclass(frozen=True)
class Free(Domain):
    """Entries of either sign. Solvers find the best factor given the other one, so there is nothing to measure."""

    words = "of either sign"
    signed = True
    measured = False

    def project(self, F: Array, factor: Factor) -> Array:
        """As it is."""
        return F


@dataclass(frozen=True)
class UnitNorm(Domain):
    """No entry is negative, and every column has unit norm."""

    words = "at unit norm"
    stretches = False

    def bind(self, X: Operand, factor: Factor, n_components: int) -> Domain:
        """The norm counts every sample once."""
        if factor == CODES and X.sample_weight is not None:
            raise ValueError(
                "sample_weight was given with codes at unit norm (scale='codes'), where the norm of a column counts "
                "every sample once. Use scale='auto', or no weights."
            )
        return self

    def entered(self, F: Array, factor: Factor) -> tuple[Array, Array]:
        """Columns scaled to unit norm; an empty one gets equal entries."""
        norms = column_norms(F).astype(F.dtype)
        empty = norms == 0
        F = F / np.where(empty, 1, norms)
        F[:, empty] = 1 / np.sqrt(len(F))
        return F, norms

    def project(self, F: Array, factor: Factor) -> Array:
        """The nearest columns."""
        return _by_columns(F, onto_unit)

    def tangent(self, F: Array, N: Half, P: Half, factor: Factor) -> tuple[Half, Half]:
        """Remove from each column the part along the column itself."""
        radial = np.einsum("ij,ij->j", F, np.asarray(P) - np.asarray(N), dtype=np.float64)
        return N + F * np.maximum(radial, 0), P + F * np.maximum(-radial, 0)

    def for_new(self) -> Domain:
        """Unit norm concerns a column over all samples, not a single new one."""
        return NON_NEGATIVE


@dataclass(frozen=True)
class Simplex(Domain):
    """No entry is negative, and every component, or the code of every sample, sums to one."""

    words = "at sums of one"
    stretches = False

    @staticmethod
    def axis(factor: Factor) -> int:
        """The axis of the factor over which sums are taken: a component is a column of Hᵀ, a code is a row of W."""
        return 1 if factor == CODES else 0

    def entered(self, F: Array, factor: Factor) -> tuple[Array, Array]:
        """Divided by its sums; empty components or codes get equal entries."""
        axis = self.axis(factor)
        # The sums of components go to the codes. Codes pass on only their common scale.
        sums = F.sum(axis=axis)
        lengths = sums if axis == 0 else np.full(F.shape[1], sums.mean(dtype=np.float64), F.dtype)
        sums = np.expand_dims(sums, axis)
        uniform = F.dtype.type(1 / F.shape[axis])
        return np.where(sums > 0, F / np.where(sums > 0, sums, 1), uniform), lengths

    def project(self, F: Array, factor: Factor) -> Array:
        """The nearest components, or codes."""
        return onto_simplex(F, self.axis(factor))

    def tangent(self, F: Array, N: Half, P: Half, factor: Factor) -> tuple[Half, Half]:
        """Entries of a sum may exchange their shares: what moves all of them equally does not count."""
        radial = (F * (np.asarray(P, np.float64) - N)).sum(axis=self.axis(factor), keepdims=True)
        return N + np.maximum(radial, 0), P + np.maximum(-radial, 0)


@dataclass(frozen=True)
class OneEntry(Domain):
    """One entry in every row, not negative: columns that are orthogonal to each other."""

    words = "at one entry per row"
    measured = False

    def project(self, F: Array, factor: Factor) -> Array:
        """The largest entry of every row is kept."""
        rows, largest = np.arange(len(F)), F.argmax(axis=1)
        kept = np.zeros_like(F)
        kept[rows, largest] = np.maximum(F[rows, largest], 0)
        return kept


@dataclass(frozen=True)
class Sparse(Domain):
    """No entry is negative, and every column has a given sparseness (√n − ‖f‖₁ / ‖f‖₂) / (√n − 1) (Hoyer 2004).

    Parameters
    ----------
    sparseness : float
        From 0, all entries equal, to 1, a single entry.
    """

    sparseness: float
    words: ClassVar[str] = "at a given sparseness"
    measured: ClassVar[bool] = False

    def bind(self, X: Operand, factor: Factor, n_components: int) -> Domain:
        """Sparseness counts every sample once."""
        if not (isinstance(self.sparseness, int | float) and 0 <= self.sparseness <= 1):
            raise ValueError(f"Sparse({self.sparseness!r}) was given; a sparseness is a number from 0 to 1.")
        if factor == CODES and X.sample_weight is not None:
            raise ValueError(
                "sample_weight was given with a sparseness of the codes, which counts every sample once. Give no "
                "weights, or ask for no sparseness of the codes."
            )
        return self

    def project(self, F: Array, factor: Factor) -> Array:
        """The nearest columns of this sparseness."""
        return _by_columns(F, lambda column: onto_sparseness(column, self.sparseness))

    def for_new(self) -> Domain:
        """Sparseness concerns a column over all samples, not a single new one."""
        return NON_NEGATIVE


@dataclass(frozen=True)
class RankOne(Domain):
    """Every column is an outer product of one non-negative vector for each axis of a sample.

    Parameters
    ----------
    shape : tuple of int, optional
        Of a sample, in C order; by default samples are vectors, which have rank one.
    """

    shape: Any = None
    words: ClassVar[str] = "at rank one"
    measured: ClassVar[bool] = False

    def bind(self, X: Operand, factor: Factor, n_components: int) -> Domain:
        """The shape must have as many entries as there are features."""
        if factor == CODES:
            raise ValueError("RankOne() is for components: codes do not have the shape of a sample.")
        n_features = X.shape[1]
        shape = (n_features,) if self.shape is None else tuple(self.shape)
        if not shape or not all(isinstance(size, Integral) and int(size) > 0 for size in shape):
            raise ValueError(f"sample_shape={self.shape!r} was given; it must hold positive integers.")
        if prod(shape) != n_features:
            raise ValueError(
                f"sample_shape={self.shape!r} has {prod(shape)} entries; X has {n_features} features. They must agree."
            )
        return RankOne(tuple(int(size) for size in shape))

    def project(self, F: Array, factor: Factor) -> Array:
        """Columns reduced to rank one by their sums along the axes."""
        return outer_products(split_modes(onto_nonnegative(F), self.shape))


def _by_columns(F: Array, nearest: Any) -> Array:
    return np.ascontiguousarray(np.column_stack([nearest(column) for column in F.T]))
