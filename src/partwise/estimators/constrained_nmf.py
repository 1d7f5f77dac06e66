"""Label-constrained non-negative matrix factorisation."""

from typing import Any

import numpy as np

from ..core import Array, IntArray, Operand, Term, Unit, as_operand, group_means
from ..solvers import Minimum, Options, Problem
from ..terms.constant import Constant
from ..terms.divergence import order, row_potentials
from .labelled import LabelledFactorization
from .nmf import fit_term
from .options import Loss


class ConstrainedNMF(LabelledFactorization):
    r"""Non-negative matrix factorisation in which samples of one class share their code (CNMF).

    Minimises, over codes W ≥ 0 (n × k) and components H ≥ 0 (k × m),

        D(X, W H)   subject to   w_i = w_j whenever y_i = y_j ≠ −1

    (Liu & Wu, "Non-negative matrix factorization with constraints", AAAI 2010, Eq. 3-4 with W = V = A Z, H = Uᵀ). For
    the squared error and every β-divergence this *is* the factorisation of the class means and the unlabelled samples,
    each mean with the weight of its class: that smaller problem is solved, and the constant difference between the two
    objectives is reported as the term "within classes". The multiplicative solver makes the paper's steps, Eq. 10-11.

    Parameters
    ----------
    loss : {"frobenius", "kullback-leibler", "itakura-saito"} or float
        D; a number is the β of a β-divergence.
    init : {"auto", "random", "nndsvd", "nndsvda", "kmeans", "sampled"} or (W, H)
        Start. "auto" is "nndsvda". Given codes W have one row per sample; rows of one class are averaged.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The codes of the training samples, W, with equal rows for samples of one class.
    classes_ : ndarray of shape (n_classes,)
        The classes that occur in `y`.
    transduction_ : ndarray of shape (n_samples,)
        Class of every training sample: the given one, or that whose code is nearest (see `predict_classes`).

    Notes
    -----
    `fit` takes the labels as `y`, −1 for unknown. Without any label it is :class:`NMF`. New samples are coded as
    unlabelled ones; `predict_classes` gives their classes, `predict` and `labels_` give cluster numbers, as for every
    method. Judge it on the unlabelled samples too: labelled ones share their code by construction.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from partwise import ConstrainedNMF
    >>> X, y = load_digits(return_X_y=True)
    >>> few = np.where(np.arange(len(y)) < 100, y, -1)
    >>> model = ConstrainedNMF(10, random_state=0).fit(X, few)
    >>> zeros = np.flatnonzero(few == 0)
    >>> bool((model.embedding_[zeros] == model.embedding_[zeros[0]]).all())
    True
    """

    _takes_blocks = True

    loss: Loss = "frobenius"

    def _uses_labels(self) -> bool:
        return True

    def _needs_labels(self) -> bool:
        return False

    def _terms(self) -> list[Term]:
        return [fit_term(self.loss)]

    def _problem(
        self, X: Operand, y: IntArray | None, rng: np.random.RandomState, options: Options, unit: Unit
    ) -> Problem:
        """Factor the class means and the unlabelled samples."""
        self._groups = _groups(y)
        n_groups = int(self._groups.max()) + 1
        weight = np.ones(X.shape[0], X.dtype) if X.sample_weight is None else X.sample_weight
        within = 0.0
        if n_groups == len(self._groups):
            # No sample shares its code: all stay where they are.
            self._groups = np.arange(n_groups)
        else:
            means = group_means(X, self._groups, n_groups, weight)
            beta = order(self.loss)
            group_weight = np.bincount(self._groups, weights=weight, minlength=n_groups)
            size = X.mean() or 1.0
            potentials = weight.astype(np.float64) @ row_potentials(X, beta, size)
            within = max(float(potentials - group_weight @ row_potentials(means, beta, size)), 0.0)
            X = means
        problem = super()._problem(X, None, rng, options, unit)
        return problem.with_terms([*problem.terms, Constant(within, "within classes")])

    def _settle(self, problem: Problem, minimum: Minimum) -> None:
        """Give every sample its group's code."""
        super()._settle(problem, minimum)
        self.embedding_ = self.embedding_[self._groups]

    def _misfit(self) -> float:
        return super()._misfit() + self.history_["within classes"][-1]

    def _given_start(self, shape: tuple[int, int], dtype: Any) -> tuple[Array, ...] | None:
        given = super()._given_start((len(self._groups), shape[1]), dtype)
        if given is None or shape[0] == len(self._groups):
            return given
        W, Ht = given
        return group_means(as_operand(W), self._groups, shape[0], np.ones(len(W), dtype)).array, Ht

    def _continues(self, shape: tuple[int, int]) -> bool:
        return super()._continues((len(self._groups), shape[1]))


def _groups(y: IntArray | None) -> IntArray:
    """Group of every sample: its class, or a group of its own."""
    assert y is not None  # `_labels` always gives an array
    classes = int(y.max(initial=-1)) + 1
    groups = y.astype(np.intp)
    alone = y < 0
    groups[alone] = classes + np.arange(int(alone.sum()))
    return groups
