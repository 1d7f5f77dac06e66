"""The Kullback–Leibler divergence as a Poisson likelihood, which Newton steps can minimise row by row.

With y = W H and element weights v it is, up to a constant,

    Σ v y − Σ v x log y

The first sum is linear in either factor, and only positive entries of X enter the second.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ..core.counts import Counts, SparseCounts, counts_of
from ..core.forms import Logarithmic
from ..core.operand import BLOCK_BYTES, Operand
from ..core.state import State
from ..core.types import CODES, OTHER, Array, Factor
from .divergence import BoundDivergence, is_mostly_positive

# Newton steps divide by y twice, so y must not underflow; this share of the mean is still far below relevant values.
FLOORS = {np.dtype(np.float64): 1e-100, np.dtype(np.float32): 1e-15}


class BoundKullbackLeibler(BoundDivergence):
    """The divergence at β = 1."""

    offers_logarithms = True

    def __init__(self, X: Operand, sample_weight: Array | None = None, weights: object = None):
        super().__init__(X, 1.0, sample_weight, weights)
        self._floor = X.dtype.type(FLOORS[X.dtype] * X.mean())
        self.offers_entrywise = X.missing is None and self._weights is None and is_mostly_positive(X)

    def _sweep(self, state: State, factor: Factor) -> tuple[float, Array, Array]:
        """The value and the halves of the gradient from the positive entries only; P is the linear part."""
        form, F = self.logarithmic(state, factor), state[factor]
        N, logs = self._pulls(state, factor)
        return form.value(F, logs), N, np.broadcast_to(form.linear, F.shape)

    def _pulls(self, state: State, factor: Factor) -> tuple[Array, Array]:
        """Σ_p c_p g_p / y_p and Σ_p c_p log(y_p / x_p) of every row."""
        from ..kernels.logarithms import attract_rows

        F, G = np.ascontiguousarray(state[factor]), np.ascontiguousarray(state[OTHER[factor]])
        N, logs, counts = np.empty_like(F), np.empty(len(F)), self._counts[0]

        def attract(rows: slice) -> None:
            for block in counts.blocks(factor, rows):
                own = block.rows
                attract_rows(*block.entries, G, float(self._floor), F[own], N[own], logs[own])

        state.X.map_rows(attract, len(F))
        return N, logs

    def logarithmic(self, state: State, factor: Factor) -> Logarithmic:
        """Linear in a factor, except for a logarithm at every positive entry."""
        counts, total = self._counts
        return Logarithmic(
            counts, self._linear_part(state, factor), total, float(self._floor), self._key, self._dispersion_of(factor)
        )

    def _dispersion_of(self, factor: Factor) -> Array:
        return np.empty((0, 0), self._X.dtype)

    def _linear_part(self, state: State, factor: Factor) -> Array:
        return state.recall(("weights", self), OTHER[factor], lambda: self._linear(state, factor))

    @cached_property
    def _counts(self) -> tuple[Counts, float]:
        """The positive entries, and the sum of their counts."""
        X, s, seen = self._X, self._sample_weight, self._observed
        counts: Counts
        if seen is not None:
            weighed = seen.weight is not None or s is not None
            counts = SparseCounts(seen.with_data(seen.x), seen.combined(s) if weighed else None)
        elif X.is_sparse:
            x = sp.csr_array(X.array)
            counts = SparseCounts(x, self._stored_weights(x))
        else:
            counts = counts_of(X.array, self._weights, s)
        return counts, counts.total()

    def _stored_weights(self, x: sp.csr_array) -> Array | None:
        """Weights of the stored entries of data whose other entries count too."""
        s = self._sample_weight
        if self._weights is None:
            return None if s is None else np.repeat(s, np.diff(x.indptr))
        i = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
        weight = np.asarray(self._weights[i, x.indices]).astype(x.dtype)
        return weight if s is None else weight * s[i]

    def _linear(self, state: State, factor: Factor) -> Array:
        """V Hᵀ or Vᵀ W, with V the weights of all entries: ones in complete data, zero where they are unknown."""
        seen, G, s = self._observed, state[OTHER[factor]], self._sample_weight
        if self._weights is None and state.X.missing is None:
            if factor == CODES:
                return np.outer(1 if s is None else s, G.sum(axis=0))
            return np.atleast_2d(G.sum(axis=0) if s is None else s @ G)
        if seen is not None:
            V = seen.with_data(seen.combined(s))
            return np.asarray((V if factor == CODES else V.T) @ G)
        out = np.zeros_like(state[factor])
        for rows, V in self._weight_blocks():
            if factor == CODES:
                out[rows] = V @ G
            else:
                out += V.T @ G[rows]
        return out

    def _weight_blocks(self) -> Iterator[tuple[slice, Array]]:
        """V by blocks of samples: zero where X is unknown. The next block may reuse the memory."""
        from ..kernels.entries import mark_known

        X, s = self._X, self._sample_weight
        n, m = X.shape
        if sp.issparse(X.array):
            for rows, x in X.row_blocks(m * X.dtype.itemsize):
                yield rows, np.broadcast_to(self._block_weights(rows, x), x.shape)
            return
        height = max(1, BLOCK_BYTES // (m * X.dtype.itemsize))
        room, none = np.empty((height, m), X.dtype), np.empty((0, 0), X.dtype)
        for start in range(0, n, height):
            rows = slice(start, min(start + height, n))
            given = none if self._weights is None else self._weights[rows].astype(X.dtype, copy=False)
            mark_known(X.array[rows], given, np.empty(0, X.dtype) if s is None else s[rows], room[: rows.stop - start])
            yield rows, room[: rows.stop - start]
