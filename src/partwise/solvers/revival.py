"""Components that no sample uses any more are moved to the samples represented worst."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.objective import Objective
from ..core.operand import Operand
from ..core.piece_pass import PiecePass
from ..core.state import State
from ..core.types import Array
from .point import Point, Remembering, Solver
from .steps import Steps

# Sweeps between two searches for dead components.
LOOK_EVERY = 5
# A component is dead if no code holds more of it than this share of the largest entry.
DEAD_SHARE = 1e-6


class Reviving(Remembering):
    """Another solver that also revives dead components.

    A component placed at a sample, and used alone in that sample's code, represents it without error. This is done for
    the samples of largest error and kept if the objective does not rise.

    Parameters
    ----------
    objective : Objective
    new_solver : callable
        Makes the solver for the sweeps; a new one after each revival, because the old one may remember steps.
    """

    remembers = ("stalled", "_sweeps")

    def __init__(self, objective: Objective, new_solver: Callable[[], Solver]):
        self._objective = objective
        self._new_solver = new_solver
        self._solver = new_solver()
        self._sweeps = 0
        self.name = self._solver.name
        self.reaches_optimum = self._solver.reaches_optimum
        self.stalled = False

    def prepare(self, state: State) -> State:
        """As that solver does."""
        return self._solver.prepare(state)

    def steps(self, point: Point) -> Steps[Point]:
        """A sweep and, now and then, a search for dead components."""
        point = yield from self._solver.steps(point)
        self._sweeps += 1
        if self._sweeps % LOOK_EVERY == 0:
            point = self._revive(point)
        self.stalled = self._solver.stalled
        return point

    def memory(self) -> dict[str, Any]:
        """Its own, and that of the solver."""
        return {**super().memory(), "solver": self._solver.memory()}

    def restore(self, memory: Mapping[str, Any], state: State) -> None:
        """Restore both."""
        super().restore(memory, state)
        self._solver.restore(memory["solver"], state)

    def _revive(self, point: Point) -> Point:
        """The point with its dead components moved to samples, if that is no worse."""
        state = point.state
        use = state.W.max(axis=0)
        dead = np.flatnonzero(use <= DEAD_SHARE * use.max())
        if not len(dead):
            return point
        chosen = np.argsort(-_sample_errors(state), kind="stable")[: len(dead)]
        dead = dead[: len(chosen)]
        W, Ht = np.array(state.W), state.Ht.copy()
        W[chosen] = 0
        W[:, dead] = 0
        W[chosen, dead] = 1
        Ht[:, dead] = np.column_stack([_sample(state, int(row)) for row in chosen])
        solver = self._new_solver()
        revived = Point.at(self._objective, solver.prepare(State(state.X, W, Ht)))
        if revived.total >= point.total:
            return point
        self._solver = solver
        return revived


def _known(x: Any, fitted: Array, missing: str | None) -> Array:
    """Rows of the data, dense; unknown entries are taken from the fit."""
    full = x.toarray() if sp.issparse(x) else np.array(x)
    if missing == "unstored":
        stored = sp.csr_array((np.ones(len(x.data), bool), x.indices, x.indptr), shape=x.shape).toarray()
        return np.where(stored, full, fitted)
    return np.where(np.isnan(full), fitted, full) if missing == "nan" else full


def _sample_errors(state: State) -> Array:
    """‖x_i − w_i H‖² of every sample, over its known entries."""
    run = PiecePass(_Errors(), state.Ht, (state.W,), join=np.concatenate)
    return np.asarray(state.X.pass_over(run).share)


class _Errors:
    """The errors of the samples of a piece, in blocks."""

    def __call__(
        self, piece: Operand, rows: slice, given: tuple[Array, ...], Ht: Array
    ) -> tuple[tuple[Array, ...], Array]:
        """Given the codes."""
        errors = np.empty(piece.shape[0])
        for own, x in piece.row_blocks(2 * piece.shape[1] * piece.dtype.itemsize):
            fitted = given[0][own] @ Ht.T
            residual = _known(x, fitted, piece.missing) - fitted
            errors[own] = np.einsum("ij,ij->i", residual, residual, dtype=np.float64, casting="safe")
        return (), errors

    def of(self, rows: slice) -> _Errors:
        """The same."""
        return self


def _sample(state: State, row: int) -> Array:
    """One sample as a component."""
    x = state.X.take(np.array([row])).array
    fitted = state.W[[row]] @ state.Ht.T
    return _known(x, fitted, state.X.missing)[0]
