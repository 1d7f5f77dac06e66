"""Column by column, each set to the best one of a set.

With all other columns fixed, a column f of the factor sees β fᵀ S f − 2 fᵀ b. For σ ≥ λ_max(S) that lies below
βσ ‖f − z‖² + const, with z = f̃ + (b − β S f̃) / (βσ), and touches it at the present f̃. The best column of any set, even
one that is not convex, is therefore the projection of z onto it, and the objective cannot rise. Where S is the identity
the step is the exact minimum.
"""

from __future__ import annotations

import numpy as np

from ..core.fixed import rest_of
from ..core.objective import Objective
from ..core.state import State
from ..core.types import Factor
from .eigenvalues import Bounds

# Passes over the columns of a factor per product with X; where rows are coupled, a step is not the exact minimum.
PASSES, COUPLED_PASSES = 4, 8


def step_columns(objective: Objective, state: State, factor: Factor, bounds: Bounds) -> State:
    """Passes over the columns of a factor.

    Parameters
    ----------
    objective : Objective
        All its terms must have a quadratic.
    state : State
    factor : {"codes", "components"}
        Its domain must be one of single columns.
    bounds : Bounds
    """
    rest, n_held = rest_of(objective.domains[factor]), objective.domains[factor].n_held(factor)
    A, couplings = objective.quadratic(state, factor)
    F = state[factor].copy()
    curvatures = bounds.curvatures(couplings, F).astype(F.dtype)
    # A column without curvature, because the other factor does not use it, stays as it is.
    curved = [j for j in np.flatnonzero(curvatures > 0).tolist() if j >= n_held]
    coupled = any(part.rows is not None for part in couplings)
    for _ in range(COUPLED_PASSES if coupled else PASSES):
        for j in curved:
            z = F[:, j] + A[:, j] / curvatures[j]
            for part in couplings:
                z -= part.column(F, j) / curvatures[j]
            F[:, j] = rest.project(z[:, None], factor)[:, 0]
    return state.replace(factor, F)
