"""For what has no entries to sweep: accelerated projected gradient, and codes column by column.

**A factor whose S is a product** (coefficients P with S = K): steps along the gradient S F B − A, projected to F ≥ 0,
with Nesterov's extrapolation and a restart whenever the value would rise (O'Donoghue & Candès 2015). Every entry has a
step of its own: for any u > 0 a symmetric S lies below diag(|S|u / u), and so does B, so their products bound the
curvature. S is applied once per step, because what it does to an extrapolated point is known.

**Codes under orthogonality/2 · ‖WᵀW − I‖²**: with the other columns fixed, column w sees, up to a constant and a
factor 2,

    ½ a ‖w‖² − wᵀc + ¼ β ‖w‖⁴ − ½ β ‖w‖² + ½ β wᵀ M w,   M = Σ_{l≠j} w_l w_lᵀ

The last part lies below its tangent at the present w̃ plus ½ β σ ‖w − w̃‖² with σ ≥ λ_max(M), and so does every S that
couples samples. Then w enters by its norm and by wᵀz alone: its best direction is z⁺/‖z⁺‖, and its norm t the positive
root of β t³ + (a + βσ − β) t − ‖z⁺‖ = 0. No step can rise, and none depends on the order of the samples.

**Scale.** Where the other terms do not change when a column of W is stretched by c_j and that of the components shrunk
by as much, the penalty alone decides: s_j = c_j² minimises the convex quadratic Σ_jl s_j s_l g_jl² − 2 Σ_j s_j g_jj of
the Gram matrix g, which k numbers settle at no cost. Columns would take many sweeps to find their lengths otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..core.dual import KernelMatrix
from ..core.forms import Coupling
from ..core.objective import Objective
from ..core.rows import RowMatrix
from ..core.state import State
from ..core.types import CODES, COMPONENTS, Array, Factor
from .coordinate import Coordinate
from .point import Point, Remembering
from .unit_codes import largest_eigenvalue

# Passes over the columns of the codes, and steps on the components, per sweep.
PASSES, STEPS = 4, 10
# Passes over the entries of the codes per sweep, where these are swept.
ENTRY_PASSES = 8
# A step that gains less than this share of the first one ends the steps on a factor.
STEP_TOLERANCE = 1e-2
# Passes over the lengths of the columns, and the least share of its square that a column keeps in one of them.
STRETCH_PASSES, LEAST_STRETCH = 10, 1e-2
NEWTON_STEPS = 60


class Projected(Remembering):
    """Codes by columns, or entry by entry where nothing asks them to be orthogonal; components by projected gradient.

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
        self._bounds: dict[int, float] = {}
        self._coordinate = Coordinate(objective)
        self._started = False
        self.stalled = False

    def prepare(self, state: State) -> State:
        """Any non-negative start will do."""
        return state

    def sweep(self, point: Point) -> Point:
        """Codes, then components. Codes that met components unfit for them would vanish, so the first fit theirs."""
        state = point.state if self._started else self._descend_components(point.state)
        self._started = True
        state = state.replace(CODES, self._descend_codes(state))
        if self._beta and self._scale_free:
            state = _stretched(state, _best_stretch(state.gram(CODES)))
        new = Point.at(self._objective, self._descend_components(state))
        # The steps do not rise; what is left is rounding.
        self.stalled = new.total >= point.total
        return point if self.stalled else new

    def _descend_codes(self, state: State) -> Array:
        if not self._beta and not self._objective.without_entries():
            return self._coordinate.descend(state, CODES, ENTRY_PASSES)
        return self._sweep_columns(state.W, *self._quadratic(state, CODES))

    def _descend_components(self, state: State) -> State:
        A, couplings = self._quadratic(state, COMPONENTS)
        return state.replace(COMPONENTS, descend(state[COMPONENTS], A, couplings, STEPS, STEP_TOLERANCE))

    def _quadratic(self, state: State, factor: Factor) -> tuple[Array, list[Coupling]]:
        """A and all couplings of the factor's quadratic."""
        A = np.zeros_like(state[factor])
        couplings: list[Coupling] = []
        for term in self._objective.terms:
            part = None if term.orthogonality else term.quadratic(state, factor)
            if part is None:
                continue
            attract, repel = part.linear(lambda: state.product(factor))
            if attract is not None:
                A += attract
            if repel is not None:
                A -= repel
            couplings.extend(part.couplings)
        return A, couplings

    def _sweep_columns(self, W: Array, A: Array, couplings: Sequence[Coupling]) -> Array:
        W = np.array(W, order="F")
        plain = sum((_full(part.gram) for part in couplings if part.rows is None), start=np.zeros((W.shape[1],) * 2))
        coupled = [part for part in couplings if part.rows is not None]
        beta = self._beta
        gram = (W.T @ W).astype(np.float64)
        for _ in range(PASSES):
            for j in range(W.shape[1]):
                crowd = _crowd(gram, j)
                # All that is linear in the columns: this one's own square is handled by its norm.
                mix = plain[:, j] + beta * gram[:, j]
                mix[j] -= plain[j, j] + beta * gram[j, j] + beta * crowd
                z = A[:, j] - W @ mix.astype(W.dtype)
                curvature = plain[j, j] + beta * crowd
                for part in coupled:
                    bound = self._bound(part.rows, len(W)) * _full(part.gram)[j, j]
                    z += bound * W[:, j] - _column(part, W, j)
                    curvature += bound
                W[:, j] = _best_column(z, W[:, j], curvature - beta, beta)
                gram[j] = gram[:, j] = W.T @ W[:, j]
        return np.ascontiguousarray(W)

    def _bound(self, S: RowMatrix | None, n: int) -> float:
        """σ ≥ λ_max(S)."""
        if S is None:
            return 1.0
        if id(S) not in self._bounds:
            self._bounds[id(S)] = largest_eigenvalue(S, n, sure=True)
        return self._bounds[id(S)]


