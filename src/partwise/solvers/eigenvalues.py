"""The largest curvature that a matrix S over the rows of a factor gives a quadratic: bounds on its eigenvalues."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from ..core.forms import Coupling
from ..core.rows import Diagonal, RowMatrix
from ..core.types import Array

# The largest eigenvalue is found to a few per cent, and then raised by as much.
EIGENVALUE_TOLERANCE, EIGENVALUE_MARGIN = 1e-2, 1.05
# Below this many rows, bounds by row sums suffice.
FEW_ROWS = 20


class Bounds:
    """σ ≥ λ_max(S) of every S requested, each computed once.

    Parameters
    ----------
    sure : bool, default=False
        Bound eigenvalues by row sums: always sufficient, but larger than necessary.
    """

    def __init__(self, sure: bool = False):
        self._sure = sure
        self._known: dict[RowMatrix, float] = {}

    def of(self, S: RowMatrix | None, n: int) -> float:
        """σ of a matrix over n rows; None is the identity."""
        if S is None:
            return 1.0
        if isinstance(S, Diagonal):
            return float(S.weights.max())
        if S not in self._known:
            self._known[S] = largest_eigenvalue(S, n, sure=self._sure)
        return self._known[S]

    def curvatures(self, couplings: list[Coupling], F: Array) -> Array:
        """Σ_t σ_t diag(B_t): no less than the curvature of each column."""
        parts = [self.of(part.rows, len(F)) * part.curvatures.astype(np.float64) for part in couplings]
        return np.asarray(sum(parts, start=np.zeros(F.shape[1])))


def largest_eigenvalue(S: RowMatrix, n: int, *, sure: bool = False) -> float:
    """An upper bound on λ_max(S): a few per cent above the estimate or, if `sure`, by row sums of |S|.

    Parameters
    ----------
    S : RowMatrix
    n : int
        Number of rows.
    sure : bool, default=False
    """
    ones = np.ones((n, 1), S.diagonal().dtype)
    up, down = S.positive(ones), S.negative(ones)
    by_rows = float((up if down is None else up + down).max())
    if sure or n < FEW_ROWS or by_rows == 0:
        return by_rows
    operator = LinearOperator((n, n), matvec=lambda v: S.dot(v.reshape(-1, 1).astype(ones.dtype))[:, 0], dtype=float)
    start = np.random.RandomState(0).standard_normal(n)
    found = eigsh(operator, 1, which="LA", v0=start, tol=EIGENVALUE_TOLERANCE, return_eigenvectors=False)
    return min(by_rows, EIGENVALUE_MARGIN * float(found[0]))
