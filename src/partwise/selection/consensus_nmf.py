"""Components that many fits agree on, as an estimator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core.dask_rows import refuse_workers
from ..core.interruption import fit_whole
from ..core.numbers import check_number
from ..core.storage import as_operand
from ..core.types import Array, IntArray
from ..core.warn import quiet, warn
from ..persistence import Persistent
from ..solvers import Options, Problem, solve_many
from .bagging import bagged
from .by_estimator import ByEstimator
from .consensus import warn_if_unfinished
from .entries import Predictions
from .grids import RANKS, open_parameters
from .poisson import check_counts, drawn_counts
from .programs import Programs, TooFewAgree, find_programs, unit_rows
from .rank_stability import compared
from .ranks import EntryValidation

LARGEST_SEED = np.iinfo(np.int32).max
FIXED, GUIDES = "fixed_components", ("seed_components", "component_mask")
# Components with a lower mean silhouette are about as near to others as to their own cluster.
UNSTABLE = 0.2


class ConsensusNMF(ByEstimator, Persistent, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Components that many fits of another estimator agree on (consensus NMF).

    The estimator is fitted `n_replicates` times from random starts, all fits side by side
    (:func:`partwise.solvers.solve_many`). Their components, at unit norm, are clustered; those far from the others are
    dropped; the median of every cluster is a component. The codes are then fitted with these components fixed. This is
    the method of cNMF (Kotliar et al., eLife 2019), for any loss, penalty and graph that the estimator has.

    Parameters
    ----------
    estimator : estimator
        What is replicated: an `NMF` or `GraphNMF`, with its loss, penalties, graph, `max_iter` and `tol`. It is not
        changed. Its `init` and `n_init` are not used.
    n_components : int or sequence of int, optional
        Number of components; by default that of the estimator. Of a sequence, the numbers that predict hidden entries
        within a standard error of the best are considered, and the largest is taken whose components are about as
        stable as the most stable ones (`rank_stability_`). The fits that predict have the loss and the penalties of the
        estimator, small further penalties that keep codes of few known entries in bounds, and no graph.
    n_replicates : int, default=100
        Number of fits, for each number of components.
    resample : {None, "samples", "counts"}, default=None
        Also vary the data. "samples": every fit has its own bootstrap sample of the rows, as sample weights, so that
        products with X are still shared; intervals of the components are then bootstrap intervals. "counts": every fit
        has its own data, drawn from the Poisson distribution of mean X. Such fits share nothing; two copies of X are in
        memory at a time.
    best_share : float, default=1
        Share of the fits that count, those with the lowest objectives. A consensus is what most fits find, even if
        better ones find something else: where most end in bad minima, 0.25 comes closer to the truth. `stability_` is
        then that of the better fits. Only without `resample`: objectives of other data cannot be compared.
    n_bagged : int, default=0
        If more, `components_` are in the end means over so many further fits, to samples weighted at random, from where
        the replicate with the lowest objective ended. Where noise is high, they are closer to the truth than that
        replicate and than medians; where it is low, nothing is gained. All that is said of the components, and their
        order, is then that of the medians most like them. Only without `resample`, like `best_share`.
    density_threshold : float, default=0.5
        Components whose mean distance to their nearest neighbours is larger are dropped, between 0 and √2. cNMF's
        authors look at the histogram of `density_` and often take 0.1. `inf` keeps all.
    neighborhood : float, default=0.3
        The neighbours, as a share of the fits that count.
    center : {"median", "medoid"}, default="median"
        What stands for a cluster: the median of every feature, or the member nearest to all others.
    level : float, default=0.9
        Share of the members of a cluster between `components_low_` and `components_high_`.
    n_splits : int, default=5
        Choices of hidden entries, if there are numbers of components to compare.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Of unit norm; those that stand for most single components first.
    components_low_, components_high_ : ndarray of the same shape
        An interval for every entry.
    embedding_ : ndarray of shape (n_samples, n_components)
        The codes, with these components fixed.
    labels_ : ndarray of int, shape (n_samples,)
        Clusters of the training samples, by their codes.
    stability_, stability_error_ : ndarray of shape (n_components,)
        Mean silhouette of the members of every component, from −1 to 1, and its standard error.
    cosine_, cosine_error_ : ndarray of shape (n_components,)
        Mean cosine of the members with their component, and its standard error.
    sizes_ : ndarray of int, shape (n_components,)
        Members of every component.
    density_ : ndarray of shape (n_best * n_components,)
        Mean distance of every single component of the fits `best_replicates_` to its nearest neighbours.
    replicate_labels_ : ndarray of int, the same shape
        The component that every single one belongs to, −1 if it was dropped.
    replicate_objectives_ : ndarray of shape (n_replicates,)
        Objectives of the single fits, in the unit of the fit.
    best_replicates_ : ndarray of int, shape (n_best,)
        The fits that count.
    estimator_ : estimator
        The estimator fitted with the components fixed: all that it can do, the result can do too.
    rank_stability_ : RankStability
        If numbers of components were compared; draw it with :class:`partwise.plots.StabilityDisplay`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from partwise import NMF
    >>> from partwise.selection import ConsensusNMF
    >>> X, _ = load_digits(return_X_y=True)
    >>> model = ConsensusNMF(NMF(6, tol=1e-4), n_replicates=10, random_state=0).fit(X)
    >>> model.components_.shape, model.stability_.shape
    ((6, 64), (6,))
    """

    def __init__(
        self,
        estimator: Any,
        n_components: int | Sequence[int] | None = None,
        *,
        n_replicates: int = 100,
        resample: str | None = None,
        best_share: float = 1.0,
        n_bagged: int = 0,
        density_threshold: float = 0.5,
        neighborhood: float = 0.3,
        center: str = "median",
        level: float = 0.9,
        n_splits: int = 5,
        random_state: Any = None,
    ):
        self.estimator = estimator
        self.n_components = n_components
        self.n_replicates = n_replicates
        self.resample = resample
        self.best_share = best_share
        self.n_bagged = n_bagged
        self.density_threshold = density_threshold
        self.neighborhood = neighborhood
        self.center = center
        self.level = level
        self.n_splits = n_splits
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the replicates, find the components they agree on, and code the samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
            Passed to the estimator.
        sample_weight : array-like of shape (n_samples,), optional
            Passed to the estimator.

        Returns
        -------
        self
        """
        ranks = self._checked()
        refuse_workers(X, type(self).__name__)
        rng = check_random_state(self.random_state)
        # The least of them is where a mask or too many seeds are refused.
        base = clone(self.estimator).set_params(n_components=min(ranks))
        problem = base.problem(X, y, sample_weight)
        self._check_data(problem, X, ranks)
        options = Options(base.max_iter, base.tol, inner=True)
        validation = self._validated(problem, ranks, options, rng) if len(ranks) > 1 else None
        programs: dict[int, Programs | TooFewAgree] = {}
        objectives, best = {}, {}
        for k in ranks:
            found, objectives[k], best[k] = self._replicates(problem.with_components(k), options, rng)
            programs[k] = self._programs(found, objectives[k], int(rng.randint(LARGEST_SEED)))
            del found  # before those of the next number
        self.__dict__.pop("rank_stability_", None)
        chosen = ranks[0]
        if validation is not None:
            self.rank_stability_ = compared(programs, validation)
            chosen = self.rank_stability_.chosen
        self.replicate_objectives_, self.best_replicates_ = objectives[chosen], self._best(objectives[chosen])
        self._settle(programs[chosen])
        self._warn_if_unstable()
        if self.n_bagged:
            of_chosen, seed = problem.with_components(chosen), int(rng.randint(LARGEST_SEED))
            self._replace_by(bagged(of_chosen, best[chosen], self.n_bagged, options, seed))
        # What guided the replicates has done its work.
        fixed = {"n_components": chosen, "fixed_components": self.components_, "init": "random", "n_init": 1}
        guides = {name: None for name in GUIDES if name in base.get_params()}
        final = clone(base).set_params(**fixed, **guides, random_state=int(rng.randint(LARGEST_SEED)))
        self.estimator_ = fit_whole(final, X, y, sample_weight)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def _checked(self) -> list[int]:
        """The numbers of components; refuses what makes no sense before any work."""
        estimator = self.estimator
        if isinstance(estimator, type) or not hasattr(estimator, "problem") or not hasattr(estimator, FIXED):
            raise ValueError(
                f"estimator={estimator!r} was given; the codes are fitted with components fixed, so it must be an "
                f"estimator with the parameter {FIXED}. Use NMF() or GraphNMF(graph_strength=...)."
            )
        unsettled = [name for name in open_parameters(estimator, estimator._selectable) if name != "n_components"]
        if unsettled:
            raise ValueError(
                f"{' and '.join(unsettled)} of the estimator is to be chosen, but all replicates minimise the same. "
                "Give a number: fit the estimator by itself and take what its selection_ has chosen."
            )
        if estimator.fixed_components is not None:
            raise ValueError("The estimator has fixed_components; fit these without a consensus, or seed_components.")
        if getattr(estimator, "n_group_components", 0):
            raise ValueError(
                "The estimator has components of groups, which cannot be told from shared ones by their likeness. Use "
                "NMF() or GraphNMF(graph_strength=...), for the samples of one group or of all."
            )
        for name, least in (("n_replicates", 2), ("n_splits", 2), ("n_bagged", 0)):
            check_number(name, getattr(self, name), least)
        for name, share in (("neighborhood", self.neighborhood), ("level", self.level)):
            if isinstance(share, bool) or not isinstance(share, Real) or not 0 < share < 1:
                raise ValueError(f"{name}={share!r} was given; it must lie between 0 and 1.")
        if not isinstance(self.density_threshold, Real) or not self.density_threshold > 0:
            raise ValueError(f"density_threshold={self.density_threshold!r} was given; it must be positive.")
        if isinstance(self.best_share, bool) or not isinstance(self.best_share, Real) or not 0 < self.best_share <= 1:
            raise ValueError(f"best_share={self.best_share!r} was given; it must be a share of the fits, at most 1.")
        for name, value in (("best_share", self.best_share < 1), ("n_bagged", self.n_bagged)):
            if value and self.resample is not None:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} and resample={self.resample!r} were given: objectives of "
                    "different data cannot be compared. Give one of them."
                )
        if self.resample not in (None, "samples", "counts"):
            raise ValueError(f"resample={self.resample!r} was given; it must be None, 'samples' or 'counts'.")
        if self.center not in ("median", "medoid"):
            raise ValueError(f"center={self.center!r} was given; it must be 'median' or 'medoid'.")
        n_components = estimator.n_components if self.n_components is None else self.n_components
        if isinstance(n_components, Integral) and not isinstance(n_components, bool):
            if n_components < 1:
                raise ValueError(f"n_components={n_components!r} was given; it must be at least 1.")
            return [int(n_components)]
        return [int(k) for k in RANKS.given("n_components", n_components).values]

    def _check_data(self, problem: Problem, X: Any, ranks: Sequence[int]) -> None:
        if len(ranks) > 1 and not problem.X.in_memory:
            raise ValueError("Numbers of components are compared by hiding entries of X, which must be in memory.")
        if self.resample == "counts" and problem.X.missing is not None:
            raise ValueError("resample='counts' draws every entry, but some are missing. Use resample='samples'.")
        if self.resample == "counts" and not problem.X.in_memory:
            raise ValueError("resample='counts' needs the data in memory. Use resample='samples'.")
        if self.resample == "counts":
            check_counts(X, min(ranks))

    def _validated(
        self, problem: Problem, ranks: Sequence[int], options: Options, rng: np.random.RandomState
    ) -> EntryValidation:
        """How well every number of components predicts hidden entries.

        Links between samples are left out: they were found with the entries that are hidden.
        """
        free = [term for term in problem.terms if not problem.with_terms([term]).couples_samples]
        posed = problem.with_terms(free).replicate(int(rng.randint(LARGEST_SEED)))
        predictions = Predictions.of(posed, options, self.n_splits)
        return EntryValidation(np.array(ranks), np.array([predictions.losses(k) for k in ranks]))

    def _replicates(
        self, problem: Problem, options: Options, rng: np.random.RandomState
    ) -> tuple[Array, Array, tuple[Array, Array]]:
        """The components of all fits at unit norm (fits × components × features), their objectives, the best fit."""
        seeds = rng.randint(LARGEST_SEED, size=self.n_replicates)
        k, m = problem.n_components, problem.X.shape[1]
        found = np.empty((self.n_replicates, k, m), problem.X.dtype)
        objectives = np.full(self.n_replicates, np.inf)
        n_unfinished = 0
        with quiet():
            for index, minimum in solve_many(self._varied(problem, seeds), options):
                found[index] = unit_rows(minimum.state.components)
                objectives[index] = minimum.result.objective
                n_unfinished += minimum.result.stop_reason == "max_iter"
                if objectives.argmin() == index:
                    best = minimum.state.W, minimum.state.Ht
        warn_if_unfinished(n_unfinished, self.n_replicates, options)
        return found, objectives, best

    def _best(self, objectives: Array) -> IntArray:
        """The fits that count, in their order."""
        n_best = max(2, round(self.best_share * len(objectives)))
        return np.sort(np.argsort(objectives, kind="stable")[:n_best])

    def _varied(self, problem: Problem, seeds: Array) -> Iterator[Problem]:
        """The problem from other starts and, if wanted, on other data."""
        for seed in seeds:
            replicate, rng = problem.replicate(int(seed)), np.random.RandomState(int(seed))
            X, n = problem.X, problem.X.shape[0]
            if self.resample == "samples":
                weight = np.bincount(rng.randint(n, size=n), minlength=n).astype(X.dtype)
                replicate = replicate.reweighted(weight if X.sample_weight is None else weight * X.sample_weight)
            elif self.resample == "counts":
                drawn = as_operand(drawn_counts(X.array, rng), None, X.sample_weight)
                replicate = replicate.on(drawn, problem.labels, replicate.rng)
            yield replicate

    def _programs(self, found: Array, objectives: Array, seed: int) -> Programs | TooFewAgree:
        """What the fits that count agree on, or why there is no such thing."""
        counting = found if self.best_share == 1 else found[self._best(objectives)]
        n_fits, k, m = counting.shape
        n_neighbors = max(1, min(int(self.neighborhood * n_fits), n_fits * k - 1))
        given: dict[str, Any] = {
            "density_threshold": self.density_threshold,
            "center": self.center,
            "level": self.level,
            "n_neighbors": n_neighbors,
            "seed": seed,
        }
        try:
            return find_programs(counting.reshape(-1, m), k, **given)
        except TooFewAgree as error:
            return error

    def _settle(self, programs: Programs | TooFewAgree) -> None:
        if isinstance(programs, TooFewAgree):
            raise programs
        self.components_ = programs.components
        self.components_low_, self.components_high_ = programs.low, programs.high
        self.sizes_ = programs.sizes
        self.stability_, self.stability_error_ = programs.stability, programs.stability_error
        self.cosine_, self.cosine_error_ = programs.cosine, programs.cosine_error
        self.replicate_labels_, self.density_ = programs.labels, programs.density

    def _replace_by(self, components: Array) -> None:
        """Take others in the order of those that are most like them."""
        others = components[linear_sum_assignment(-(self.components_ @ components.T))[1]]
        self.components_ = np.where(others.any(axis=1, keepdims=True), others, self.components_)

    def _warn_if_unstable(self) -> None:
        unstable = np.flatnonzero(self.stability_ < UNSTABLE)
        if not len(unstable):
            return
        found = self.__dict__.get("rank_stability_")
        advice = "Give several numbers of components to see with which of them fits agree."
        warn(
            f"The fits do not agree on {len(unstable)} of {len(self.components_)} components (stability_ below "
            f"{UNSTABLE:g}: {', '.join(map(str, unstable))}). {advice if found is None else found.in_words}"
        )

    @property
    def n_components_(self) -> int:
        """Number of components, whether given or chosen."""
        check_is_fitted(self, "components_")
        return len(self.components_)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        return tags