def descend(F: Array, A: Array, couplings: Sequence[Coupling], max_steps: int, tolerance: float) -> Array:
    """Lower Σ_t tr(Fᵀ S_t F B_t) − 2 tr(Fᵀ A) over F ≥ 0 by accelerated projected gradient.

    Parameters
    ----------
    F : ndarray of shape (rows, k)
        Where to start; not changed.
    A : ndarray of shape (rows, k)
    couplings : sequence of Coupling
    max_steps : int
    tolerance : float
        Stop when a step gains less than this share of the first one.
    """
    inverse = _inverse_curvature(couplings, F)

    def apply(F: Array) -> Array:
        """Σ_t S_t F B_t."""
        return np.asarray(sum(_product(part, F) for part in couplings))

    def value(F: Array, QF: Array) -> float:
        return float(np.einsum("ij,ij->", F, QF - 2 * A, dtype=np.float64, casting="safe"))

    QF = apply(F)
    lowest, first = value(F, QF), None
    ahead, Q_ahead, speed = F, QF, 1.0
    for _ in range(max_steps):
        new = np.maximum(ahead - inverse * (Q_ahead - A), 0)
        Q_new = apply(new)
        gain = lowest - value(new, Q_new)
        if gain <= 0:
            if ahead is F:
                break
            ahead, Q_ahead, speed = F, QF, 1.0
            continue
        first = gain if first is None else first
        faster = (1 + np.sqrt(1 + 4 * speed * speed)) / 2
        push = F.dtype.type((speed - 1) / faster)
        ahead, Q_ahead, speed = new + push * (new - F), Q_new + push * (Q_new - QF), faster
        F, QF, lowest = new, Q_new, lowest - gain
        if gain < tolerance * first:
            break
    return F


def _inverse_curvature(couplings: Sequence[Coupling], F: Array) -> Array:
    """1 / Σ_t diag(|S_t|u/u) diag(|B_t|v/v), zero where nothing is curved."""
    curvature = np.zeros(F.shape)
    for part in couplings:
        B = np.abs(_full(part.gram)).astype(np.float64)
        columns = _scaled_sums(B.diagonal(), B.__matmul__)
        curvature += np.multiply.outer(_row_curvature(part.rows, F), columns)
    return np.divide(1, curvature, out=np.zeros_like(curvature), where=curvature > 0).astype(F.dtype)


def _scaled_sums(diagonal: Array, times: Callable[[Array], Array]) -> Array:
    """|S|u / u for u = 1/√diagonal; rows without a diagonal are empty."""
    lengths = np.sqrt(np.asarray(diagonal, np.float64))
    u = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return np.asarray(times(u), np.float64).ravel() * lengths


def _row_curvature(S: RowMatrix | None, F: Array) -> Array:
    if S is None:
        return np.ones(len(F))

    def times(u: Array) -> Array:
        u = u[:, None].astype(F.dtype)
        up, down = S.positive(u), S.negative(u)
        return up if down is None else up + down

    return _scaled_sums(S.diagonal(), times)


def _full(gram: Array) -> Array:
    return np.diag(gram) if gram.ndim == 1 else gram


def _product(part: Coupling, F: Array) -> Array:
    """S F B."""
    FB = F * part.gram if part.gram.ndim == 1 else F @ part.gram
    if part.rows is None:
        return FB
    if isinstance(part.rows, KernelMatrix):
        return part.rows.dot(FB)
    up, down = part.rows.positive(FB), part.rows.negative(FB)
    return up if down is None else up - down


def _column(part: Coupling, F: Array, j: int) -> Array:
    """Column j of S F B."""
    narrow = Coupling(np.ones(1, F.dtype), part.rows)
    return _product(narrow, (F @ _full(part.gram)[:, [j]]))[:, 0]


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
