"""Coordinate descent with extrapolation: exact zeros, and far fewer products than the multiplicative rules.

A sweep costs two products with X. Between them, several cheap passes of coordinate descent bring each factor close to
its minimum for the other (`kernels.descent`). Both factors are then extrapolated along their last step (Ang & Gillis
2019); if the objective rises, the sweep is undone and the next one is made without extrapolation, which cannot rise.

The objective of the pair (extrapolated codes, new components) comes for free from the products of the sweep, so that is
the pair that is kept.
"""

from __future__ import annotations

import numpy as np

from ..core.objective import Objective
from ..core.state import State
from ..core.types import CODES, COMPONENTS, Array, Factor
from .point import Point
from .systems import assemble

MAX_PASSES = 8
# A pass that gains less than this share of the first one ends the passes on a row.
PASS_TOLERANCE = 1e-2

BETA_START, BETA_GROWTH, BETA_SHRINK, CEILING_GROWTH = 0.5, 1.05, 1.5, 1.01
# Relative noise of an objective computed from float32 products.
NOISE = {np.dtype(np.float32): 2e-6, np.dtype(np.float64): 0.0}


class Coordinate:
    """The default solver wherever every term has a quadratic form.

    Parameters
    ----------
    objective : Objective
    """

    name = "coordinate"

    def __init__(self, objective: Objective):
        self._objective = objective
        self.stalled = False
        self._beta = BETA_START
        self._ceiling = 1.0
        # Where the next sweep starts, and the factors of the last one before extrapolation. None: at the kept point,
        # with a sweep that is not extrapolated.
        self._ahead: State | None = None
        self._last: dict[Factor, Array] = {}

    def prepare(self, state: State) -> State:
        """Any non-negative start will do."""
        return state

    def sweep(self, point: Point) -> Point:
        """Codes, then components, each extrapolated unless the last sweep was rejected."""
        careful = self._ahead is None
        ahead = point.state if self._ahead is None else self._ahead
        W = self._descend(ahead, CODES)
        candidate = ahead.replace(CODES, W if careful else self._extrapolate(W, CODES))
        Ht = self._descend(candidate, COMPONENTS)
        candidate = candidate.replace(COMPONENTS, Ht)
        new = Point.at(self._objective, candidate)
        noise = NOISE[W.dtype] * max(point.total, candidate.X.squared_norm if NOISE[W.dtype] else 0.0)
        if new.total > point.total + noise:
            self._reject(careful)
            return point
        self.stalled = False
        step_back = point.state.Ht if careful else self._last[COMPONENTS]
        ahead_Ht = np.maximum(Ht + Ht.dtype.type(self._beta) * (Ht - step_back), 0)
        self._ahead = candidate.replace(COMPONENTS, ahead_Ht)
        self._last = {CODES: W, COMPONENTS: Ht}
        if not careful:
            self._beta = min(self._beta * BETA_GROWTH, self._ceiling)
            self._ceiling = min(self._ceiling * CEILING_GROWTH, 1.0)
        return new

    def _descend(self, state: State, factor: Factor) -> Array:
        F = np.array(state[factor], order="C")
        assemble(self._objective.quadratics(state, factor), F).descend(F, MAX_PASSES, PASS_TOLERANCE)
        return F

    def _extrapolate(self, F: Array, factor: Factor) -> Array:
        return np.maximum(F + F.dtype.type(self._beta) * (F - self._last[factor]), 0)

    def _reject(self, careful: bool) -> None:
        """Go back; a plain sweep that does not fall has reached machine precision."""
        self._ahead = None
        if careful:
            self.stalled = True
        else:
            self._ceiling = self._beta
            self._beta /= BETA_SHRINK

    def code(self, state: State, max_passes: int, tolerance: float) -> Array:
        """Codes for fixed components, every row until its own passes gain nothing more."""
        W = np.array(state.W, order="C")
        assemble(self._objective.quadratics(state, CODES), W).descend(W, max_passes, tolerance)
        return W
