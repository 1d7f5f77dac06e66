"""Multiplicative rules for components that sum to one: the steps of expectation–maximisation.

For a fit −Σ x ln(WH) with Σ_f h_jf = 1, the tangent majoriser in the components is −Σ h̃_jf N_jf ln h_jf, N the half of
the gradient that attracts, and its minimum on the simplex is h_jf ∝ h̃_jf N_jf. What repels the entries of a component
equally is constant there and plays no part.
"""

from __future__ import annotations

import numpy as np

from ..core.state import State
from ..core.types import COMPONENTS, Array
from .multiplicative import Multiplicative, without_dust
from .point import Point


class UnitSums(Multiplicative):
    """The multiplicative solver with components kept on the simplex.

    Every term must repel the entries of one component equally, as the Kullback–Leibler divergence does.

    Parameters
    ----------
    objective : Objective
    """

    def prepare(self, state: State) -> State:
        """Move the sums of the components into the codes."""
        state = super().prepare(state)
        sums = state.Ht.sum(axis=0)
        return State(state.X, state.W * sums, _on_simplex(state.Ht))

    def sweep(self, point: Point) -> Point:
        """Codes by their ratio, then components on the simplex."""
        state = self.step_codes(point.state)
        attract, _ = self._objective.split(state, COMPONENTS).halves()
        return Point.at(self._objective, state.replace(COMPONENTS, _on_simplex(state.Ht * attract)))


def _on_simplex(Ht: Array) -> Array:
    """Columns that sum to one; a column of zeros, which nothing attracts, becomes uniform."""
    sums = Ht.sum(axis=0)
    uniform = Ht.dtype.type(1 / len(Ht))
    scaled = np.where(sums > 0, Ht / np.where(sums > 0, sums, 1), uniform)
    return without_dust(np.asarray(scaled))
