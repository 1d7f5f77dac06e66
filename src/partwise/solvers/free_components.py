"""Components of either sign: the least-squares solution for the codes, H = (WᵀW)⁺ WᵀX, in every sweep.

The codes are found as always, so both solvers keep their own kind of step for them.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import pinvh

from ..core.state import State
from ..core.types import CODES, COMPONENTS, Array, Factor
from .coordinate import Coordinate
from .multiplicative import Multiplicative, lifted


def least_squares(state: State) -> Array:
    """Hᵀ = XᵀW (WᵀW)⁺, samples counted by their weights; columns of the codes that add nothing get nothing."""
    W = state.W.astype(np.float64, copy=False)
    weight = state.X.sample_weight
    gram = W.T @ (W if weight is None else weight[:, None] * W)
    inverse = pinvh(gram, rtol=len(gram) * np.finfo(state.W.dtype).eps)
    return np.asarray(state.product(COMPONENTS) @ inverse, state.W.dtype)


class FreeCoordinate(Coordinate):
    """Codes by coordinate descent with extrapolation, components by least squares."""

    def _descend_components(self, state: State) -> Array:
        return least_squares(state)

    def _components_ahead(self, Ht: Array, before: Array) -> Array:
        """They already are the best ones for codes that were extrapolated."""
        return Ht


class FreeMultiplicative(Multiplicative):
    """Codes by their multiplicative rule, components by least squares."""

    def prepare(self, state: State) -> State:
        """Only zeros of the codes would stay."""
        return lifted(state, CODES)

    def _step(self, state: State, factor: Factor) -> State:
        if factor == CODES:
            return super()._step(state, CODES)
        return state.replace(COMPONENTS, least_squares(state))
