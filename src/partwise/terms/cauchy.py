"""A fit robust to large residuals: the truncated Cauchy loss.

With r = x − (WH) the loss of an entry is

    scale² ln(1 + min(r² / scale², truncation²))

in the unit of a squared error: (WH) close to x costs r², a residual beyond truncation · scale costs a constant. As a
function of r² it is concave, so it lies below its tangent (half-quadratic programming): a squared error whose weight

    q = 1 / (1 + r² / scale²)   if |r| ≤ truncation · scale, else 0

is taken from the present residual. A multiplicative step on that weighted squared error lowers the loss.

As q ≤ 1, the weighted error in turn lies below ‖Z − WH‖² plus a constant, where Z = Y + q (X − Y) and Y is the present
fit: entries are imputed to the extent that they are not trusted. That is an ordinary squared error, which coordinate
descent lowers in far fewer sweeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.forms import Coupling, Quadratic, Split
from ..core.operand import ENTRIES_BYTES, Operand
from ..core.rows import Diagonal
from ..core.state import State
from ..core.term import BoundTerm, Term
from ..core.types import CODES, OTHER, Array, Factor
from ..core.units import Powers
from .divergence import Block, BoundDivergence

# This many residuals are enough to find their scale.
RESIDUALS = 2**20
# The median of the absolute values of a standard normal variable.
NORMAL_MEDIAN = 0.6745
# In a nearly exact fit residuals say nothing about noise: the deviation is at least this share of the data's size.
LEAST_DEVIATION = 1e-3
# Even without truncation an entry this far away, in squared scales, has no weight: sums of logarithms stay finite.
FARTHEST = 1e30
# Entries of a block: the data and the fit stay in the cache. Fewer rows than this would make slow products.
BLOCK_ENTRIES, LEAST_ROWS = 2**15, 64


@dataclass(frozen=True)
class TruncatedCauchy(Term):
    """scale² Σ_ij ln(1 + min((x_ij − (WH)_ij)² / scale², truncation²)), times the sample's weight.

    Parameters
    ----------
    scale : float
        The residual, in the unit of X, up to which an entry is trusted.
    truncation : float, default=inf
        From this multiple of the scale on, an entry is ignored. Infinity is the plain Cauchy loss.
    """

    scale: float
    truncation: float = np.inf

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """Check the parameters."""
        for name, value in (("scale", self.scale), ("truncation", self.truncation)):
            if not value > 0:
                raise ValueError(f"The {name} of TruncatedCauchy is {value!r}; it must be positive.")
        return BoundTruncatedCauchy(X, self.scale, self.truncation, sample_weight)

    def scoring(self) -> Term:
        """Itself."""
        return self

    @property
    def order(self) -> float:
        """It has the unit of the squared error."""
        return 2.0

    def units(self, powers: Powers) -> Mapping[str, float]:
        """The scale is a residual."""
        return {"scale": 1.0}


class BoundTruncatedCauchy(BoundDivergence):
    """A squared error whose element weights follow the residuals."""

    majorised = True
    from_residuals = True

    def __init__(self, X: Operand, scale: float, truncation: float, sample_weight: Array | None = None):
        super().__init__(X, 2.0, sample_weight)
        self._scale = scale
        self._truncation = truncation
        self._limit = X.dtype.type(min(truncation**2, FARTHEST))
        # Where entries are missing, only the multiplicative rules can leave them out.
        self.offers_quadratic = X.missing is None

    def value(self, state: State) -> float:
        """The loss."""
        if not self.offers_quadratic:
            return super().value(state)
        return state.recall(("Cauchy loss", self), None, lambda: self._loss(state))

    def quadratic(self, state: State, factor: Factor) -> Quadratic:
        """The squared error of the imputed data, which lies above the loss."""
        if not self.offers_quadratic:
            raise NotImplementedError("With missing entries the Cauchy loss has no quadratic form.")
        attract = state.recall(("imputed", self, factor), None, lambda: self._imputed_product(state, factor))
        rows = None if self._sample_weight is None or factor != CODES else Diagonal(self._sample_weight)
        return Quadratic(attract=attract, couplings=(Coupling(state.gram(OTHER[factor]), rows),))

    def split(self, state: State, factor: Factor) -> Split:
        """The halves of the weighted squared error; where all entries are truncated, a row stays unchanged."""
        split = super().split(state, factor)
        (_, N), (_, P) = *split.down.items(), *split.up.items()
        flat = np.asarray(N.sum(axis=1) + P.sum(axis=1) == 0)
        if flat.any():
            still = N.dtype.type(max(float(P.mean(dtype=np.float64)), np.finfo(N.dtype).tiny))
            rows = np.where(flat[:, None], still, N.dtype.type(0))
            return Split(up={1: P + rows}, down={0: N + rows}, quadratic=True)
        return split

    def for_new(self, state: State) -> Term:
        """New samples count once each."""
        return TruncatedCauchy(self._scale, self._truncation)

    def _loss(self, state: State) -> float:
        from ..kernels.cauchy import sum_rows

        total = 0.0
        for rows, x, y in self._fitted_blocks(state):
            # Without weights a block is one long row, whose sum needs fewer logarithms than those of its rows.
            shape = (1, -1) if self._sample_weight is None else x.shape
            values = np.empty(1 if self._sample_weight is None else len(x))
            sum_rows(x.reshape(shape), y.reshape(shape), x.dtype.type(self._scale), self._limit, values)
            total += float(values.sum() if self._sample_weight is None else values @ self._sample_weight[rows])
        return self._scale * self._scale * total

    def _imputed_product(self, state: State, factor: Factor) -> Array:
        """Z Hᵀ for the codes, Zᵀ W for the components, with the sample weights."""
        from ..kernels.cauchy import impute_rows

        F, G = state[factor], state[OTHER[factor]]
        product = np.zeros_like(F)
        for rows, x, z in self._fitted_blocks(state):
            impute_rows(x, z, x.dtype.type(self._scale), self._limit)
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
        from ..kernels.cauchy import weigh_rows

        for rows, x, up in self._fitted_blocks(state):
            down = np.empty_like(x)
            weigh_rows(x, up, x.dtype.type(self._scale), self._limit, self._floor, down)
            if self._sample_weight is not None:
                weight = self._sample_weight[rows][:, None]
                down *= weight
                up *= weight
            yield Block(rows, down, up, 0.0)

    def _fitted_blocks(self, state: State) -> Iterator[tuple[slice, Array, Array]]:
        """Blocks of rows, dense, each with its part of W H, whose memory the next block reuses."""
        X = state.X
        height = min(max(BLOCK_ENTRIES // X.shape[1], LEAST_ROWS), X.shape[0])
        room = np.empty((height, X.shape[1]), X.dtype)
        for rows, x in X.row_blocks(-(-ENTRIES_BYTES // height)):
            x = x.toarray() if sp.issparse(x) else np.ascontiguousarray(x)
            yield rows, x, np.matmul(state.W[rows], state.Ht.T, out=room[: len(x)])

    def _excess(self, x: Array, y: Array) -> Array:
        """r² / scale²."""
        return np.square((x - y) / x.dtype.type(self._scale))

    def _divergence(self, x: Array, y: Array) -> Array:
        capped = np.minimum(self._excess(x, y), self._limit)
        return np.asarray(x.dtype.type(0.5 * self._scale * self._scale) * np.log1p(capped))

    def _trust(self, x: Array, y: Array) -> Array:
        excess = self._excess(x, y)
        return np.asarray((excess <= self._limit) / (1 + excess))

    def _down(self, x: Array, y: Array) -> Array:
        return self._trust(x, y) * x

    def _up(self, x: Array, y: Array) -> Array:
        return self._trust(x, y) * y


def residual_deviation(X: Operand, W: Array, Ht: Array) -> float:
    """The standard deviation of the residuals of the positive entries, estimated from their median.

    Up to half of them may be outliers. Zeros of X are left out: in data that are mostly zero they would suggest that
    there is no noise. Samples are weighted. At most about a million residuals are used, those of evenly spaced samples
    of positive weight.

    Parameters
    ----------
    X : Operand
    W : ndarray of shape (n_samples, n_components)
    Ht : ndarray of shape (n_features, n_components)
    """
    n, m = X.shape
    counting = np.arange(n) if X.sample_weight is None else np.flatnonzero(X.sample_weight > 0)
    rows = counting[:: max(1, len(counting) * m // RESIDUALS)]
    sample = X.take(rows)
    weight = np.ones(len(rows)) if X.sample_weight is None else X.sample_weight[rows].astype(np.float64)
    parts, weights, squares = [], [], 0.0
    for block, x in sample.row_blocks(2 * m * X.dtype.itemsize):
        x = x.toarray() if sp.issparse(x) else x
        positive = x > 0
        parts.append(np.abs(x - W[rows[block]] @ Ht.T)[positive].astype(np.float64))
        weights.append(np.repeat(weight[block], positive.sum(axis=1)))
        squares += float(weight[block] @ np.square(x, dtype=np.float64).sum(axis=1))
    residuals, counts = np.concatenate(parts), np.concatenate(weights)
    if not residuals.size:
        return 1.0
    least = LEAST_DEVIATION * np.sqrt(squares / counts.sum())
    return float(max(_median(residuals, counts) / NORMAL_MEDIAN, least))


def _median(values: Array, counts: Array) -> float:
    """The median of values, each repeated as often as its count says."""
    order = np.argsort(values)
    reached = np.cumsum(counts[order])
    middle = reached[-1] / 2
    # Half of an even number lies between two values.
    pair = [np.searchsorted(reached, middle, side) for side in ("left", "right")]
    return float(values[order[np.minimum(pair, len(order) - 1)]].mean())


def truncated_entries(X: Operand, W: Array, Ht: Array, limit: float) -> Any:
    """Which entries have a residual beyond the limit, as a sparse array of True."""
    blocks = []
    for rows, x in X.row_blocks(2 * X.shape[1] * X.dtype.itemsize):
        fitted = W[rows] @ Ht.T
        residuals = (x.toarray() if sp.issparse(x) else x) - fitted
        blocks.append(sp.csr_array(np.abs(residuals) > limit))
    return sp.csr_array(sp.vstack(blocks))
