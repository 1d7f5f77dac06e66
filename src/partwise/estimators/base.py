"""What all estimators share: the way from X to a fitted model. No method and no loop lives here."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import field, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, InvalidParameterError

from ..callbacks import CallbackSupport, Fit, as_callbacks, fitting, sklearn_callbacks
from ..callbacks.base import Interruption
from ..core.domains import NON_NEGATIVE, Domain, UnitNorm, bind_domains
from ..core.door import is_lent
from ..core.objective import Objective
from ..core.operand import Operand
from ..core.state import State
from ..core.storage import as_operand
from ..core.term import BoundTerm, Term
from ..core.types import CODES, COMPONENTS, Array, Factor, IntArray
from ..persistence import Persistent
from ..selection.choice import Choice, choose
from ..selection.grids import open_parameters
from ..solvers.choice import choose_solver
from ..solvers.loop import Options, Result, minimise
from ..solvers.point import Solver
from ..solvers.starts import as_coordinates, sampled_start, start_factors
from ..terms import BetaDivergence, Frobenius
from .assignment import KMEANS_STARTS, Assignment
from .duplicates import warn_if_duplicate
from .fitted import FittedFactorization
from .loop_parameters import LoopParameters
from .options import Assign, Count, Init, Scale
from .options import Solver as SolverName
from .scale import apply_scale, normalise
from .sklearn_bases import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin
from .sklearn_names import ExplainsNames
from .units import fit_rescaled
from .validation import (
    check_factors,
    check_sample_weight,
    check_size,
    check_X,
    refuse_unknown,
    warn_unknown,
    what_is_missing,
)


class Minimum(NamedTuple):
    """Where a solver ended: the factors in their scale, the terms, and the factor that has unit norm."""

    state: State
    result: Result
    terms: list[BoundTerm]
    unit: Factor | None


NO_COMPONENT = "get zero entries in every component"


class BaseFactorization(
    ExplainsNames,
    FittedFactorization,
    Persistent,
    CallbackSupport,
    LoopParameters,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    BaseEstimator,
    metaclass=ABCMeta,
):
    """Base of all estimators: minimise a sum of terms over W, H ≥ 0, with X ≈ W H.

    A subclass says in `_terms` which terms these are.

    Parameters
    ----------
    n_components : int
        Number of parts, k.
    scale : {"auto", "components", None}
        Who carries the scale. "auto": penalties on the codes alone are measured where components have unit norm (and
        the other way round), so that no rescaling can cheat them; without penalties components get unit norm in the
        end; with penalties on both factors these settle it. None: whatever the sweeps give.
    solver : {"auto", "coordinate", "newton", "multiplicative"}
        "auto" takes coordinate descent for the Frobenius loss on complete data, Newton steps for the Kullback–Leibler
        divergence, and multiplicative rules otherwise.
    init : {"auto", "random", "nndsvd", "nndsvda", "kmeans", "sampled"} or (W, H)
        Start. "auto" is "nndsvda", or "random" with missing entries. "sampled" first fits an eighth of the samples,
        which pays on large data.
    assign : {"kmeans", "argmax"}
        How `labels_` and `predict` read clusters off the codes: the best of 20 runs of k-means, or the largest entry (a
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
        Samples count by their weights, missing entries do not count, and penalties do not enter.
    history_ : dict of list
        "objective", every term by its name, and "time" (seconds) after each sweep; entry 0 is the start.
    n_iter_ : int
        Sweeps made.
    solver_ : str
        The solver that was used.
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

    # Where init="auto" starts from when every entry of X is known.
    _auto_init: ClassVar[str] = "nndsvda"
    # Whether X may have negative entries.
    _signed_data: ClassVar[bool] = False
    # The solver that "auto" stands for; "auto" leaves it to the terms and domains.
    _auto_solver: ClassVar[Any] = "auto"
    # The powers of the multiplicative rules as their paper prints them; None takes those that surely fall.
    _printed_powers: ClassVar[dict[Factor, float] | None] = None

    @abstractmethod
    def _terms(self) -> list[Term]:
        """The objective as a list of terms."""

    def _validate_params(self) -> None:
        """Also refuse True and False where a number is wanted: to Python they are 1 and 0."""
        super()._validate_params()
        for name, rules in self._parameter_constraints.items():
            value = getattr(self, name)
            if isinstance(value, bool) and any(isinstance(rule, Interval) for rule in rules):
                raise InvalidParameterError(
                    f"The {name!r} parameter of {type(self).__name__} must be a number. Got {value!r} instead."
                )

    def _labels(self, y: Any, n_samples: int) -> IntArray | None:
        """What the method wants to know of y: classes as integers, −1 for unknown. Most want nothing."""
        return None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn codes and components from the data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Non-negative data.
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
        X, exponent = check_X(self, X, self.missing, reset=True)
        weight = check_sample_weight(sample_weight, X.shape[0], X.dtype)
        ranks = grids.get("n_components")
        if ranks is None or not ranks.refined:
            check_size(X.shape, self.n_components if ranks is None else int(max(ranks.values)), X.dtype.itemsize)
        if exponent and fit_rescaled(
            self, X, exponent, lambda model, X: BaseFactorization.fit(model, X, y, sample_weight)
        ):
            return self
        rng = check_random_state(self.random_state)
        operand = self._weighed(as_operand(X, what_is_missing(X, self.missing), weight))
        operand.lent = is_lent(operand.array, given)
        refuse_unknown(operand)
        labels = self._labels(y, X.shape[0])
        with operand.at_work(), fitting(callbacks, Fit(self, X, y, sample_weight, rng)):
            if grids:
                callbacks.append(Interruption())
                options = Options(self.max_iter, self.tol, tuple(callbacks))
                choice = choose(self, grids, operand, labels, rng, options)
                self._fit_chosen(choice, operand, labels, callbacks, rng)
            else:
                self.__dict__.pop("selection_", None)
                self._fit_operand(operand, labels, callbacks, rng)
        self.__dict__.pop("_rescaled", None)
        seed = int(rng.randint(np.iinfo(np.int32).max))
        self._assignment = self._assign(self._clustered(self.embedding_.copy(), operand), seed, sample_weight=weight)
        return self

    def _weighed(self, X: Operand) -> Operand:
        """The data with the weights that samples have in the fit: those given, unless a method adds its own."""
        return X

    def _counted(self, X: Operand) -> Operand:
        """Such data with the given weights alone, which say how often a sample is there and have no unit."""
        return X

    def _observed(self, X: Operand) -> tuple[Self, Operand]:
        """The recipe and the data for a choice by hidden entries: whatever does not count is missing."""
        return self, X

    def _fit_chosen(
        self, choice: Choice, X: Operand, y: IntArray | None, callbacks: list[Any], rng: np.random.RandomState
    ) -> None:
        """Fit with the chosen values, from where the choice has left off."""
        recipe = copy(self).set_params(**choice.parameters)
        if choice.start is not None:
            recipe.set_params(init=choice.start, n_init=1, warm_start=False)
        recipe._fit_operand(X, y, callbacks, rng)
        parameters = self.get_params(deep=False)
        self.__dict__.update({name: value for name, value in vars(recipe).items() if name not in parameters})
        self.selection_ = choice.selection

    def _assign(
        self, codes: Array, seed: int, n_starts: int = KMEANS_STARTS, sample_weight: Array | None = None
    ) -> Assignment:
        """The rule that gives codes their clusters."""
        trusted = self._trusted()
        return Assignment(codes, self.assign, seed, trusted=trusted, n_starts=n_starts, sample_weight=sample_weight)

    def _trusted(self) -> Array | None:
        """Which samples have a say in where the clusters are; None: all."""
        return None

    def _fit_operand(
        self,
        X: Operand,
        y: IntArray | None,
        callbacks: list[Any],
        rng: np.random.RandomState,
    ) -> None:
        """From checked data to fitted attributes."""
        bound = [term.bind(X, y, rng, X.sample_weight) for term in self._terms()]
        for term in bound:
            term.consider(self.n_components)
        coupled = any(term.couples_samples for term in bound)
        warn_unknown(X, "have codes that only the penalties determine" if coupled else "get zero codes", NO_COMPONENT)
        options = Options(self.max_iter, self.tol, tuple(callbacks))
        minimum = self._minimise(X, bound, self._starts(X, bound, rng, options), options)
        self._losses: list[Term] = self._fits()
        # Copies: these are the user's, who may change them, and terms may keep the state's for new samples.
        self.embedding_ = np.array(minimum.state.W, order="C")
        self.components_ = np.array(minimum.state.components, order="C")
        self._record(minimum.result)
        self.scale_ = minimum.unit
        warn_if_duplicate(self.embedding_, self.components_, minimum.terms, minimum.unit)
        self._keep(minimum.terms, minimum.state)
        if X.sample_weight is not None and (X.sample_weight == 0).any() and not coupled:
            # A sample that does not count leaves its code open: give it the one it would get as a new sample.
            unseen = np.flatnonzero(X.sample_weight == 0)
            self.embedding_[unseen] = self._code(X.take(unseen))

    def _fits(self) -> list[Term]:
        """What `score` measures new samples by: the terms that compare them with W H."""
        # Element weights belong to the training samples.
        return [replace(fit, weights=None) for fit in self._fit_terms()]

    def _fit_terms(self) -> list[Frobenius | BetaDivergence]:
        return [term for term in self._terms() if isinstance(term, Frobenius | BetaDivergence)]

    def _minimise(
        self, X: Operand, bound: Sequence[BoundTerm], starts: Sequence[Callable[[], State]], options: Options
    ) -> Minimum:
        """Bring the terms into the scale, and minimise their sum."""
        terms, unit = apply_scale(bound, self.scale)
        objective = Objective(terms, **bind_domains(self._domains(), X, self.n_components))
        result = minimise(objective, self._new_solver(objective), starts, options)
        return Minimum(self._normalised(result.state, unit), result, terms, unit)

    def _domains(self) -> dict[Factor, Domain]:
        """What a factor may be, where it is not simply non-negative."""
        return {CODES: UnitNorm()} if self.scale == CODES else {}

    def _new_solver(self, objective: Objective) -> Callable[[], Solver]:
        """A maker of solvers, as the parameter `solver` says; refuses an impossible choice."""
        name = self._auto_solver if self.solver == "auto" else self.solver
        return choose_solver(name, objective, self._printed_powers)

    def _normalised(self, state: State, unit: Factor | None) -> State:
        """Where the fit ended, in the scale in which it is returned."""
        return normalise(state, unit)

    def _record(self, result: Result) -> None:
        """How the fit went."""
        self.objective_ = result.objective
        self.history_ = result.history
        self.n_iter_ = result.n_iter
        self.solver_ = result.solver
        self.stop_reason_ = result.stop_reason

    def _starts(
        self, X: Operand, terms: Sequence[BoundTerm], rng: np.random.RandomState, options: Options
    ) -> list[Callable[[], State]]:
        """Makers of the starts to try; a method may start from what its terms know."""
        given = self._given_start(X.shape, X.dtype)
        if given is not None:
            return [lambda: State(X, *given)]
        init: Any = self.init
        if init == "auto":
            init = self._auto_init if X.missing is None else "random"
            if init == "kmeans" and self.n_components > X.shape[0]:
                init = "random"
        # A start from singular vectors is always the same one.
        n_starts = 1 if init.startswith("nndsvd") else self.n_init
        seeds = rng.randint(np.iinfo(np.int32).max, size=n_starts)

        anchored = any(term.anchored for term in terms)

        def start(seed: int) -> State:
            source = np.random.RandomState(seed)
            if init == "sampled":
                factors = sampled_start(X, self.n_components, source, self._fit_to, options)
            else:
                factors = start_factors(self._counted(X), self.n_components, init, source)
            # Components that are tied to the samples start at their size, whatever the unit.
            return State(X, *(as_coordinates(X, *factors) if anchored else factors))

        return [partial(start, int(seed)) for seed in seeds]

    def _fit_to(self, sample: Operand) -> Objective:
        """The objective without its penalties, on other data."""
        fits = self._fit_terms()
        if not fits or any(fit.weights is not None for fit in fits):
            raise ValueError("init='sampled' needs a fit without element weights; use init='random'.")
        return Objective([fit.bind(sample) for fit in fits])

    def _continues(self, shape: tuple[int, int]) -> bool:
        """Whether a fit to data of this shape goes on where the last one ended."""
        (n, m), k = shape, self.n_components
        fitted = self.warm_start and hasattr(self, "embedding_")
        return fitted and self.embedding_.shape == (n, k) and self.components_.shape == (k, m)

    def _given_start(self, shape: tuple[int, int], dtype: Any) -> tuple[Array, Array] | None:
        """W and Hᵀ to start from, if the user gave them or a warm start has them."""
        k = self.n_components
        signed = self._domains().get(COMPONENTS, NON_NEGATIVE).signed
        if self._continues(shape):
            return check_factors((self.embedding_, self.components_), shape, k, dtype, signed)
        if isinstance(self.init, str):
            return None
        if self.n_init != 1:
            raise ValueError(f"n_init is {self.n_init}; with a given start init=(W, H) it must be 1.")
        return check_factors(self.init, shape, k, dtype, signed)

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
        tags.input_tags.positive_only = not self._signed_data
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "nan"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
