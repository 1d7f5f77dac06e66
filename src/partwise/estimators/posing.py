"""From the parameters of a method and data to the problem that is to be minimised."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ..core import Missing, Objective, Operand, State, Term, as_operand
from ..core.dask_rows import HOLD_HERE, NOT_ON_WORKERS, READ_HERE, as_chunks, is_frame
from ..core.domains import NON_NEGATIVE, Domain, Free, UnitNorm
from ..core.types import CODES, COMPONENTS, Array, Factor, IntArray
from ..core.units import Powers, Unit, Unscalable
from ..solvers import NamedStart, Options, Problem, Solver, Start, choose_solver, codes_power, normalise
from .validation import check_factors, check_sample_weight, check_weight_there, refuse_unknown, what_is_missing


class Posing(ABC):
    """The half of every estimator that comes before the fit. A subclass names its terms in `_terms`."""

    # Parameters and fitted attributes of the other halves.
    n_components: Any
    scale: Any
    solver: Any
    init: Any
    n_init: int
    warm_start: bool
    max_iter: int
    tol: float
    random_state: Any
    missing: Missing
    embedding_: Array
    components_: Array

    # Where init="auto" starts from when every entry of X is known.
    _auto_init: ClassVar[str] = "nndsvda"
    # The solver that "auto" stands for; "auto" leaves it to the terms and domains.
    _auto_solver: ClassVar[Any] = "auto"
    # Whether rows may be on the workers of a cluster, if terms and domains allow it.
    _takes_workers: ClassVar[bool] = False
    # The powers of the multiplicative rules as their paper prints them; None uses those that provably descend.
    _printed_powers: ClassVar[dict[Factor, float] | None] = None

    @abstractmethod
    def _terms(self) -> list[Term]:
        """The objective as a list of terms."""

    @property
    def _n_fitted(self) -> Any:
        """The number of components that the fit has, which may be open."""
        return self.n_components

    def _labels(self, y: Any, n_samples: int) -> IntArray | None:
        """What the method uses of y: classes as integers, −1 for unknown. Most methods use nothing."""
        return None

    def _check_workers(self) -> None:
        """Refuse what cannot be fitted on the workers of a cluster, before any work."""
        terms = [term for term in self._terms() if getattr(term, "strength", None) != 0]
        odd: list[str] = [type(term).__name__ for term in terms if not term.spreads]
        odd += ["two fits" for _ in [term for term in terms if term.compares][1:]]
        odd += ["element weights" for term in terms if getattr(term, "weights", None) is not None]
        odd += [
            f"{factor} {domain.words}"
            for factor, domain in self._domains().items()
            if domain != NON_NEGATIVE and not (factor == COMPONENTS and isinstance(domain, Free))
        ]
        solver = self._auto_solver if self.solver == "auto" else self.solver
        if solver not in ("auto", "coordinate"):
            odd.append(f"solver={solver!r}, but with solver='coordinate' it may be")
        if isinstance(self.init, str) and self.init == "spectral":
            odd.append("init='spectral'")
        if not self._takes_workers or odd:
            why = f" with {odd[0]}" if self._takes_workers else ""
            instead = READ_HERE if getattr(self, "_takes_blocks", False) else HOLD_HERE
            raise ValueError(NOT_ON_WORKERS.format(type(self).__name__, why, instead))

    def _check_beside(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Refuse weights and labels that do not fit the rows of a dask array, before these are computed."""
        # The rows of a DataFrame are not known.
        if not is_frame(X):
            n_samples = as_chunks(X).shape[0]
            check_weight_there(check_sample_weight(sample_weight, n_samples, np.float64))
            self._labels(y, n_samples)

    def _operand(self, X: Any, weight: Array | None) -> Operand:
        """Checked data as solvers see them, with the weights that samples have in the fit."""
        operand = self._weighed(as_operand(X, what_is_missing(X, self.missing), weight))
        refuse_unknown(operand)
        if operand.spread:
            check_weight_there(weight)
        return operand

    def _powers(self, terms: Sequence[Term]) -> Powers:
        """The powers of the unit of X with which the objective and the factors grow."""
        terms = [term for term in terms if getattr(term, "strength", None) != 0]
        orders = {term.order for term in terms if term.order is not None}
        if len(orders) != 1:
            raise Unscalable("the terms grow differently with X")
        codes = codes_power(terms, self.scale)
        return Powers(orders.pop(), codes, 1 - codes)

    def _unit_for(self, exponent: int, dtype: Any) -> Unit:
        """The unit for fitting data that are too large or too small by that power of two; or Unscalable."""
        terms = self._terms()
        unit = Unit(exponent, self._powers(terms))
        for term in terms:
            term.in_unit(unit, dtype)
        return unit

    def _problem(
        self, X: Operand, y: IntArray | None, rng: np.random.RandomState, options: Options, unit: Unit
    ) -> Problem:
        """What is to be minimised, except what is open; a method may transform the data."""
        return Problem(
            X,
            tuple(term.in_unit(unit, X.dtype) for term in self._terms()),
            self._n_fitted,
            self._start(X.shape, X.dtype).inside(unit),
            rng,
            new_solver=self._new_solver,
            labels=y,
            scale=self.scale,
            domains=self._domains(),
            normalise=self._normalised,
        )

    def _weighed(self, X: Operand) -> Operand:
        """The data with the sample weights of the fit: those given, unless a method adds its own."""
        return X

    def _domains(self) -> dict[Factor, Domain]:
        """What a factor may be, where it is not simply non-negative."""
        return {CODES: UnitNorm()} if self.scale == CODES else {}

    def _new_solver(self, objective: Objective) -> Callable[[], Solver]:
        """A maker of solvers, according to the parameter `solver`; refuses an impossible choice."""
        name = self._auto_solver if self.solver == "auto" else self.solver
        return choose_solver(name, objective, self._printed_powers)

    def _normalised(self, state: State, unit: Factor | None, domains: Mapping[Factor, Domain]) -> State:
        """Where the fit ended, in the scale in which it is returned."""
        return normalise(state, unit, domains)

    def _start(self, shape: tuple[int, int], dtype: Any) -> Start:
        """Where the fit begins; a method may have its own starts."""
        return NamedStart(**self._start_fields(shape, dtype))

    def _start_fields(self, shape: tuple[int, int], dtype: Any) -> dict[str, Any]:
        """What the parameters say about the start."""
        given = self._given_start(shape, dtype)
        return {
            "init": self.init if isinstance(self.init, str) else "auto",
            "n_init": self.n_init,
            "auto": self._auto_init,
            "given": given,
            "continues": given is not None and self._continues(shape),
        }

    def _continues(self, shape: tuple[int, int]) -> bool:
        """Whether a fit to data of this shape continues where the last one ended."""
        (n, m), k = shape, self._n_fitted
        fitted = self.warm_start and hasattr(self, "embedding_")
        return fitted and self.embedding_.shape == (n, k) and self.components_.shape == (k, m)

    def _given_start(self, shape: tuple[int, int], dtype: Any) -> tuple[Array, ...] | None:
        """The factors to start from, W and Hᵀ, if the user gave them or a warm start has them."""
        k = self._n_fitted
        signed = self._domains().get(COMPONENTS, NON_NEGATIVE).signed
        if self._continues(shape):
            return check_factors((self.embedding_, self.components_), shape, k, dtype, signed)
        if isinstance(self.init, str):
            return None
        if self.n_init != 1:
            raise ValueError(f"n_init is {self.n_init}; with a given start init=(W, H) it must be 1.")
        return check_factors(self.init, shape, k, dtype, signed)
