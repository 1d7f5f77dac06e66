"""Short fits of one recipe at different parameters, which share whatever does not depend on these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ..core.indices import countable
from ..core.operand import Operand
from ..core.state import State
from ..core.term import BoundTerm, Term
from ..core.types import Array, IntArray
from ..core.warn import quiet
from ..graphs import check_graph, neighbor_graph
from ..metrics import distinct_components
from ..solvers.loop import Options
from ..solvers.starts import as_coordinates
from .criteria import link_criteria, silhouette

# Labels settle long before the objective does; where a walk begins there is most to do.
SHORT, FIRST = Options(10, 1e-4), Options(30, 1e-4)
UNLIMITED = Options()
# Runs of k-means per trial; more where numbers of components are compared, which have one trial each.
KMEANS_STARTS, MORE_KMEANS_STARTS = 3, 5
# Clusterings are judged by the links to so many neighbours, whatever the method uses.
JUDGING_NEIGHBORS = 5
# Larger is better for all of them.
CRITERIA = ("connectedness", "modularity", "information", "silhouette")

Factors = tuple[Array, Array]


class Recipe(Protocol):
    """What is asked of an estimator here, besides its parameters."""

    n_components: Any
    scale: Any
    init: Any
    max_iter: int
    tol: float
    verbose: int

    def _terms(self) -> list[Term]: ...
    def _starts(self, X: Operand, terms: Any, rng: Any, options: Options) -> list[Callable[[], State]]: ...
    def _minimise(self, X: Operand, bound: Sequence[BoundTerm], starts: Any, options: Options) -> Any: ...
    def _assign(self, codes: Array, seed: int, n_starts: int) -> Any: ...
    def _fit_to(self, sample: Operand) -> Any: ...
    def _continues(self, shape: tuple[int, int]) -> bool: ...


@dataclass(frozen=True, eq=False)
class Trial:
    """A short fit: its parameters, where it ended, its clusters, what they are worth, and its distinct components."""

    parameters: dict[str, Any]
    factors: Factors
    labels: IntArray
    criteria: dict[str, float]
    distinct: int = 0


class Binder:
    """Binds terms to the data, each once: one that differs in its strength alone shares what the other has built."""

    def __init__(self, X: Operand, y: IntArray | None, rng: np.random.RandomState):
        self._X, self._y, self._rng = X, y, rng
        self._known: list[tuple[Term, BoundTerm]] = []

    def __call__(self, terms: Sequence[Term]) -> list[BoundTerm]:
        """The bound terms."""
        return [self._bind(term) for term in terms]

    def _bind(self, term: Term) -> BoundTerm:
        for known, bound in self._known:
            if _alike(known, term):
                strength: Any = getattr(term, "strength", None)
                shared = bound if strength == getattr(known, "strength", None) else bound.with_strength(strength)
                if shared is not None:
                    return shared
        bound = term.bind(self._X, self._y, self._rng, self._X.sample_weight)
        self._known.append((term, bound))
        return bound


def _alike(a: Term, b: Term) -> bool:
    """Whether two terms have the same fields but for the strength."""
    if type(a) is not type(b):
        return False
    pairs = [(getattr(a, field.name), getattr(b, field.name)) for field in fields(a) if field.name != "strength"]  # type: ignore[arg-type]
    return all(x is y or (isinstance(x, str | float | int) and type(x) is type(y) and x == y) for x, y in pairs)


class Trials:
    """Makes trials of a recipe on some data.

    Parameters
    ----------
    recipe : estimator
    X : Operand
    y : ndarray of int or None
        Labels for terms that use them.
    rng : numpy.random.RandomState
    options : Options
        Of the fit that the trials are for.
    """

    def __init__(
        self,
        recipe: Recipe,
        X: Operand,
        y: IntArray | None,
        rng: np.random.RandomState,
        options: Options = UNLIMITED,
    ):
        self.recipe = recipe
        self.X = X
        self.options = options
        self.bind = Binder(X, y, rng)
        self._rng = rng
        self._seed = int(rng.randint(np.iinfo(np.int32).max))
        self._metric: Any = getattr(recipe, "metric", "cosine")

    @cached_property
    def edges(self) -> Any:
        """The graph by which clusterings are judged: the user's own, or that of the nearest neighbours."""
        given = getattr(self.recipe, "graph", None)
        if given is not None:
            return check_graph(given(self.X.array) if callable(given) else given, self.X.shape[0])
        return neighbor_graph(self.X.array, min(JUDGING_NEIGHBORS, self.X.shape[0] - 1), self._metric)

    def with_parameters(self, parameters: dict[str, Any]) -> Any:
        """A copy of the recipe with some parameters set; the original is left as it is."""
        return copy(self.recipe).set_params(**parameters)  # type: ignore[attr-defined]

    def own_start(self, parameters: dict[str, Any]) -> Factors:
        """Where the recipe itself would start."""
        recipe = self.with_parameters(parameters)
        first = recipe._starts(self.X, self.bind(recipe._terms()), self._rng, self.options)[0]()
        return first.W, first.Ht

    def starts(self, parameters: dict[str, Any]) -> list[Factors]:
        """Where the recipe itself would start, and what k-means gives, if it can."""
        recipe, starts = self.with_parameters(parameters), [self.own_start(parameters)]
        possible = recipe.n_components <= self.X.shape[0] and countable(self.X.array)
        if isinstance(recipe.init, str) and possible:
            starts.append(self.own_start({**parameters, "init": "kmeans"}))
        return starts

    def carried(self, trial: Trial, parameters: dict[str, Any]) -> Factors:
        """Where a trial ended, as a start for other parameters: components that these tie to samples at their size."""
        tied = [
            any(term.anchored for term in self.bind(self.with_parameters(values)._terms()))
            for values in (trial.parameters, parameters)
        ]
        return as_coordinates(self.X, *trial.factors) if tied == [False, True] else trial.factors

    def finish(self, parameters: dict[str, Any], start: Factors) -> Trial:
        """As many sweeps as a fit has."""
        return self.run(parameters, start, Options(self.recipe.max_iter, self.recipe.tol))

    def run(
        self, parameters: dict[str, Any], start: Factors, options: Options, kmeans_starts: int = KMEANS_STARTS
    ) -> Trial:
        """Sweeps from somewhere, and a look at the clusters."""
        recipe = self.with_parameters(parameters)
        W, Ht = start
        options = self.options.inside(options.max_iter, options.tol)
        # A trial is not meant to converge, and what is wrong with a value will show in what it is worth.
        with quiet():
            minimum = recipe._minimise(self.X, self.bind(recipe._terms()), [lambda: State(self.X, W, Ht)], options)
            labels = recipe._assign(minimum.state.W, self._seed, kmeans_starts).labels
        W, Ht = minimum.state.W, minimum.state.Ht
        criteria = self.judge(labels, recipe.n_components)
        return Trial(parameters, (W, Ht), labels, criteria, distinct_components(Ht.T))

    def judge(self, labels: IntArray, n_clusters: int) -> dict[str, float]:
        """What a clustering is worth by every criterion."""
        worth = *link_criteria(self.edges, labels, n_clusters), silhouette(self.X.array, labels, self._metric)
        return dict(zip(CRITERIA, worth, strict=True))
