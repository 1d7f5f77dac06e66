"""Counts that vary more than Poisson ones: the negative binomial distribution.

With mean y = W H and variance y + α y², minus its log-likelihood is, up to a constant, half the deviance

    d(x | y) = x log(x / y) − (1 + αx) / α · log((1 + αx) / (1 + αy))

At α = 0 it is the Kullback–Leibler divergence. The second part is concave in y, so that it lies below its tangent,
(1 + αx) / (1 + αy) times y: every step is one on a Poisson likelihood with other linear parts (`kernels.dispersion`).

Unlike those of the Kullback–Leibler divergence, they depend on every entry, also where X is zero. They are computed in
blocks of samples: a sweep takes time in proportion to n m k, but no memory beyond a block.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from ..core.operand import BLOCK_BYTES, Operand
from ..core.scratch import Scratch
from ..core.state import State
from ..core.term import BoundTerm, Term
from ..core.types import CODES, OTHER, Array, Factor
from ..core.units import Powers, Unscalable, no_function
from .poisson import BoundKullbackLeibler

# Products of fewer rows are slow.
LEAST_ROWS = 32


@dataclass(frozen=True, eq=False)
class NegativeBinomial(Term):
    """Half the deviance of a negative binomial distribution with mean W H, times the sample's weight.

    Its variance is y + dispersion · y²; the inverse of the dispersion is also called size, or θ. The dispersion has the
    unit of 1 / X: data in other units with the dispersion in those units give the same model. X should be counts, but
    need not be whole numbers.

    Parameters
    ----------
    dispersion : float or array of shape (n_features,)
        α, zero or more: one for all features, or one for each. At 0 this is the Kullback–Leibler divergence.
    weights : array or sparse matrix of shape (n_samples, n_features), optional
        Element weights, non-negative; 0 hides an entry. Default: 1 for every entry that is not missing.
    """

    compares = True
    spreads = True

    dispersion: Any
    weights: Any = None

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """Check the dispersion."""
        return BoundNegativeBinomial(X, self._checked(X.shape[1]).astype(X.dtype), sample_weight, self.weights)

    def _checked(self, n_features: int) -> Array:
        try:
            alpha = np.asarray(self.dispersion, np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"The dispersion is {self.dispersion!r}; it must be a number, or one per feature."
            ) from None
        if alpha.shape not in ((), (n_features,)):
            raise ValueError(
                f"The dispersion has shape {alpha.shape}; X has {n_features} features. Give one number, or one per "
                "feature."
            )
        if not (np.isfinite(alpha) & (alpha >= 0)).all():
            raise ValueError("The dispersion must be finite, and zero or more; it is the inverse of the size.")
        return np.ascontiguousarray(np.broadcast_to(alpha, (n_features,)))

    def needs_entries(self, X: Operand) -> bool:
        """Their residuals."""
        return True

    def scoring(self) -> Term:
        """Itself: element weights belong to the training samples."""
        return NegativeBinomial(self.dispersion)

    @property
    def order(self) -> float:
        """It grows with X if the dispersion is that of the new unit."""
        return 1.0

    def units(self, powers: Powers) -> Mapping[str, float]:
        """The dispersion is an inverse count."""
        no_function("weights", self.weights)
        if not isinstance(self.dispersion, Real):
            raise Unscalable("the dispersion has a unit too, and is not a single number")
        return {"dispersion": -1.0}


class BoundNegativeBinomial(BoundKullbackLeibler):
    """The deviance of the known entries of X."""

    def __init__(self, X: Operand, dispersion: Array, sample_weight: Array | None = None, weights: Any = None):
        super().__init__(X, sample_weight, weights)
        # Steps on blocks of rows would not know the slack of the concave part.
        self.offers_entrywise = self.adds_up = False
        self._dispersion = dispersion
        self._scratch = Scratch()

    def for_new(self, state: State) -> Term:
        """New samples count once each, with all entries that are not missing."""
        return NegativeBinomial(self._dispersion)

    def _dispersion_of(self, factor: Factor) -> Array:
        return self._dispersion[None, :] if factor == CODES else self._dispersion[:, None]

    def value(self, state: State) -> float:
        """Half the deviance."""
        return state.recall(self._key, None, lambda: self._measured(state))

    def _measured(self, state: State) -> float:
        """Σ v x log(x / y) from the positive entries, and the concave part from all that count."""
        from ..kernels.dispersion import measure_rows

        _, logs = self._pulls(state, CODES)
        values = np.zeros(len(state.W))

        def measure(rows: slice) -> None:
            for block, x, v, y in self._fitted(state, rows):
                measure_rows(x, v, self._dispersion, y, values[block])

        if self._observed is None:
            state.X.map_rows(measure, len(values))
        else:
            x, v, alpha, y = self._listed(state)
            values = np.empty(1)
            measure_rows(x, v, alpha, y, values)
        return max(float(values.sum()) - float(logs.sum()), 0.0)

    def _sweep(self, state: State, factor: Factor) -> tuple[float, Array, Array]:
        """The halves of the gradient, N from the positive entries only; the value takes a pass of its own."""
        return 0.0, self._pulls(state, factor)[0], self._linear_part(state, factor)

    def _linear_part(self, state: State, factor: Factor) -> Array:
        # The tangent depends on both factors.
        return state.recall(("tangent", self, factor), None, lambda: self._linear(state, factor))

    def _linear(self, state: State, factor: Factor) -> Array:
        """V Hᵀ or Vᵀ W, with V the weights times the slopes of the concave part."""
        from ..kernels.dispersion import slope_rows

        G, out = state[OTHER[factor]], np.zeros_like(state[factor])
        if self._observed is not None:
            x, v, alpha, y = self._listed(state)
            slope_rows(x, v, alpha, y)
            V = self._observed.with_data(y[0])
            return np.asarray((V if factor == CODES else V.T) @ G)

        def add(rows: slice) -> None:
            for block, x, v, y in self._fitted(state, rows):
                slope_rows(x, v, self._dispersion, y)
                if factor == CODES:
                    np.matmul(y, G, out=out[block])
                else:
                    out[:] += y.T @ G[block]

        if factor == CODES:
            state.X.map_rows(add, len(state.W))
        else:
            add(slice(0, len(state.W)))
        return out

    def _fitted(self, state: State, rows: slice) -> Iterator[tuple[slice, Array, Array, Array]]:
        """Blocks of samples with the weights of their entries and their part of W H, which may be overwritten."""
        X, H = state.X, state.Ht.T
        height = max(LEAST_ROWS, BLOCK_BYTES // (X.shape[1] * X.dtype.itemsize))
        for start in range(rows.start, rows.stop, height):
            block = slice(start, min(start + height, rows.stop))
            x, v, _ = self._tiles.tile(CODES, block)
            y = np.matmul(state.W[block], H, out=self._scratch.get("y", x.shape, X.dtype))
            yield block, x, v, y

    def _listed(self, state: State) -> tuple[Array, Array, Array, Array]:
        """The listed entries, their weights, dispersions and parts of W H; each as a single row."""
        seen = self._observed
        assert seen is not None
        v = np.broadcast_to(seen.combined(self._sample_weight), seen.x.shape)
        alpha, y = self._dispersion[seen.indices], seen.products(state.W, state.Ht)
        return seen.x[None, :], np.ascontiguousarray(v)[None, :], alpha, y[None, :]
