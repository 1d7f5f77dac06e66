"""Non-negative matrix factorisation with the truncated Cauchy loss."""

from functools import partial
from typing import cast

import numpy as np

from ..core import Array, IntArray, Objective, Operand, State, Term, Unit
from ..solvers import Minimum, Multiplicative, Options, Problem, code_rows, minimise
from ..terms import Frobenius, TruncatedCauchy
from ..terms.residuals import residual_deviation, truncated_entries
from .base import BaseFactorization
from .options import Auto, Positive, PositiveOrInfinite

# The search for the scale: rounds, and sweeps in each, for the residuals that the last one left.
ROUNDS, SWEEPS = 10, 5
# The scale in standard deviations of the residuals. For normal noise the Cauchy distribution is most likely at 0.6, and
# a loss of that scale is hard to mislead; at 2.4 a fit is nearly as precise as least squares (95 %). So the search uses
# the first, and the fit nearly the second.
APPROACH_PER_DEVIATION, SCALE_PER_DEVIATION = 0.6, 2.0
# A sample with a larger share of outliers is itself an outlier.
MOST_OUTLIERS = 0.25
# Coding new samples: passes at these multiples of the scale.
CODING_SCALES, CODING_PASSES = (64.0, 16.0, 4.0), 50


class CauchyNMF(BaseFactorization):
    r"""Robust non-negative matrix factorisation with the truncated Cauchy loss (TCNMF).

    Minimises, over codes W ≥ 0 (n × k) and components H ≥ 0 (k × m),

        γ² Σ_ij ln(1 + min(r_ij² / γ², truncation²)),   r = X − W H,   γ = cauchy_scale

    (Guan, Liu, Zhang, Tao & Davis, "Truncated Cauchy non-negative matrix factorization", PAMI 2019; the factor γ² gives
    it the unit of the squared error, which it is for γ → ∞). An entry counts in full while its residual is small
    compared with γ, less and less beyond, and not at all from truncation · γ on: an outlier. Each sweep lowers a
    squared error that touches the loss at the present residuals and lies above it elsewhere, so the loss cannot rise.

    The scale is estimated first and then fixed: a loss whose scale changes cannot be compared from sweep to sweep. To
    find it, the plain Cauchy loss, which ignores no entry, is fitted in rounds, each with a narrow scale for the
    residuals that the last one left. The fit begins where that ends. With a start (W, H) the scale is that of its
    residuals, and the fit begins there.

    Parameters
    ----------
    cauchy_scale : float or "auto"
        γ, in the unit of X. "auto" is twice the standard deviation of the residuals of the positive entries, estimated
        from their median.
    truncation : float
        From this multiple of the scale on, an entry is an outlier. ``numpy.inf`` is the plain Cauchy loss.
    solver : {"auto", "coordinate", "multiplicative"}
        "coordinate", which is "auto", fits data whose entries are imputed to the extent that they are not trusted.
        "multiplicative" makes the steps of half-quadratic programming, with a weight for every entry; it needs many
        more sweeps.
    init : {"auto", "random", "nndsvd", "nndsvda", "kmeans", "sampled"} or (W, H)
        Start. "auto" is "random": outliers spoil the others.
    n_init : int
        Number of starts; the one whose residuals have the smallest scale is continued.

    Attributes
    ----------
    cauchy_scale_ : float
        γ.
    outliers_ : csr_array of bool, shape (n_samples, n_features)
        The entries that are ignored. ``outliers_.mean(axis=1)`` is their share in every sample.

    Notes
    -----
    A sample all of whose entries are outliers keeps the code it had when they became so. Samples with more than a
    quarter of outliers get the nearest cluster but do not influence where clusters are. The loss is not convex even in
    one factor: new samples are coded from a wide scale down to γ. Sparse X is accepted and never made dense, but every
    entry, even a zero, has its own weight, so time grows with n × m.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from partwise import CauchyNMF
    >>> X, _ = load_digits(return_X_y=True)
    >>> broken = np.random.RandomState(0).uniform(size=X.shape) < 0.1
    >>> model = CauchyNMF(10, random_state=0, max_iter=100, tol=0).fit(np.where(broken, 100.0, X))
    >>> bool(model.outliers_.toarray()[broken].mean() > 0.95)
    True
    """

    cauchy_scale: Positive | Auto = "auto"
    truncation: PositiveOrInfinite = 3.0

    # Outliers spoil singular vectors first.
    _auto_init = "random"

    def _terms(self) -> list[Term]:
        return [TruncatedCauchy(cast(float, self.cauchy_scale), self.truncation)]

    def _problem(
        self, X: Operand, y: IntArray | None, rng: np.random.RandomState, options: Options, unit: Unit
    ) -> Problem:
        """With the scale of the loss, and the factors of the fit that found it."""
        problem = super()._problem(X, y, rng, options, unit)
        given = problem.start.given
        if given is not None:
            deviation = residual_deviation(X, *given) if self.cauchy_scale == "auto" else 0.0
        else:
            approaches = []
            for start in problem.with_terms([Frobenius()]).states(options):
                approaches.append(_approach(X, start(), options))
                if options.is_spent():
                    break
            deviation, given = min(approaches, key=lambda approach: approach[0])
        problem = problem.begun(given)
        if self.cauchy_scale != "auto":
            return problem
        return problem.with_terms([TruncatedCauchy(SCALE_PER_DEVIATION * deviation, self.truncation)])

    def _settle(self, problem: Problem, minimum: Minimum) -> None:
        (term,) = problem.terms
        assert isinstance(term, TruncatedCauchy)  # what `_problem` puts there
        self.cauchy_scale_ = term.scale
        super()._settle(problem, minimum)
        Ht = self.components_.T
        self.outliers_ = truncated_entries(problem.X, self.embedding_, Ht, self.truncation * self.cauchy_scale_)

    def _bring_outside(self, unit: Unit) -> None:
        super()._bring_outside(unit)
        self.cauchy_scale_ = float(unit.outside(self.cauchy_scale_, 1.0))

    def _trusted(self) -> Array:
        shares = np.asarray(self.outliers_.mean(axis=1)).ravel()
        return np.asarray(shares <= MOST_OUTLIERS)

    def _code(self, X: Operand) -> Array:
        Ht = self._inner_components(X.dtype)
        (loss,) = self._coding
        assert isinstance(loss, TruncatedCauchy)
        codes = None
        with X.at_work():
            for wide in CODING_SCALES:
                objective = Objective([TruncatedCauchy(wide * loss.scale).bind(X)])
                codes = code_rows(objective, X, Ht, CODING_PASSES, codes)
            return code_rows(Objective([loss.bind(X)]), X, Ht, start=codes)


def _approach(X: Operand, state: State, options: Options) -> tuple[float, tuple[Array, Array]]:
    """Factors that outliers have not misled, and the standard deviation of their residuals."""
    W, Ht = state.W, state.Ht
    # In small steps: while the scale is still wide, a solver with large steps follows the outliers.
    for _ in range(ROUNDS):
        scale = APPROACH_PER_DEVIATION * residual_deviation(X, W, Ht)
        objective = Objective([TruncatedCauchy(scale).bind(X, sample_weight=X.sample_weight)])
        begin = partial(State, X, W, Ht)
        result = minimise(objective, partial(Multiplicative, objective), [begin], options.inside(SWEEPS, 0.0))
        W, Ht = result.state.W, result.state.Ht
        if options.is_spent():
            break
    return residual_deviation(X, W, Ht), (W, Ht)
