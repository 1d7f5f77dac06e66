"""A sum of bound terms, seen as one objective."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .domains import NON_NEGATIVE, Domain
from .forms import Coupling, Entrywise, Logarithmic, Quadratic, RowSquares, Split, merge
from .state import State
from .types import CODES, COMPONENTS, FACTORS, Array, Factor

if TYPE_CHECKING:
    from .term import BoundTerm

# The halves N and P of the gradient for some rows.
Halves = Callable[[slice], tuple[Array | float, Array | float]]
# Rows of a factor whose gain is measured at a time.
GAIN_ROWS = 2**16


class Objective:
    """Σ_t term_t(W, H), to be minimised over the factors in their domains.

    Parameters
    ----------
    terms : sequence of BoundTerm
    codes, components : Domain, default=NON_NEGATIVE
        What the factors may be.
    """

    def __init__(self, terms: Sequence[BoundTerm], *, codes: Domain = NON_NEGATIVE, components: Domain = NON_NEGATIVE):
        self.terms = tuple(terms)
        self.domains: dict[Factor, Domain] = {CODES: codes, COMPONENTS: components}
        self.majorised = any(term.majorised for term in self.terms)
        self.n_tangents = max((term.n_tangents for term in self.terms), default=1)
        self.from_residuals = all(term.from_residuals for term in self.terms)
        self.names = _distinct([term.name for term in self.terms])

    def values(self, state: State) -> dict[str, float]:
        """Every term's value by its name."""
        return {name: float(term.value(state)) for name, term in zip(self.names, self.terms, strict=True)}

    def quadratics(self, state: State, factor: Factor) -> list[Quadratic]:
        """The parts of the quadratic of one factor, of all terms that have one."""
        return [
            part
            for term in self.terms
            if not (term.offers_logarithms or term.offers_row_squares or term.orthogonality)
            and (term.offers_quadratic or not term.offers_entrywise)
            and (part := term.quadratic(state, factor)) is not None
        ]

    def quadratic(self, state: State, factor: Factor) -> tuple[Array, list[Coupling]]:
        """The quadratic of one factor, of all terms that have one: A, and all couplings."""
        A = np.zeros_like(state[factor])
        couplings: list[Coupling] = []
        for part in self.quadratics(state, factor):
            attract, repel = part.linear(lambda: state.product(factor))
            if attract is not None:
                A += attract
            if repel is not None:
                A -= repel
            couplings.extend(part.couplings)
        return A, couplings

    def logarithmic(self, state: State, factor: Factor) -> Logarithmic:
        """The one term that is a sum of logarithms."""
        return next(term for term in self.terms if term.offers_logarithms).logarithmic(state, factor)

    @property
    def has_logarithms(self) -> bool:
        """Whether one term is a sum of logarithms, and all others are quadratics that can be swept row by row."""
        return self._others_are_quadratic([term for term in self.terms if not term.offers_logarithms])

    def entrywise(self) -> Entrywise:
        """The one term that is a sum over entries."""
        return next(term for term in self.terms if term.offers_entrywise).entrywise()

    @property
    def has_entrywise(self) -> bool:
        """Whether one term is a sum over entries, and all others are quadratics that can be swept row by row."""
        return self._others_are_quadratic([term for term in self.terms if not term.offers_entrywise])

    @property
    def beside_entrywise(self) -> Objective:
        """The other terms."""
        others = [term for term in self.terms if not term.offers_entrywise]
        return Objective(others, codes=self.domains[CODES], components=self.domains[COMPONENTS])

    def row_squares(self) -> RowSquares:
        """The one term that has Gram matrices by rows."""
        return next(term for term in self.terms if term.offers_row_squares).row_squares()

    @property
    def has_row_squares(self) -> bool:
        """Whether one term has Gram matrices by rows, and all others are quadratics that can be swept row by row."""
        return self._others_are_quadratic([term for term in self.terms if not term.offers_row_squares])

    def _others_are_quadratic(self, others: list[BoundTerm]) -> bool:
        quadratic = all(term.offers_quadratic and term.offers_entries for term in others)
        return len(others) == len(self.terms) - 1 and quadratic

    def split(self, state: State, factor: Factor) -> Split:
        """The gradient with respect to one factor, in halves."""
        return merge(part for term in self.terms if (part := term.split(state, factor)) is not None)

    def without_quadratic(self) -> list[str]:
        """Names of the terms that are not quadratic in each factor."""
        return [name for name, term in zip(self.names, self.terms, strict=True) if not term.offers_quadratic]

    def without_entries(self) -> list[str]:
        """Names of the terms whose quadratic holds a product that cannot be swept entry by entry."""
        return [name for name, term in zip(self.names, self.terms, strict=True) if not term.offers_entries]

    def optimality(self, state: State) -> float:
        """How much another step could still gain, to first order, relative to the size of the problem.

        For each factor, a projected gradient step along its domain with the mean curvature of its column; then
        Σ step × gradient over Σ factor × P. It is zero exactly at stationary points (KKT), and does not change when X
        is scaled or when scale moves between the columns of W and the rows of H. It is a relative decrease.

        With missing entries, rows have curvatures of their own. Few entries are then known where a code may be huge
        without changing any of them, and one such code would decide the mean of its column.
        """
        gains, own = [0.0], state.X.missing is not None
        for factor in FACTORS:
            domain = self.domains[factor]
            if not domain.measured:
                continue
            if isinstance(state[factor], np.ndarray):
                gains.append(_gain(state[factor], self._halves(state, factor), own))
            else:
                gains.append(_gain_elsewhere(state[factor], *self._along(state, factor)))
        return max(gains)

    def _halves(self, state: State, factor: Factor) -> Halves:
        """The halves of the gradient along the domain, for some rows at a time."""
        from .term import BoundTerm

        F, domain = state[factor], self.domains[factor]
        plain = all(term.offers_quadratic and type(term).split is BoundTerm.split for term in self.terms)
        if len(F) > GAIN_ROWS and plain and domain == NON_NEGATIVE:
            parts = self.quadratics(state, factor)
            if not any(part.couples_rows for part in parts):
                # Each half of all rows, and what they are added up from, would be as large as the factor.
                product = state.product(factor) if any(part.data is not None for part in parts) else F
                return lambda rows: merge(
                    part.of_rows(rows).split(F[rows], lambda: product[rows]) for part in parts
                ).halves()
        N, P = (np.broadcast_to(half, F.shape) for half in self._along(state, factor))
        return lambda rows: (N[rows], P[rows])

    def _along(self, state: State, factor: Factor) -> tuple[Array | float, Array | float]:
        """These halves, for all rows."""
        return self.domains[factor].tangent(state[factor], *self.split(state, factor).halves(), factor)


