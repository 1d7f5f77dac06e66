"""Base class of all estimators: the way from X to a fitted model, without any method or loop."""

from abc import ABCMeta
from copy import copy
from dataclasses import field, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, InvalidParameterError

from ..callbacks import CallbackSupport, Fit, as_callbacks, fitting, sklearn_callbacks
from ..callbacks.base import Interruption
from ..clusters import Assignment
from ..core import CODES, COMPONENTS, Array, IntArray, Operand, Unit, is_lent, scaled
from ..core.dask_rows import cluster_of, is_dask
from ..persistence import Persistent
from ..plots.convergence import FitHistory
from ..selection.choice import choose
from ..selection.grids import open_parameters
from ..solvers import Minimum, Options, Problem, Result, rescaled, solve
from .duplicates import warn_if_duplicate
from .fitted import FittedFactorization
from .loop_parameters import LoopParameters
from .options import Assign, Count, Init, Scale
from .options import Solver as SolverName
from .posing import Posing
from .sklearn_bases import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin
from .sklearn_names import ExplainsNames
from .units import chosen_unit, grids_inside, selection_inside, selection_outside
from .validation import (
    check_closed,
    check_sample_weight,
    check_size,
    check_X,
    warn_unknown,
)

# Rows that are coded together where they do not count in a fit.
UNSEEN_ROWS = 2**14
NO_COMPONENT = "get zero entries in every component"


