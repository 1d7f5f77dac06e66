"""A term of the codes of new samples, bound to them."""

from __future__ import annotations

from collections.abc import Callable

from ..core.forms import Quadratic
from ..core.state import State
from ..core.term import BoundTerm, Term
from ..core.types import CODES, Factor


class BoundNewCodes(BoundTerm):
    """A quadratic of the codes of new samples, each independent of the others, for given components.

    Parameters
    ----------
    term : Term
        The term that was bound. It can code any samples, including further ones.
    name : str
    form : callable
        Gives the quadratic of the codes at a state.
    constant : float, default=0.0
        The value minus the quadratic.
    """

    def __init__(self, term: Term, name: str, form: Callable[[State], Quadratic], constant: float = 0.0):
        self.name = name
        self._term = term
        self._form = form
        self._constant = constant

    def value(self, state: State) -> float:
        """The quadratic at the codes, and the constant."""
        return self._form(state).value(state.W, lambda: state.product(CODES)) + self._constant

    def quadratic(self, state: State, factor: Factor) -> Quadratic | None:
        """Components are given."""
        return self._form(state) if factor == CODES else None

    def for_new(self, state: State) -> Term:
        """The term that was bound."""
        return self._term
