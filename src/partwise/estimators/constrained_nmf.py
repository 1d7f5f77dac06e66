"""Label-constrained non-negative matrix factorisation."""

from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np

from ..core import Array, IntArray, Operand, Term, Unit, as_operand, group_means
from ..core.dask_rows import is_dask
from ..core.spread_groups import codes_of_members
from ..core.stream import Stream
from ..graphs import check_labels
from ..solvers import Minimum, Options, Problem
from ..terms.constant import Constant
from ..terms.divergence import order, row_potentials
from .labelled import KnownClasses, LabelledFactorization
from .nmf import fit_term
from .options import Loss
from .stream_samples import Samples
from .streaming import Streamed, StreamingFactorization


class ConstrainedNMF(LabelledFactorization, StreamingFactorization):
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
    _takes_workers = True

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
        # The rows of every block on workers, if samples share codes there.
        self._slices = None
        if n_groups == len(self._groups):
            # No sample shares its code: all stay where they are.
            self._groups = np.arange(n_groups)
        else:
            self._slices = X.stored.slices if X.spread else None
            means = group_means(X, self._groups, n_groups, weight)
            beta = order(self.loss)
            group_weight = np.bincount(self._groups, weights=weight, minlength=n_groups)
            size = X.mean() or 1.0
            potentials = weight.astype(np.float64) @ row_potentials(X, beta, size)
            within = max(float(potentials - group_weight @ row_potentials(means, beta, size)), 0.0)
            X = means
        problem = super()._problem(X, None, rng, options, unit)
        return problem.with_terms([*problem.terms, Constant(within, "within classes")])

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, classes: Any = None) -> Self:
        """Learn from one more batch of samples.

        As for :meth:`NMF.partial_fit`. Samples of one class share their code across all batches: of every class, the
        mean of its samples is kept, and coded again with every batch.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Non-negative data, with the features of the batches before.
        y : array-like of shape (n_samples,), optional
            Class of every sample, −1 where it is unknown.
        sample_weight : array-like of shape (n_samples,), optional
            How often each sample counts.
        classes : array-like of shape (n_classes,), optional
            All classes that may occur in any batch, given with the first one; by default those of the first labels.

        Returns
        -------
        self
        """
        model = copy(self)
        model._declare(classes)
        super(ConstrainedNMF, model).partial_fit(X, y, sample_weight)
        self.__dict__.update(model.__dict__)
        return self

    def _declare(self, classes: Any) -> None:
        """Set the classes of all batches."""
        if classes is None:
            return
        names = check_labels(list(classes), len(classes))[1]
        declared = self.__dict__.get("_declared") if "_streamed" in self.__dict__ else None
        if len(names) != len(classes):
            raise ValueError("classes must hold every class once, and not −1, which stands for an unknown class.")
        if declared is not None and declared != names.tolist():
            raise ValueError(f"classes={names.tolist()} differ from those of the first batch, {declared}.")
        self._declared: list[Any] = names.tolist()

    def _stream_labels(self, y: Any, n_samples: int) -> IntArray:
        groups, names = check_labels(y, n_samples)
        if not len(names):
            return groups
        if "_declared" not in self.__dict__:
            self._declare(names)
        declared = self._declared
        unknown = [name for name in names.tolist() if name not in declared]
        if unknown:
            raise ValueError(
                f"y holds the class {unknown[0]!r}, which is not among those of the first batch, {declared}. Give all "
                "classes with the first batch: partial_fit(X, y, classes=…)."
            )
        places = np.array([declared.index(name) for name in names.tolist()])
        return np.where(groups >= 0, places[groups], -1)

    def _posed(self, samples: Samples, unit: Unit, rng: np.random.RandomState, chosen: Any) -> Problem:
        """Only the classes that have occurred have a row."""
        assert samples.labels is not None  # `_stream_labels` always gives an array
        self._present, compact = np.unique(samples.labels[samples.labels >= 0], return_inverse=True)
        labels = samples.labels.copy()
        labels[labels >= 0] = compact
        self._standing = np.unique(_groups(labels)[labels >= 0])
        return super()._posed(replace(samples, labels=labels), unit, rng, chosen)

    def _to_hold(self, latest: tuple[Samples, ...], stream: Stream, most: float) -> tuple[Samples, ...]:
        return ()

    def _standing_rows(self, samples: Samples, held: tuple[Samples, ...] = ()) -> IntArray:
        return self._standing

    def _learn(self, problem: Problem, minimum: Minimum, batch: Samples, after: Streamed) -> None:
        """Keep the means of the classes, and their codes."""
        super()._learn(problem, minimum, batch, after)
        X, rows = problem.X, self._standing
        weight = np.ones(X.shape[0], X.dtype) if X.sample_weight is None else X.sample_weight
        means = Samples(X.take(rows).array, weight[rows], self._present) if len(rows) else None
        self._streamed = replace(self._streamed, standing=means)
        assert batch.labels is not None
        known = KnownClasses(
            np.concatenate([self._present, batch.labels]),
            _as_names(self.__dict__.get("_declared", [])),
            np.concatenate([minimum.state.W[rows], self.embedding_]),
        )
        known.groups = batch.labels
        self._known_classes = known

    def _settle(self, problem: Problem, minimum: Minimum) -> None:
        """Give every sample its group's code."""
        super()._settle(problem, minimum)
        self.embedding_ = self._ungrouped(self.embedding_)
        self._slices = None

    def _ungrouped(self, codes: Any) -> Any:
        """The code of every sample, where the codes of the groups are."""
        if not is_dask(codes):
            return codes[self._groups]
        n_means = codes.chunks[0][0]
        if self._slices is None:
            return codes
        return codes_of_members(codes, self._groups, n_means, self._slices)

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


def _as_names(classes: list[Any]) -> Array:
    """Classes as an array: of objects, if there are names among them."""
    return np.array(classes, object if any(isinstance(name, str) for name in classes) else None)


def _groups(y: IntArray | None) -> IntArray:
    """Group of every sample: its class, or a group of its own."""
    assert y is not None  # `_labels` always gives an array
    classes = int(y.max(initial=-1)) + 1
    groups = y.astype(np.intp)
    alone = y < 0
    groups[alone] = classes + np.arange(int(alone.sum()))
    return groups
