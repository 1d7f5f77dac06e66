"""Multiplicative steps that go further.

A multiplicative sweep is slow because it is careful about every entry: all ratios are close to one. Raised to a power,
they lead the same way in fewer sweeps. What an ordinary step gets right at once is the size of every row, which a power
would spoil, so each row keeps the size that the ordinary step gives it. That such a step falls is not proved: it is
undone if it rises.
"""

from __future__ import annotations

import numpy as np

from ..core.objective import Objective
from ..core.state import State
from ..core.types import Array, Factor
from .balance import Balance
from .multiplicative import Multiplicative, ratio, without_dust
from .point import Point
from .steps import Steps

# The power in the first sweeps, which decide in which minimum a fit ends: one leads as far as three ordinary ones.
HASTE = 3
# The power of a whole fit grows by this factor after a sweep that falls, up to a limit; a rise halves it.
GROWTH, MOST_HASTE = 1.1, 10.0
# Ratios are cut here, far above relevant ones: their powers must not overflow.
MOST = 1e3


class Gentle(Multiplicative):
    """Multiplicative sweeps to a power.

    Parameters
    ----------
    objective : Objective
    """

    name = "gentle"

    def __init__(self, objective: Objective):
        super().__init__(objective)
        self._haste = float(HASTE)

    def step(self, state: State, factor: Factor) -> State:
        """The state with one factor further along the way of the ordinary step."""
        if self._haste == 1:
            return super().step(state, factor)
        F, split = state[factor], self._objective.split(state, factor)
        r = ratio(split, F)
        further = np.minimum(r, MOST) ** F.dtype.type(self._haste)
        sized = F * np.broadcast_to(split.halves()[1], F.shape)
        size = _quotient((sized * r).sum(axis=1), (sized * further).sum(axis=1)).astype(F.dtype, copy=False)
        new = F * further * size[:, None]
        return state.replace(factor, without_dust(new))

    def steps(self, point: Point) -> Steps[Point]:
        """Codes, then components; the point itself if that would rise."""
        new = yield from super().steps(point)
        return new if new.total <= point.total else point


class Hastened(Gentle):
    """A whole fit of such sweeps, with the power that the objective allows; ordinary ones where it allows none."""

    name = "hastened"
    remembers = (*Gentle.remembers, "_haste")

    def __init__(self, objective: Objective):
        super().__init__(objective)
        self._balance = Balance(objective)
        self._haste = 1.0

    def steps(self, point: Point) -> Steps[Point]:
        """A sweep to a power, from the best scale between the factors; if that would rise, an ordinary one."""
        point = Point(self._balance.balanced(point.state), point.values)
        new = yield from super().steps(point)
        if new is not point:
            self._haste = min(self._haste * GROWTH, MOST_HASTE)
            return new
        less, self._haste = max(self._haste / 2, 1.0), 1.0
        new = yield from Multiplicative.steps(self, point)
        self._haste = less
        return new


def _quotient(a: Array, b: Array) -> Array:
    """a / b, one where b is zero."""
    return np.divide(a, b, out=np.ones_like(a), where=b > 0)
