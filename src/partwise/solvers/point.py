"""What a solver steps from and to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from ..core.objective import Objective
from ..core.state import State
from ..core.types import FACTORS, OTHER
from .steps import Steps, answered


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

    @cached_property
    def size(self) -> float:
        """The scale for changes of the objective: the objective itself, unless a term is negative."""
        return sum(abs(value) for value in self.values.values())


def entered(objective: Objective, state: State) -> State:
    """The state with both factors in their domains; the scale a column loses goes to the other factor if possible."""
    for factor in FACTORS:
        F, lengths = objective.domains[factor].entered(state[factor], factor)
        if F is not state[factor]:
            other, G = OTHER[factor], state[OTHER[factor]]
            lengths = np.where(objective.domains[other].stretchable(G, other), lengths, 1).astype(G.dtype)
            state = state.replace(factor, F).replace(other, G * lengths)
    return state


class Solver(Protocol):
    """A solver has two functions; the loop does the rest. Two more let a fit survive a crash.

    Attributes
    ----------
    name : str
    stalled : bool
        The last sweep could not lower the objective: machine precision is reached.
    reaches_optimum : bool
        Whether its steps can satisfy the optimality conditions. Multiplicative ones cannot lift entries near zero.
    """

    name: str
    stalled: bool
    reaches_optimum: bool

    def prepare(self, state: State) -> State:
        """Make a start suitable for this solver."""

    def sweep(self, point: Point) -> Point:
        """One pass: the codes, then the components. Returns the same point if the step was rejected."""

    def steps(self, point: Point) -> Steps[Point]:
        """The same, asking for products with X, which several fits may share (`solvers.steps`)."""

    def memory(self) -> dict[str, Any]:
        """All that the next sweep will need besides the point: numbers, text, arrays, and dicts of these."""

    def restore(self, memory: Mapping[str, Any], state: State) -> None:
        """Resume from a memory, at the state it belongs to, bit for bit as if nothing had happened."""


class Remembering:
    """A solver whose memory is a few of its attributes.

    Attributes
    ----------
    remembers : tuple of str
        Their names.
    """

    remembers: ClassVar[tuple[str, ...]] = ("stalled",)
    stalled: bool = False
    reaches_optimum: bool = True

    def sweep(self, point: Point) -> Point:
        """One pass for a fit by itself."""
        return answered(self.steps(point))

    def steps(self, point: Point) -> Steps[Point]:
        """A sweep that asks for nothing; a solver has this function or `sweep`."""
        return self.sweep(point)
        yield

    def memory(self) -> dict[str, Any]:
        """The attributes by name."""
        return {name: getattr(self, name) for name in self.remembers}

    def restore(self, memory: Mapping[str, Any], state: State) -> None:
        """Set them again."""
        for name in self.remembers:
            setattr(self, name, memory[name])
