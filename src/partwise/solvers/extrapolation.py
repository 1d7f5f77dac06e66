"""Sweeps that go a step further: both factors are extrapolated along their last step (Ang & Gillis 2019).

If the objective rises, the sweep is undone and the next one runs without extrapolation, which cannot rise. The kept
pair is (extrapolated codes, new components): its objective comes free from what a sweep computes. Where both factors
are penalised, a sweep begins at the best scale between them (`solvers.balance`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..core.objective import Objective
from ..core.rounding import noise
from ..core.state import State
from ..core.types import CODES, COMPONENTS, Array, Factor
from .balance import Balance
from .point import Point, Remembering, entered
from .scale import rescaled
from .steps import Steps

BETA_START, BETA_GROWTH, BETA_SHRINK, CEILING_GROWTH = 0.5, 1.05, 1.5, 1.01


class Extrapolating(Remembering, ABC):
    """A solver that improves the codes, then the components, and extrapolates both.

    Parameters
    ----------
    objective : Objective

    Attributes
    ----------
    least_share : float
        An extrapolated entry keeps at least this share of its value.
    sums_entries : bool
        Whether the objective is a sum over entries in float64. What rounding errors may add to it is far above what
        they do add, so that only a plain sweep may seem to rise: an extrapolated one that does is undone.
    """

    sums_entries: ClassVar[bool] = False
    remembers: ClassVar[tuple[str, ...]] = ("stalled", "_sweeps", "_beta", "_ceiling")
    least_share: float = 0.0

    def __init__(self, objective: Objective):
        self._objective = objective
        self._balance = Balance(objective)
        self.stalled = False
        self._sweeps = 0
        self._beta = BETA_START
        self._ceiling = 1.0
        # Where the next sweep starts, and the factors of the last one before extrapolation. None: at the kept point,
        # with a sweep that is not extrapolated.
        self._ahead: State | None = None
        self._last: dict[Factor, Array] = {}
        # Memory for extrapolated components: fresh memory would cost as much as the step.
        self._ahead_memory: Array | None = None

    def prepare(self, state: State) -> State:
        """Any start in the domains is suitable."""
        return entered(self._objective, state)

    @abstractmethod
    def _code(self, state: State, beta: float) -> Steps[tuple[State, Array]]:
        """New codes, extrapolated by beta, as a state; and the codes before extrapolation."""

    @abstractmethod
    def _improve_components(self, state: State) -> Steps[State]:
        """The state with better components."""

    @abstractmethod
    def _size(self, state: State) -> float:
        """The size of the sums whose difference is the objective, on which its rounding errors depend."""

    def _is_gentle(self, sweep: int) -> bool:
        """Whether a sweep is one of the first, which are not extrapolated."""
        return False

    def steps(self, point: Point) -> Steps[Point]:
        """Codes, then components, each extrapolated unless the last sweep was rejected."""
        self._sweeps += 1
        careful = self._ahead is None
        ahead = self._balanced(point.state if self._ahead is None else self._ahead)
        before = ahead.Ht if careful else self._last[COMPONENTS]
        candidate, W = yield from self._code(ahead, 0.0 if careful else self._beta)
        candidate = yield from self._improve_components(candidate)
        new = Point.at(self._objective, candidate)
        allowed = self._noise(point) if careful or not self.sums_entries else 0.0
        # Not a number is no decrease either.
        if not new.total <= point.total + allowed:
            self._reject(careful)
            return point
        self.stalled = False
        self._ahead, Ht = None, candidate.Ht
        if not self._is_gentle(self._sweeps + 1):
            self._ahead = candidate.replace(COMPONENTS, self._components_ahead(Ht, before))
        self._last = {CODES: W, COMPONENTS: Ht}
        if not careful:
            self._beta = min(self._beta * BETA_GROWTH, self._ceiling)
            self._ceiling = min(self._ceiling * CEILING_GROWTH, 1.0)
        return new

    def _balanced(self, ahead: State) -> State:
        """Where a sweep starts, at the best scale between the factors; the last factors follow."""
        lengths = self._balance.lengths(ahead)
        if lengths is None:
            return ahead
        if self._last:
            last = ahead.replace(CODES, self._last[CODES]).replace(COMPONENTS, self._last[COMPONENTS])
            last = rescaled(last, COMPONENTS, lengths)
            self._last = {CODES: last.W, COMPONENTS: last.Ht}
        return rescaled(ahead, COMPONENTS, lengths)

    def _memory(self, state: State, last: Array | None) -> tuple[Array, ...]:
        """Memory for the codes before extrapolation, and for those after it."""
        W = state.X.room.empty(state.W.shape, state.W.dtype)
        return (W,) if last is None else (self._memory_of(last, state), W)

    def _memory_of(self, last: Array, state: State) -> Array:
        """Memory for new codes: that of the last ones, which a sweep reads only once, unless these are the state's."""
        return state.X.room.empty(last.shape, last.dtype) if last is state.W else last

    def _noise(self, point: Point) -> float:
        """By how much the objective may seem to rise although it does not."""
        if self._objective.from_residuals:
            return 0.0
        return noise(point.total, self._size(point.state), point.state.W.dtype)

    def _components_ahead(self, Ht: Array, before: Array) -> Array:
        """Where the components of the next sweep start."""
        if self._ahead_memory is None:
            self._ahead_memory = np.empty_like(Ht)
        ahead = self._extrapolated(Ht, before, self._beta, self._ahead_memory)
        # It may have left its domain: reordered sums differ from held values in the last digit.
        return self._objective.domains[COMPONENTS].entered(ahead, COMPONENTS)[0]

    def _reject(self, careful: bool) -> None:
        """Go back; a plain sweep that does not fall has reached machine precision."""
        self._ahead = None
        if careful:
            self.stalled = True
        else:
            self._ceiling = self._beta
            self._beta /= BETA_SHRINK

    def _extrapolated(self, F: Array, last: Array, beta: float, out: Array) -> Array:
        """max(least_share · F, F + beta · (F − last)): a step further in the same direction."""
        from ..kernels.descent import step_further

        step_further(F, last, beta, self.least_share, out)
        return out

    def memory(self) -> dict[str, Any]:
        """Also where the next sweep starts, unless that is at the kept point."""
        ahead = self._ahead
        if ahead is None:
            return {**super().memory(), "ahead": None}
        arrays = {"W": ahead.W, "Ht": ahead.Ht, "last W": self._last[CODES], "last Ht": self._last[COMPONENTS]}
        return {**super().memory(), "ahead": arrays}

    def restore(self, memory: Mapping[str, Any], state: State) -> None:
        """Anything else a solver keeps is recomputed identically by its next sweep."""
        super().restore(memory, state)
        ahead = memory["ahead"]
        if ahead is not None:
            self._ahead = state.replace(CODES, ahead["W"]).replace(COMPONENTS, ahead["Ht"])
            self._last = {CODES: ahead["last W"], COMPONENTS: ahead["last Ht"]}
