"""The one loop: sweeps, stopping, history, callbacks, interruption."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..callbacks.base import Budgets, Callback, Interruption, Progress, Snapshot
from ..core.objective import Objective
from ..core.rounding import negligible
from ..core.state import State
from ..core.types import CODES, Array
from ..core.warn import warn
from .point import Point, Solver
from .steps import Steps, answered, wanted

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
        reach that (`Solver.reaches_optimum`). 0 runs exactly max_iter sweeps.
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
    """The result of a fit."""

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
        return self._objective.optimality(self.point.state) <= tol

    def _earlier(self, sweeps: int) -> Point:
        """The values some sweeps ago."""
        return Point(self.point.state, self._trace[-1 - sweeps][0])


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
        Each makes a state; only the best run and the current one are held at a time.
    options : Options
    """
    return answered(minimising(objective, new_solver, starts, options))


def minimising(
    objective: Objective,
    new_solver: Callable[[], Solver],
    starts: Sequence[Callable[[], State]],
    options: Options,
) -> Steps[Result]:
    """The same, asking for products with X, which several fits may share (`solvers.steps`)."""
    with _begun(options.callbacks):
        best = yield from _Search(objective, new_solver, starts, options).steps()
    reason = best.stop_reason or "max_iter"
    if not options.inner:
        _warn(reason, best.n_sweeps, options.tol)
    return Result(best.point.state, best.point.total, best.history, best.n_sweeps, best.solver.name, reason)


class _Search:
    """Tries every start, one after another; then runs the best of them to its end.

    Its state is the best run so far and the current one, which is all that a snapshot holds.
    """

    def __init__(
        self,
        objective: Objective,
        new_solver: Callable[[], Solver],
        starts: Sequence[Callable[[], State]],
        options: Options,
    ):
        if not starts:
            raise ValueError("There is no start.")
        self._objective = objective
        self._new_solver = new_solver
        self._starts = starts
        self._options = options
        self._clock = time.perf_counter()
        self._best: Run | None = None
        # The last run is the one that continues to its end.
        self._on_trial = len(starts) > 1

    def steps(self) -> Steps[Run]:
        """The best run, at its end."""
        options = self._options
        run = self._resumed()
        if self._on_trial:
            run = yield from self._try_all(run)
        elif run is None:
            run = yield from self._new_run(0)
        yield from run.steps(options.max_iter, options, self._tell)
        if run.stop_reason in ("converged", "max_iter"):
            try:
                self._tell(run, ended=True)
            except KeyboardInterrupt:
                if options.inner:
                    raise
                run.stop_reason = "interrupted"
        return run

    def _try_all(self, present: Run | None) -> Steps[Run]:
        options = self._options
        best = self._best
        for index in range(0 if present is None else present.index, len(self._starts)):
            try:
                run = (yield from self._new_run(index)) if present is None else present
                yield from run.steps(max(1, options.max_iter // 10), options, self._tell)
            except KeyboardInterrupt:
                if best is None or options.inner:
                    raise
                best.stop_reason = "interrupted"
                break
            present = None
            if best is None or run.point.total < best.point.total:
                best = run
            self._best = best
            if run.stop_reason in ("interrupted", "callback"):
                best.stop_reason = run.stop_reason
                break
        assert best is not None  # there is a start
        self._best, self._on_trial = None, False
        return best

    def _new_run(self, index: int) -> Steps[Run]:
        solver = self._new_solver()
        start = solver.prepare(self._starts[index]())
        yield wanted(self._objective, start, CODES)
        return Run(self._objective, solver, start, index, self._clock)

    def _tell(self, run: Run, ended: bool = False) -> None:
        """Tell the callbacks that the fit could be resumed from here."""

        def snapshot() -> Snapshot:
            return {
                "run": run.snapshot(),
                "best": None if self._best is None else self._best.snapshot(),
                "on trial": self._on_trial,
                "callbacks": [(type(callback).__name__, callback.memory()) for callback in self._options.callbacks],
            }

        for callback in self._options.callbacks:
            callback.on_safe_point(run.n_sweeps, ended, snapshot)

    def _resumed(self) -> Run | None:
        """The current run of a fit that was killed, if a callback has kept it."""
        kept = next((found for call in self._options.callbacks if (found := call.resume()) is not None), None)
        if kept is None:
            return None
        try:
            self._clock -= float(kept["run"]["time"][-1])
            run, best = self._restored(kept["run"]), kept["best"]
            self._best = None if best is None else self._restored(best)
            self._on_trial = bool(kept["on trial"])
            for callback, (kind, memory) in zip(self._options.callbacks, kept["callbacks"], strict=False):
                if type(callback).__name__ == kind:
                    callback.restore(memory)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise ValueError(f"The checkpoint does not fit this fit ({error}); remove its file.") from error
        return run

    def _restored(self, saved: Mapping[str, Any]) -> Run:
        # Only a start knows the kind of its state.
        start = self._starts[saved["index"]]()
        return Run.resumed(self._objective, self._new_solver(), start, saved, self._clock)


def _like(saved: Array, F: Array) -> Array:
    """A factor from a snapshot, which must have the shape and type of the start's."""
    if saved.shape != F.shape or saved.dtype != F.dtype:
        raise ValueError(f"a factor of {saved.dtype}{saved.shape} should be one of {F.dtype}{F.shape}")
    return saved


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
        warn(f"The fit was interrupted after {n_sweeps} sweeps; the model is the best found so far.")
    elif reason == "max_iter" and tol > 0:
        warn(
            f"The fit has not converged to tol={tol:g} after {n_sweeps} sweeps. Raise max_iter or tol.",
            ConvergenceWarning,
        )
