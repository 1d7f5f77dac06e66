"""A start for many samples that a graph couples: a fit to small groups of neighbours, each with one code.

Groups are those that the solver moves as a whole (`solvers.multilevel`). Restricted to codes that are equal inside
them, the objective is, up to a constant, that of their means, weighted by their sizes, with the edges between groups
added up. It has a fifth of the rows, so sweeps of a fit can be made there; if it still has many, it starts the same
way.

Dense samples of many features are then fitted by their projections onto the leading directions, all samples and the
whole graph. Products with these cost little, and the fit ends so close to that of the samples themselves that few
sweeps with X are left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.projected import ProjectedOperand
from ..core.storage import DenseOperand, group_means
from ..core.types import Array, IntArray
from .loop import Options
from .multilevel import LEAST_REDUCTION
from .starts import truncated_svd

if TYPE_CHECKING:
    from .problem import Problem

# From this many samples on.
MANY_SAMPLES = 20_000
# A start need not be exact; least of all one from which another start begins.
SWEEPS, TOLERANCE, OF_FIRST, OF_SECOND = 100, 1e-5, 1e-4, 1e-6
# Directions onto which samples are projected: so many, or so many for each component, if features are at least so many
# times as many. They are those of a sample.
DIRECTIONS, PER_COMPONENT, LEAST_FEATURES, SAMPLE = 64, 3, 3, 4096


def joined(problem: Problem) -> tuple[Problem, IntArray] | None:
    """The problem for groups of neighbours, and the group of every sample; None if there is no such problem."""
    X = problem.X
    if X.shape[0] <= MANY_SAMPLES or not X.in_memory or X.missing is not None or problem.domains:
        return None
    groups = _groups(problem)
    if groups is None:
        return None
    n_groups = int(groups.max()) + 1
    terms = [term.joined(groups, n_groups) for term in problem.bound]
    if n_groups > LEAST_REDUCTION * len(groups) or any(term is None for term in terms):
        return None
    weight = np.ones(len(groups), X.dtype) if X.sample_weight is None else X.sample_weight
    means = group_means(X, groups, n_groups, weight)
    return problem.on(means, None).with_terms([term for term in terms if term is not None]), groups


def _groups(problem: Problem) -> IntArray | None:
    """The group of every sample by the edges of the graph, if there is one."""
    from ..kernels.links import aggregate_rows

    edges = next((term.edges for term in problem.bound if hasattr(term, "edges")), None)
    if edges is None:
        return None
    return np.asarray(aggregate_rows(edges.indptr, edges.indices, -edges.data), np.intp)


def joined_start(problem: Problem, options: Options, rng: np.random.RandomState) -> tuple[Array, Array] | None:
    """W and Hᵀ where the fit to groups ends, and that to projections, for all samples; None if there is no such fit."""
    from .problem import solve

    found = joined(problem)
    if found is None:
        return None
    of_groups, groups = found
    projected = _projected(problem, rng)
    with of_groups.at_work():
        end = solve(of_groups, options.inside(SWEEPS, TOLERANCE if projected is None else OF_FIRST)).state
    factors = np.ascontiguousarray(end.W[groups]), end.Ht
    if projected is None:
        return factors
    end = solve(problem.seen_as(projected).begun(factors), options.inside(SWEEPS, OF_SECOND)).state
    return end.W, end.Ht


def _projected(problem: Problem, rng: np.random.RandomState) -> ProjectedOperand | None:
    """The samples as their projections, if these are much shorter."""
    X, width = problem.X, max(DIRECTIONS, PER_COMPONENT * problem.n_components)
    if not isinstance(X, DenseOperand) or X.shape[1] < LEAST_FEATURES * width:
        return None
    rows = np.sort(rng.choice(X.shape[0], min(SAMPLE, X.shape[0]), replace=False))
    return ProjectedOperand(X, truncated_svd(X.take(rows), width, rng)[2])
