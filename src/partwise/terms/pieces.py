"""A fit to data that are not in memory: the sum of the fits to pieces of them, each bound when it is there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..core.forms import Quadratic, Split, merge
from ..core.operand import Operand
from ..core.state import State
from ..core.term import BoundTerm, Term
from ..core.types import CODES, COMPONENTS, Array, Factor


class BoundPieces(BoundTerm):
    """Σ over pieces of a term that compares X with W H; a pass over the data for its value, and one for its gradient.

    Parameters
    ----------
    term : Term
        Without element weights, which belong to all of X.
    X : Operand
        Not in memory.
    """

    name = "fit"
    offers_quadratic = False

    def __init__(self, term: Term, X: Operand):
        if getattr(term, "weights", None) is not None:
            raise ValueError("Element weights need X in memory; it is read block by block. Use sample_weight.")
        self._term = term
        self._X = X
        few = term.bind(X.take(np.arange(1)))
        self.steep = few.steep

    def pieces(self) -> Iterator[tuple[slice, Operand, BoundTerm]]:
        """Consecutive rows in memory, each piece with the term bound to it."""
        for rows, piece in self._X.pieces():
            yield rows, piece, self._term.bind(piece, sample_weight=piece.sample_weight)

    def value(self, state: State) -> float:
        """The sum of the pieces' values."""
        return state.recall(("value", self), None, lambda: self._value(state))

    def _value(self, state: State) -> float:
        return sum(bound.value(State(piece, state.W[rows], state.Ht)) for rows, piece, bound in self.pieces())

    def quadratic(self, state: State, factor: Factor) -> Quadratic | None:
        """It has no quadratic form."""
        raise NotImplementedError("A fit to pieces has no quadratic form.")

    def split(self, state: State, factor: Factor) -> Split:
        """Those of the pieces: side by side for the codes, added up for the components."""
        return state.recall(("split", self, factor), None, lambda: self._split(state, factor))

    def remember_split(self, state: State, parts: list[Split]) -> None:
        """Store the gradient for the components, given those of the pieces, which a solver has computed on the way."""
        state.remember(("split", self, COMPONENTS), None, merge(parts))

    def _split(self, state: State, factor: Factor) -> Split:
        parts: list[Split] = []
        for rows, piece, bound in self.pieces():
            part = bound.split(State(piece, state.W[rows], state.Ht), factor)
            assert part is not None  # it compares X with W H
            if factor == COMPONENTS and parts:
                # Only the sum is kept.
                part = merge([parts.pop(), part])
            parts.append(part)
        return parts[0] if factor == COMPONENTS else _stacked(parts, state[CODES])

    def for_new(self, state: State) -> Term | None:
        """As if the data were in memory."""
        return self._term.scoring()


def _stacked(parts: list[Split], W: Array) -> Split:
    """The gradients of consecutive rows, one below the other."""
    whole = Split(quadratic=all(part.quadratic for part in parts))
    for side in ("up", "down"):
        for power in sorted({power for part in parts for power in getattr(part, side)}):
            stacked, start = np.zeros_like(W), 0
            for part in parts:
                height = max(len(np.atleast_2d(array)) for array in (*part.up.values(), *part.down.values()))
                if power in getattr(part, side):
                    stacked[start : start + height] = getattr(part, side)[power]
                start += height
            whole.add(side, power, stacked)
    return whole
