"""The one loop: sweeps, stopping, history, callbacks, interruption."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..callbacks import Callback, Progress
from ..core.objective import Objective
from ..core.state import State
from .point import Point, Solver

StopReason = Literal["converged", "max_iter", "interrupted", "callback"]

# Sweeps between two looks at the optimality measure, which may cost a product of its own.
CHECK_EVERY = 5


@dataclass(frozen=True)
class Options:
    """How long to run.

    Attributes
    ----------
    max_iter : int
    tol : float
        A run has converged when a sweep lowers the objective by less than tol, relatively, and the optimality measure
        is below tol as well. 0 runs exactly max_iter sweeps.
    callbacks : sequence of Callback
    """

    max_iter: int = 200
    tol: float = 1e-6
    callbacks: Sequence[Callback] = ()


@dataclass(frozen=True)
class Result:
    """What a fit ends with."""

    state: State
    objective: float
    history: dict[str, list[float]]
    n_iter: int
    solver: str
    stop_reason: StopReason


class Run:
    """One start on its way down; can be advanced in pieces.

    Parameters
    ----------
    objective : Objective
    solver : Solver
    start : State
    index : int
        Which start it is, for callbacks.
    clock : float
        When the fit began.
    """

    def __init__(self, objective: Objective, solver: Solver, start: State, index: int, clock: float):
        self._objective = objective
        self._index = index
        self._clock = clock
        self.solver = solver
        self.point = Point.at(objective, solver.prepare(start))
        self.stop_reason: StopReason | None = None
        self._trace: list[tuple[dict[str, float], float]] = []
        self._record()

    @property
    def n_sweeps(self) -> int:
        """Sweeps made so far."""
        return len(self._trace) - 1

    @property
    def history(self) -> dict[str, list[float]]:
        """The objective, each term by its name, and the time, after every sweep; entry 0 is the start."""
        history = {"objective": [sum(values.values()) for values, _ in self._trace]}
        for name in self._objective.names:
            history[name] = [values[name] for values, _ in self._trace]
        history["time"] = [elapsed for _, elapsed in self._trace]
        return history

    def advance(self, until: int, options: Options) -> None:
        """Sweep until the given number of sweeps is reached or there is a reason to stop."""
        while self.stop_reason is None and self.n_sweeps < until:
            try:
                previous, self.point = self.point, self.solver.sweep(self.point)
                self._record()
                self.stop_reason = self._reason_to_stop(previous, options)
            except KeyboardInterrupt:
                if self._trace[-1][0] is not self.point.values:
                    self._record()
                if self.n_sweeps == 0:
                    raise
                self.stop_reason = "interrupted"

    def _record(self) -> None:
        self._trace.append((self.point.values, time.perf_counter() - self._clock))

    def _reason_to_stop(self, previous: Point, options: Options) -> StopReason | None:
        progress = self._progress(options)
        # Every callback hears of the sweep, whatever the others answer.
        if any([callback.on_sweep(progress) for callback in options.callbacks]):
            return "callback"
        if options.tol > 0 and self._has_converged(previous, options.tol):
            return "converged"
        return "max_iter" if self.n_sweeps >= options.max_iter else None

    def _progress(self, options: Options) -> Progress:
        state = self.point.state
        return Progress(
            sweep=self.n_sweeps,
            max_iter=options.max_iter,
            start=self._index,
            objective=self.point.total,
            terms=dict(self.point.values),
            elapsed=self._trace[-1][1],
            codes=state.W,
            components=state.components,
        )

    def _has_converged(self, previous: Point, tol: float) -> bool:
        if self.solver.stalled:
            return True
        # An objective that is nothing but rounding error cannot fall any further.
        rounding = 10 * np.finfo(self.point.state.W.dtype).eps * sum(self._trace[0][0].values())
        if self.point.total <= rounding:
            return True
        rejected = self.point is previous
        if rejected or previous.total - self.point.total > tol * self.point.total:
            return False
        if self.n_sweeps % CHECK_EVERY:
            return False
        return self._objective.optimality(self.point.state) <= tol


def minimise(
    objective: Objective,
    new_solver: Callable[[], Solver],
    starts: Sequence[Callable[[], State]],
    options: Options,
) -> Result:
    """Run every start for a tenth of the sweeps, and continue the best one to the end.

    Parameters
    ----------
    objective : Objective
    new_solver : callable
        Makes a fresh solver for every start.
    starts : sequence of callable
        Each makes a state; only the best run and the present one are held at a time.
    options : Options
    """
    clock = time.perf_counter()
    trial = max(1, options.max_iter // 10)
    best: Run | None = None
    with _begun(options.callbacks):
        for index, start in enumerate(starts):
            run = Run(objective, new_solver(), start(), index, clock)
            if len(starts) > 1:
                try:
                    run.advance(trial, options)
                except KeyboardInterrupt:
                    if best is None:
                        raise
                    run.stop_reason = "interrupted"
            if best is None or run.point.total < best.point.total:
                best = run
            if run.stop_reason in ("interrupted", "callback"):
                best.stop_reason = run.stop_reason
                break
        if best is None:
            raise ValueError("There is no start to run from.")
        best.advance(options.max_iter, options)
    reason = best.stop_reason or "max_iter"
    _warn(reason, best.n_sweeps, options.tol)
    return Result(best.point.state, best.point.total, best.history, best.n_sweeps, best.solver.name, reason)


@contextmanager
def _begun(callbacks: Sequence[Callback]) -> Iterator[None]:
    """Tell the callbacks that the fit begins and, however it goes, that it ends."""
    begun: list[Callback] = []
    try:
        for callback in callbacks:
            callback.on_begin()
            begun.append(callback)
        yield
    finally:
        for callback in begun:
            callback.on_end()


def _warn(reason: StopReason, n_sweeps: int, tol: float) -> None:
    if reason == "interrupted":
        warnings.warn(
            f"The fit was interrupted after {n_sweeps} sweeps; the model is the best found until then.",
            UserWarning,
            stacklevel=2,
        )
    elif reason == "max_iter" and tol > 0:
        warnings.warn(
            f"The fit has not converged to tol={tol:g} after {n_sweeps} sweeps. Raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=2,
        )
