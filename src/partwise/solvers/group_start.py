"""Where a fit begins whose samples come in groups, with components that all use and components of one group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..core.domains import Domain
from ..core.fixed import Fixed
from ..core.objective import Objective
from ..core.state import State
from ..core.types import COMPONENTS, FACTORS, Array, IntArray, column_norms
from .choice import choose_solver
from .loop import Options, Result
from .search import minimise
from .starting import NamedStart

if TYPE_CHECKING:
    from .problem import Problem

# Sweeps in which every sample may use every component, and of either start after that (studies/groups.py).
SWEEPS = 30


@dataclass(frozen=True, eq=False)
class GroupStart(NamedStart):
    """Short fits in which every sample may use every component; then each group gets those it uses almost alone.

    From singular vectors, or from random numbers, fits hardly ever find which components groups share if group effects
    are large: these settle in the components that come first. If they are small, the start as it is may do better; the
    lower objective decides after a few sweeps. "auto" makes a short fit from random numbers too.

    Attributes
    ----------
    groups : ndarray of int, shape (n_samples,)
        Group of every sample.
    n_shared, n_own : int
        The number of components for all groups, and for each group.
    n_pinned : int
        How many of the shared components have their places, because something is known about them.
    """

    groups: Any = None
    n_shared: int = 0
    n_own: int = 0
    n_pinned: int = 0

    def _made(self, problem: Problem, init: str, seed: int, options: Options) -> State:
        X = problem.X
        fits = [fit.bind(X, None, None, X.sample_weight) for fit in problem.fits]

        def fitted(state: State, **domains: Domain) -> Result:
            objective = Objective(fits, **domains)
            return minimise(objective, choose_solver("auto", objective), [lambda: state], options.inside(SWEEPS, 0.0))

        begin = super()._made(problem, init, seed, options)
        begins = [begin]
        if self.init == "auto" and init != "random":
            # Singular vectors are always the same; where they lead to a bad minimum, others seldom do.
            begins.append(super()._made(problem, "random", seed, options))
        known = self._known(problem)
        states = [self._divided(problem, fitted(state, components=known).state) for state in begins]
        # Where effects are small and data are noisy, groups seem to use alone what they share: then the start itself
        # is better.
        ends = [fitted(state, **problem.bound_domains) for state in (*states, begin)]
        return min(ends, key=lambda end: end.objective).state

    def _divided(self, problem: Problem, together: State) -> State:
        """Each group gets the components that it uses almost alone."""
        energies = _energies(together, self.groups)[:, self.n_pinned :]
        order = np.concatenate([np.arange(self.n_pinned), self.n_pinned + self._assigned(energies)])
        W, Ht = (np.ascontiguousarray(together[factor][:, order]) for factor in FACTORS)
        return problem.state(W, Ht)

    def _known(self, problem: Problem) -> Domain:
        """Components that are known stay where they are while the others find their places."""
        domain = problem.bound_domains[COMPONENTS]
        if self.seeds is None or isinstance(domain, Fixed):
            return domain
        return Fixed(np.array(self.seeds, problem.X.dtype, ndmin=2)).bind(problem.X, COMPONENTS, problem.n_components)

    def _assigned(self, energies: Array) -> IntArray:
        """The component for every place: shared ones first, then those of each group.

        What a component explains in other groups is lost if it becomes that of one group; as little as possible is.
        """
        lost = energies.sum(axis=0) - energies
        shared = np.zeros((self.n_shared - self.n_pinned, energies.shape[1]))
        return np.asarray(linear_sum_assignment(np.concatenate([shared, np.repeat(lost, self.n_own, axis=0)]))[1])


def _energies(state: State, groups: IntArray) -> Array:
    """‖w_j‖² ‖h_j‖² of every component (columns), summed over the samples of every group (rows)."""
    weight = np.ones(len(groups)) if state.X.sample_weight is None else state.X.sample_weight
    members = [np.flatnonzero(groups == group) for group in range(int(groups.max()) + 1)]
    norms = np.stack([column_norms(state.W[rows], weight[rows]) for rows in members])
    return np.asarray((norms * column_norms(state.Ht)) ** 2)
