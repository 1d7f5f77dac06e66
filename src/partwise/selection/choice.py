"""Choose open parameters: follow a path through the values of each, judge the clusterings, keep the best.

A path goes upwards through the strengths, each fit starting where the last one ended, once from the recipe's own start
and once from k-means; following a solution while the penalty grows often leads to better minima than a fresh start. At
every strength of a graph, a third fit starts from the graph's normalised cut. By each criterion the loss of a
clustering is its distance from the best one, as a share of the distance between the best and the worst; the median of
four losses decides. Among clusterings about as good as the best, the one with most distinct components is taken: strong
penalties make components repeat. Its fit is continued to the end. A fresh fit at that value replaces it if most
criteria prefer it.

The four err in different ways: how few of its links to neighbours a cluster cuts (alone it favours cutting off small
pieces), the modularity of the links (alone it favours clusters of equal size), what a neighbour's cluster says about
one's own (alone it favours clusters of unequal size), and the silhouette in the data (alone it misses curved clusters).
The median of four ignores the lowest and the highest, and has no weights to tune.

Numbers of components are compared only by the links: the share that stays inside a cluster, averaged over the clusters,
plus the modularity. The first falls and the second rises with the number, until clusters that belong together are
split. Where entries are missing or weighted, samples have no usable neighbours: the number that best predicts hidden
entries is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from ..clusters import Rule
from ..core.operand import Operand
from ..core.storage import as_operand
from ..core.types import Array
from ..core.warn import quiet
from ..solvers.codes import code_samples, coding_terms
from ..solvers.loop import Options
from ..solvers.problem import Problem
from ..solvers.starting import Factors
from ..terms import NeighborGraph
from .criteria import stability
from .entries import Predictions, smallest_good
from .grids import Grid, Kind, strength_unit
from .judging import DECIDE, best_number, best_place, comparable, losses, verdicts
from .numbers import count, default_number, nothing_compared
from .record import PREDICTION, Path, Selection
from .trials import (
    CRITERIA,
    FIRST,
    FROM_CUT,
    JUDGING_NEIGHBORS,
    MORE_KMEANS_STARTS,
    SHORT,
    UNLIMITED,
    Trial,
    Trials,
    given_graph,
)

# Choices are made on at most this many rows; the final fit uses all.
MOST_ROWS = 2000
# Passes over a row when rows left out of the choice get their first codes.
PASSES = 50
NOT_COMPARABLE = "the default: no value makes clusters that can be compared"
UNCOMPARED = "the default: with missing or weighted entries there is nothing to compare"
SPENT = "the default: the budget was spent before there was enough to compare"


@dataclass(frozen=True, eq=False)
class Choice:
    """The problem with values for all open parameters, starting where the choice ended, and the reasons.

    If nothing was compared, the problem starts as it would with fixed values.
    """

    problem: Problem
    selection: Selection


def choose(
    problem: Problem,
    grids: Mapping[str, Grid],
    assign: Rule = "kmeans",
    options: Options = UNLIMITED,
    last: Selection | None = None,
) -> Choice:
    """Choose the open parameters of a problem, one after another.

    Strengths and neighbours keep their defaults where there is nothing to compare, and the selection says why; a fit
    that continues an earlier one keeps what that one chose.

    Parameters
    ----------
    problem : Problem
    grids : mapping of str to Grid
        What is open.
    assign : {"kmeans", "argmax"}, default="kmeans"
        How codes are turned into clusters.
    options : Options
        Of the fit that the choice is for. When a budget is spent, or after Ctrl-C, the best value so far is
        taken; a strength whose default was not reached keeps it.
    last : Selection, optional
        What the last fit chose.
    """
    X = problem.X
    if not grids:
        return Choice(problem, Selection({}, (), 0, X.shape[0]))
    if X.missing is not None or any(fit.weights is not None for fit in problem.fits):
        return _by_hidden_entries(problem, grids, options)
    if X.shape[0] < 2 and "n_components" in grids:
        raise ValueError(f"{' and '.join(grids)} cannot be chosen from a single sample, which has no neighbours.")
    not_chosen = {name: why for name, grid in grids.items() if (why := _hindrance(problem, grid)) is not None}
    chosen = _defaults(problem, grids)
    if problem.start.continues and last is not None:
        chosen |= {name: last.choice[name] for name in not_chosen if name in last.choice}
    if len(not_chosen) == len(grids):
        return Choice(problem.with_values(chosen), Selection(chosen, (), 0, X.shape[0], not_chosen))
    sample = _sample(problem)
    if sample is problem:
        # Terms warn about the data now: the final fit shares what they build.
        _ = problem.with_values(chosen).bound
    with quiet():
        return _chosen(problem, sample, grids, chosen, not_chosen, options, assign)


def _by_hidden_entries(problem: Problem, grids: Mapping[str, Grid], options: Options) -> Choice:
    """Choose the number of components by prediction: where entries are unknown, neighbours do not measure clusters.

    Strengths and neighbours that are "auto" keep their defaults, and a list of them is refused.
    """
    others = {name: grid for name, grid in grids.items() if grid.kind != "components"}
    listed = [name for name, grid in others.items() if not grid.refined]
    if listed:
        raise ValueError(
            f"{' and '.join(listed)} cannot be chosen from data with missing or weighted entries, by which samples and "
            "their neighbours cannot be compared. Give a number; n_components can be chosen, by predicting hidden "
            "entries."
        )
    defaults = {name: value for name, value in _defaults(problem, grids).items() if name in others}
    not_chosen, n_samples = dict.fromkeys(others, UNCOMPARED), problem.X.shape[0]
    problem = problem.with_values(defaults)
    if len(others) == len(grids):
        return Choice(problem, Selection(defaults, (), 0, n_samples, not_chosen))
    ((name, grid),) = ((name, grid) for name, grid in grids.items() if name not in others)
    sample = _sample(problem)
    predict = Predictions.of(sample, options)

    def trial(k: int) -> Array:
        saved = predict(k)
        _tell(options, name, k, {PREDICTION: float(saved.mean())})
        return saved

    grid = grid.at_most(min(sample.X.shape)) if grid.refined else grid
    numbers, rows = count(grid, trial, lambda rows: int(np.mean(rows, axis=1).argmax()), options)
    if nothing_compared(grid, numbers, options):
        settled = {**defaults, name: default_number(grid)}
        selection = Selection(settled, (), 0, n_samples, {**not_chosen, name: SPENT})
    else:
        worth = np.array(rows)
        chosen, unknown = numbers[smallest_good(worth)], np.full(len(numbers), np.nan)
        criteria = {PREDICTION: worth}
        path = Path(name, np.array(numbers), criteria, unknown, (PREDICTION,), chosen, 0, cut_short=options.is_spent())
        selection = Selection({**defaults, name: chosen}, (path,), sample.X.shape[0], n_samples, not_chosen)
    _tell_choice(options, selection.choice)
    return Choice(problem.with_values(selection.choice), selection)


def _chosen(
    problem: Problem,
    sample: Problem,
    grids: Mapping[str, Grid],
    chosen: dict[str, Any],
    not_chosen: dict[str, str],
    options: Options,
    assign: Rule,
) -> Choice:
    """Choose one parameter after another, with defaults for those still to come."""
    trials = Trials(sample, assign, options)
    paths: list[Path] = []
    best = None
    for name, grid in grids.items():
        if name in not_chosen:
            continue
        grid = _fitting(grid, sample.X)
        found = SPENT if paths and options.is_spent() else _follow_path(trials, name, grid, chosen)
        if isinstance(found, str):
            not_chosen[name] = found
            if grid.kind == "components":
                chosen[name] = default_number(grid)
            continue
        path, best = found
        chosen[name] = path.chosen
        paths.append(path)
    _tell_choice(options, chosen)
    selection = Selection(chosen, tuple(paths), sample.X.shape[0], problem.X.shape[0], not_chosen)
    settled = problem.with_values(chosen)
    if best is None:
        return Choice(settled, selection)
    return Choice(
        settled.begun(best.factors if sample is problem else _extended(sample, best.factors, problem)), selection
    )


def _hindrance(problem: Problem, grid: Grid) -> str | None:
    """Why a strength or a number of neighbours cannot be chosen by its clusters, if it cannot."""
    if grid.kind == "components":
        return None
    if problem.start.continues:
        return "not chosen: the last fit continues"
    k = problem.n_components
    if k == 1:
        return "the default: one component has no clusters to compare"
    if isinstance(k, Integral) and (distinct := _distinct(problem.X)) <= int(k):
        return f"the default: {distinct} distinct sample{'s' * (distinct > 1)} cannot make {k} clusters to compare"
    return None


def _distinct(X: Operand) -> int:
    """How many samples differ from all earlier ones: distinct samples differ in their shares of random features."""
    along = X.dot(np.random.RandomState(0).uniform(size=(X.shape[1], 1)))[:, 0]
    return len(np.unique(np.round(along / (np.abs(along).max() or 1.0), 9)))


def _defaults(problem: Problem, grids: Mapping[str, Grid]) -> dict[str, Any]:
    """Values for open parameters until they are chosen, in the unit of the data."""
    values: dict[str, Any] = {name: grid.meanwhile for name, grid in grids.items()}
    meanwhile = problem.with_values(values)
    for name, grid in grids.items():
        if grid.kind == "strength" and grid.refined:
            values[name] *= strength_unit(meanwhile, name)
    return values


def _sample(problem: Problem) -> Problem:
    """Some of the rows, if there are many, in memory. A graph or weights of the user, even a function, are for all."""
    X, y, n = problem.X, problem.labels, problem.X.shape[0]
    for_all = given_graph(problem) is not None or any(fit.weights is not None for fit in problem.fits)
    if for_all or (n <= MOST_ROWS and X.in_memory):
        return problem
    rows = np.sort(problem.rng.choice(n, MOST_ROWS, replace=False)) if n > MOST_ROWS else np.arange(n)
    weight = None if X.sample_weight is None else X.sample_weight[rows]
    sample = problem.on(as_operand(X.take(rows).array, X.missing, weight), None if y is None else y[rows])
    return sample.from_start(problem.start.of_rows(rows))


def _fitting(grid: Grid, X: Operand) -> Grid:
    """The grid without values too large for the data; values given by the user are always tried."""
    if grid.kind == "strength" or not grid.refined:
        return grid
    if grid.kind == "neighbors":
        return grid.at_most(X.shape[0] - 1)
    # A cluster smaller than a neighbourhood always cuts links.
    return grid.at_most(min(*X.shape, X.shape[0] // JUDGING_NEIGHBORS))


def _extended(sample: Problem, factors: Factors, problem: Problem) -> Factors:
    """Codes for all rows, given the components found on some."""
    W, Ht = factors
    terms = coding_terms(sample.fit_to(sample.X).terms, sample.state(W, Ht))
    return code_samples(terms, problem.X, Ht, max_passes=PASSES), Ht


def _follow_path(trials: Trials, name: str, grid: Grid, others: dict[str, Any]) -> tuple[Path, Trial] | str:
    """Try the values of one parameter; returns the path and the best trial, or why there is none."""
    if grid.kind == "components":

        def trial(k: int) -> list[Trial]:
            parameters = {**others, name: k}
            row = [trials.run(parameters, trials.own_start(parameters), FIRST, MORE_KMEANS_STARTS)]
            _tell(trials.options, name, k, row[0].criteria)
            return row

        numbers, rows = count(grid, trial, best_number, trials.options)
        if nothing_compared(grid, numbers, trials.options):
            return SPENT
        value = best_number(rows)
        return _record(name, rows, grid.kind, (value, 0), trials.options.is_spent()), rows[value][0]
    unit: float = 1
    if grid.kind == "strength" and grid.refined:
        unit = strength_unit(trials.problem.with_values(others), name)
    values = [value * unit for value in grid.values]
    rows = follow(trials, name, values, others)
    cut_short = len(rows) < len(values)
    if cut_short and rows[-1][0].parameters[name] < others[name]:
        return SPENT
    if not comparable(rows):
        return NOT_COMPARABLE
    place, end = _finished(trials, rows)
    return _record(name, rows, grid.kind, place, cut_short), end


def _tell(options: Options, name: str, value: float, worth: Mapping[str, float]) -> None:
    for callback in options.callbacks:
        callback.on_trial(name, float(value), worth)


def _tell_choice(options: Options, chosen: Mapping[str, Any]) -> None:
    for callback in options.callbacks:
        callback.on_choice(chosen)


def follow(trials: Trials, name: str, values: Sequence[float], others: dict[str, Any]) -> list[list[Trial]]:
    """One row of trials per value, one column per start.

    Those from the method's own start and from k-means continue from the value below. If the strength of a graph is
    open, and no start is given, a third one begins at the normalised cut of the graph, again at every value: continued
    from value to value, it would soon lose what the cut knows.
    """
    rows: list[list[Trial]] = []
    below, options = trials.starts({**others, name: values[0]}), FIRST
    followed = len(below)
    cuts = followed > 1 and name == NeighborGraph.strength_name
    for value in values:
        parameters = {**others, name: value}
        try:
            if rows:
                below, options = [trials.carried(trial, parameters) for trial in rows[-1][:followed]], SHORT
            row = trials.run_all(parameters, below, options)
            cut = trials.cut_start(parameters) if cuts else None
            rows.append(row if cut is None else [*row, trials.run(parameters, cut, FROM_CUT)])
        except KeyboardInterrupt:
            if not rows or not trials.options.hear_interruption():
                raise
            break
        _tell(trials.options, name, value, {c: max(trial.criteria[c] for trial in rows[-1]) for c in CRITERIA})
        if trials.options.is_spent():
            break
    return rows


def _finished(trials: Trials, rows: list[list[Trial]]) -> tuple[tuple[int, int], Trial]:
    """Continue the best trial to its end; a fresh fit with its parameters replaces it if most criteria prefer it."""
    value, start = best_place(losses(rows, rows), np.array([[trial.distinct for trial in row] for row in rows]))
    best = rows[value][start]
    end = best
    try:
        if not trials.options.is_spent():
            end = trials.finish(best.parameters, best.factors)
        # At the beginning of the path a fresh fit would be the same.
        if value == start == 0 or trials.options.is_spent():
            return (value, start), end
        fresh = trials.finish(best.parameters, trials.own_start(best.parameters))
    except KeyboardInterrupt:
        if not trials.options.hear_interruption():
            raise
        return (value, start), end
    votes = np.sign(verdicts([[fresh]], "strength") - verdicts([[end]], "strength"))
    # Where criteria are divided, distinct components decide.
    return ((value, 0), fresh) if (votes.sum(), fresh.distinct) > (0, end.distinct) else ((value, start), end)


def _record(name: str, rows: list[list[Trial]], kind: Kind, best: tuple[int, int], cut_short: bool) -> Path:
    values = np.array([row[0].parameters[name] for row in rows])
    criteria = {
        criterion: np.array([[trial.criteria[criterion] for trial in row] for row in rows]) for criterion in CRITERIA
    }
    distinct = np.array([[trial.distinct for trial in row] for row in rows])
    agreement = np.array([stability([t.labels for t in row]) if len(row) > 1 else np.nan for row in rows])
    chosen = rows[best[0]][0].parameters[name]
    return Path(name, values, criteria, agreement, DECIDE[kind], chosen, best[1], distinct, cut_short)
