"""Multiplicative rules: F ← F ∘ r, as in the papers.

Every entry is multiplied by the ratio r that minimises a separable majoriser of the objective (`core.forms.Split`).
For convex quadratics that is r = N / P, as in the papers. It falls for every convex quadratic and every non-negative
split Q = Q₁ − Q₂: with K = diag(Q₁f / f) the decrease is δᵀ(2K − Q)δ, and 2K − Q = (K − Q₁) + (K + Q₂) ⪰ 0.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..core.domains import Simplex
from ..core.fixed import Fixed, rest_of
from ..core.forms import Split
from ..core.objective import Objective
from ..core.state import State
from ..core.types import CODES, FACTORS, Array, Factor
from .multipliers import on_simplex
from .point import Point, Remembering, entered
from .steps import Steps, wanted

# Zeros of the start would stay zero for ever; this share of the factor's mean lets them grow.
START_FLOOR = 1e-3
# Entries below the smallest number to this power, relative to the largest entry, are set to zero.
DUST = 0.75


class Multiplicative(Remembering):
    """The reference solver: works for every term, converges slowly, never reaches exact zeros.

    Parameters
    ----------
    objective : Objective
    powers : dict of factor to float, optional
        Use (N / P)^power, as a paper prints its rule for a factor, instead of the step that provably descends.
    """

    name = "multiplicative"
    reaches_optimum = False

    def __init__(self, objective: Objective, powers: Mapping[Factor, float] | None = None):
        self._objective = objective
        self._powers = powers or {}

    def prepare(self, state: State) -> State:
        """Lift zeros of the start, which no multiplication could leave, and bring it into the domains."""
        for factor in FACTORS:
            state = lifted(state, factor)
        return entered(self._objective, state)

    def steps(self, point: Point) -> Steps[Point]:
        """Codes, then components."""
        state = point.state
        for factor in FACTORS:
            yield wanted(self._objective, state, factor)
            state = self.step(state, factor)
        return Point.at(self._objective, state)

    def step(self, state: State, factor: Factor) -> State:
        """The state with one factor improved."""
        F, split, domain = state[factor], self._objective.split(state, factor), self._objective.domains[factor]
        if isinstance(rest_of(domain), Simplex):
            new = on_simplex(split, F, Simplex.axis(factor))
        else:
            new = F * ratio(split, F, self._powers.get(factor))
        new = without_dust(new)
        # The majoriser is a sum over entries: fixed ones do not keep the others from their minimum.
        return state.replace(factor, domain.put(new, factor) if isinstance(domain, Fixed) else new)

    def code(self, state: State, max_passes: int, tolerance: float) -> Array:
        """Codes for fixed components, each row until its own change is small."""
        active = np.ones(len(state.W), bool)
        for _ in range(max_passes):
            old = state.W
            stepped = self.step(state, CODES).W
            new = np.where(active[:, None], stepped, old)
            change = np.abs(new - old).max(axis=1)
            active &= change > tolerance * np.maximum(new.max(axis=1), np.finfo(new.dtype).tiny)
            state = state.replace(CODES, new)
            if not active.any():
                break
        return state.W


def without_dust(F: Array) -> Array:
    """F, changed in place, with zeros for negligible entries, which would soon slow arithmetic down.

    The limit is relative, so that it does not depend on the unit of the data, and still above subnormal numbers.
    """
    tiny = float(np.finfo(F.dtype).tiny)
    limit = max(tiny**DUST * float(F.max(initial=0.0)), tiny)
    F[limit > F] = 0
    return F


def lifted(state: State, factor: Factor) -> State:
    """The state with a share of the factor's mean in place of its zeros."""
    F = state[factor]
    if (F > 0).all():
        return state
    floor = F.dtype.type(START_FLOOR * max(float(F.mean(dtype=np.float64)), np.finfo(F.dtype).tiny))
    return state.replace(factor, np.where(F > 0, F, floor))


def ratio(split: Split, F: Array, power: float | None = None) -> Array:
    """The factor r ≥ 0 by which every entry is multiplied; a given power is that of N / P."""
    if power is not None:
        return _root(*split.halves(), F, power)
    if split.quadratic:
        N, P = split.halves()
        return _root(N, P, F)
    up, down = split.up, split.down
    powers = set(up) | set(down)
    if powers <= {-1, 0, 1}:
        linear = np.asarray(up.get(0, 0.0)) - down.get(0, 0.0)
        if 1 not in up:
            return _root(np.asarray(down.get(-1, 0.0)), linear, F)
        return _quadratic_root(np.asarray(up.get(1, 0.0)), linear, np.asarray(down.get(-1, 0.0)), F)
    # Young's inequality raises every part of P to the highest power and lowers every part of N to the lowest one: the
    # result is still a majoriser, and its minimum has a closed form.
    N, P = split.halves()
    return _root(N, P, F, 1.0 / (max(up) - min(down)))


def _root(N: Array | float, P: Array | float, F: Array, exponent: float = 1.0) -> Array:
    """(N / P)^exponent, zero where nothing attracts the entry."""
    N, P = np.broadcast_to(N, F.shape), np.broadcast_to(P, F.shape)
    r = np.divide(N, P, out=np.zeros_like(F), where=(N > 0) & (P > 0))
    return r if exponent == 1 else np.asarray(r ** F.dtype.type(exponent))


def _quadratic_root(a: Array, b: Array, c: Array, F: Array) -> Array:
    """The positive root of a r² + b r − c = 0 with a, c ≥ 0, without cancellation."""
    a, b, c = (np.broadcast_to(part, F.shape) for part in (a, b, c))
    root = np.sqrt(b * b + 4 * a * c)
    from_above = np.divide(2 * c, b + root, out=np.zeros_like(F), where=(b >= 0) & (b + root > 0))
    return np.divide(root - b, 2 * a, out=from_above, where=(b < 0) & (a > 0))
