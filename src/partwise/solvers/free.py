"""Factors of either sign: given the other factor, and if no rows are coupled, the best one is known.

The quadratic Σ_i f_i B f_iᵀ − 2 tr(Fᵀ A) then has its minimum at F = A B⁺. For the squared error that is
H = (WᵀW)⁺ WᵀX, and a penalty on the codes that is measured at unit-norm components adds a ridge to WᵀW.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import pinvh

from ..core.objective import Objective
from ..core.state import State
from ..core.types import CODES, COMPONENTS, Array, Factor
from .coordinate import Coordinate
from .gradient import descend
from .multiplicative import Multiplicative, lifted
from .steps import Steps, wanted
from .systems import assemble

# Steps per sweep where rows are coupled, and the share of the first gain at which they end.
STEPS, STEP_TOLERANCE = 20, 1e-2
# Rows with their own curvature that are solved at a time.
ROWS = 1024


def best_free(objective: Objective, state: State, factor: Factor) -> Array:
    """The best factor given the other one; columns of the other that add nothing get zeros.

    Where rows are coupled, it is only an improved one.
    """
    F = state[factor]
    if objective.without_entries():
        A, couplings = objective.quadratic(state, factor)
        return descend(F, A, couplings, STEPS, STEP_TOLERANCE, np.asarray)
    system = assemble(objective.quadratics(state, factor), F)
    if system.coupled:
        A, couplings = objective.quadratic(state, factor)
        return descend(F, A, couplings, STEPS, STEP_TOLERANCE, np.asarray)
    pull, rtol = system.pull(state.product(factor)), F.shape[1] * float(np.finfo(F.dtype).eps)
    if len(system.D) == len(system.weight) == 1:
        gram = (system.B + np.diag(system.D[0])).astype(np.float64)
        return np.asarray(pull @ pinvh(gram, rtol=rtol), F.dtype)
    best = np.empty_like(F)
    for start in range(0, len(F), ROWS):
        rows = slice(start, min(start + ROWS, len(F)))
        weight = system.weight[rows if len(system.weight) > 1 else slice(None), None, None].astype(np.float64)
        grams = weight * system.B + np.eye(F.shape[1]) * system.D[rows if len(system.D) > 1 else slice(None)][:, None]
        best[rows] = (np.linalg.pinv(grams, rcond=rtol, hermitian=True) @ pull[rows, :, None])[..., 0]
    return best


class FreeCoordinate(Coordinate):
    """Codes by coordinate descent with extrapolation, the best components of either sign for them."""

    def _improve_components(self, state: State) -> Steps[State]:
        yield wanted(self._objective, state, COMPONENTS)
        return state.replace(COMPONENTS, best_free(self._objective, state, COMPONENTS))

    def _components_ahead(self, Ht: Array, before: Array) -> Array:
        """They are already the best ones for the extrapolated codes."""
        return Ht


class FreeMultiplicative(Multiplicative):
    """Codes by their multiplicative rule, the best components of either sign for them."""

    def prepare(self, state: State) -> State:
        """Only zeros of the codes would stay zero."""
        return lifted(state, CODES)

    def step(self, state: State, factor: Factor) -> State:
        """The rule, or the best components."""
        if factor == CODES:
            return super().step(state, CODES)
        return state.replace(COMPONENTS, best_free(self._objective, state, COMPONENTS))
