"""What a solver steps from and to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from ..core.objective import Objective
from ..core.state import State


@dataclass(frozen=True)
class Point:
    """A state with the value of every term at it."""

    state: State
    values: dict[str, float]

    @classmethod
    def at(cls, objective: Objective, state: State) -> Point:
        """Evaluate the objective at a state."""
        return cls(state, objective.values(state))

    @cached_property
    def total(self) -> float:
        """The objective."""
        return sum(self.values.values())


class Solver(Protocol):
    """Two functions are all that a solver is; the loop does the rest.

    Attributes
    ----------
    name : str
    stalled : bool
        The last sweep could not lower the objective any more: machine precision is reached.
    """

    name: str
    stalled: bool

    def prepare(self, state: State) -> State:
        """Make a start fit for this solver."""

    def sweep(self, point: Point) -> Point:
        """One pass: the codes, then the components. The same point comes back if the step was rejected."""
