"""The scale of a robust loss, from the residuals of a fit that outliers do not mislead."""

from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np

from ..core import Array, IntArray, Objective, Operand, State, Unit, as_operand
from ..solvers import Minimum, Multiplicative, Options, Problem, minimise
from ..terms import Frobenius, Huber, TruncatedCauchy
from ..terms.residuals import residual_deviation
from .base import BaseFactorization
from .options import AnyLoss, Auto, Positive

# The search for the scale: rounds, and sweeps in each, for the residuals that the last one left.
ROUNDS, SWEEPS = 10, 10
# The scale of the search in standard deviations of the residuals: for normal noise the Cauchy distribution is most
# likely there, and a loss of that scale is hard to mislead.
SEARCHED_PER_DEVIATION = 0.6
# Losses by name, and their scales. At 1.35 a fit is nearly as precise as least squares where noise is normal (95 %), as
# in scikit-learn's HuberRegressor; at a quarter four of five residuals are linear.
PER_DEVIATION = {"huber": 1.35, "l1": 0.25}
# This many samples are enough to find a scale.
MOST_ROWS = 2000


class LossScale(BaseFactorization):
    """Base class of methods whose loss may be a robust one with a scale.

    Parameters
    ----------
    loss : {"frobenius", "kullback-leibler", "itakura-saito", "huber", "l1"} or float
        D.
    loss_scale : float or "auto"
        Where "huber" and "l1" begin to be linear: the residual, in the unit of X, from which on an entry costs in
        proportion to it. "auto" is 1.35 times ("l1": a quarter of) the standard deviation of the residuals of the
        positive entries. It is estimated, from at most 2,000 samples, by a fit with the Cauchy loss, which large
        residuals hardly influence, and from the median of its residuals.

    Attributes
    ----------
    loss_scale_ : float or None
        The scale of "huber" or "l1", also where "auto" found it; None for other losses.
    """

    loss: AnyLoss = "frobenius"
    loss_scale: Positive | Auto = "auto"

    def _problem(
        self, X: Operand, y: IntArray | None, rng: np.random.RandomState, options: Options, unit: Unit
    ) -> Problem:
        """With the scale of the loss."""
        problem = super()._problem(X, y, rng, options, unit)
        robust = [term for term in problem.terms if isinstance(term, Huber)]
        if not robust or self.loss_scale != "auto":
            return problem
        if not isinstance(problem.n_components, Integral):
            raise ValueError(
                f"n_components={self.n_components!r} is open, and so is loss_scale='auto', which depends on it. Give "
                "one of them as a number."
            )
        scale = PER_DEVIATION[str(self.loss)] * _deviation(problem, options)
        terms = [replace(term, scale=scale) if isinstance(term, Huber) else term for term in problem.terms]
        return problem.with_terms(terms)

    def _start_fields(self, shape: tuple[int, int], dtype: Any) -> dict[str, Any]:
        fields = super()._start_fields(shape, dtype)
        # Outliers spoil singular vectors first.
        return {**fields, "auto": "random"} if self.loss in PER_DEVIATION else fields

    def _settle(self, problem: Problem, minimum: Minimum) -> None:
        self.loss_scale_ = next((float(term.scale) for term in problem.terms if isinstance(term, Huber)), None)
        super()._settle(problem, minimum)

    def _bring_outside(self, unit: Unit) -> None:
        super()._bring_outside(unit)
        if self.loss_scale_ is not None:
            self.loss_scale_ = float(unit.outside(self.loss_scale_, 1.0))


def _deviation(problem: Problem, options: Options) -> float:
    """The standard deviation of the residuals of a fit to some of the samples."""
    start = problem.with_terms([Frobenius()]).states(options)[0]()
    X, weight = problem.X, problem.X.sample_weight
    counting = np.arange(X.shape[0]) if weight is None else np.flatnonzero(weight > 0)
    rows = counting[:: -(-len(counting) // MOST_ROWS)]
    sample = as_operand(X.take(rows).array, X.missing, None if weight is None else weight[rows])
    return approach(State(sample, start.W[rows], start.Ht), options)[0]


def approach(state: State, options: Options) -> tuple[float, tuple[Array, Array]]:
    """The standard deviation of the residuals of factors that outliers have not misled, and these factors.

    Parameters
    ----------
    state : State
        Where to begin.
    options : Options
        Of the fit that needs them.
    """
    X, W, Ht = state.X, state.W, state.Ht
    # In small steps: while the scale is still wide, a solver with large steps follows the outliers.
    for _ in range(ROUNDS):
        scale = SEARCHED_PER_DEVIATION * residual_deviation(X, W, Ht)
        objective = Objective([TruncatedCauchy(scale).bind(X, sample_weight=X.sample_weight)])
        begin = partial(State, X, W, Ht)
        result = minimise(objective, partial(Multiplicative, objective), [begin], options.inside(SWEEPS, 0.0))
        W, Ht = result.state.W, result.state.Ht
        if options.is_spent():
            break
    return residual_deviation(X, W, Ht), (W, Ht)