class BaseFactorization(
    ExplainsNames,
    Posing,
    FittedFactorization,
    Persistent,
    CallbackSupport,
    LoopParameters,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    BaseEstimator,
    metaclass=ABCMeta,
):
    """Base class of all estimators: minimise a sum of terms over W, H ≥ 0, with X ≈ W H.

    A subclass names its terms in `_terms`.

    Parameters
    ----------
    n_components : int
        Number of parts, k.
    scale : {"auto", "components", None}
        Which factor carries the scale. "auto": penalties on only the codes are measured where components have unit norm
        (and vice versa), so that rescaling cannot evade them; without penalties components get unit norm in the end;
        penalties on both factors settle the scale. None: whatever the sweeps give.
    solver : {"auto", "coordinate", "newton", "multiplicative"}
        "auto" uses coordinate descent for the Frobenius loss, Newton steps for Kullback–Leibler and the other
        divergences, and multiplicative steps where these do not apply, as far as the objective allows, and for
        divergences below β = 1 of data with many zeros.
        "multiplicative" makes the papers' steps.
    init : {"auto", "random", "nndsvd", "nndsvda", "kmeans", "sampled"} or (W, H)
        Start. "auto" is "nndsvda", or "random" with missing entries. "sampled" first fits an eighth of the samples,
        at most 128 MB of them, which pays off on large data. With a graph of more than 20,000 samples, "auto" first
        fits the means of groups of neighbours.
    assign : {"kmeans", "argmax"}
        How `labels_` and `predict` turn codes into clusters: the best of 20 runs of k-means, or the largest entry (a
        sample whose code is zero then gets the label of the first component).

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The parts, H.
    embedding_ : ndarray of shape (n_samples, n_components)
        The codes of the training samples, W.
    labels_ : ndarray of int, shape (n_samples,)
        Clusters of the training samples.
    n_components_ : int
        Number of components, also where "auto" chose it.
    objective_ : float
        The objective at the end.
    reconstruction_err_ : float
        The fit's share of it as a distance, as in scikit-learn: ‖X − W H‖, or √(2 D) for another β-divergence D.
        Samples are weighted, and missing entries and penalties do not count.
    history_ : dict of list
        "objective", every term by its name, and "time" (seconds) after each sweep; entry 0 is the start.
    n_iter_ : int
        Sweeps made.
    solver_ : str
        The solver used.
    stop_reason_ : {"converged", "max_iter", "interrupted", "callback"}
        Why the fit ended.
    scale_ : {"components", "codes", None}
        The factor whose columns (rows of H) have unit norm.
    n_features_in_ : int
        Number of features of X.
    """

    n_components: Count = field(default=8, kw_only=False)
    scale: Scale = "auto"
    solver: SolverName = "auto"
    init: Init = "auto"
    assign: Assign = "kmeans"

    # Whether X may have negative entries.
    _signed_data: ClassVar[bool] = False

    def _validate_params(self) -> None:
        """Also refuse True and False where a number is expected: to Python they are 1 and 0."""
        super()._validate_params()
        for name, rules in self._parameter_constraints.items():
            value = getattr(self, name)
            if isinstance(value, bool) and any(isinstance(rule, Interval) for rule in rules):
                raise InvalidParameterError(
                    f"The {name!r} parameter of {type(self).__name__} must be a number. Got {value!r} instead."
                )

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn codes and components from the data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or data on disk
            Non-negative data. Data that are not in memory are read in blocks, see :mod:`partwise.blocks`.
        y : array-like of shape (n_samples,), optional
            Classes, −1 for unknown; ignored by methods that use no labels.
        sample_weight : array-like of shape (n_samples,), optional
            How often each sample counts in the fit.

        Returns
        -------
        self
        """
        self._validate_params()
        grids = open_parameters(self, self._selectable)
        callbacks = [*sklearn_callbacks(self), *as_callbacks(self.callbacks, self.verbose)]
        given = X
        for term in self._terms():
            term.seeing(given)
        spread = is_dask(X) and cluster_of(X) is not None
        if spread:
            self._check_workers()
            self._check_beside(X, y, sample_weight)
        X, exponent = check_X(self, X, self.missing, reset=True, spread=spread)
        weight = check_sample_weight(sample_weight, X.shape[0], X.dtype)
        ranks = grids.get("n_components")
        if ranks is None or not ranks.refined:
            check_size(X, self._n_fitted if ranks is None else int(max(ranks.values)))
        unit = chosen_unit(self._unit_for, exponent, X)
        grids = grids_inside(grids, self._terms(), unit, X.dtype)
        rng = check_random_state(self.random_state)
        operand = self._operand(unit.inside(X), weight)
        operand.lent = operand.in_memory and is_lent(operand.array, given)
        labels = self._labels(y, X.shape[0])
        with operand.at_work(), fitting(callbacks, Fit(self, X, y, sample_weight, rng, self._members())):
            if grids:
                callbacks.append(Interruption())
            options = Options(self.max_iter, self.tol, tuple(callbacks))
            problem = self._problem(operand, labels, rng, options, unit).seeing(given)
            with problem.at_work():
                last = selection_inside(self.__dict__.get("selection_"), problem.terms, unit)
                choice = choose(problem, grids, self.assign, options, last)
                self._fit_problem(choice.problem, options)
        if unit.exponent:
            # The chosen values may settle the scale, and with it the unit of the codes.
            unit = replace(unit, powers=self._powers(choice.problem.terms))
        self.__dict__.pop("selection_", None)
        if grids:
            self.selection_ = selection_outside(choice.selection, problem.terms, unit)
        seed = int(rng.randint(np.iinfo(np.int32).max))
        self.embedding_ = operand.room.kept(self.embedding_)
        clustered = self._clustered(operand.room.guarded(self.embedding_), operand)
        self._assignment = Assignment(clustered, self.assign, seed, trusted=self._trusted(), sample_weight=weight)
        with operand.at_work():
            self._bring_outside(unit)
        if unit.exponent:
            self.embedding_ = operand.room.kept(self.embedding_)
        return self

    def problem(self, X: Any, y: Any = None, sample_weight: Any = None) -> Problem:
        """What `fit` would minimise, as a value: for those who study a method, vary it or solve it differently.

        Parameters that are to be chosen ("auto", lists) are still open in it; give them numbers with its
        `with_strength`, `with_neighbors` and `with_components`. :func:`partwise.solvers.solve` minimises it.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        problem : partwise.solvers.Problem
        """
        # Nothing is fitted: posing a problem changes only a copy.
        method = copy(self)
        method._validate_params()
        given = X
        X, exponent = check_X(method, X, self.missing, reset=True)
        unit = chosen_unit(method._unit_for, exponent, X)
        operand = method._operand(unit.inside(X), check_sample_weight(sample_weight, X.shape[0], X.dtype))
        rng, options = check_random_state(self.random_state), Options(self.max_iter, self.tol)
        return method._problem(operand, method._labels(y, X.shape[0]), rng, options, unit).seeing(given)

    def _fit_problem(self, problem: Problem, options: Options) -> None:
        """From what is to be minimised to fitted attributes."""
        X = problem.X
        # Domains refuse bad data before graphs are built.
        coding_domain = problem.bound_domains[CODES].for_new()
        check_closed(problem)
        for term in problem.bound:
            term.consider(problem.n_components)
        coupled = problem.couples_samples
        warn_unknown(X, "have codes that only the penalties determine" if coupled else "get zero codes", NO_COMPONENT)
        minimum = solve(problem, options)
        self._unit, self._coding_domain = Unit(), coding_domain
        self._losses = [loss for term in problem.terms if (loss := term.scoring()) is not None]
        self._record(minimum.result)
        self._settle(problem, minimum)

    def _settle(self, problem: Problem, minimum: Minimum) -> None:
        """Set the fitted attributes from where the fit ended."""
        # Copies: users may change these, and terms may keep the state's for new samples.
        self.embedding_ = problem.X.room.copied(minimum.state.W)
        self.components_ = np.array(minimum.state.components, order="C")
        self.scale_ = minimum.unit
        warn_if_duplicate(self.embedding_, self.components_, minimum.terms, minimum.unit)
        state, self._coding_lengths = minimum.state, None
        if minimum.unit == COMPONENTS and problem.bound_domains[COMPONENTS].n_held(COMPONENTS):
            # Penalties are measured at unit norm, even on the codes of components that are not returned at it.
            self._coding_lengths = state.norms(COMPONENTS)
            state = rescaled(state, COMPONENTS, self._coding_lengths)
        self._keep(minimum.terms, state)
        weight = problem.X.sample_weight
        if weight is not None and (weight == 0).any() and not problem.couples_samples:
            # The code of a sample that does not count is undetermined: it gets the one it would have as a new sample.
            unseen = np.flatnonzero(weight == 0)
            for some in np.array_split(unseen, -(-len(unseen) // UNSEEN_ROWS)):
                self.embedding_[some] = self._code_unseen(problem.X, some)

    def _code_unseen(self, X: Operand, rows: IntArray) -> Array:
        """Codes of training samples that do not count."""
        return self._code(X.take(rows))

    def _members(self) -> IntArray | None:
        """Group of every training sample, for methods that are told."""
        return None

    def _bring_outside(self, unit: Unit) -> None:
        """Convert the results to the unit of the data."""
        if not unit.exponent:
            return
        unit, history = unit.fitting(self.embedding_).recorded(self.history_)
        self.history_ = FitHistory(history)
        self.objective_ = float(scaled(self.objective_, unit.history))
        self._unit = unit
        self.embedding_ = unit.codes(self.embedding_)
        if hasattr(self, "components_"):
            self.components_ = unit.components(self.components_)

    def _record(self, result: Result) -> None:
        """Record how the fit went."""
        self.objective_ = result.objective
        self.history_ = FitHistory(result.history)
        self.n_iter_ = result.n_iter
        self.solver_ = result.solver
        self.stop_reason_ = result.stop_reason

    def _trusted(self) -> Array | None:
        """Which samples determine the clusters; None: all."""
        return None

    def _takes_signs(self) -> bool:
        """Whether a factor, and therefore the data, may have negative entries."""
        return any(domain.signed for domain in self._domains().values())

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> IntArray:
        """Fit, and give the cluster of every sample: ``fit(X, y, sample_weight).labels_``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        labels : ndarray of int, shape (n_samples,)
        """
        return self.fit(X, y, sample_weight).labels_

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit, then code the same samples as if they were new.

        This equals ``fit(X).transform(X)``. The codes that the fit itself found are in `embedding_`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        W : ndarray of shape (n_samples, n_components)
        """
        return self.fit(X, y, sample_weight).transform(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = not (self._signed_data or self._takes_signs())
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "nan"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
