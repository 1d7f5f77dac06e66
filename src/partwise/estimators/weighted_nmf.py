"""Non-negative matrix factorisation with element weights."""

from dataclasses import replace

import numpy as np

from ..core import IntArray, Missing, Operand, Term, Unit
from ..solvers import Options, Problem
from ..terms import BetaDivergence, Frobenius
from ..terms.divergence import order
from ..terms.entries import check_weights, known_counts, restrict
from .open_components import OpenFactorization
from .options import Loss, MatrixOrFunction


class WeightedNMF(OpenFactorization):
    r"""Non-negative matrix factorisation in which every entry of X has a weight (WNMF).

    Minimises, over codes W ≥ 0 (n × k) and components H ≥ 0 (k × m),

        Σ_ij v_ij d(x_ij, (W H)_ij),   v ≥ 0 the weights

    with d the squared error (Kim & Choi, "Weighted nonnegative matrix factorization", ICASSP 2009, Eq. 2) or a
    β-divergence. Entries of weight zero, and missing ones, do not count: their values do not matter.

    Parameters
    ----------
    n_components : int, "auto" or sequence of int
        Number of parts, k. "auto" chooses it, a sequence among its values: with weights or missing entries by how well
        a fit predicts known entries that were hidden from it, otherwise as in :class:`NMF`.
    weights : array or sparse matrix of shape (n_samples, n_features) or callable
        How much each entry counts, or a function that computes this from X. Unstored entries of a sparse matrix do not
        count, and memory is proportional to the stored ones. None: every known entry counts once, as in :class:`NMF`.
    loss : {"frobenius", "kullback-leibler", "itakura-saito"} or float
        d; a number is the β of a β-divergence.
    missing : {None, "nan", "unstored"}
        Entries of X that are unknown, besides those of weight zero: none, those that are NaN, or those that a sparse X
        does not store. It also applies to new samples. A sample without any known entry has a code of zeros, a feature
        without any has zeros in every component, and both cause a warning.
    solver : {"auto", "coordinate", "newton", "multiplicative"}
        "auto" uses coordinate descent for the squared error, with a Gram matrix per sample and feature if entries
        have weights or are missing; Newton steps for divergences, or multiplicative ones below β = 1 if
        many entries are zero. "multiplicative" makes the paper's steps.
    init : {"auto", "random", "nndsvd", "nndsvda", "kmeans", "sampled"} or (W, H)
        Start. "auto" is "nndsvda", or "random" with hidden or missing entries.

    Notes
    -----
    `transform` counts every known entry of a new sample once: weights belong to the samples of the fit.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from partwise import WeightedNMF
    >>> X, _ = load_digits(return_X_y=True)
    >>> seen = np.random.RandomState(0).uniform(size=X.shape) < 0.7
    >>> model = WeightedNMF(8, weights=seen, random_state=0, max_iter=100, tol=0).fit(X)
    >>> filled = model.inverse_transform(model.embedding_)
    >>> bool(((filled - X)[~seen] ** 2).mean() < 0.5 * X[~seen].var())
    True
    """

    weights: MatrixOrFunction = None
    loss: Loss = "frobenius"
    missing: Missing = None

    def _terms(self) -> list[Term]:
        beta = order(self.loss)
        return [Frobenius(self.weights) if beta == 2 else BetaDivergence(beta, self.weights)]

    def _problem(
        self, X: Operand, y: IntArray | None, rng: np.random.RandomState, options: Options, unit: Unit
    ) -> Problem:
        """The data without entries that do not count, and the weights of the rest."""
        if self.weights is None:
            return super()._problem(X, y, rng, options, unit)
        X, weights = restrict(X, check_weights(self.weights(X.array) if callable(self.weights) else self.weights, X))
        if not known_counts(X)[0].any():
            raise ValueError("Nothing of X is observed: all entries are missing or have weight zero.")
        problem = super()._problem(X, y, rng, options, unit)
        return problem.with_terms([replace(fit, weights=weights) for fit in problem.fits])
