"""Multiplicative rules for components that sum to one: the steps of expectation–maximisation.

For a fit −Σ x ln(WH) with Σ_f h_jf = 1, the tangent majoriser in the components is −Σ h̃_jf N_jf ln h_jf, N the half of
the gradient that attracts, and its minimum on the simplex is h_jf ∝ h̃_jf N_jf. What repels the entries of a component
equally is constant there and plays no part.
"""

from __future__ import annotations

from ..core.state import State
from ..core.types import COMPONENTS
from .multiplicative import Multiplicative, without_dust
from .point import Point, entered


class UnitSums(Multiplicative):
    """The multiplicative solver with components kept on the simplex.

    Every term must repel the entries of one component equally, as the Kullback–Leibler divergence does.

    Parameters
    ----------
    objective : Objective
    """

    def prepare(self, state: State) -> State:
        """Move the sums of the components into the codes."""
        return entered(self._objective, super().prepare(state))

    def sweep(self, point: Point) -> Point:
        """Codes by their ratio, then components on the simplex."""
        state = self.step_codes(point.state)
        attract, _ = self._objective.split(state, COMPONENTS).halves()
        Ht, _ = self._objective.domains[COMPONENTS].entered(state.Ht * attract, COMPONENTS)
        return Point.at(self._objective, state.replace(COMPONENTS, without_dust(Ht)))
