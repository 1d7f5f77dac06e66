"""For factors without entries to sweep: accelerated projected gradient, and codes column by column.

**A factor whose S is a product** (coefficients P with S = K): steps along its gradient (`solvers.gradient`).

**Codes under orthogonality/2 · ‖WᵀW − I‖²**: with the other columns fixed, column w sees, up to a constant and a
factor 2,

    ½ a ‖w‖² − wᵀc + ¼ β ‖w‖⁴ − ½ β ‖w‖² + ½ β wᵀ M w,   M = Σ_{l≠j} w_l w_lᵀ

The last part lies below its tangent at the present w̃ plus ½ β σ ‖w − w̃‖² with σ ≥ λ_max(M), and so does every S that
couples samples. Then only the norm of w and wᵀz matter: the best direction is z⁺/‖z⁺‖, and the norm t is the positive
root of β t³ + (a + βσ − β) t − ‖z⁺‖ = 0. No step can rise, and none depends on the order of the samples.

**Scale.** Where the other terms do not change when a column of W is stretched by c_j and that of the components shrunk
by as much, the penalty alone decides: s_j = c_j² minimises the convex quadratic Σ_jl s_j s_l g_jl² − 2 Σ_j s_j g_jj of
the Gram matrix g, which k numbers settle at no cost. Otherwise columns would take many sweeps to find their lengths.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.forms import Coupling
from ..core.objective import Objective
from ..core.state import State
from ..core.types import CODES, COMPONENTS, Array
from .coordinate import Coordinate
from .eigenvalues import Bounds
from .gradient import descend
from .point import Point, Remembering

# Passes over the columns of the codes, and steps on the components, per sweep.
PASSES, STEPS = 4, 10
# Passes over the entries of the codes per sweep, if these are swept.
ENTRY_PASSES = 8
# Steps on a factor end when one gains less than this share of the first.
STEP_TOLERANCE = 1e-2
# Passes over the lengths of the columns, and the least share of its square that a column keeps in one of them.
STRETCH_PASSES, LEAST_STRETCH = 10, 1e-2
NEWTON_STEPS = 60


class Projected(Remembering):
    """Codes by columns, or entry by entry if they need not be orthogonal; components by projected gradient.

    Every term must be a quadratic of each factor, or the orthogonality penalty.

    Parameters
    ----------
    objective : Objective
    """

    name = "projected gradient"
    remembers = ("stalled", "_started")

    def __init__(self, objective: Objective):
        self._objective = objective
        self._beta = sum(term.orthogonality for term in objective.terms)
        self._scale_free = all(term.scale_free or term.orthogonality for term in objective.terms)
        self._bounds = Bounds(sure=True)
        self._coordinate = Coordinate(objective)
        self._started = False
        self.stalled = False

    def prepare(self, state: State) -> State:
        """Any non-negative start is suitable."""
        return state

    def sweep(self, point: Point) -> Point:
        """Codes, then components. With unsuitable components the codes would vanish, so the first sweep fits these."""
        state = point.state if self._started else self._descend_components(point.state)
        self._started = True
        state = state.replace(CODES, self._descend_codes(state))
        if self._beta and self._scale_free:
            state = _stretched(state, _best_stretch(state.gram(CODES)))
        new = Point.at(self._objective, self._descend_components(state))
        # The steps do not rise; any rise is rounding.
        self.stalled = new.total >= point.total
        return point if self.stalled else new

    def _descend_codes(self, state: State) -> Array:
        if not self._beta and not self._objective.without_entries():
            return self._coordinate.descend(state, CODES, ENTRY_PASSES)
        return self._sweep_columns(state.W, *self._objective.quadratic(state, CODES))

    def _descend_components(self, state: State) -> State:
        A, couplings = self._objective.quadratic(state, COMPONENTS)
        return state.replace(COMPONENTS, descend(state[COMPONENTS], A, couplings, STEPS, STEP_TOLERANCE))

    def _sweep_columns(self, W: Array, A: Array, couplings: Sequence[Coupling]) -> Array:
        W = np.array(W, order="F")
        plain = sum((part.full_gram for part in couplings if part.rows is None), start=np.zeros((W.shape[1],) * 2))
        coupled = [part for part in couplings if part.rows is not None]
        beta = self._beta
        gram = (W.T @ W).astype(np.float64)
        for _ in range(PASSES):
            for j in range(W.shape[1]):
                crowd = _crowd(gram, j)
                # All parts linear in the columns: this one's own square is handled by its norm.
                mix = plain[:, j] + beta * gram[:, j]
                mix[j] -= plain[j, j] + beta * gram[j, j] + beta * crowd
                z = A[:, j] - W @ mix.astype(W.dtype)
                curvature = plain[j, j] + beta * crowd
                for part in coupled:
                    bound = self._bounds.of(part.rows, len(W)) * part.curvatures[j]
                    z += bound * W[:, j] - part.column(W, j)
                    curvature += bound
                W[:, j] = _best_column(z, W[:, j], curvature - beta, beta)
                gram[j] = gram[:, j] = W.T @ W[:, j]
        return np.ascontiguousarray(W)


def _stretched(state: State, stretch: Array) -> State:
    """Columns of the codes stretched, and those of the components shrunk by as much."""
    stretch = stretch.astype(state.W.dtype)
    return state.replace(CODES, state.W * stretch).replace(COMPONENTS, state[COMPONENTS] / stretch)


def _best_stretch(gram: Array) -> Array:
    """The c > 0 for which diag(c) gram diag(c) comes closest to the identity; empty columns stay as they are."""
    gram = gram.astype(np.float64)
    squares, own = gram * gram, gram.diagonal()
    used = np.flatnonzero(own > 0)
    s = np.ones(len(own))
    for _ in range(STRETCH_PASSES):
        for j in used:
            pull = own[j] - squares[j] @ s + squares[j, j] * s[j]
            s[j] = max(pull / squares[j, j], LEAST_STRETCH * s[j])
    return np.sqrt(s)


def _best_column(z: Array, w: Array, curvature: float, beta: float) -> Array:
    """The w ≥ 0 that minimises ½ curvature ‖w‖² + ¼ beta ‖w‖⁴ − wᵀz; the present one if nothing bounds it."""
    up = np.maximum(z, 0)
    slope = float(np.sqrt(np.einsum("i,i->", up, up, dtype=np.float64)))
    if slope > 0:
        direction = up / w.dtype.type(slope)
    else:
        direction = np.zeros_like(w)
        best = int(np.argmax(z))
        direction[best], slope = 1, float(z[best])
    norm = _best_norm(curvature, slope, beta)
    return w if norm is None else w.dtype.type(norm) * direction


def _crowd(gram: Array, j: int) -> float:
    """A bound on the largest eigenvalue of the Gram matrix without column j: its entries are not negative."""
    sums = gram.sum(axis=1) - gram[:, j]
    sums[j] = 0
    return float(sums.max())


def _best_norm(curvature: float, slope: float, beta: float) -> float | None:
    """The t ≥ 0 that minimises ½ curvature t² + ¼ beta t⁴ − slope t; None if there is none."""
    if beta == 0:
        if curvature > 0:
            return max(slope, 0.0) / curvature
        return None if slope >= 0 else 0.0
    # The largest root of t³ + p t − q = 0, by Newton's method from above, where the cubic is convex.
    p, q = curvature / beta, slope / beta
    if p >= 0 and q <= 0:
        return 0.0
    t = max(-p, 0.0) ** 0.5 + max(q, 0.0) ** (1 / 3)
    for _ in range(NEWTON_STEPS):
        rise = t * (t * t + p) - q
        steepness = 3 * t * t + p
        if rise <= 0 or steepness <= 0:
            break
        t -= rise / steepness
    # Where the slope is negative there may be no root, or one that is worse than zero.
    return t if q > 0 or t * (t * (p / 2 + t * t / 4) - q) < 0 else 0.0
