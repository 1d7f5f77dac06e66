"""Resolve what is left open: walk through the values of each parameter, judge the clusterings, keep the best.

Strengths are walked upwards, every fit starting where the last one ended, once from the recipe's own start and once
from k-means; following a solution while the penalty grows often leads to better minima than starting anew. By a
criterion a clustering loses its distance from the best one, as a share of the distance between the best and the worst;
the median of what it loses by four criteria counts. The best goes on as long as a fit does. A fit with its value is
made anew beside it, and kept instead if more criteria are for it than against it.

The four err in different ways: how few of its links to neighbours a cluster cuts (by itself it likes to cut off small
pieces), the modularity of the links (by itself it likes clusters of equal size), what a neighbour's cluster tells of
one's own (by itself it likes clusters of unequal size), and the silhouette in the data (by itself it knows nothing of
curved clusters). The median of four leaves out the one that says least and the one that says most, and has no weights
to tune.

Numbers of components are compared by the links alone: the share that stays inside a cluster, mean over the clusters,
plus the modularity. The first falls and the second rises with the number, until clusters are split that belong
together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.operand import Operand
from ..core.storage import as_operand
from ..core.types import Array, IntArray
from ..solvers.codes import code_samples
from .criteria import stability
from .grids import Grid, Kind, strength_unit
from .record import Path, Selection
from .trials import CRITERIA, FIRST, JUDGING_NEIGHBORS, MORE_KMEANS_STARTS, SHORT, Factors, Recipe, Trial, Trials

# Choices are made on at most so many rows; the final fit is of all.
MOST_ROWS = 2000
# Passes over a row when the rows that took no part in the choice get their first codes.
PASSES = 50
# Criteria that decide, by the kind of the parameter.
DECIDE: dict[Kind, tuple[str, ...]] = {
    "strength": CRITERIA,
    "neighbors": CRITERIA,
    "components": ("connectedness", "modularity"),
}
ROUNDING = 1e-9
# The walk through numbers of components ends when so many in a row were worse than the best.
WORSE_IN_A_ROW = 2
# Numbers of components that are looked at between the best one and its neighbours.
MOST_BETWEEN = 4


@dataclass(frozen=True, eq=False)
class Choice:
    """Values for all that was open, the factors (W, H) that the final fit starts from, and the reasons."""

    parameters: dict[str, Any]
    start: tuple[Array, Array]
    selection: Selection


def choose(
    recipe: Recipe, grids: Mapping[str, Grid], X: Operand, y: IntArray | None, rng: np.random.RandomState
) -> Choice:
    """Choose the open parameters of a recipe, one after the other.

    Parameters
    ----------
    recipe : estimator
    grids : mapping of str to Grid
        What is open.
    X : Operand
    y : ndarray of int or None
    rng : numpy.random.RandomState
    """
    if X.missing is not None:
        raise ValueError(
            f"{' and '.join(grids)} cannot be chosen from data with missing entries, in which no neighbours are found. "
            "For n_components see partwise.selection.cross_validate_entries."
        )
    if X.shape[0] < 2:
        raise ValueError(f"{' and '.join(grids)} cannot be chosen from a single sample, which has no neighbours.")
    sample, y = _sample(recipe, X, y, rng)
    trials = Trials(recipe, sample, y, rng)
    chosen: dict[str, Any] = {name: grid.meanwhile for name, grid in grids.items()}
    for name, grid in grids.items():
        if grid.kind == "strength" and grid.refined:
            chosen[name] = grid.meanwhile * strength_unit(trials.with_parameters(chosen), sample)
    paths, best = [], None
    for name, grid in grids.items():
        path, best = _walk(trials, name, _fitting(grid, sample), chosen)
        chosen[name] = path.chosen
        paths.append(path)
    assert best is not None  # there is at least one grid
    start = best.factors if sample is X else _extended(trials.with_parameters(chosen), best.factors, sample, X)
    selection = Selection(chosen, tuple(paths), sample.shape[0], X.shape[0])
    return Choice(chosen, (start[0], start[1].T), selection)


def _sample(recipe: Any, X: Operand, y: IntArray | None, rng: np.random.RandomState) -> tuple[Operand, IntArray | None]:
    """Some of the rows, if there are many. A graph that the user gave holds for all rows only."""
    n = X.shape[0]
    given = getattr(recipe, "graph", None)
    if n <= MOST_ROWS or (given is not None and not callable(given)):
        return X, y
    rows = np.sort(rng.choice(n, MOST_ROWS, replace=False))
    weight = None if X.sample_weight is None else X.sample_weight[rows]
    return as_operand(X.take(rows).array, X.missing, weight), None if y is None else y[rows]


def _fitting(grid: Grid, X: Operand) -> Grid:
    """The grid without what the data are too small for; what a user gives is tried in any case."""
    if grid.kind == "strength" or not grid.refined:
        return grid
    if grid.kind == "neighbors":
        return grid.at_most(X.shape[0] - 1)
    # A cluster smaller than a neighbourhood cuts its links whatever it is.
    return grid.at_most(min(*X.shape, X.shape[0] // JUDGING_NEIGHBORS))


def _extended(recipe: Recipe, factors: Factors, sample: Operand, X: Operand) -> Factors:
    """Codes for all rows, given the components found on some."""
    W, Ht = factors
    return code_samples(recipe._fit_to(sample).terms, X, Ht, W, max_passes=PASSES), Ht


def _walk(trials: Trials, name: str, grid: Grid, others: dict[str, Any]) -> tuple[Path, Trial]:
    """Try the values of one parameter; the path, and the trial that is best."""
    if grid.kind == "components":
        rows = _count(trials, name, grid, others)
        value = _best_number(rows)
        return _record(name, rows, grid.kind, (value, 0)), rows[value][0]
    unit = strength_unit(trials.with_parameters(others), trials.X) if grid.kind == "strength" and grid.refined else 1
    rows = follow(trials, name, [value * unit for value in grid.values], others)
    place, end = _finished(trials, rows)
    return _record(name, rows, grid.kind, place), end


def _count(trials: Trials, name: str, grid: Grid, others: dict[str, Any]) -> list[list[Trial]]:
    """One trial per number, from a start of its own; then those between the best number and its neighbours."""

    def trial(k: float) -> list[Trial]:
        parameters = {**others, name: int(k)}
        return [trials.run(parameters, trials.own_start(parameters), FIRST, MORE_KMEANS_STARTS)]

    rows: list[list[Trial]] = []
    for k in grid.values:
        rows.append(trial(k))
        best = _best_number(rows)
        if grid.refined and best < len(rows) - WORSE_IN_A_ROW:
            break
    if grid.refined:
        best = _best_number(rows)
        low, high = grid.values[max(best - 1, 0)], grid.values[min(best + 1, len(rows) - 1)]
        between = np.unique(np.linspace(low, high, MOST_BETWEEN + 2).round())
        rows += [trial(k) for k in between if k not in grid.values]
        rows.sort(key=lambda row: row[0].parameters[name])
    return rows


def follow(trials: Trials, name: str, values: Sequence[float], others: dict[str, Any]) -> list[list[Trial]]:
    """One row of trials per value, one column per start, each going on from the value below."""
    rows: list[list[Trial]] = []
    below, options = trials.starts({**others, name: values[0]}), FIRST
    for value in values:
        rows.append([trials.run({**others, name: value}, factors, options) for factors in below])
        below, options = [trial.factors for trial in rows[-1]], SHORT
    return rows


def _best_number(rows: list[list[Trial]]) -> int:
    """The row of the best number of components. Shares of links are added up as they are."""
    return int(_verdicts(rows, "components").sum(axis=0).argmax())


def _finished(trials: Trials, rows: list[list[Trial]]) -> tuple[tuple[int, int], Trial]:
    """The best trial goes on to its end; a fit with its parameters made anew replaces it if more criteria say so."""
    loss = losses(rows, rows)
    value, start = divmod(int(loss.argmin()), loss.shape[1])
    best = rows[value][start]
    end = trials.finish(best.parameters, best.factors)
    if value == start == 0:  # the walk has begun there: nothing would be new
        return (value, start), end
    anew = trials.finish(best.parameters, trials.own_start(best.parameters))
    votes = np.sign(_verdicts([[anew]], "strength") - _verdicts([[end]], "strength"))
    return ((value, 0), anew) if votes.sum() > 0 else ((value, start), end)


def losses(rows: Sequence[Sequence[Trial]], path: Sequence[Sequence[Trial]]) -> Array:
    """What every trial loses against the best ones of a path, one row per value and one column per start.

    By each criterion that is the distance from the best, as a share of the distance between the best and the worst; the
    median of the four counts.
    """
    return np.asarray(np.median(shares(_verdicts(rows, "strength"), _verdicts(path, "strength")), axis=0))


def shares(verdicts: Array, seen: Array) -> Array:
    """What is lost by each criterion, the first axis: the distance from the best seen, as a share of the range seen."""
    best, span = seen.max(axis=(1, 2), keepdims=True), np.ptp(seen, axis=(1, 2), keepdims=True)
    return np.asarray((best - verdicts) / np.where(span > ROUNDING, span, 1))


def _verdicts(rows: Sequence[Sequence[Trial]], kind: Kind) -> Array:
    """What each of the criteria that decide says of every trial."""
    return np.array([[[trial.criteria[name] for trial in row] for row in rows] for name in DECIDE[kind]])


def _record(name: str, rows: list[list[Trial]], kind: Kind, best: tuple[int, int]) -> Path:
    values = np.array([row[0].parameters[name] for row in rows])
    criteria = {
        criterion: np.array([[trial.criteria[criterion] for trial in row] for row in rows]) for criterion in CRITERIA
    }
    agreement = np.array([stability([t.labels for t in row]) if len(row) > 1 else np.nan for row in rows])
    return Path(name, values, criteria, agreement, DECIDE[kind], rows[best[0]][0].parameters[name], best[1])
