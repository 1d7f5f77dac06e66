"""New codes in a pass over the rows, as a value: it can be sent to where the rows are."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, Protocol, Self

import numpy as np

from .scratch import Scratch
from .types import Array

# Threads that code the first blocks ask for the memory of the results at the same time.
_ALLOCATING = Lock()


class RowStep(Protocol):
    """What is done with a block of rows.

    Attributes
    ----------
    n_results : int
        How many arrays it writes; the last one holds the codes, and the first one these before any extrapolation.
    """

    @property
    def n_results(self) -> int: ...  # noqa: D102

    def __call__(self, rows: slice, product: Array, given: tuple[Array, ...], out: tuple[Array, ...]) -> Array:
        """Write the results for some rows, given X[rows] Hᵀ and these rows of other arrays; returns their codes."""

    def whole(
        self, product: Array, given: tuple[Array, ...], links: list[tuple[Any, Any]], scratch: Scratch
    ) -> tuple[Array, ...]:
        """The results for all rows of a block, some of which are coupled.

        Parameters
        ----------
        product : ndarray
            X Hᵀ of the block.
        given : tuple of ndarray
        links : list of (BlockMatrix, object)
            Its rows of the matrices that couple samples, each with what the block knows of others.
        scratch : Scratch
            For arrays that are not results.
        """

    def of(self, rows: slice) -> Self:
        """The step for data that consist of these rows."""


class RowPass:
    """A step on all rows, with the arrays of which it needs the rows. Called for one block after another.

    Parameters
    ----------
    step : RowStep
    given : tuple of ndarray
        Arrays of as many rows as X: one of codes for every result, and any others that the step needs.
    memory : callable, optional
        Gives the arrays for the results, if they are to be here; by default new ones.
    links : tuple of SpreadMatrix, default=()
        What couples rows on workers; the step is then made with a block as a whole.
    before : tuple of RowStep, default=()
        Steps of one result that are made first, with links, one after another.
    aggregates : SpreadAggregates, optional
        What is moved as a whole before that.

    Attributes
    ----------
    results : tuple of ndarray
        What the step has written, when all blocks are done.
    """

    def __init__(
        self,
        step: RowStep,
        given: tuple[Array, ...],
        memory: Callable[[], tuple[Array, ...]] | None = None,
        links: tuple[Any, ...] = (),
        before: tuple[RowStep, ...] = (),
        aggregates: Any = None,
    ):
        self.step = step
        self.given = given
        self.links = links
        self.before = before
        self.aggregates = aggregates
        self._memory = memory or self._fresh
        self._results: Any = None

    @property
    def results(self) -> tuple[Array, ...]:
        """Arrays like those given, made when they are first asked for."""
        if self._results is None:
            with _ALLOCATING:
                if self._results is None:
                    self._results = self._memory()
        return self._results

    @results.setter
    def results(self, arrays: tuple[Array, ...]) -> None:
        self._results = arrays

    def _fresh(self) -> tuple[Array, ...]:
        # In one piece of memory, which has larger pages.
        return tuple(np.empty((self.step.n_results, *self.given[0].shape), self.given[0].dtype))

    def __call__(self, rows: slice, product: Array) -> Array:
        """The codes of a block."""
        given, out = ([F[rows] for F in arrays] for arrays in (self.given, self.results))
        return self.step(rows, product, tuple(given), tuple(out))
