"""A domain in which some entries are known and stay as they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .domains import NON_NEGATIVE, Domain, Free, Half, NonNegative, Simplex, Sparse, UnitNorm
from .operand import Operand
from .types import CODES, Array, Factor, column_norms


def rest_of(domain: Domain) -> Domain:
    """The domain of the part of a factor that is not fixed."""
    return domain.rest if isinstance(domain, Fixed) else domain


def has_finite_norms(values: Array, axis: int) -> bool:
    """Whether the squared norms along the other axis are ordinary numbers, neither infinite nor as good as zero."""
    with np.errstate(over="ignore", under="ignore"):
        squares = np.square(values).sum(axis=1 - axis)
    return bool((np.isfinite(squares) & (squares >= np.finfo(values.dtype).tiny)).all())


@dataclass(frozen=True, eq=False)
class Fixed(Domain):
    """Given components, codes or entries stay as they are, to the last digit; the rest lies in another domain.

    Parameters
    ----------
    values : array of shape (r, n_features) or (n_samples, r)
        The first r components, as rows, or the first r columns of the codes.
    where : array of bool, shape as `values`, optional
        Which of these entries are fixed; by default all of them. The others are learned.
    rest : Domain, default=NonNegative()
        The domain of the learned part. If single entries are fixed, it is NonNegative or Free.
    """

    values: Any
    where: Any = None
    rest: Domain = NON_NEGATIVE

    @property
    def words(self) -> str:  # type: ignore[override]
        """Including those of the rest."""
        return f"with fixed entries and the others {self.rest.words}"

    @property
    def signed(self) -> bool:  # type: ignore[override]
        """As the rest."""
        return self.rest.signed

    @property
    def measured(self) -> bool:  # type: ignore[override]
        """As the rest."""
        return self.rest.measured

    @property
    def stretches(self) -> bool:  # type: ignore[override]
        """As the rest, except columns with fixed entries other than zero."""
        return self.rest.stretches

    @property
    def is_mask(self) -> bool:
        """Whether it only says where entries are zero."""
        return self.where is not None and not np.any(self.values)

    def n_held(self, factor: Factor) -> int:
        """How many of the first columns are entirely fixed."""
        return 0 if self.where is not None else int(self.values.shape[1 if factor == CODES else 0])

    def held(self, F: Array, factor: Factor) -> Array:
        """The fixed entries."""
        values, where = self._oriented(factor)
        held = np.zeros((1 if where is None else len(F), F.shape[1]), bool)
        held[:, : values.shape[1]] = True if where is None else where
        return held

    def bind(self, X: Operand, factor: Factor, n_components: int) -> Domain:
        """The values as arrays; refuses what does not fit the data."""
        thing, what = ("codes", "columns") if factor == CODES else ("components", "rows")
        values = np.array(self.values, X.dtype, order="C", ndmin=2)
        side, (wanted, of) = (0, (X.shape[0], "samples")) if factor == CODES else (1, (X.shape[1], "features"))
        if values.ndim != 2 or values.shape[side] != wanted:
            raise ValueError(f"The fixed {thing} have shape {values.shape}; X has {wanted} {of}. They must agree.")
        count = values.shape[1 - side]
        if count > n_components:
            raise ValueError(
                f"{count} {thing} are fixed, but n_components={n_components} includes them. Ask for more "
                "components, or fix fewer."
            )
        where = None if self.where is None else np.array(self.where, bool, ndmin=2)
        if where is not None and where.shape != values.shape:
            raise ValueError(f"`where` has shape {where.shape}; it must have that of the values, {values.shape}.")
        given = values if where is None else np.where(where, values, 0)
        if not np.isfinite(given).all():
            raise ValueError(f"The fixed {thing} must be finite; they hold NaN or infinity.")
        if (given < 0).any() and not self.rest.signed:
            raise ValueError(f"The fixed {thing} must not be negative, unless the rest is Free().")
        if where is None and not values.any(axis=0 if factor == CODES else 1).all():
            raise ValueError(f"Some {what} of the fixed {thing} are zero everywhere: they would represent nothing.")
        if where is None and not has_finite_norms(values, 1 - side):
            raise ValueError(
                f"Some of the fixed {thing} are so large or so small that their squares are no {values.dtype} numbers. "
                "Multiply them by a power of ten; the other factor makes up for it."
            )
        allowed = (NonNegative, Free) if where is not None or factor == CODES else (
            NonNegative, Free, UnitNorm, Simplex, Sparse
        )  # fmt: skip
        if not isinstance(self.rest, allowed):
            raise ValueError(f"Fixed entries and a rest {self.rest.words} cannot be combined for the {thing}.")
        return replace(self, values=given, where=where, rest=self.rest.bind(X, factor, n_components))

    def put(self, F: Array, factor: Factor) -> Array:
        """A copy of the factor with the fixed entries in their places."""
        values, where = self._oriented(factor)
        F = F.copy()
        F[:, : values.shape[1]] = values if where is None else np.where(where, values, F[:, : values.shape[1]])
        return F

    def _oriented(self, factor: Factor) -> tuple[Array, Array | None]:
        """Values and places in the orientation of W or Hᵀ."""
        if factor == CODES:
            return self.values, self.where
        return self.values.T, None if self.where is None else self.where.T

    def entered(self, F: Array, factor: Factor) -> tuple[Array, Array]:
        """Enter both domains; a fixed column passes on the scale by which it differs from the start."""
        entered, lengths = self.rest.entered(F, factor)
        entered = self.put(entered, factor)
        n_held = self.n_held(factor)
        lengths[:n_held] = column_norms(F[:, :n_held]) / column_norms(entered[:, :n_held])
        return entered, lengths

    def project(self, F: Array, factor: Factor) -> Array:
        """The nearest factor of the rest, with the fixed entries in their places."""
        return self.put(self.rest.project(F, factor), factor)

    def tangent(self, F: Array, N: Half, P: Half, factor: Factor) -> tuple[Half, Half]:
        """Fixed entries do not move."""
        N, P = (np.broadcast_to(half, F.shape) for half in self.rest.tangent(F, N, P, factor))
        return np.where(self.held(F, factor), P, N), P

    def stretchable(self, F: Array, factor: Factor) -> Array:
        """The columns with no fixed entries other than zeros, if the rest can be stretched."""
        values, _ = self._oriented(factor)
        free = self.rest.stretchable(F, factor)
        free[: values.shape[1]] &= ~values.any(axis=0)
        return free

    def for_new(self) -> Domain:
        """Nothing is known about the codes of new samples."""
        return self.rest.for_new()
