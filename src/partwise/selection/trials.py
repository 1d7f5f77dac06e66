"""Short fits of one problem at different values of its open parameters, sharing what does not depend on these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..clusters import Assignment, Rule
from ..core.indices import countable
from ..core.operand import Operand
from ..core.state import State
from ..core.types import IntArray
from ..core.warn import quiet
from ..graphs import check_graph, neighbor_graph
from ..metrics import distinct_components
from ..solvers.cuts import cut_embedding
from ..solvers.loop import Options
from ..solvers.many import solve_many
from ..solvers.problem import Problem
from ..solvers.starting import Factors
from ..solvers.starts import as_coordinates, balanced, start_from_labels
from .criteria import link_criteria, silhouette

# Labels settle long before the objective does; most sweeps are needed at the beginning of a path, and fewer from
# clusters of the graph.
SHORT, FIRST, FROM_CUT = Options(10, 1e-4), Options(30, 1e-4), Options(15, 1e-4)
UNLIMITED = Options()
# Runs of k-means per trial; more where numbers of components are compared, which have one trial each.
KMEANS_STARTS, MORE_KMEANS_STARTS = 3, 5
# Clusterings are judged by the links to this many neighbours, whatever the method uses.
JUDGING_NEIGHBORS = 5
# Graphs of more samples, which a user may give, are not cut.
MOST_CUT = 20_000
# Larger is better for all of them.
CRITERIA = ("connectedness", "modularity", "information", "silhouette")


@dataclass(frozen=True, eq=False)
class Trial:
    """A short fit: its parameters, where it ended, its clusters, what they are worth, and its distinct components."""

    parameters: dict[str, Any]
    factors: Factors
    labels: IntArray
    criteria: dict[str, float]
    distinct: int = 0


class Trials:
    """Makes trials of a problem, with other values of its open parameters.

    Parameters
    ----------
    problem : Problem
    assign : {"kmeans", "argmax"}, default="kmeans"
        How codes are turned into clusters.
    options : Options
        Of the fit that the trials are for.
    """

    def __init__(self, problem: Problem, assign: Rule = "kmeans", options: Options = UNLIMITED):
        self.problem = problem
        self.options = options
        self._assign = assign
        self._seed = int(problem.rng.randint(np.iinfo(np.int32).max))
        self._cuts: dict[int, IntArray] = {}
        self._metric: Any = next((term.metric for term in problem.terms if hasattr(term, "metric")), "cosine")

    @property
    def X(self) -> Operand:
        """The data."""
        return self.problem.X

    @cached_property
    def edges(self) -> Any:
        """The graph for judging clusterings: the user's own, or that of the nearest neighbours."""
        given = given_graph(self.problem)
        if given is not None:
            return check_graph(given(self.X.array) if callable(given) else given, self.X.shape[0])
        return neighbor_graph(self.X.array, min(JUDGING_NEIGHBORS, self.X.shape[0] - 1), self._metric)

    def own_start(self, values: dict[str, Any], init: str | None = None) -> Factors:
        """Where the problem itself would start, or where another named start would."""
        problem = self.problem.with_values(values)
        if init is not None:
            problem = problem.from_start(replace(problem.start, init=init))
        first = problem.states(self.options)[0]()
        return first.W, first.Ht

    def starts(self, values: dict[str, Any]) -> list[Factors]:
        """Where the problem itself would start, and what k-means gives, if it can."""
        starts = [self.own_start(values)]
        possible = self.problem.with_values(values).n_components <= self.X.shape[0] and countable(self.X.array)
        if self.problem.start.given is None and possible:
            starts.append(self.own_start(values, init="kmeans"))
        return starts

    def cut_start(self, values: dict[str, Any]) -> Factors | None:
        """The clusters of the normalised cut of the graph, unless samples are too few or too many for one.

        They know nothing but the graph: where the squared error would rather divide a large cluster, fits that begin
        there keep small ones together.
        """
        problem = self.problem.with_values(values)
        k = problem.n_components
        if not k < self.X.shape[0] <= MOST_CUT:
            return None
        if k not in self._cuts:
            codes = cut_embedding(self.edges, k)
            self._cuts[k] = Assignment(codes, "kmeans", self._seed, n_starts=MORE_KMEANS_STARTS).labels
        factors = balanced(*start_from_labels(self.X, self._cuts[k], k), self.X.sample_weight)
        return as_coordinates(self.X, *factors) if problem.anchored else factors

    def carried(self, trial: Trial, values: dict[str, Any]) -> Factors:
        """Where a trial ended, as a start for other values; components that these tie to samples get their size."""
        before, after = (self.problem.with_values(each).anchored for each in (trial.parameters, values))
        return as_coordinates(self.X, *trial.factors) if after and not before else trial.factors

    def finish(self, values: dict[str, Any], start: Factors) -> Trial:
        """A trial with as many sweeps as a fit."""
        return self.run(values, start, self.options)

    def run(
        self, values: dict[str, Any], start: Factors, options: Options, kmeans_starts: int = KMEANS_STARTS
    ) -> Trial:
        """Make sweeps from a start, and judge the clusters."""
        return self.run_all(values, [start], options, kmeans_starts)[0]

    def run_all(
        self, values: dict[str, Any], starts: Sequence[Factors], options: Options, kmeans_starts: int = KMEANS_STARTS
    ) -> list[Trial]:
        """The same from several starts, side by side; the trials are, to the bit, those of one after the other."""
        problems = [self.problem.with_values(values).begun(start) for start in starts]
        # A trial is not meant to converge, and a bad value will show in its criteria.
        with quiet():
            minima = dict(solve_many(problems, self.options.inside(options.max_iter, options.tol), alike=True))
            return [self._judged(values, minima[i].state, kmeans_starts) for i in range(len(starts))]

    def _judged(self, values: dict[str, Any], state: State, kmeans_starts: int) -> Trial:
        labels = Assignment(state.W, self._assign, self._seed, n_starts=kmeans_starts).labels
        criteria = self.judge(labels, state.Ht.shape[1])
        return Trial(values, (state.W, state.Ht), labels, criteria, distinct_components(state.Ht.T))

    def judge(self, labels: IntArray, n_clusters: int) -> dict[str, float]:
        """The value of a clustering by every criterion."""
        worth = *link_criteria(self.edges, labels, n_clusters), silhouette(self.X.array, labels, self._metric)
        return dict(zip(CRITERIA, worth, strict=True))


def given_graph(problem: Problem) -> Any:
    """The user's own graph, or the function that makes it."""
    given = (getattr(term, "graph", None) for term in problem.terms)
    return next((graph for graph in given if graph is not None), None)