def _gain(F: Array, halves: Halves, own: bool) -> float:
    """The gain from one factor; with `own`, no entry has a curvature below P / F, which is that of its own row."""
    # In blocks: in float64, all of these arrays would be many times as large as the factor.
    blocks = [slice(start, min(start + GAIN_ROWS, len(F))) for start in range(0, len(F), GAIN_ROWS)]
    pull, mass, pushes = 0.0, np.zeros(F.shape[1]), np.zeros(F.shape[1])
    for rows in blocks:
        f, P = F[rows].astype(np.float64), _whole(halves(rows)[1], F[rows])
        pull += float(np.sum(f * P))
        # The mean curvature P / F of a column is weighted by F, or by F P, of which no row has much.
        mass += (f * P if own else f).sum(axis=0)
        pushes += (P * P if own else P).sum(axis=0)
    if pull <= 0:
        return 0.0
    # A column that has all but vanished has an infinite curvature, and makes no step.
    with np.errstate(over="ignore"):
        curvature = pushes / np.where(mass > 0, mass, 1)
    flat, gain = curvature <= 0, 0.0
    for rows in blocks:
        f = F[rows].astype(np.float64)
        N, P = (_whole(half, f) for half in halves(rows))
        gradient, curvatures = P - N, np.where(flat, 1, curvature)
        if own:
            with np.errstate(over="ignore"):
                curvatures = np.maximum(curvatures, np.divide(P, f, out=np.zeros_like(f), where=f > 0))
        step = f - np.maximum(f - gradient / curvatures, 0)
        step[:, flat] = 0
        gain += float(np.abs(step * gradient).sum())
    return gain / pull


def _gain_elsewhere(F: Any, N: Any, P: Any) -> float:
    """The same of codes on workers, where whatever goes row by row is computed."""
    F, N, P = (part if isinstance(part, float) else part.astype(np.float64, copy=False) for part in (F, N, P))
    gradient, pull = P - N, float(np.sum(F * P))
    if pull <= 0:
        return 0.0
    mass = F.sum(axis=0)
    pushes = P.sum(axis=0) if np.shape(P) == F.shape else np.broadcast_to(P, F.shape).sum(axis=0)
    with np.errstate(over="ignore"):
        curvature = pushes / np.where(mass > 0, mass, 1)
    flat = curvature <= 0
    step = (F - np.maximum(F - gradient / np.where(flat, 1, curvature), 0)) * ~flat
    return float(np.abs(step * gradient).sum()) / pull


def _whole(half: Array | float, like: Array) -> Array:
    """A half of the gradient in float64, for all rows."""
    return np.broadcast_to(half, like.shape).astype(np.float64)


def _distinct(names: list[str]) -> list[str]:
    seen: dict[str, int] = {}
    distinct = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        distinct.append(name if seen[name] == 1 else f"{name} {seen[name]}")
    return distinct
