"""Callbacks that watch a fit: print it, stop it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .bar import ProgressBar, can_show_bar
from .base import Callback, Fit, Progress


class TimeBudget(Callback):
    """Stop after a number of seconds.

    The clock starts once the data are checked, so the budget covers everything a fit does: the choice of what is
    "auto", starts, restarts. If it is spent during the choice, the best value so far is taken (a strength whose default
    was not reached keeps the default), and `selection_` says so. There is always at least one sweep.

    Parameters
    ----------
    seconds : float
    """

    def __init__(self, seconds: float):
        self.seconds = seconds
        self._deadline = float("inf")

    def setup(self, fit: Fit) -> None:
        """Start the clock."""
        self._deadline = time.perf_counter() + self.seconds

    def is_spent(self) -> bool:
        """Whether time is up."""
        return time.perf_counter() >= self._deadline

    def on_sweep(self, progress: Progress) -> bool:
        """Stop when time is up."""
        return self.is_spent()


class EarlyStopping(Callback):
    """Stop when something has not improved for a while.

    Parameters
    ----------
    patience : int, default=10
        Sweeps without improvement after which to stop.
    min_decrease : float, default=0.0
        What counts as improvement: a decrease by more than this share of the best value so far.
    score : callable, optional
        Function of a :class:`Progress` that gives the number to watch, the lower the better; for instance an error on
        samples that were held out. By default the objective.
    """

    def __init__(self, patience: int = 10, min_decrease: float = 0.0, score: Callable[[Progress], float] | None = None):
        self.patience = patience
        self.min_decrease = min_decrease
        self.score = score
        self._best, self._waited, self._start = float("inf"), 0, 0

    def on_begin(self) -> None:
        """Nothing is known yet."""
        self._best, self._waited, self._start = float("inf"), 0, 0

    def on_sweep(self, progress: Progress) -> bool:
        """Compare with the best so far; every start is watched separately."""
        if progress.start != self._start:
            self._best, self._waited, self._start = float("inf"), 0, progress.start
        value = progress.objective if self.score is None else float(self.score(progress))
        if value < self._best - self.min_decrease * abs(self._best) or self._best == float("inf"):
            self._best, self._waited = value, 0
        else:
            self._waited += 1
        return self._waited >= self.patience

    def memory(self) -> dict[str, Any]:
        """The best value and how long ago it was."""
        return {"best": self._best, "waited": self._waited, "start": self._start}

    def restore(self, memory: Mapping[str, Any]) -> None:
        """Continue waiting."""
        self._best, self._waited = float(memory["best"]), int(memory["waited"])
        self._start = int(memory["start"])


class PrintProgress(Callback):
    """Print a line every few sweeps.

    Parameters
    ----------
    every : int, default=10
    """

    def __init__(self, every: int = 10):
        self.every = every

    def on_sweep(self, progress: Progress) -> None:
        """One line: sweep, objective, its terms, time."""
        if progress.sweep % self.every and progress.sweep != progress.max_iter:
            return
        terms = "  ".join(f"{name} {value:.6g}" for name, value in progress.terms.items())
        print(
            f"start {progress.start}  sweep {progress.sweep:4d}/{progress.max_iter}  "
            f"objective {progress.objective:.8g}  ({terms})  {progress.elapsed:.1f} s"
        )

    def on_trial(self, parameter: str, value: float, worth: Mapping[str, float]) -> None:
        """One line: the value, and what it is worth."""
        print(f"{parameter} {value:<8g}  " + "  ".join(f"{name} {number:.4f}" for name, number in worth.items()))

    def on_choice(self, chosen: Mapping[str, Any]) -> None:
        """One line: the choice."""
        print("chosen: " + ", ".join(f"{name}={value:g}" for name, value in chosen.items()))


class History(Callback):
    """Keep numbers of every sweep that the fit itself does not keep.

    Parameters
    ----------
    **scores : callable
        Functions of a :class:`Progress`; each gives one number after every sweep.

    Attributes
    ----------
    values : dict of list
        The numbers by name, of the sweeps of all starts in their order.
    """

    def __init__(self, **scores: Callable[[Progress], float]):
        self.scores = scores
        self.values: dict[str, list[float]] = {name: [] for name in scores}

    def on_begin(self) -> None:
        """Forget an earlier fit."""
        self.values = {name: [] for name in self.scores}

    def on_sweep(self, progress: Progress) -> None:
        """Record every number."""
        for name, score in self.scores.items():
            self.values[name].append(float(score(progress)))

    def memory(self) -> dict[str, Any]:
        """The numbers so far."""
        return {name: list(values) for name, values in self.values.items()}

    def restore(self, memory: Mapping[str, Any]) -> None:
        """Continue with these."""
        self.values = {name: list(memory.get(name, [])) for name in self.scores}


@dataclass
class _Function(Callback):
    function: Callable[[Progress], Any]

    def on_sweep(self, progress: Progress) -> bool | None:
        return bool(self.function(progress))


def as_callbacks(callbacks: Any, verbose: int) -> list[Callback]:
    """The user's callbacks as a list.

    Parameters
    ----------
    callbacks : None, callable, Callback or sequence of these
        As an estimator is given them.
    verbose : int
        More than 0 adds a progress bar, or a printer where none can be shown.
    """
    if callbacks is None:
        given: list[Any] = []
    elif isinstance(callbacks, Callback) or callable(callbacks):
        given = [callbacks]
    else:
        given = list(callbacks) if isinstance(callbacks, Iterable) else [callbacks]
    for callback in given:
        if not (isinstance(callback, Callback) or callable(callback)):
            raise TypeError(
                f"callbacks holds {callback!r}; each must be a function of a Progress or a "
                "partwise.callbacks.Callback. Callbacks of scikit-learn go to set_callbacks."
            )
    chosen = [c if isinstance(c, Callback) else _Function(c) for c in given]
    if verbose:
        bar = verbose == 1 and can_show_bar()
        chosen.append(ProgressBar() if bar else PrintProgress(every=10 if verbose == 1 else 1))
    return chosen
