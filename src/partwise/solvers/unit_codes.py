"""Codes with columns of unit norm, the scale in the components: the gauge of the LLNMF paper, kept after every sweep.

With the norm of w_j fixed, its own square drops out of the fit, and a penalty w_jᵀ S w_j is σ − w_jᵀ(σI − S)w_j. For
σ ≥ λ_max(S) the last part is convex, so it lies above its tangent at the present w̃_j. What is left is linear,

    −2 w_jᵀ z + const,   z = R_j h_j + (σI − S) w̃_j,   R_j the residual of X without component j

and its minimum over w_j ≥ 0, ‖w_j‖ = 1 is z⁺ / ‖z⁺‖ (the unit vector of the largest entry if no z is positive). So the
objective cannot rise. The columns of the components follow by exact non-negative least squares.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from ..core.forms import Coupling
from ..core.objective import Objective
from ..core.projections import onto_unit
from ..core.rows import Diagonal, RowMatrix
from ..core.state import State
from ..core.types import CODES, COMPONENTS, Array, Factor
from .point import Point, Remembering, entered

# Passes over the columns of a factor per product with X.
PASSES = 8
# The largest eigenvalue is found to a few per cent, and then raised by as much.
EIGENVALUE_TOLERANCE, EIGENVALUE_MARGIN = 1e-2, 1.05
# Below so many rows, bounds by row sums will do.
FEW_ROWS = 20


class UnitCodes(Remembering):
    """Minimise over codes with columns of unit norm; every term must have a quadratic form.

    Parameters
    ----------
    objective : Objective
    """

    name = "unit codes"
    # Bounds are found again, the same from the same S.
    remembers = ("stalled", "_sure")

    def __init__(self, objective: Objective):
        self._objective = objective
        self.stalled = False
        self._bounds: dict[int, float] = {}
        # Whether eigenvalues are bounded by row sums: surely enough, and slower.
        self._sure = False

    def prepare(self, state: State) -> State:
        """Move the norms of the codes into the components; an empty column starts with equal entries."""
        if state.X.sample_weight is not None:
            raise ValueError(
                "sample_weight was given with scale='codes', where the norm of a column counts every sample once. "
                "Use scale='auto', or no weights."
            )
        return entered(self._objective, state)

    def sweep(self, point: Point) -> Point:
        """Codes, then components, each in several passes over its columns."""
        state = self._sweep_codes(point.state)
        new = Point.at(self._objective, self._sweep_components(state))
        if new.total <= point.total:
            self.stalled = False
            return new
        # Either an eigenvalue was missed, or there is nothing left to gain.
        self.stalled = self._sure
        self._sure = True
        self._bounds.clear()
        return point

    def _sweep_codes(self, state: State) -> State:
        A, couplings = self._quadratic(state, CODES)
        W = state.W.copy()
        own = np.sum([self._bound(part, len(W)) * _diagonal(part.gram) for part in couplings], axis=0)
        for _ in range(PASSES):
            for j in range(W.shape[1]):
                z = A[:, j] + own[j] * W[:, j]
                for part in couplings:
                    z -= _pull(part, W, j)
                W[:, j] = onto_unit(z)
        return state.replace(CODES, W)

    def _sweep_components(self, state: State) -> State:
        A, couplings = self._quadratic(state, COMPONENTS)
        Ht = state.Ht.copy()
        # Nothing links the features, and the Gram matrix of unit columns has ones on its diagonal.
        curvature = np.sum([_diagonal(part.gram) for part in couplings], axis=0)
        for _ in range(PASSES):
            for j in range(Ht.shape[1]):
                gradient = A[:, j] - sum(_pull(part, Ht, j) for part in couplings)
                Ht[:, j] = np.maximum(Ht[:, j] + gradient / curvature[j], 0)
        return state.replace(COMPONENTS, Ht)

    def _quadratic(self, state: State, factor: Factor) -> tuple[Array, list[Coupling]]:
        """A and all couplings of the factor's quadratic."""
        A = np.zeros_like(state[factor])
        couplings: list[Coupling] = []
        for part in self._objective.quadratics(state, factor):
            attract, repel = part.linear(lambda: state.product(factor))
            if attract is not None:
                A += attract
            if repel is not None:
                A -= repel
            couplings.extend(part.couplings)
        return A, couplings

    def _bound(self, part: Coupling, n: int) -> float:
        """σ ≥ λ_max(S)."""
        if part.rows is None:
            return 1.0
        key = id(part.rows)
        if key not in self._bounds:
            self._bounds[key] = largest_eigenvalue(part.rows, n, sure=self._sure)
        return self._bounds[key]


def _diagonal(gram: Array) -> Array:
    return gram if gram.ndim == 1 else gram.diagonal()


def _pull(part: Coupling, F: Array, j: int) -> Array:
    """Column j of S F B."""
    column = F[:, j] * part.gram[j] if part.gram.ndim == 1 else F @ part.gram[:, j]
    return column if part.rows is None else _apply(part.rows, column)


def _apply(S: RowMatrix, f: Array) -> Array:
    """S f for one column."""
    up, down = S.positive(f[:, None]), S.negative(f[:, None])
    return (up if down is None else up - down)[:, 0]


def largest_eigenvalue(S: RowMatrix, n: int, *, sure: bool = False) -> float:
    """An upper bound on λ_max(S): a few per cent above it, or `sure`-ly, by row sums of |S|.

    Parameters
    ----------
    S : RowMatrix
    n : int
        Number of rows.
    sure : bool, default=False
    """
    if isinstance(S, Diagonal):
        return float(S.weights.max())
    ones = np.ones((n, 1), S.diagonal().dtype)
    up, down = S.positive(ones), S.negative(ones)
    by_rows = float((up if down is None else up + down).max())
    if sure or n < FEW_ROWS or by_rows == 0:
        return by_rows
    operator = LinearOperator((n, n), matvec=lambda v: _apply(S, v.ravel().astype(ones.dtype)), dtype=np.float64)
    start = np.random.RandomState(0).standard_normal(n)
    found = eigsh(operator, 1, which="LA", v0=start, tol=EIGENVALUE_TOLERANCE, return_eigenvectors=False)
    return min(by_rows, EIGENVALUE_MARGIN * float(found[0]))
