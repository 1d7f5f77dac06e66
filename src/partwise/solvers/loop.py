"""The one loop: sweeps, stopping, history, callbacks, interruption."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..callbacks.base import Budgets, Callback, Interruption, Progress, Snapshot
from ..core.objective import Objective
from ..core.rounding import negligible, resolution
from ..core.state import State
from ..core.types import CODES, Array
from .point import Point, Solver
from .steps import Steps, wanted

StopReason = Literal["converged", "max_iter", "interrupted", "callback"]

# Decreases are averaged over this many sweeps: a single one may gain little after a rejected step.
WINDOW = 5


@dataclass(frozen=True)
class Options:
    """How long to run.

    Attributes
    ----------
    max_iter : int
    tol : float
        A run has converged when the last `WINDOW` sweeps lowered the objective by less than tol times its value, on
        average, and the optimality measure (`Objective.optimality`) is at most tol, unless the solver's steps cannot
        reach that (`Solver.reaches_optimum`) or the objective no longer changes as far as its type resolves it. 0 runs
        exactly max_iter sweeps.
    callbacks : sequence of Callback
    inner : bool
        The fit is part of another one. Ctrl-C then ends both: an unfinished part is of no use.
    """

    max_iter: int = 200
    tol: float = 1e-6
    callbacks: Sequence[Callback] = ()
    inner: bool = False

    def inside(self, max_iter: int, tol: float) -> Options:
        """How long a fit inside this one runs: never beyond this one's budgets."""
        return Options(max_iter, tol, (Budgets(self.callbacks),), inner=True)

    def is_spent(self) -> bool:
        """Whether a budget is spent, so that no fit inside this one should begin."""
        return Budgets(self.callbacks).is_spent()

    def hear_interruption(self) -> bool:
        """Record that Ctrl-C was pressed during preparations; False if this fit cannot use their results so far."""
        heard = [callback for callback in self.callbacks if isinstance(callback, Interruption)]
        for callback in heard:
            callback.heard = True
        return bool(heard)


@dataclass(frozen=True)
class Result:
    """The result of a fit.

    Attributes
    ----------
    state : State
        The factors.
    objective : float
        Their objective.
    history : dict of str to list of float
        The objective, each of its terms and the time after every sweep.
    n_iter : int
        Sweeps made.
    solver : str
        The name of the solver.
    stop_reason : str
        Why the fit ended.
    """

    state: State
    objective: float
    history: dict[str, list[float]]
    n_iter: int
    solver: str
    stop_reason: StopReason


class Run:
    """The descent from one start; it can be advanced in pieces.

    Parameters
    ----------
    objective : Objective
    solver : Solver
    start : State
        As the solver has prepared it.
    index : int
        Which start it is, for callbacks.
    clock : float
        When the fit began.
    """

    def __init__(self, objective: Objective, solver: Solver, start: State, index: int, clock: float):
        self._objective = objective
        self.index = index
        self._clock = clock
        self.solver = solver
        self.point = Point.at(objective, start)
        if not np.isfinite(self.point.total):
            raise ValueError(
                f"The objective at the start is not finite in {start.W.dtype}. Give X as float64, in another unit, or "
                "with a smaller range; or, if the loss is a number, one nearer to 1."
            )
        self.stop_reason: StopReason | None = None
        self._trace: list[tuple[dict[str, float], float]] = []
        self._record()

    @classmethod
    def resumed(cls, objective: Objective, solver: Solver, start: State, saved: Mapping[str, Any], clock: float) -> Run:
        """The run from which a snapshot was taken; `start` gives the kind of its state."""
        run = cls.__new__(cls)
        run._objective, run.solver, run._clock = objective, solver, clock
        run.index, run.stop_reason = saved["index"], saved["stop_reason"]
        state = start.with_arrays({name: _like(saved["state"][name], F) for name, F in start.arrays().items()})
        values = [dict(zip(objective.names, row, strict=True)) for row in saved["values"].tolist()]
        run._trace = list(zip(values, saved["time"].tolist(), strict=True))
        run.point = Point(state, values[-1])
        solver.restore(saved["solver"], state)
        return run

    def snapshot(self) -> Snapshot:
        """All that is needed to resume from here."""
        return {
            "index": self.index,
            "stop_reason": self.stop_reason,
            "state": self.point.state.arrays(),
            "values": np.array([list(values.values()) for values, _ in self._trace], np.float64),
            "time": np.array([elapsed for _, elapsed in self._trace], np.float64),
            "solver": self.solver.memory(),
        }

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

    def steps(self, until: int, options: Options, on_sweep: Callable[[Run], None]) -> Steps[None]:
        """Sweep until the given number of sweeps is reached or there is a reason to stop.

        `on_sweep` is called after every sweep that gives no such reason.
        """
        while self.stop_reason is None and self.n_sweeps < until:
            try:
                self.point = yield from self.solver.steps(self.point)
                self._record()
                self.stop_reason = yield from self._reason_to_stop(options)
                if self.stop_reason is None:
                    on_sweep(self)
            except KeyboardInterrupt:
                if self._trace[-1][0] is not self.point.values:
                    self._record()
                if self.n_sweeps == 0 or options.inner:
                    raise
                self.stop_reason = "interrupted"

    def _record(self) -> None:
        self._trace.append((self.point.values, time.perf_counter() - self._clock))

    def _reason_to_stop(self, options: Options) -> Steps[StopReason | None]:
        progress = self._progress(options)
        # Every callback is told about the sweep, whatever the others answer.
        if any([callback.on_sweep(progress) for callback in options.callbacks]):
            return "callback"
        if options.tol > 0 and (yield from self._has_converged(options.tol)):
            return "converged"
        return "max_iter" if self.n_sweeps >= options.max_iter else None

    def _progress(self, options: Options) -> Progress:
        state = self.point.state
        return Progress(
            sweep=self.n_sweeps,
            max_iter=options.max_iter,
            start=self.index,
            objective=self.point.total,
            terms=dict(self.point.values),
            elapsed=self._trace[-1][1],
            codes=state.W,
            components=state.components,
        )

    def _has_converged(self, tol: float) -> Steps[bool]:
        if self.solver.stalled:
            return True
        # An objective that is only rounding error cannot fall further.
        if self.point.size <= negligible(self.point.state.W.dtype) * self._earlier(self.n_sweeps).size:
            return True
        if self.n_sweeps % WINDOW:
            return False
        if self._earlier(WINDOW).total - self.point.total > WINDOW * tol * self.point.size:
            return False
        if not self.solver.reaches_optimum:
            return True
        yield wanted(self._objective, self.point.state, CODES)
        return self._objective.optimality(self.point.state) <= tol or self._rests()

    def _rests(self) -> bool:
        """Whether two windows of sweeps changed the objective by less than its type resolves.

        Where the rows of X differ by many orders of magnitude, float32 cannot bring the optimality measure below tol.
        """
        if self.n_sweeps < 2 * WINDOW:
            return False
        fallen = self._earlier(2 * WINDOW).total - self.point.total
        return fallen <= resolution(self.point.state.W.dtype) * self.point.size

    def _earlier(self, sweeps: int) -> Point:
        """The values some sweeps ago."""
        return Point(self.point.state, self._trace[-1 - sweeps][0])


def _like(saved: Array, F: Array) -> Array:
    """A factor from a snapshot, which must have the shape and type of the start's."""
    if saved.shape != F.shape or saved.dtype != F.dtype:
        raise ValueError(f"a factor of {saved.dtype}{saved.shape} should be one of {F.dtype}{F.shape}")
    return saved
