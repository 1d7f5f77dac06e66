"""Losses other than the squared error on data that are not in memory: one pass for both factors, and one for the value.

While a piece of the data is there, the codes of its samples make a few of the steps that they would make in memory, and
the piece adds its share to what a multiplicative step of the components needs: sums over the samples (m × k). Both
factors are extrapolated. No step can raise the objective.
"""

from __future__ import annotations

from ..core.forms import Quadratic, Split
from ..core.objective import Objective
from ..core.operand import Operand
from ..core.state import State
from ..core.term import BoundTerm, Term
from ..core.types import CODES, COMPONENTS, Array, Factor
from ..terms.pieces import BoundPieces
from .codes import code_rows
from .extrapolation import Extrapolating
from .multiplicative import Multiplicative
from .newton import LEAST_SHARE, is_swept
from .steps import Steps, wanted

# As in memory, where multiplicative sweeps at first lead to better minima.
GENTLE_SWEEPS = 10
# Steps on the codes of a piece, while it is in memory.
PASSES = 3


def goes_in_pieces(objective: Objective) -> bool:
    """Whether one term is a fit to pieces, and the others are quadratics that couple no samples."""
    others = [term for term in objective.terms if not isinstance(term, BoundPieces)]
    if len(others) != len(objective.terms) - 1 or not is_swept(objective):
        return False
    return all(term.offers_quadratic and not (term.couples_samples or term.orthogonality) for term in others)


class Piecewise(Extrapolating):
    """The default solver for losses other than the squared error on data that are not in memory.

    Parameters
    ----------
    objective : Objective
    """

    name = "piecewise"
    least_share = LEAST_SHARE
    reaches_optimum = False

    def __init__(self, objective: Objective):
        super().__init__(objective)
        self._rules = Multiplicative(objective)
        self._fit = next(term for term in objective.terms if isinstance(term, BoundPieces))

    def prepare(self, state: State) -> State:
        """Lift zeros, which no multiplication could leave."""
        return self._rules.prepare(state)

    def _is_gentle(self, sweep: int) -> bool:
        return sweep <= GENTLE_SWEEPS

    def _code(self, state: State, beta: float) -> Steps[tuple[State, Array]]:
        """The codes, and on the way what the components need."""
        yield wanted(self._objective, state, CODES)
        others = [
            part
            for term in self._objective.terms
            if term is not self._fit
            if (part := term.quadratic(state, CODES)) is not None
        ]
        last, W = self._last.get(CODES) if beta else None, state.X.room.empty(state.W.shape, state.W.dtype)
        plain = W if last is None else self._memory_of(last, state)
        splits: list[Split] = []
        for rows, piece, bound in self._fit.pieces():
            with piece.at_work():
                local = Objective([bound, *(_Rows(part, rows) for part in others)])
                F = self._stepped(local, piece, state.W[rows], state.Ht)
                if last is not None:
                    self._extrapolated(F, last[rows], beta, W[rows])
                plain[rows] = F
                split = bound.split(State(piece, W[rows], state.Ht), COMPONENTS)
                assert split is not None  # it compares X with W H
                splits.append(split)
        new = state.replace(CODES, W)
        self._fit.remember_split(new, splits)
        return new, plain

    def _stepped(self, local: Objective, piece: Operand, W: Array, Ht: Array) -> Array:
        """Better codes of a piece."""
        if self._is_gentle(self._sweeps):
            return Multiplicative(local).code(State(piece, W, Ht), 1, 0.0)
        return code_rows(local, piece, Ht, PASSES, W)

    def _improve_components(self, state: State) -> Steps[State]:
        yield wanted(self._objective, state, COMPONENTS)
        return self._rules.step(state, COMPONENTS)

    def _size(self, state: State) -> float:
        return abs(self._fit.value(state))


class _Rows(BoundTerm):
    """The quadratic of the codes of some rows, at which a piece of the data is fitted."""

    name = "others"

    def __init__(self, whole: Quadratic, rows: slice):
        self._form = whole.of_rows(rows)

    def value(self, state: State) -> float:
        """Up to a constant."""
        return self._form.value(state.W, lambda: state.product(CODES))

    def quadratic(self, state: State, factor: Factor) -> Quadratic | None:
        """Only of the codes."""
        return self._form if factor == CODES else None

    def for_new(self, state: State) -> Term | None:
        """It lives for one step."""
        return None
