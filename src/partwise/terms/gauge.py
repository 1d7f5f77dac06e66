"""Scale as part of the model: a penalty that rescaling between W and H cannot evade.

The fit sees only the product W H. A penalty on W alone therefore vanishes if W shrinks and H grows. Measuring it where
the other factor has columns of unit norm removes that freedom: with c_j = ‖h_j‖,

    penalty(W diag(c)) = Σ_j c_jᵈ penalty_j(w_j),   d its degree

is minimised exactly, with no constraint and no renormalisation in between. The codes see the penalty with strength
c_jᵈ; the components see penalty_j(w_j) as a ridge: c_j² p_j already is one, and c_j p_j lies below
(c_j² / c̃_j + c̃_j) p_j / 2 and touches it at the present c̃_j.
"""

from __future__ import annotations

import numpy as np

from ..core.forms import Coupling, Quadratic
from ..core.state import State
from ..core.term import BoundPenalty, BoundTerm, Term
from ..core.types import OTHER, Array, Factor


class Gauged(BoundTerm):
    """A penalty on one factor, measured where the other has unit-norm columns.

    Parameters
    ----------
    penalty : BoundPenalty
    """

    def __init__(self, penalty: BoundPenalty):
        self.penalty = penalty
        self.name = penalty.name
        self.offers_entries = penalty.offers_entries
        self.from_residuals = penalty.from_residuals

    def value(self, state: State) -> float:
        """Σ_j c_jᵈ penalty_j."""
        return float(self._column_values(state) @ self._norms(state) ** self.penalty.degree)

    def _norms(self, state: State) -> Array:
        """c_j."""
        return state.norms(OTHER[self.penalty.factor])

    def _column_values(self, state: State) -> Array:
        own = self.penalty.factor
        key = ("column values", self)
        return state.recall(key, own, lambda: self.penalty.column_values(state[own]))

    def quadratic(self, state: State, factor: Factor) -> Quadratic:
        """For its own factor the penalty's form, scaled by columns; for the other a ridge."""
        own, degree = self.penalty.factor, self.penalty.degree
        norms = self._norms(state)
        dtype = state[own].dtype
        if factor == own:
            form = self.penalty.form(state[own])
            scale = (norms**degree).astype(dtype)
            return Quadratic(
                attract=None if form.attract is None else form.attract * scale,
                repel=None if form.repel is None else form.repel * scale,
                couplings=tuple(Coupling(part.gram * scale, part.rows) for part in form.couplings),
            )
        ridge = self._column_values(state)
        if degree == 1:
            # A column at zero would need an infinite ridge; one of the size of rounding errors does as well.
            ridge = ridge / (2 * np.maximum(norms, np.finfo(dtype).eps * (norms.mean() or 1.0)))
        return Quadratic(couplings=(Coupling(ridge.astype(dtype), state.metric(factor)),))

    def counts_entries(self, factor: Factor) -> bool:
        """As its penalty."""
        return self.penalty.counts_entries(factor)

    def for_new(self, state: State) -> Term | None:
        """A fit ends with components of unit norm, so new codes see the penalty as it is written."""
        return self.penalty.for_new(state)
