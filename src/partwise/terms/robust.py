"""Fits robust to large residuals: the losses of Cauchy, truncated, and of Huber.

With r = x − (WH) and e = r² / scale² the loss of an entry, in the unit of a squared error, is scale² times

    ln(1 + min(e, truncation²))             (Cauchy)
    e   if e ≤ 1, else 2 √e − 1             (Huber)

A small residual costs r² in both. A large one costs by Huber in proportion to |r|, by Cauchy hardly more than a smaller
one, and a constant beyond truncation · scale. As a function of e each loss is concave, so it lies below its tangent
(half-quadratic programming): a squared error whose weight, the slope of the tangent,

    q = 1 / (1 + e)   if √e ≤ truncation, else 0      (Cauchy)
    q = min(1, 1 / √e)                                (Huber)

is taken from the present residual. A multiplicative step on that weighted squared error lowers the loss.

As q ≤ 1, the weighted error in turn lies below ‖Z − WH‖² plus a constant, where Z = Y + q (X − Y) and Y is the present
fit: entries are imputed to the extent that they are not trusted, and unknown ones entirely. That is an ordinary squared
error, which coordinate descent lowers in far fewer sweeps.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from ..core.forms import Coupling, Entrywise, Quadratic, Split
from ..core.operand import ENTRIES_BYTES, Operand
from ..core.rows import Diagonal
from ..core.state import State
from ..core.term import BoundTerm, Term
from ..core.types import CODES, OTHER, Array, Factor
from ..core.units import Powers, no_function
from .divergence import Block, BoundDivergence
from .entries import known_counts, known_share
from .frobenius import Frobenius
from .robust_rows import robust_entries

# Even without truncation an entry this far away, in squared scales, has no weight: sums of logarithms stay finite.
FARTHEST = 1e30
# New samples are coded with these multiples of the scale first.
WIDER = 64.0, 16.0, 4.0
# Entries of a block: the data and the fit stay in the cache. Fewer rows than this would make slow products.
BLOCK_ENTRIES, LEAST_ROWS = 2**15, 64


@dataclass(frozen=True)
class RobustLoss(Term):
    """A loss of residuals that grows less than their squares, in the unit of a squared error.

    Parameters
    ----------
    scale : float
        The residual, in the unit of X, up to which an entry is trusted.
    weights : array or sparse matrix of shape (n_samples, n_features), optional
        Element weights, non-negative; 0 hides an entry. Default: 1 for every entry that is not missing.

    Attributes
    ----------
    huber : bool
        Whether it is Huber's, and not Cauchy's, for the compiled loops.
    limit : float
        The largest r² / scale² of an entry that counts.
    n_tangents : int
        Most tangents on which a sweep improves each factor, where all entries are known.
    """

    compares = True
    spreads = True

    scale: float
    weights: Any = field(default=None, kw_only=True, compare=False)
    huber: ClassVar[bool]
    n_tangents: ClassVar[int] = 1

    @property
    @abstractmethod
    def limit(self) -> float:  # noqa: D102
        ...

    @abstractmethod
    def costs(self, e: Array) -> Array:
        """The losses of entries with these r² / scale², in units of scale²."""

    @abstractmethod
    def trust(self, e: Array) -> Array:
        """The derivatives of `costs`."""

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """Check the scale."""
        self._check("scale", self.scale)
        return BoundRobustLoss(X, self, sample_weight)

    def _check(self, name: str, value: float) -> None:
        if not value > 0:
            raise ValueError(f"The {name} of {type(self).__name__} is {value!r}; it must be positive.")

    def needs_entries(self, X: Operand) -> bool:
        """Their residuals."""
        return True

    def scoring(self) -> Term:
        """Itself: element weights belong to the training samples."""
        return replace(self, weights=None)

    @property
    def order(self) -> float:
        """It has the unit of the squared error."""
        return 2.0

    @property
    def easier(self) -> Sequence[Term]:
        """The squared error, and wider scales without truncation: steps are not longer than the scale."""
        return (Frobenius(), *(type(self)(wide * self.scale) for wide in WIDER))

    def units(self, powers: Powers) -> Mapping[str, float]:
        """The scale is a residual."""
        no_function("weights", self.weights)
        return {"scale": 1.0}


@dataclass(frozen=True)
class TruncatedCauchy(RobustLoss):
    """scale² Σ_ij ln(1 + min((x_ij − (WH)_ij)² / scale², truncation²)), times the sample's weight.

    Parameters
    ----------
    scale : float
        The residual, in the unit of X, up to which an entry is trusted.
    truncation : float, default=inf
        From this multiple of the scale on, an entry is ignored. Infinity is the plain Cauchy loss.
    weights : array or sparse matrix of shape (n_samples, n_features), optional
        Element weights, non-negative; 0 hides an entry. Default: 1 for every entry that is not missing.
    """

    huber = False

    truncation: float = np.inf

    @property
    def limit(self) -> float:
        """The squared truncation."""
        return min(self.truncation**2, FARTHEST)

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """Check the parameters."""
        self._check("truncation", self.truncation)
        return super().bind(X, y, rng, sample_weight)

    def costs(self, e: Array) -> Array:
        """ln(1 + e)."""
        return np.log1p(np.minimum(e, e.dtype.type(self.limit)))

    def trust(self, e: Array) -> Array:
        """1 / (1 + e)."""
        return np.asarray((e <= e.dtype.type(self.limit)) / (1 + e))


@dataclass(frozen=True)
class Huber(RobustLoss):
    """Σ_ij of r² for |r| ≤ scale and (2 |r| − scale) scale beyond, r = x_ij − (WH)_ij, times the sample's weight.

    With a scale far below the residuals it is 2 · scale times their absolute values.

    Parameters
    ----------
    scale : float
        The residual, in the unit of X, from which on the loss is no longer quadratic but linear.
    weights : array or sparse matrix of shape (n_samples, n_features), optional
        Element weights, non-negative; 0 hides an entry. Default: 1 for every entry that is not missing.
    """

    huber = True
    # Where the scale is far below the residuals, a step on one tangent is hardly longer than the scale.
    n_tangents = 8

    @property
    def limit(self) -> float:
        """Beyond every residual."""
        return FARTHEST

    def costs(self, e: Array) -> Array:
        """e, or 2 √e − 1."""
        return np.where(e <= 1, e, 2 * np.sqrt(e) - 1)

    def trust(self, e: Array) -> Array:
        """1, or 1 / √e."""
        return np.asarray(1 / np.sqrt(np.maximum(e, 1)))


class BoundRobustLoss(BoundDivergence):
    """A squared error whose element weights follow the residuals."""

    majorised = True
    from_residuals = True

    def __init__(self, X: Operand, loss: RobustLoss, sample_weight: Array | None = None):
        super().__init__(X, 2.0, sample_weight, loss.weights)
        self._loss = loss
        # The numbers that the compiled loops take.
        self._given = X.dtype.type(loss.scale), X.dtype.type(loss.limit), loss.huber
        self.offers_quadratic = self._observed is None and self._weights is None
        self.offers_entrywise = True
        # Unknown entries are imputed, and slow steps down as entries do that are not trusted.
        self.n_tangents = 1 if loss.n_tangents == 1 else math.ceil(loss.n_tangents / max(known_share(X), 0.5))
        self.fits_in_blocks = not self.offers_quadratic

    def value(self, state: State) -> float:
        """The loss."""
        if not self.offers_quadratic:
            return super().value(state)
        return state.recall(self._key, None, lambda: self._total(state))

    @cached_property
    def _entrywise(self) -> Entrywise:
        loss = self._loss
        given = float(loss.scale), loss.limit, loss.huber
        return robust_entries(self._tiles, *given, self._X.dtype)

    def quadratic(self, state: State, factor: Factor) -> Quadratic:
        """The squared error of the imputed data, which lies above the loss."""
        if not self.offers_quadratic:
            raise NotImplementedError("With few known entries, or weights, a robust loss has no quadratic form.")
        attract = state.recall(("imputed", self, factor), None, lambda: self._imputed_product(state, factor))
        rows = None if self._sample_weight is None or factor != CODES else Diagonal(self._sample_weight)
        return Quadratic(attract=attract, couplings=(Coupling(state.gram(OTHER[factor]), rows),))

    def split(self, state: State, factor: Factor) -> Split:
        """The halves of the weighted squared error; where no known entry is trusted, a row stays unchanged."""
        split = super().split(state, factor)
        (_, N), (_, P) = *split.down.items(), *split.up.items()
        flat = np.asarray(N.sum(axis=1) + P.sum(axis=1) == 0)
        if flat.any() and state.X.missing is not None:
            flat &= known_counts(state.X)[factor != CODES] > 0
        if flat.any():
            still = N.dtype.type(max(float(P.mean(dtype=np.float64)), np.finfo(N.dtype).tiny))
            rows = np.where(flat[:, None], still, N.dtype.type(0))
            return Split(up={1: P + rows}, down={0: N + rows}, quadratic=True)
        return split

    def for_new(self, state: State) -> Term:
        """New samples count once each, with all entries that are not missing."""
        return self._loss.scoring()

    def _total(self, state: State) -> float:
        from ..kernels.robust import sum_rows

        weight, total = self._sample_weight, 0.0
        for rows, x, y in self._fitted_blocks(state):
            # Without weights a block is one long row, whose sum needs fewer logarithms than those of its rows.
            shape = (1, -1) if weight is None else x.shape
            values = np.empty(1 if weight is None else len(x))
            sum_rows(x.reshape(shape), y.reshape(shape), *self._given, values)
            total += float(values.sum() if weight is None else values @ weight[rows])
        return self._loss.scale * self._loss.scale * total

    def _imputed_product(self, state: State, factor: Factor) -> Array:
        """Z Hᵀ for the codes, Zᵀ W for the components, with the sample weights."""
        from ..kernels.robust import impute_rows

        F, G = state[factor], state[OTHER[factor]]
        product = np.zeros_like(F)
        for rows, x, z in self._fitted_blocks(state):
            impute_rows(x, z, *self._given)
            if self._sample_weight is not None:
                z *= self._sample_weight[rows][:, None]
            if factor == CODES:
                product[rows] = z @ G
            else:
                product += z.T @ G[rows]
        # Z is not negative, but rounding may leave a product of zeros below zero.
        return np.maximum(product, 0, out=product)

    def _blocks(self, state: State, with_value: bool) -> Iterator[Block]:
        """The halves of the gradient; the value is not computed on the way."""
        if not self.offers_quadratic:
            yield from super()._blocks(state, with_value)
            return
        from ..kernels.robust import weigh_rows

        for rows, x, up in self._fitted_blocks(state):
            down = np.empty_like(x)
            weigh_rows(x, up, *self._given, self._floor, down)
            if self._sample_weight is not None:
                weight = self._sample_weight[rows][:, None]
                down *= weight
                up *= weight
            yield Block(rows, down, up, 0.0)

    def _fitted_blocks(self, state: State) -> Iterator[tuple[slice, Array, Array]]:
        """Blocks of rows, dense, each with its part of W H, whose memory the next block reuses."""
        X, H = state.X, np.ascontiguousarray(state.Ht.T)
        height = min(max(BLOCK_ENTRIES // X.shape[1], LEAST_ROWS), X.shape[0])
        room = np.empty((height, X.shape[1]), X.dtype)
        for rows, x in X.row_blocks(-(-ENTRIES_BYTES // height)):
            x = x.toarray() if sp.issparse(x) else np.ascontiguousarray(x)
            yield rows, x, np.matmul(state.W[rows], H, out=room[: len(x)])

    def _excess(self, x: Array, y: Array) -> Array:
        """r² / scale²."""
        return np.square((x - y) / x.dtype.type(self._loss.scale))

    def _divergence(self, x: Array, y: Array) -> Array:
        return x.dtype.type(0.5 * self._loss.scale**2) * self._loss.costs(self._excess(x, y))

    def _down(self, x: Array, y: Array) -> Array:
        return self._loss.trust(self._excess(x, y)) * x

    def _up(self, x: Array, y: Array) -> Array:
        return self._loss.trust(self._excess(x, y)) * y
