"""Column by column, each to its exact minimum in a set that is closed under stretching.

With all other columns fixed, a quadratic whose S is the identity (or the sample weights) sees column j only through its
distance from a point: B_jj ‖f_j − z_j‖² + const. The best column of any set is therefore the projection of z_j onto it,
even if the set is not convex, and the objective cannot rise.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ..core.domains import Sparse
from ..core.objective import Objective
from ..core.projections import onto_nonnegative, onto_sparseness
from ..core.state import State
from ..core.types import FACTORS, Array, Factor
from .point import Point, Remembering, entered
from .systems import assemble

# Passes over the columns of a factor per product with X.
PASSES = 4


class Columns(Remembering):
    """Minimise over factors whose columns have a given sparseness, or are non-negative and nothing else.

    Parameters
    ----------
    objective : Objective
        Its terms must be quadratic and may not link rows.
    """

    name = "columns"
    stalled = False

    def __init__(self, objective: Objective):
        self._objective = objective

    def prepare(self, state: State) -> State:
        """Project the start."""
        return entered(self._objective, state)

    def sweep(self, point: Point) -> Point:
        """Codes, then components."""
        state = point.state
        for factor in FACTORS:
            state = state.replace(factor, self._descend(state, factor))
        return Point.at(self._objective, state)

    def _descend(self, state: State, factor: Factor) -> Array:
        domain = self._objective.domains[factor]
        project = (
            partial(onto_sparseness, sparseness=domain.sparseness) if isinstance(domain, Sparse) else onto_nonnegative
        )
        F = state[factor].copy()
        system = assemble(self._objective.quadratics(state, factor), F)
        if system.coupled or len(system.D) > 1:
            raise NotImplementedError("The columns solver takes terms that curve all rows of a factor alike.")
        A = system.pull(state.product(factor))
        # A row of weight zero is seen by nothing: it stays where it is.
        weight = system.weight[:, None]
        A = np.divide(A, weight, out=np.zeros_like(A), where=weight > 0)
        B = system.B + np.diag(system.D[0])
        for _ in range(PASSES):
            for j in np.flatnonzero(B.diagonal() > 0):
                F[:, j] = project(F[:, j] + (A[:, j] - F @ B[:, j]) / B[j, j])
        return F
