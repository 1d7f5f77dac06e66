"""Means over fits to randomly weighted samples (bagging).

The fit with the lowest objective follows the noise of the data as far as it can. Fits to other weightings of the
samples follow it elsewhere, and their mean follows it less (Breiman, "Bagging predictors", Machine Learning 1996). The
weights are those of the Bayesian bootstrap (Rubin, Annals of Statistics 1981). All fits begin where a good one ended,
so that component j of each is a version of the same component; from random starts, they would end in other minima.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..core.types import Array
from ..core.warn import quiet
from ..solvers import Options, Problem, solve_many
from .programs import unit_rows


def bagged(problem: Problem, factors: tuple[Array, Array], n_fits: int, options: Options, seed: int) -> Array:
    """Mean components of fits to weighted samples, at unit norm.

    Parameters
    ----------
    problem : Problem
    factors : tuple of ndarray
        W and Hᵀ, where every fit begins.
    n_fits : int
    options : Options
    seed : int

    Returns
    -------
    components : ndarray of shape (n_components, n_features)
        In the order of those in `factors`; zero where that of every fit is.
    """
    total = np.zeros((problem.n_components, problem.X.shape[1]))
    problems = _weighted(problem.begun(factors), n_fits, np.random.RandomState(seed))
    with quiet():
        for _, minimum in solve_many(problems, options):
            total += unit_rows(minimum.state.components)
    return unit_rows(total).astype(problem.X.dtype)


def _weighted(problem: Problem, n_fits: int, rng: np.random.RandomState) -> Iterator[Problem]:
    """The problem with samples weighted at random."""
    given = problem.X.sample_weight
    for _ in range(n_fits):
        weight = rng.exponential(size=problem.X.shape[0])
        yield problem.reweighted(weight if given is None else weight * given)
