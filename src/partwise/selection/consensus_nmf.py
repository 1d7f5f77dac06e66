"""Components that many fits agree on, as an estimator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core.interruption import fit_whole
from ..core.storage import as_operand
from ..core.types import Array, IntArray
from ..core.warn import quiet
from ..solvers import Options, Problem, solve_many
from .grids import RANKS
from .programs import Programs, find_programs, unit_rows
from .ranks import EntryValidation, cross_validate_entries

LARGEST_SEED = np.iinfo(np.int32).max


@dataclass(frozen=True, eq=False)
class RankStability:
    """How stable and how good the components are, for every number of them.

    Attributes
    ----------
    n_components : ndarray of int, shape (n_ranks,)
    stability, stability_error : ndarray of shape (n_ranks,)
        Mean silhouette of the components of single fits, and its standard error.
    loss, loss_error : ndarray of shape (n_ranks,)
        Mean loss per hidden entry, and its standard error.
    chosen : int
        Among the numbers whose loss exceeds the lowest by at most the standard error of the difference, the one with
        the most stable components.
    """

    n_components: IntArray
    stability: Array
    stability_error: Array
    loss: Array
    loss_error: Array
    chosen: int


class ConsensusNMF(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
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
        within a standard error of the best are considered, and the one with the most stable components is taken
        (`rank_stability_`).
    n_replicates : int, default=100
        Number of fits, for each number of components.
    resample : {None, "samples", "counts"}, default=None
        Also vary the data. "samples": every fit has its own bootstrap sample of the rows, as sample weights, so that
        products with X are still shared; intervals of the components are then bootstrap intervals. "counts": every fit
        has its own data, drawn from the Poisson distribution of mean X. Such fits share nothing, and one copy of X is
        made at a time.
    density_threshold : float, default=0.5
        Components whose mean distance to their nearest neighbours is larger are dropped, between 0 and √2. cNMF's
        authors look at the histogram of `density_` and often take 0.1. `inf` keeps all.
    neighborhood : float, default=0.3
        The neighbours, as a share of `n_replicates`.
    center : {"median", "medoid"}, default="median"
        What stands for a cluster: the median of every feature, or the member nearest to all others.
    level : float, default=0.9
        Share of the members of a cluster between `components_low_` and `components_high_`.
    n_splits : int, default=3
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
    stability_, stability_error_ : ndarray of shape (n_components,)
        Mean silhouette of the members of every component, from −1 to 1, and its standard error.
    cosine_, cosine_error_ : ndarray of shape (n_components,)
        Mean cosine of the members with their component, and its standard error.
    sizes_ : ndarray of int, shape (n_components,)
        Members of every component.
    density_ : ndarray of shape (n_replicates * n_components,)
        Mean distance of every single component to its nearest neighbours.
    replicate_labels_ : ndarray of int, the same shape
        The component that every single one belongs to, −1 if it was dropped.
    replicate_objectives_ : ndarray of shape (n_replicates,)
        Objectives of the single fits, in the unit of the fit.
    estimator_ : estimator
        The estimator fitted with the components fixed: all that it can do, the result can do too. Save this one with
        ``estimator_.save(path)``.
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
        density_threshold: float = 0.5,
        neighborhood: float = 0.3,
        center: str = "median",
        level: float = 0.9,
        n_splits: int = 3,
        random_state: Any = None,
    ):
        self.estimator = estimator
        self.n_components = n_components
        self.n_replicates = n_replicates
        self.resample = resample
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
        rng = check_random_state(self.random_state)
        base = clone(self.estimator).set_params(n_components=ranks[0])
        problem = base.problem(X, y, sample_weight)
        self._check_data(problem)
        options = Options(base.max_iter, base.tol, inner=True)
        validation = None
        if len(ranks) > 1:
            varied = clone(base).set_params(init="random")
            with quiet():
                validation = cross_validate_entries(varied, X, ranks, n_splits=self.n_splits, random_state=rng)
        programs, objectives = {}, {}
        for k in ranks:
            found, objectives[k] = self._replicates(problem.with_components(k), options, rng)
            programs[k] = self._programs(found, k, int(rng.randint(LARGEST_SEED)))
        self.__dict__.pop("rank_stability_", None)
        chosen = ranks[0]
        if validation is not None:
            self.rank_stability_ = _compared(programs, validation)
            chosen = self.rank_stability_.chosen
        self.replicate_objectives_ = objectives[chosen]
        self._settle(programs[chosen])
        fixed = {"n_components": chosen, "fixed_components": self.components_, "init": "random", "n_init": 1}
        final = clone(base).set_params(**fixed, random_state=int(rng.randint(LARGEST_SEED)))
        self.estimator_ = fit_whole(final, X, y, sample_weight)
        self.embedding_ = self.estimator_.embedding_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def _checked(self) -> list[int]:
        """The numbers of components; refuses what makes no sense before any work."""
        estimator = self.estimator
        if not hasattr(estimator, "problem") or "fixed_components" not in estimator.get_params():
            raise ValueError(
                f"estimator={estimator!r} was given; the codes are fitted with components fixed, so it must have the "
                "parameter fixed_components. Use NMF or GraphNMF."
            )
        if estimator.fixed_components is not None:
            raise ValueError("The estimator has fixed_components; fit these without a consensus, or seed_components.")
        whole = {"n_replicates": (self.n_replicates, 2), "n_splits": (self.n_splits, 2)}
        for name, (number, least) in whole.items():
            if isinstance(number, bool) or not isinstance(number, Integral) or number < least:
                raise ValueError(f"{name}={number!r} was given; it must be a whole number of at least {least}.")
        for name, share in (("neighborhood", self.neighborhood), ("level", self.level)):
            if isinstance(share, bool) or not isinstance(share, Real) or not 0 < share < 1:
                raise ValueError(f"{name}={share!r} was given; it must lie between 0 and 1.")
        if not isinstance(self.density_threshold, Real) or not self.density_threshold > 0:
            raise ValueError(f"density_threshold={self.density_threshold!r} was given; it must be positive.")
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

    def _check_data(self, problem: Problem) -> None:
        if self.resample == "counts" and problem.X.missing is not None:
            raise ValueError("resample='counts' draws every entry, but some are missing. Use resample='samples'.")
        if self.resample == "counts" and not problem.X.in_memory:
            raise ValueError("resample='counts' needs the data in memory. Use resample='samples'.")

    def _replicates(self, problem: Problem, options: Options, rng: np.random.RandomState) -> tuple[Array, Array]:
        """The components of all fits at unit norm, and their objectives."""
        seeds = rng.randint(LARGEST_SEED, size=self.n_replicates)
        k, m = problem.n_components, problem.X.shape[1]
        found = np.empty((self.n_replicates, k, m), problem.X.dtype)
        objectives = np.empty(self.n_replicates)
        for index, minimum in solve_many(self._varied(problem, seeds), options):
            found[index] = unit_rows(minimum.state.components)
            objectives[index] = minimum.result.objective
        return found.reshape(-1, m), objectives

    def _varied(self, problem: Problem, seeds: Array) -> Iterator[Problem]:
        """The problem from other starts and, if wanted, on other data."""
        for seed in seeds:
            replicate, rng = problem.replicate(int(seed)), np.random.RandomState(int(seed))
            X, n = problem.X, problem.X.shape[0]
            if self.resample == "samples":
                weight = np.bincount(rng.randint(n, size=n), minlength=n).astype(X.dtype)
                replicate = replicate.reweighted(weight if X.sample_weight is None else weight * X.sample_weight)
            elif self.resample == "counts":
                drawn = as_operand(_drawn(X.array, rng), None, X.sample_weight)
                replicate = replicate.on(drawn, problem.labels, replicate.rng)
            yield replicate

    def _programs(self, found: Array, k: int, seed: int) -> Programs:
        n_neighbors = max(1, min(int(self.neighborhood * self.n_replicates), len(found) - 1))
        given = {"density_threshold": self.density_threshold, "center": self.center, "level": self.level}
        return find_programs(found, k, n_neighbors=n_neighbors, seed=seed, **given)  # type: ignore[arg-type]

    def _settle(self, programs: Programs) -> None:
        self.components_ = programs.components
        self.components_low_, self.components_high_ = programs.low, programs.high
        self.sizes_ = programs.sizes
        self.stability_, self.stability_error_ = programs.stability, programs.stability_error
        self.cosine_, self.cosine_error_ = programs.cosine, programs.cosine_error
        self.replicate_labels_, self.density_ = programs.labels, programs.density

    @property
    def n_components_(self) -> int:
        """Number of components, whether given or chosen."""
        check_is_fitted(self, "components_")
        return len(self.components_)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    @property
    def labels_(self) -> IntArray:
        """Cluster of every training sample."""
        check_is_fitted(self, "estimator_")
        labels: IntArray = self.estimator_.labels_
        return labels

    def transform(self, X: Any) -> Array:
        """Code new samples with the components.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        W : ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self, "estimator_")
        codes: Array = self.estimator_.transform(X)
        return codes

    def transform_intervals(
        self, X: Any, *, n_resamples: int = 100, level: float = 0.9, random_state: Any = None
    ) -> tuple[Array, Array]:
        """Bootstrap intervals of the codes, over the features, if the estimator gives them (`NMF` does).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        n_resamples : int, default=100
        level : float, default=0.9
        random_state : int, RandomState or None, default=None

        Returns
        -------
        low, high : ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self, "estimator_")
        if not hasattr(self.estimator_, "transform_intervals"):
            raise ValueError(f"{type(self.estimator_).__name__} gives no intervals of codes. Use NMF.")
        given = {"n_resamples": n_resamples, "level": level, "random_state": random_state}
        intervals: tuple[Array, Array] = self.estimator_.transform_intervals(X, **given)
        return intervals

    def predict(self, X: Any) -> IntArray:
        """Cluster of every new sample.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of int, shape (n_samples,)
        """
        check_is_fitted(self, "estimator_")
        labels: IntArray = self.estimator_.predict(X)
        return labels

    def inverse_transform(self, X: Any) -> Array:
        """W H, for codes W.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)

        Returns
        -------
        X_original : ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self, "estimator_")
        data: Array = self.estimator_.inverse_transform(X)
        return data

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the mean loss of a sample.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : object
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        score : float
        """
        check_is_fitted(self, "estimator_")
        return float(self.estimator_.score(X, y, sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        return tags


def _drawn(X: Any, rng: np.random.RandomState) -> Any:
    """Counts from the Poisson distribution of mean X; a sparse X keeps its zeros."""
    if not sp.issparse(X):
        return rng.poisson(X).astype(X.dtype)
    drawn = sp.csr_array((rng.poisson(X.data).astype(X.dtype), X.indices.copy(), X.indptr.copy()), shape=X.shape)
    drawn.eliminate_zeros()
    return drawn


def _compared(programs: dict[int, Programs], validation: EntryValidation) -> RankStability:
    """The evidence for every number of components, and the choice."""
    loss, error = validation.mean, validation.error
    found = list(programs.values())
    stability = np.array([each.mean_stability for each in found])
    # All numbers are judged by the same hidden entries, so that what these have in common cancels.
    beyond = validation.losses - validation.losses[loss.argmin()]
    good = beyond.mean(axis=1) <= beyond.std(axis=1, ddof=1) / np.sqrt(beyond.shape[1])
    chosen = int(validation.n_components[np.where(good, stability, -np.inf).argmax()])
    errors = np.array([each.mean_stability_error for each in found])
    return RankStability(validation.n_components, stability, errors, loss, error, chosen)
