"""Which numbers of components are tried, whatever the criterion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from ..solvers.loop import Options
from .grids import Grid

T = TypeVar("T")

# The path through numbers of components ends when this many in a row were worse than the best.
WORSE_IN_A_ROW = 2
# Numbers of components tried between the best one and its neighbours.
MOST_BETWEEN = 4


def count(
    grid: Grid, trial: Callable[[int], T], best_of: Callable[[list[T]], int], options: Options
) -> tuple[list[int], list[T]]:
    """One trial per number, until a few in a row are worse than the best; then those between it and its neighbours."""
    found: list[T] = []
    for k in grid.values:
        try:
            found.append(trial(int(k)))
        except KeyboardInterrupt:
            if not found or not options.hear_interruption():
                raise
        if options.is_spent() or (grid.refined and best_of(found) < len(found) - WORSE_IN_A_ROW):
            break
    trials = dict(zip(map(int, grid.values), found, strict=False))
    if grid.refined:
        best = best_of(found)
        low, high = grid.values[max(best - 1, 0)], grid.values[min(best + 1, len(found) - 1)]
        for k in np.unique(np.linspace(low, high, MOST_BETWEEN + 2).round()).astype(int).tolist():
            if k not in grid.values and not options.is_spent():
                try:
                    trials[k] = trial(k)
                except KeyboardInterrupt:
                    if not options.hear_interruption():
                        raise
    numbers = sorted(trials)
    return numbers, [trials[k] for k in numbers]


def nothing_compared(grid: Grid, numbers: Sequence[int], options: Options) -> bool:
    """Whether the budget allowed only one of several numbers."""
    return len(numbers) == 1 < len(grid.values) and options.is_spent()


def default_number(grid: Grid) -> int:
    """The default, or the nearest that the data allow."""
    return int(min(grid.meanwhile, grid.values[-1]))
