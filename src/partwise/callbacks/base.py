"""What a callback is, and what it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.types import Array

Snapshot = dict[str, Any]


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


@dataclass(frozen=True)
class Fit:
    """What is being fitted.

    Attributes
    ----------
    estimator : BaseEstimator
    X : array or sparse matrix
        The data, checked.
    y, sample_weight : object
        As the user gave them.
    rng : numpy.random.RandomState
        The source of every random choice of the fit, in its initial state.
    groups : ndarray of int, optional
        Group of every sample, for methods that are told.
    """

    estimator: Any
    X: Any
    y: Any
    sample_weight: Any
    rng: np.random.RandomState
    groups: Any = None


class Callback:
    """Base class for callbacks that keep something between sweeps. All methods are optional."""

    def setup(self, fit: Fit) -> None:
        """Called once the data are checked, before any work.

        Parameters
        ----------
        fit : Fit
            What is being fitted.
        """

    def on_begin(self) -> None:
        """Called before the first sweep."""

    def on_sweep(self, progress: Progress) -> bool | None:
        """Called after every sweep; True stops the fit and keeps its result so far.

        Parameters
        ----------
        progress : Progress
            Where the fit is.
        """
        return None

    def is_spent(self) -> bool:
        """Whether a budget for the whole fit is spent.

        A fit may consist of several: trials of open parameters, a start fitted to some of the rows, a first
        approach. Their sweeps are not reported to callbacks; they ask this after each sweep and end early if it is
        True.
        """
        return False

    def on_trial(self, parameter: str, value: float, worth: Mapping[str, float]) -> None:
        """Called while an open parameter is being chosen, after every value tried.

        Parameters
        ----------
        parameter : str
        value : float
        worth : mapping of str to float
            What the value is worth by each criterion.
        """

    def on_choice(self, chosen: Mapping[str, Any]) -> None:
        """Called when the open parameters have been chosen, before the final fit.

        Parameters
        ----------
        chosen : mapping of str to object
            Their values by name.
        """

    def on_end(self) -> None:
        """Called when the sweeps end, also when they are interrupted or fail."""

    def teardown(self) -> None:
        """Called when the fit ends, however it ends, if `setup` was called."""

    def memory(self) -> dict[str, Any]:
        """What a checkpoint must keep of the callback: numbers, text, arrays."""
        return {}

    def restore(self, memory: Mapping[str, Any]) -> None:
        """Restore what :meth:`memory` returned.

        Parameters
        ----------
        memory : mapping of str to object
        """

    def on_safe_point(self, sweep: int, ended: bool, snapshot: Callable[[], Snapshot]) -> None:
        """Called after a sweep from which the fit can be resumed, and when the fit ends by itself.

        Parameters
        ----------
        sweep : int
        ended : bool
            The fit has converged or made all its sweeps.
        snapshot : callable
            Returns all that is needed to resume from here, as plain data and arrays.
        """

    def resume(self) -> Snapshot | None:
        """A snapshot from which the fit should resume, if there is one."""
        return None


class Budgets(Callback):
    """The callbacks of a fit as seen by the fits inside it: only as budgets, which end these too.

    Parameters
    ----------
    callbacks : sequence of Callback
    """

    def __init__(self, callbacks: Sequence[Callback]):
        self._callbacks = callbacks

    def is_spent(self) -> bool:
        """Whether any budget is."""
        return any(callback.is_spent() for callback in self._callbacks)

    def on_sweep(self, progress: Progress) -> bool:
        """Stop when a budget is spent."""
        return self.is_spent()


class Interruption(Callback):
    """Ctrl-C while a fit is being prepared: the best result so far is taken, and the fit ends after its first sweep.

    Attributes
    ----------
    heard : bool
    """

    def __init__(self) -> None:
        self.heard = False

    def is_spent(self) -> bool:
        """There is no time for further preparations."""
        return self.heard

    def on_sweep(self, progress: Progress) -> bool:
        """End the fit as if Ctrl-C were pressed now."""
        if self.heard:
            raise KeyboardInterrupt
        return False


@contextmanager
def fitting(callbacks: Sequence[Callback], fit: Fit) -> Iterator[None]:
    """Set the callbacks up and, however the fit goes, tear them down.

    Parameters
    ----------
    callbacks : sequence of Callback
    fit : Fit
        What is being fitted, for their `setup`.
    """
    with ExitStack() as stack:
        for callback in callbacks:
            stack.callback(callback.teardown)
            callback.setup(fit)
        yield
