"""Non-negative matrix factorisation with the truncated Cauchy loss."""

from typing import cast

import numpy as np

from ..core import Array, IntArray, Operand, Term, Unit
from ..solvers import Minimum, Options, Problem
from ..terms import Frobenius, TruncatedCauchy
from ..terms.residuals import residual_deviation, truncated_entries
from .base import BaseFactorization
from .loss_scale import approach
from .options import Auto, Positive, PositiveOrInfinite

# The scale in standard deviations of the residuals. At 2.4 the fit is nearly as precise as least squares where noise is
# normal (95 %).
SCALE_PER_DEVIATION = 2.0
# A sample with a larger share of outliers is itself an outlier.
MOST_OUTLIERS = 0.25


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
    one factor: new samples are coded by the squared error first, then with scales that shrink to γ. Sparse X is
    accepted and never made dense, but every entry, even a zero, has its own weight, so time grows with n × m.

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

    _takes_blocks = True

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
                approaches.append(approach(start(), options))
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
