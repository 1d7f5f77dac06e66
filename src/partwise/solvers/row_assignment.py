"""Exactly orthogonal factors: every row has one entry (Pompili, Gillis, Absil & Glineur 2014).

Columns that are orthogonal and non-negative have no row in common, so W with WᵀW = I is a clustering of the rows with a
length for each. For given components the best such codes are known: row i takes the component with the largest
(x_iᵀh_j)² / ‖h_j‖² among those with x_iᵀh_j > 0, and the length x_iᵀh_j / ‖h_j‖². With columns of W scaled to unit norm
the best components are XᵀW. Both steps are exact, so the error cannot rise. A component that no row takes is given the
row with the largest error, which also lowers the error.

With three factors, X ≈ F S Gᵀ, rows are coded as rows of X G by the rows of S, columns as rows of XᵀF by the columns of
S, and S = FᵀXG.
"""

from __future__ import annotations

import numpy as np

from ..core.domains import OneEntry
from ..core.objective import Objective
from ..core.state import State
from ..core.tri import TriState
from ..core.types import CODES, COMPONENTS, FACTORS, OTHER, Array, Factor, column_norms
from .one_entry import best_entry
from .point import Point, Remembering


class RowAssignment(Remembering):
    """One entry in every row of the codes and, with three factors, of the components.

    Parameters
    ----------
    objective : Objective
    """

    name = "assignment"

    def __init__(self, objective: Objective):
        self._objective = objective
        self._sides = [factor for factor in FACTORS if isinstance(objective.domains[factor], OneEntry)]
        self.stalled = False

    def prepare(self, state: State) -> State:
        """The largest entry of every row is kept."""
        for factor in self._sides:
            F, _ = self._objective.domains[factor].entered(state[factor], factor)
            state = _fitted(state, factor, F)
        return state

    def sweep(self, point: Point) -> Point:
        """The best codes, then the best components for them."""
        state = point.state
        for factor in self._sides:
            state = _fitted(state, factor, _assigned(state, factor))
        new = Point.at(self._objective, state)
        # The steps do not rise; any rise is rounding.
        self.stalled = new.total >= point.total
        return point if self.stalled else new


def rated(pull: Array, squares: Array) -> Array:
    """x_iᵀh_j / ‖h_j‖, the part of a row that a component can explain; 0 if it has none."""
    lengths = np.sqrt(squares)
    return np.maximum(pull, 0) * np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)


def _squares(state: State, factor: Factor) -> Array:
    """Squared norms of what the columns of a factor represent: components, or rows and columns of S."""
    if isinstance(state, TriState):
        return column_norms(state.S.T if factor == CODES else state.S) ** 2
    return column_norms(state.Ht) ** 2


def _scores(state: State, factor: Factor) -> Array:
    return rated(state.product(factor), _squares(state, factor))


def _assigned(state: State, factor: Factor) -> Array:
    """The best factor with one entry per row, with no empty column if possible."""
    F = best_entry(state.product(factor), _squares(state, factor))
    counts = np.count_nonzero(F, axis=0)
    empty = np.flatnonzero(counts == 0)
    if not len(empty):
        return F
    if isinstance(state, TriState):
        wholes = column_norms(state.image(OTHER[factor]).T) ** 2
    else:
        wholes = state.X.row_squared_norms()
    errors = wholes - _scores(state, factor).max(axis=1) ** 2
    # Errors that are only rounding need no cure.
    errors[errors <= len(errors) * np.finfo(F.dtype).eps * wholes.max()] = 0
    for row in np.argsort(-errors, kind="stable"):
        if not len(empty) or errors[row] == 0:
            break
        own = int(F[row].argmax())
        if F[row, own] > 0 and counts[own] == 1:
            continue
        counts[own] -= F[row, own] > 0
        F[row, own], F[row, empty[0]] = 0, 1
        empty = empty[1:]
    return F


def _fitted(state: State, factor: Factor, F: Array) -> State:
    """The state with this factor at columns of unit norm, and the best components, or S, for it."""
    norms = column_norms(F)
    state = state.replace(factor, F / np.where(norms > 0, norms, 1).astype(F.dtype))
    if isinstance(state, TriState):
        return state.joined(state.blocks())
    return state.replace(COMPONENTS, state.product(COMPONENTS))
