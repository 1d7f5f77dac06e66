"""Several starts: each is tried for a tenth of the sweeps, and the best goes on to its end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from ..callbacks.base import Callback, Snapshot
from ..core.objective import Objective
from ..core.state import State
from ..core.types import CODES
from ..core.warn import warn
from .loop import Options, Result, Run, StopReason
from .point import Solver
from .steps import Steps, answered, most_live, side_by_side, wanted


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
        if self._on_trial and not options.callbacks:
            run = yield from self._try_together()
        elif self._on_trial:
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
                yield from run.steps(self._trial_sweeps, options, self._tell)
            except KeyboardInterrupt:
                if best is None or options.inner:
                    raise
                best.stop_reason = "interrupted"
                break
            present = None
            self._best = best = _better(best, run)
            if run.stop_reason in ("interrupted", "callback"):
                best.stop_reason = run.stop_reason
                break
        assert best is not None  # there is a start
        self._best, self._on_trial = None, False
        return best

    def _try_together(self) -> Steps[Run]:
        """The same, side by side, where no callback is told of one start after the other."""
        best: Run | None = None
        begun: dict[int, Run] = {}

        def trial(index: int) -> Steps[Run]:
            if index not in begun:
                begun[index] = yield from self._new_run(index)
            yield from begun[index].steps(self._trial_sweeps, self._options, self._tell)
            return begun[index]

        def ended(index: int, run: Run) -> None:
            nonlocal best
            if run.stop_reason == "interrupted":
                raise KeyboardInterrupt
            best = _better(best, begun.pop(index))

        try:
            # Whoever interrupts the making of the others keeps the first.
            begun[0] = yield from self._new_run(0)
            yield from begun[0].steps(1, self._options, self._tell)
            trials = (partial(trial, index) for index in range(len(self._starts)))
            yield from side_by_side(trials, ended, _room(begun[0].point.state))
        except KeyboardInterrupt:
            for run in begun.values():
                best = _better(best, run) if run.n_sweeps else best
            if best is None or self._options.inner:
                raise
            best.stop_reason = "interrupted"
        assert best is not None  # there is a start
        self._on_trial = False
        return best

    @property
    def _trial_sweeps(self) -> int:
        return max(1, self._options.max_iter // 10)

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


def _better(best: Run | None, run: Run) -> Run:
    """The run with the lower objective; of equal ones, that of the earlier start."""
    if best is None or (run.point.total, run.index) < (best.point.total, best.index):
        return run
    return best


def _room(state: State) -> int:
    """How many starts are tried side by side; data that are not in memory are read for each."""
    return most_live(state.X, state.W.shape[1]) if state.X.in_memory else 1


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
