"""Which solver minimises a given objective."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from ..core.objective import Objective
from .coordinate import Coordinate
from .multiplicative import Multiplicative
from .point import Solver

SolverName = Literal["auto", "coordinate", "multiplicative"]


def choose_solver(name: SolverName, objective: Objective) -> Callable[[], Solver]:
    """A maker of fresh solvers for the objective; refuses an impossible choice before any work."""
    without = objective.without_quadratic()
    if name == "auto":
        name = "multiplicative" if without else "coordinate"
    if name == "multiplicative":
        return lambda: Multiplicative(objective)
    if without:
        raise ValueError(
            f"solver='coordinate' is not compatible with the term {', '.join(map(repr, without))}: it needs the "
            "quadratic form of every term, and a divergence or a fit with missing or weighted entries has none. "
            "Use solver='multiplicative' or solver='auto'."
        )
    return lambda: Coordinate(objective)
