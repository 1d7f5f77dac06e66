"""A fit that large residuals cannot spoil: the truncated Cauchy loss.

With r = x − (WH) the loss of an entry is

    scale² ln(1 + min(r² / scale², truncation²))

in the unit of a squared error: (WH) close to x costs r², a residual beyond truncation · scale costs a constant. As a
function of r² it is concave, so it lies below its tangent (half-quadratic programming): a squared error whose weight

    q = 1 / (1 + r² / scale²)   if |r| ≤ truncation · scale, else 0

is taken from the present residual. A multiplicative step on that weighted squared error lowers the loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.forms import Split
from ..core.operand import Operand
from ..core.state import State
from ..core.term import BoundTerm, Term
from ..core.types import Array, Factor
from .divergence import BoundDivergence

# So many residuals are enough to find their scale.
RESIDUALS = 2**20
# The median of the absolute values of a standard normal variable.
NORMAL_MEDIAN = 0.6745
# On a nearly exact fit residuals say nothing about noise: the deviation is at least this share of the data's size.
LEAST_DEVIATION = 1e-3


@dataclass(frozen=True)
class TruncatedCauchy(Term):
    """scale² Σ_ij ln(1 + min((x_ij − (WH)_ij)² / scale², truncation²)), times the sample's weight.

    Parameters
    ----------
    scale : float
        The residual, in the unit of X, up to which an entry is trusted.
    truncation : float, default=inf
        From this multiple of the scale on an entry has no say at all. Infinity is the plain Cauchy loss.
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


class BoundTruncatedCauchy(BoundDivergence):
    """A squared error whose element weights follow the residuals."""

    def __init__(self, X: Operand, scale: float, truncation: float, sample_weight: Array | None = None):
        super().__init__(X, 2.0, sample_weight)
        self._scale = scale
        self._truncation = truncation

    def split(self, state: State, factor: Factor) -> Split:
        """The halves of the weighted squared error; where all entries are truncated, halves that leave a row alone."""
        split = super().split(state, factor)
        (_, N), (_, P) = *split.down.items(), *split.up.items()
        flat = np.asarray(N.sum(axis=1) + P.sum(axis=1) == 0)
        if flat.any():
            still = N.dtype.type(max(float(P.mean(dtype=np.float64)), np.finfo(N.dtype).tiny))
            rows = np.where(flat[:, None], still, N.dtype.type(0))
            return Split(up={1: P + rows}, down={0: N + rows}, quadratic=True)
        return split

    def for_new(self, X_new: Operand, codes: Array) -> BoundTerm:
        """New samples count once each."""
        return BoundTruncatedCauchy(X_new, self._scale, self._truncation)

    def _excess(self, x: Array, y: Array) -> Array:
        """r² / scale²."""
        return np.square((x - y) / x.dtype.type(self._scale))

    def _divergence(self, x: Array, y: Array) -> Array:
        capped = np.minimum(self._excess(x, y), x.dtype.type(self._truncation) ** 2)
        return np.asarray(x.dtype.type(0.5 * self._scale * self._scale) * np.log1p(capped))

    def _trust(self, x: Array, y: Array) -> Array:
        excess = self._excess(x, y)
        return np.asarray((excess <= x.dtype.type(self._truncation) ** 2) / (1 + excess))

    def _down(self, x: Array, y: Array) -> Array:
        return self._trust(x, y) * x

    def _up(self, x: Array, y: Array) -> Array:
        return self._trust(x, y) * y


def residual_deviation(X: Operand, W: Array, Ht: Array) -> float:
    """The standard deviation of the residuals of the positive entries, as their median tells it.

    Up to half of them may be outliers. Zeros of X are left out: of data that are mostly zero they would tell that there
    is no noise at all. At most about a million residuals are looked at, those of evenly spaced samples of weight.

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
    parts, squares = [], 0.0
    for block, x in sample.row_blocks(2 * m * X.dtype.itemsize):
        x = x.toarray() if sp.issparse(x) else x
        residuals = np.abs(x - W[rows[block]] @ Ht.T)[x > 0].astype(np.float64)
        parts.append(residuals)
        squares += float(np.sum(np.square(x, dtype=np.float64)))
    residuals = np.concatenate(parts)
    if not residuals.size:
        return 1.0
    least = LEAST_DEVIATION * np.sqrt(squares / residuals.size)
    return float(max(np.median(residuals) / NORMAL_MEDIAN, least))


def truncated_entries(X: Operand, W: Array, Ht: Array, limit: float) -> Any:
    """Which entries have a residual beyond the limit, as a sparse array of True."""
    blocks = []
    for rows, x in X.row_blocks(2 * X.shape[1] * X.dtype.itemsize):
        fitted = W[rows] @ Ht.T
        residuals = (x.toarray() if sp.issparse(x) else x) - fitted
        blocks.append(sp.csr_array(np.abs(residuals) > limit))
    return sp.csr_array(sp.vstack(blocks))
