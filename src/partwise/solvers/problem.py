"""What is to be minimised, as a value that can be varied, and the one way to minimise it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..core.domains import NON_NEGATIVE, Domain
from ..core.dual import DualState, KernelMatrix
from ..core.objective import Objective
from ..core.operand import Operand
from ..core.state import State
from ..core.term import BoundTerm, Term
from ..core.types import FACTORS, Array, Factor, IntArray
from ..terms.entries import known_counts
from ..terms.pieces import BoundPieces
from .loop import Options, Result
from .point import Solver
from .scale import apply_scale, normalise
from .search import minimising
from .starting import Start
from .steps import Steps, answered

# How long to run unless told otherwise.
ORDINARY = Options()


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimise a sum of terms over codes W and components H, with X ≈ W H.

    A problem is a value: `with_strength` and its siblings give another one, which shares whatever does not depend on
    the change.

    Attributes
    ----------
    X : Operand
        The data.
    terms : tuple of Term
        The summands; those of strength 0 are left out.
    n_components : int
    start : Start
        Where to begin.
    rng : numpy.random.RandomState
        The source of every random choice.
    new_solver : callable
        Gives, for an objective, the maker of its solvers.
    labels : ndarray of int, optional
        Class of every sample, −1 for unknown, for terms that use it.
    scale : {"auto", "components", "codes", None}, default="auto"
        Which factor carries the scale.
    domains : mapping of factor to Domain
        What a factor may be, where it is not simply non-negative.
    kernel : KernelMatrix, optional
        How samples are compared, where components are made of them.
    normalise : callable
        Scales the result of a fit.
    shared : Binder, optional
        What problems that differ little share of the terms bound to the data.
    """

    X: Operand
    terms: tuple[Term, ...]
    n_components: int
    start: Start
    rng: np.random.RandomState
    new_solver: Callable[[Objective], Callable[[], Solver]]
    labels: IntArray | None = None
    scale: str | None = "auto"
    domains: dict[Factor, Domain] = field(default_factory=dict)
    kernel: KernelMatrix | None = None
    normalise: Callable[[State, Factor | None, Mapping[Factor, Domain]], State] = normalise
    shared: Binder | None = None

    @cached_property
    def bound(self) -> list[BoundTerm]:
        """The terms that count, bound to the data."""
        return self._binder([term for term in self.terms if getattr(term, "strength", None) != 0])

    @cached_property
    def _binder(self) -> Binder:
        return self.shared or Binder(self)

    @cached_property
    def bound_domains(self) -> dict[Factor, Domain]:
        """What both factors may be, bound to the data."""
        given = {factor: self.domains.get(factor, NON_NEGATIVE) for factor in FACTORS}
        return {factor: domain.bind(self.X, factor, self.n_components) for factor, domain in given.items()}

    @property
    def fits(self) -> list[Any]:
        """The terms that compare X with W H, entry by entry."""
        return [term for term in self.terms if term.compares]

    @property
    def couples_samples(self) -> bool:
        """Whether the code of a sample depends on the codes of others."""
        return any(term.couples_samples for term in self.bound)

    @property
    def anchored(self) -> bool:
        """Whether a term ties the components to the samples."""
        return any(term.anchored for term in self.bound)

    def fit_to(self, sample: Operand) -> Objective:
        """The objective without its penalties, on other data."""
        if not self.fits or any(fit.weights is not None for fit in self.fits):
            raise ValueError("init='sampled' needs a fit without element weights; use init='random'.")
        return Objective([fit.bind(sample) for fit in self.fits])

    def state(self, W: Array, Ht: Array) -> State:
        """The state of a fit with these factors; samples and features of which nothing is known are zero."""
        if self.kernel is not None:
            return DualState(self.kernel, W, Ht)
        if self.X.missing is not None:
            W, Ht = (np.where(n[:, None] > 0, F, 0) for F, n in zip((W, Ht), known_counts(self.X), strict=True))
        return State(self.X, W, Ht)

    def with_strength(self, name: str, strength: float) -> Problem:
        """The problem with another strength of the term of this name."""
        return self._with_terms(strength=strength, of=lambda term: term.strength_name == name)

    def with_neighbors(self, n_neighbors: int) -> Problem:
        """The problem with neighbourhoods of another size."""
        return self._with_terms(n_neighbors=n_neighbors, of=lambda term: hasattr(term, "n_neighbors"))

    def with_components(self, n_components: int) -> Problem:
        """The problem with another number of components."""
        return replace(self, n_components=n_components, shared=self._binder)

    def with_values(self, values: Mapping[str, Any]) -> Problem:
        """The problem with other values of some parameters: n_components, n_neighbors, and strengths by name."""
        problem = self
        for name, value in values.items():
            if name == "n_components":
                problem = problem.with_components(value)
            elif name == "n_neighbors":
                problem = problem.with_neighbors(value)
            else:
                problem = problem.with_strength(name, value)
        return problem

    def with_terms(self, terms: Sequence[Term]) -> Problem:
        """The problem with other terms."""
        return replace(self, terms=tuple(terms), shared=self._binder)

    def seeing(self, given: Any) -> Problem:
        """The problem with what the data, as the user gave them, bring along."""
        return self.with_terms([term.seeing(given) for term in self.terms])

    def _with_terms(self, of: Callable[[Term], bool], **values: Any) -> Problem:
        if not any(map(of, self.terms)):
            raise ValueError(f"No term of the problem has a {next(iter(values))} of that name.")
        return self.with_terms([replace(term, **values) if of(term) else term for term in self.terms])  # type: ignore[type-var]

    def from_start(self, start: Start) -> Problem:
        """The problem with another start."""
        return replace(self, start=start, shared=self._binder)

    def replicate(self, seed: int) -> Problem:
        """The same problem from another random start; terms are bound once for all."""
        start = replace(self.start, init="random", n_init=1, given=None, continues=False)
        return self.from_start(start).reseeded(np.random.RandomState(seed))

    def reseeded(self, rng: np.random.RandomState) -> Problem:
        """The same problem with another source of randomness; terms are bound once for all."""
        return replace(self, rng=rng, shared=self._binder)

    def reweighted(self, sample_weight: Array) -> Problem:
        """The problem with other sample weights; it shares with this one products with X, and graphs."""
        other = replace(self, X=self.X.weighed(sample_weight.astype(self.X.dtype, copy=False)), shared=None)
        unweighted = [term for term in self.terms if term.ignores_weights and getattr(term, "strength", None) != 0]
        return replace(other, shared=Binder(other, zip(unweighted, self._binder(unweighted), strict=True)))

    def begun(self, factors: tuple[Array, ...]) -> Problem:
        """The problem with given factors to start from."""
        return self.from_start(replace(self.start, given=factors, continues=False, n_init=1))

    def on(self, X: Operand, labels: IntArray | None, rng: np.random.RandomState | None = None) -> Problem:
        """The problem on other data, and with another source of randomness if one is given."""
        return replace(self, X=X, labels=labels, rng=self.rng if rng is None else rng, shared=None)

    def seen_as(self, X: Operand) -> Problem:
        """The problem with an approximation of its data; what terms have built from the data stays as it is."""
        return replace(self, X=X, shared=self._binder)

    def states(self, options: Options) -> list[Callable[[], State]]:
        """Makers of the starts to try."""
        return self.start.states(self, options)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Use our own threads for products within the context."""
        with self.X.at_work(), self.features.at_work():
            yield

    @property
    def features(self) -> Operand:
        """The samples as the fit sees them: X, or their features if there is a kernel."""
        return self.X if self.kernel is None else self.kernel.operand


class Binder:
    """Binds terms to the data of a problem, each once: terms that differ only in strength share what they build.

    Parameters
    ----------
    problem : Problem
    known : iterable of (Term, BoundTerm)
        Terms that are bound already.
    """

    def __init__(self, problem: Problem, known: Iterable[tuple[Term, BoundTerm]] = ()):
        self._X, self._features = problem.X, problem.features
        self._labels, self._rng = problem.labels, problem.rng
        self._known = list(known)

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
        X = self._features if term.dual else self._X
        in_pieces = not X.in_memory and term.needs_entries(X)
        bound = BoundPieces(term, X) if in_pieces else term.bind(X, self._labels, self._rng, X.sample_weight)
        self._known.append((term, bound))
        return bound


def _alike(a: Term, b: Term) -> bool:
    """Whether two terms have the same fields except for the strength."""
    if a is b:
        return True
    if type(a) is not type(b) or not is_dataclass(a):
        return False
    pairs = [(getattr(a, each.name), getattr(b, each.name)) for each in fields(a) if each.name != "strength"]
    return all(x is y or (isinstance(x, str | float | int) and type(x) is type(y) and x == y) for x, y in pairs)


class Minimum(NamedTuple):
    """Where a fit ended.

    Attributes
    ----------
    state : State
        The factors, in their final scale.
    result : Result
        The course of the fit.
    terms : list of BoundTerm
        The terms, bound to the data.
    unit : {"codes", "components"} or None
        The factor that has unit norm.
    """

    state: State
    result: Result
    terms: list[BoundTerm]
    unit: Factor | None


def solve(problem: Problem, options: Options = ORDINARY) -> Minimum:
    """Gauge the terms, minimise their sum, and scale the factors.

    Parameters
    ----------
    problem : Problem
    options : Options, optional
        How long to run; by default at most 200 sweeps to a tolerance of 1e-6.
    """
    return answered(solving(problem, options))


def solving(problem: Problem, options: Options) -> Steps[Minimum]:
    """The same, asking for products with X, which several problems may share (`solvers.many`)."""
    domains = problem.bound_domains
    terms, unit, domains = apply_scale(problem.bound, problem.scale, domains)
    objective = Objective(terms, **domains)
    new_solver = problem.new_solver(objective)
    result = yield from minimising(objective, new_solver, problem.states(options), options)
    return Minimum(problem.normalise(result.state, unit, domains), result, terms, unit)
