"""How certain codes are: features are drawn with replacement, and the codes fitted again."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from ..core import Array, IntArray, Operand, Term, as_operand
from ..terms import BetaDivergence, Frobenius
from .fitted import FittedFactorization
from .units import codes_outside

# Codes of some samples, given their data, Hᵀ, and which they are.
CodeSome = Callable[[Operand, Array, IntArray], Array]
# Bytes of codes, of all resamples, at a time.
BLOCK_BYTES = 2**25


class CodeIntervals(FittedFactorization):
    """A fitted model whose codes have intervals."""

    def transform_intervals(
        self, X: Any, *, n_resamples: int = 100, level: float = 0.9, random_state: Any = None
    ) -> tuple[Array, Array]:
        """Bootstrap intervals of the codes that `transform` gives, with the components as they are.

        The features are drawn with replacement, and the codes are fitted to what was drawn, `n_resamples` times. The
        intervals say how far a code depends on which features were measured; the components are taken as known.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        n_resamples : int, default=100
        level : float, default=0.9
            Share of the codes inside an interval.
        random_state : int, RandomState or None, default=None

        Returns
        -------
        low, high : ndarray of shape (n_samples, n_components)
        """
        return self._intervals(X, n_resamples, level, random_state, lambda new: self._code_some)

    def _code_some(self, X: Operand, Ht: Array, rows: IntArray) -> Array:
        return self._code_by(X, Ht)

    def _intervals(
        self, X: Any, n_resamples: int, level: float, random_state: Any, coder: Callable[[Operand], CodeSome]
    ) -> tuple[Array, Array]:
        """The same, with codes as the coder for the samples gives them for some of these."""
        if isinstance(n_resamples, bool) or not isinstance(n_resamples, Integral) or n_resamples < 2:
            raise ValueError(f"n_resamples={n_resamples!r} was given; an interval needs a whole number of at least 2.")
        if not isinstance(level, Real) or not 0 < level < 1:
            raise ValueError(f"level={level!r} was given; it must lie between 0 and 1.")
        new = self._checked_new(X)
        code = coder(new)
        exponent = _exponent(self._losses)
        Ht, rng = self._inner_components(new.dtype), check_random_state(random_state)
        (n, m), k = new.shape, Ht.shape[1]
        # A feature that is drawn v times counts v times: D(cx, cy) = c^order D(x, y).
        counts = [np.bincount(rng.randint(m, size=m), minlength=m) for _ in range(n_resamples)]
        scales = [(count**exponent).astype(new.dtype) for count in counts]
        low, high = np.empty((2, n, k), new.dtype)
        at_a_time = max(1, BLOCK_BYTES // (n_resamples * k * new.dtype.itemsize))
        for start in range(0, n, at_a_time):
            rows = np.arange(start, min(start + at_a_time, n))
            some = new if len(rows) == n else new.take(rows)
            codes = np.array([code(_scaled(some, scale), scale[:, None] * Ht, rows) for scale in scales])
            low[rows], high[rows] = np.quantile(codes, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return codes_outside(self._unit, low), codes_outside(self._unit, high)


def _exponent(losses: list[Term]) -> float:
    """The power of a feature's count by which its values are multiplied."""
    if len(losses) == 1 and isinstance(losses[0], Frobenius | BetaDivergence) and losses[0].order:
        return 1 / float(losses[0].order)
    raise ValueError(
        "Features are drawn by scaling them, which needs the squared error, Kullback–Leibler or another β-divergence "
        "with β > 0. Use such a loss."
    )


def _scaled(X: Operand, scale: Array) -> Operand:
    """The data with every feature multiplied."""
    x = X.array
    if sp.issparse(x):
        return as_operand(sp.csr_array((x.data * scale[x.indices], x.indices, x.indptr), shape=x.shape), X.missing)
    return as_operand(x * scale, X.missing)
