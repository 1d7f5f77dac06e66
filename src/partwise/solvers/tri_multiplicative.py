"""The multiplicative rules of three factors, as Ding et al. (2006) print them."""

from __future__ import annotations

import numpy as np

from ..core.forms import Split
from ..core.objective import Objective
from ..core.state import State
from ..core.tri import TriState
from ..core.types import CODES, COMPONENTS
from .multiplicative import Multiplicative, ratio
from .point import Point
from .steps import Steps, wanted

ROOT = 0.5


class TriMultiplicative(Multiplicative):
    """F, then G, then S, every ratio under a square root.

    Parameters
    ----------
    objective : Objective
    """

    def __init__(self, objective: Objective):
        super().__init__(objective, {CODES: ROOT, COMPONENTS: ROOT})

    def steps(self, point: Point) -> Steps[Point]:
        """F and G by their halves, S ← S ∘ √(FᵀXG / FᵀF S GᵀG)."""
        state: State = point.state
        for factor in (CODES, COMPONENTS):
            yield wanted(self._objective, state, factor)
            state = self.step(state, factor)
        if not isinstance(state, TriState):
            raise TypeError("These rules are for three factors, X ≈ F S Gᵀ; the state has two.")
        S = state.S
        energy = state.gram(CODES) @ S @ state.gram(COMPONENTS)
        split = Split(up={1: energy}, down={0: np.maximum(state.blocks(), 0)})
        return Point.at(self._objective, state.joined(S * ratio(split, S, ROOT)))
