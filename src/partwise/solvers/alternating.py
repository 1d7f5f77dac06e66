"""Codes, then components, each with the step that suits its domain; none can raise the objective.

| what the factor may be              | its step                                                           |
|-------------------------------------|--------------------------------------------------------------------|
| non-negative                        | coordinate descent; projected gradient if S is only applied        |
| of either sign                      | the best one, in closed form; gradient steps if rows are coupled   |
| codes that sum to one               | projected gradient                                                 |
| unit norm, sparse, sums of one      | column by column, each projected                                   |
| fixed entries                       | projected gradient                                                 |
| one entry in every row              | row by row, the best of all columns                                |
| rank one                            | coordinate descent on the vectors of each axis                     |
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ..core.domains import Free, NonNegative, OneEntry, RankOne, Simplex
from ..core.fixed import Fixed
from ..core.objective import Objective
from ..core.state import State
from ..core.types import CODES, FACTORS, Array, Factor
from .columns import step_columns
from .coordinate import Coordinate
from .eigenvalues import Bounds
from .free import best_free
from .gradient import descend
from .modes import step_modes
from .one_entry import step_rows
from .point import Point, Remembering, entered
from .steps import Steps, wanted

# Projected steps per product with X, and the share of the first gain at which they end.
STEPS, STEP_TOLERANCE = 20, 1e-2


class Alternating(Remembering):
    """For every domain; all terms must be quadratics of each factor.

    Parameters
    ----------
    objective : Objective
    """

    name = "alternating"
    # Bounds are recomputed on resuming: the same S gives the same ones.
    remembers = ("stalled", "_sure")

    def __init__(self, objective: Objective):
        self._objective = objective
        self._coordinate = Coordinate(objective)
        self._bounds = Bounds()
        # Whether eigenvalues are bounded by row sums: always sufficient, but slower.
        self._sure = False
        self.stalled = False

    def prepare(self, state: State) -> State:
        """Bring the start into the domains."""
        return entered(self._objective, state)

    def steps(self, point: Point) -> Steps[Point]:
        """Codes, then components."""
        state = point.state
        self._coordinate.begin_sweep()
        for factor in FACTORS:
            yield wanted(self._objective, state, factor)
            state = self._step(state, factor)
        new = Point.at(self._objective, state)
        if new.total <= point.total:
            self.stalled = False
            return new
        # Either an eigenvalue was underestimated, or there is nothing left to gain.
        self.stalled = self._sure
        self._sure, self._bounds = True, Bounds(sure=True)
        return point

    def memory(self) -> dict[str, Any]:
        """Also that of coordinate descent."""
        return {**super().memory(), "coordinate": self._coordinate.memory()}

    def restore(self, memory: Mapping[str, Any], state: State) -> None:
        """Both, and the kind of bounds."""
        super().restore(memory, state)
        self._bounds = Bounds(self._sure)
        self._coordinate.restore(memory["coordinate"], state)

    def _step(self, state: State, factor: Factor) -> State:
        match self._objective.domains[factor]:
            case NonNegative() if not self._objective.without_entries():
                return self._coordinate.improve(state, factor)
            case NonNegative() | Fixed(rest=NonNegative() | Free()):
                return state.replace(factor, self._descend(state, factor))
            case Free():
                return state.replace(factor, best_free(self._objective, state, factor))
            case Simplex() if factor == CODES:
                return state.replace(factor, self._descend(state, factor, by_rows=True))
            case OneEntry():
                return state.replace(factor, step_rows(state[factor], *self._objective.quadratic(state, factor)))
            case RankOne(shape):
                return step_modes(self._objective, state, shape)
            case _:
                return step_columns(self._objective, state, factor, self._bounds)

    def _descend(self, state: State, factor: Factor, *, by_rows: bool = False) -> Array:
        A, couplings = self._objective.quadratic(state, factor)
        project = partial(self._objective.domains[factor].project, factor=factor)
        return descend(state[factor], A, couplings, STEPS, STEP_TOLERANCE, project, by_rows=by_rows)
