"""Where a fit begins, as a value: given factors, or the name of a start made from the data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..core.objective import Objective
from ..core.operand import Operand
from ..core.state import State
from ..core.storage import as_operand
from ..core.tri import TriState
from ..core.types import CODES, COMPONENTS, OTHER, Array, Factor, IntArray, column_norms, dot64
from ..core.units import Powers, Unit
from ..terms.seeds import check_seeds
from .free import best_free
from .joining import joined_start
from .loop import Options
from .starts import DownWeight, as_coordinates, dual_start, sampled_start, start_at_seeds, start_codes, start_factors

if TYPE_CHECKING:
    from .problem import Problem

Factors = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class Start(ABC):
    """Where a fit begins.

    Attributes
    ----------
    init : str, default="auto"
        The name of a start.
    n_init : int, default=1
        How many to try.
    auto : str, default="kmeans"
        What "auto" is, if the data allow it; otherwise "random".
    given : tuple of ndarray, optional
        The factors to start from, instead of a named start.
    continues : bool, default=False
        Whether these are the factors of the last fit.
    """

    init: str = "auto"
    n_init: int = 1
    auto: str = "kmeans"
    given: tuple[Array, ...] | None = None
    continues: bool = False

    def states(self, problem: Problem, options: Options) -> list[Callable[[], State]]:
        """Makers of the states to start from."""
        if self.given is not None:
            return [partial(self._at, problem, *self.given)]
        init = self._resolved(problem)
        seeds = problem.rng.randint(np.iinfo(np.int32).max, size=self._count(init))
        return [partial(self._made, problem, init, int(seed), options) for seed in seeds]

    def inside(self, unit: Unit) -> Self:
        """The start with given factors in the unit of the fit."""
        if self.given is None or not unit.exponent:
            return self
        powers = self._given_powers(unit.powers)
        return replace(self, given=tuple(unit.inside(F, power) for F, power in zip(self.given, powers, strict=True)))

    def of_rows(self, rows: IntArray) -> Self:
        """The start of a fit to some of the samples."""
        return self if self.given is None else replace(self, given=(self.given[0][rows], *self.given[1:]))

    def _given_powers(self, powers: Powers) -> tuple[float, ...]:
        """The given factors as powers of the unit of X."""
        return powers.codes, powers.components

    def _resolved(self, problem: Problem) -> str:
        """The name of the start, which missing or few data may rule out."""
        if self.init != "auto":
            return self.init
        few = self.auto == "kmeans" and problem.n_components > problem.X.shape[0]
        return "random" if few or problem.X.missing is not None else self.auto

    def _count(self, init: str) -> int:
        return self.n_init

    def _at(self, problem: Problem, W: Array, Ht: Array) -> State:
        """The state at given factors."""
        return problem.state(W, Ht)

    @abstractmethod
    def _made(self, problem: Problem, init: str, seed: int, options: Options) -> State:
        """The start of that name."""


@dataclass(frozen=True, eq=False)
class NamedStart(Start):
    """Random factors, singular vectors, k-means, or a fit to a sample of the rows.

    Attributes
    ----------
    seen : callable, optional
        The data to start from, given those of the problem.
    seeds : array of shape (n_seeds, n_features), optional
        The first components of every start; their scale does not matter.
    """

    auto: str = "nndsvda"
    seen: Callable[[Operand], Operand] | None = None
    seeds: Any = None

    def _count(self, init: str) -> int:
        # A start from singular vectors is always the same.
        return 1 if init.startswith("nndsvd") else self.n_init

    def _made(self, problem: Problem, init: str, seed: int, options: Options) -> State:
        X, k, rng = problem.X, problem.n_components, np.random.RandomState(seed)
        plain = self.init == "auto" and self.seen is None and self.seeds is None
        coarse = joined_start(problem, options, rng) if plain else None
        if coarse is not None:
            factors = coarse
        elif init == "sampled":
            factors = sampled_start(X, k, rng, problem.fit_to, options)
        else:
            factors = start_factors(X if self.seen is None else self.seen(X), k, init, rng)
        if self.seeds is not None:
            factors = start_at_seeds(X, *factors, check_seeds(self.seeds, X))
        # Components tied to the samples start at their size, whatever the unit.
        return problem.state(*(as_coordinates(X, *factors) if problem.anchored else factors))


@dataclass(frozen=True, eq=False)
class FreeStart(Start):
    """One factor from k-means or at random, and the best other one given it, of either sign.

    Attributes
    ----------
    free : {"components", "codes"}
        The factor that may have negative entries.
    """

    free: Factor = COMPONENTS

    def _resolved(self, problem: Problem) -> str:
        if self.init != "auto":
            return self.init
        few = problem.n_components > problem.X.shape[0 if self.free == COMPONENTS else 1]
        return "random" if few or problem.X.missing is not None else "kmeans"

    def _made(self, problem: Problem, init: str, seed: int, options: Options) -> State:
        X, k, other = problem.X, problem.n_components, OTHER[self.free]
        side = X if other == CODES else as_operand(X.array.T)
        F = start_codes(side, k, init, np.random.RandomState(seed))
        zeros = [np.zeros((rows, k), X.dtype) for rows in X.shape]
        state = problem.state(*zeros).replace(other, F)
        return state.replace(self.free, best_free(Objective(problem.bound), state, self.free))


@dataclass(frozen=True, eq=False)
class DualStart(Start):
    """Codes from k-means or at random, and components that are means of the samples.

    K-means weights the features as the fit does, if that down-weights some.
    """

    def _given_powers(self, powers: Powers) -> tuple[float, ...]:
        # Components are made of samples: coefficients have the inverse of the codes' unit.
        return powers.codes, -powers.codes

    def _made(self, problem: Problem, init: str, seed: int, options: Options) -> State:
        assert problem.kernel is not None  # components are made of samples
        down_weight: DownWeight | None = next(
            (term.down_weight for term in problem.bound if hasattr(term, "down_weight")), None
        )
        return dual_start(problem.kernel, problem.n_components, init, np.random.RandomState(seed), down_weight)


@dataclass(frozen=True, eq=False)
class TriStart(Start):
    """Clusters of the samples and of the features, and the blocks between them; given factors are F, G, S.

    Attributes
    ----------
    n_column_clusters : int
    """

    n_column_clusters: int = 0

    def _given_powers(self, powers: Powers) -> tuple[float, ...]:
        return 0.0, 0.0, 1.0

    def _at(self, problem: Problem, F: Array, G: Array, S: Array) -> State:  # type: ignore[override]
        return TriState(problem.X, F, G, S)

    def _resolved(self, problem: Problem) -> str:
        # What "auto" is depends on the side.
        return self.init

    def _made(self, problem: Problem, init: str, seed: int, options: Options) -> State:
        X, rng = problem.X, np.random.RandomState(seed)
        sizes = problem.n_components, self.n_column_clusters
        F, G = (
            start_codes(side, k, ("kmeans" if k <= side.shape[0] else "random") if init == "auto" else init, rng)
            for side, k in zip((X, as_operand(X.array.T)), sizes, strict=True)
        )
        F, G = (A / column_norms(A).astype(A.dtype) for A in (F, G))
        state = TriState(X, F, G, np.zeros(sizes, X.dtype))
        S = state.blocks()
        # Overlapping columns count twice in FᵀXG; one factor corrects for that.
        energy = dot64(state.gram(CODES) @ S, S @ state.gram(COMPONENTS))
        return state.joined(S * X.dtype.type(dot64(S, S) / energy) if energy > 0 else S)
