"""The dispersion of overdispersed counts, from what a fit leaves unexplained."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np

from ..core import Array, IntArray, Objective, Operand, State, Unit, as_operand
from ..solvers import Minimum, Options, Problem, choose_solver, minimise
from ..terms import BetaDivergence, NegativeBinomial
from ..terms.likely_dispersions import likely_dispersions
from .base import BaseFactorization
from .options import AnyLoss, Auto, NonNegative

OVERDISPERSED = "negative-binomial"
# The search for the dispersion: rounds, and sweeps in each, with the dispersion that the last one found.
ROUNDS, SWEEPS = 3, 20
# This many samples, or entries, are enough to find it.
MOST_ROWS, MOST_ENTRIES, LEAST_ROWS = 2000, 4_000_000, 200


class Dispersion(BaseFactorization):
    """Base class of methods whose loss may be that of overdispersed counts.

    Parameters
    ----------
    loss : {"frobenius", "kullback-leibler", "itakura-saito", "huber", "l1", "negative-binomial"} or float
        D.
    dispersion : float, array of shape (n_features,) or "auto"
        How much "negative-binomial" counts vary beyond Poisson ones: with mean μ their variance is μ + dispersion · μ².
        0 is Poisson; the inverse is called size in R and RcppML, and θ in scVI. One number for all features, or one for
        each. It has the unit of 1 / X, as X holds counts: multiplying X changes what it says, unless the dispersion is
        divided as well. "auto" finds the most likely one for each feature, given a fit to at most 2,000 samples;
        features with few counts get one like that of the others.

    Attributes
    ----------
    dispersion_ : float, ndarray of shape (n_features,) or None
        The dispersion of "negative-binomial", also where "auto" found it; None for other losses.
    """

    loss: AnyLoss = "frobenius"
    dispersion: NonNegative | Auto | Sequence[float] | Array = "auto"

    def _problem(
        self, X: Operand, y: IntArray | None, rng: np.random.RandomState, options: Options, unit: Unit
    ) -> Problem:
        """With the dispersion."""
        problem = super()._problem(X, y, rng, options, unit)
        if self.loss != OVERDISPERSED or not isinstance(self.dispersion, str):
            return problem
        if not isinstance(problem.n_components, Integral):
            raise ValueError(
                f"n_components={self.n_components!r} is open, and so is dispersion='auto', which depends on it. Give "
                "one of them as a number."
            )
        found = _likely(problem, options)
        return problem.with_terms(
            [replace(term, dispersion=found) if isinstance(term, NegativeBinomial) else term for term in problem.terms]
        )

    def _settle(self, problem: Problem, minimum: Minimum) -> None:
        given: Any = next((term.dispersion for term in problem.terms if isinstance(term, NegativeBinomial)), None)
        self.dispersion_ = given if given is None or np.ndim(given) == 0 else np.array(given, np.float64)
        super()._settle(problem, minimum)

    def _bring_outside(self, unit: Unit) -> None:
        super()._bring_outside(unit)
        if self.dispersion_ is not None:
            self.dispersion_ = unit.outside(self.dispersion_, -1.0)


def _likely(problem: Problem, options: Options) -> Array:
    """The dispersions that are most likely given fits to some of the samples, from Poisson on."""
    begun = problem.with_terms([BetaDivergence("kullback-leibler")]).states(options)[0]()
    X, weight = problem.X, problem.X.sample_weight
    most = min(MOST_ROWS, max(LEAST_ROWS, MOST_ENTRIES // X.shape[1]))
    counting = np.arange(X.shape[0]) if weight is None else np.flatnonzero(weight > 0)
    rows = counting[:: -(-len(counting) // most)]
    sample = as_operand(X.take(rows).array, X.missing, None if weight is None else weight[rows])
    W, Ht, found = begun.W[rows], begun.Ht, np.zeros(X.shape[1])
    for _ in range(ROUNDS):
        objective = Objective([NegativeBinomial(found).bind(sample, sample_weight=sample.sample_weight)])
        begin = partial(State, sample, W, Ht)
        state = minimise(objective, choose_solver("auto", objective), [begin], options.inside(SWEEPS, 0.0)).state
        W, Ht = state.W, state.Ht
        found = likely_dispersions(sample, W, Ht)
        if options.is_spent():
            break
    return found
