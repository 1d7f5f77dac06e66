"""Solvers, which minimise any sum of terms and know no method."""

from .loop import Options
from .problem import Problem, solve

__all__ = ["Options", "Problem", "solve"]
