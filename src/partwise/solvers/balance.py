"""The scale between the factors where both are penalised: columns move to where their penalties are least.

Stretching a column of the codes by c and shrinking that of the components by as much leaves the fit unchanged, but not
the penalties. Sweeps improve one factor at a time, so they find the best c slowly where the penalties are small next to
the fit. Its first-order condition is

    log Σ_p p a_p c^p = log Σ_p p b_p c^(−p),   p = 1, 2,

with a_p and b_p the penalties of degree p on the column of the codes and of the components.
"""

from __future__ import annotations

import numpy as np

from ..core.objective import Objective
from ..core.state import State
from ..core.term import BoundPenalty
from ..core.types import COMPONENTS, FACTORS, Array
from .scale import rescaled

# Columns nearer to their best scale stay as they are: their penalties would fall by less than the square of this share.
NEAR = 1e-3


class Balance:
    """Finds the scale where penalties on the codes and on the components are all that depends on it.

    Parameters
    ----------
    objective : Objective
    """

    def __init__(self, objective: Objective):
        self._domains = objective.domains
        self._penalties = [term for term in objective.terms if isinstance(term, BoundPenalty)]
        others_are_free = all(isinstance(term, BoundPenalty) or term.scale_free for term in objective.terms)
        self._is_open = others_are_free and {term.factor for term in self._penalties} == set(FACTORS)

    def lengths(self, state: State) -> Array | None:
        """By how much to shrink the columns of the components; None if all are near enough to their best scale.

        A step is exact where the penalties on each factor have one degree, and too short otherwise.
        """
        if not self._is_open:
            return None
        slopes, degrees = [], []
        for factor in FACTORS:
            own = [term for term in self._penalties if term.factor == factor]
            slopes.append(sum(term.degree * term.column_values(state[factor]) for term in own))
            degrees.append(max(term.degree for term in own))
        a, b = slopes
        # A quotient does not depend on the unit of X, to the last digit.
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            quotients = b / a
        movable = np.isfinite(quotients) & (quotients > 0)
        for factor in FACTORS:
            movable &= self._domains[factor].stretchable(state[factor], factor)
        steps = np.log(np.where(movable, quotients, 1)) / sum(degrees)
        far = np.abs(steps) > NEAR
        return np.exp(np.where(far, steps, 0)) if far.any() else None

    def balanced(self, state: State) -> State:
        """The state with its columns at that scale; itself if they are there."""
        lengths = self.lengths(state)
        return state if lengths is None else rescaled(state, COMPONENTS, lengths)
