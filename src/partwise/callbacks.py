"""What a fit tells while it runs, and how it can be stopped.

A callback is any function of a :class:`Progress` that returns True to stop the fit, or an object derived from
:class:`Callback` if it also wants to know about the beginning and the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from .core.types import Array


@dataclass(frozen=True)
class Progress:
    """Where a fit is after a sweep.

    Attributes
    ----------
    sweep, max_iter : int
    start : int
        Which of the `n_init` starts is being run.
    objective : float
    terms : dict of str to float
        The value of every term.
    elapsed : float
        Seconds since the fit began.
    codes, components : ndarray
        The factors as they are now, in the scale of the computation; do not change them.
    """

    sweep: int
    max_iter: int
    start: int
    objective: float
    terms: dict[str, float]
    elapsed: float
    codes: Array
    components: Array


class Callback:
    """Base of callbacks that keep something between sweeps. All methods are optional."""

    def on_begin(self) -> None:
        """Called before the first sweep."""

    def on_sweep(self, progress: Progress) -> bool | None:
        """Called after every sweep; True stops the fit and keeps what it has."""
        return None

    def on_end(self) -> None:
        """Called when the fit ends, also when it is interrupted or fails."""


class TimeBudget(Callback):
    """Stop after a number of seconds.

    Parameters
    ----------
    seconds : float
    """

    def __init__(self, seconds: float):
        self.seconds = seconds
        self._deadline = float("inf")

    def on_begin(self) -> None:
        """Start the clock."""
        self._deadline = time.perf_counter() + self.seconds

    def on_sweep(self, progress: Progress) -> bool:
        """Stop when time is up."""
        return time.perf_counter() >= self._deadline


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


@dataclass
class _Function(Callback):
    function: Callable[[Progress], Any]

    def on_sweep(self, progress: Progress) -> bool | None:
        return bool(self.function(progress))


def as_callbacks(callbacks: Any, verbose: int) -> list[Callback]:
    """What the user gave, as a list of callbacks; `verbose` adds a printer."""
    if callbacks is None:
        given: list[Any] = []
    elif isinstance(callbacks, Callback) or callable(callbacks):
        given = [callbacks]
    else:
        given = list(callbacks) if isinstance(callbacks, Iterable) else [callbacks]
    for callback in given:
        if not (isinstance(callback, Callback) or callable(callback)):
            raise TypeError(
                f"callbacks holds {callback!r}; each must be a function of a Progress or a partwise.callbacks.Callback."
            )
    chosen = [c if isinstance(c, Callback) else _Function(c) for c in given]
    if verbose:
        chosen.append(PrintProgress(every=10 if verbose == 1 else 1))
    return chosen
