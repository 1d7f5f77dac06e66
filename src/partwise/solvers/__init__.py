"""Solvers, which minimise any sum of terms and know no method."""

from .problem import Problem, solve

__all__ = ["Problem", "solve"]
