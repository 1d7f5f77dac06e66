"""A fit to data that are not in memory: the sum of the fits to pieces of them, each bound when it is there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.forms import Quadratic, Split, merge
from ..core.operand import Operand
from ..core.piece_pass import PiecePass
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
        self.term = term
        # What the term has in common on all pieces.
        self._one = X.take(np.arange(1))
        self._on_one = term.bind(self._one)
        self.steep = self._on_one.steep
        self.adds_up, self.scale_free = self._on_one.adds_up, self._on_one.scale_free

    def value(self, state: State) -> float:
        """The sum of the pieces' values."""
        return state.recall(("value", self), None, lambda: self._value(state))

    def _value(self, state: State) -> float:
        run = PiecePass(_Value(self.term), state.Ht, (state.W,), join=sum)
        return float(state.X.pass_over(run).share)

    def quadratic(self, state: State, factor: Factor) -> Quadratic | None:
        """It has no quadratic form."""
        raise NotImplementedError("A fit to pieces has no quadratic form.")

    def split(self, state: State, factor: Factor) -> Split:
        """Those of the pieces: side by side for the codes, added up for the components."""
        return state.recall(("split", self, factor), None, lambda: self._split(state, factor))

    def remember_split(self, state: State, split: Split) -> None:
        """Store the gradient for the components, which a solver has computed on the way."""
        state.remember(("split", self, COMPONENTS), None, split)

    def _split(self, state: State, factor: Factor) -> Split:
        if factor == COMPONENTS:
            run = PiecePass(_Split(self.term), state.Ht, (state.W,), join=merge)
            return state.X.pass_over(run).share  # type: ignore[no-any-return]
        k = state.Ht.shape[1]
        like = _split_of(self._on_one, State(self._one, np.ones((1, k), state.Ht.dtype), state.Ht), CODES)
        powers = (tuple(like.up), tuple(like.down))
        run = PiecePass(_Split(self.term, powers), state.Ht, (state.W,), (k,) * (len(like.up) + len(like.down)))
        arrays = iter(state.X.pass_over(run).results)
        up, down = (dict(zip(side, arrays, strict=False)) for side in powers)
        return Split(up=up, down=down, quadratic=like.quadratic)

    def for_new(self, state: State) -> Term | None:
        """As if the data were in memory."""
        return self.term.scoring()


@dataclass(frozen=True, eq=False)
class _OfPiece:
    """A function of the term, bound to a piece."""

    term: Term

    def bound(self, piece: Operand) -> BoundTerm:
        """The term on these samples."""
        return self.term.bind(piece, sample_weight=piece.sample_weight)

    def of(self, rows: slice) -> Any:
        """The same: it has nothing of its own for every row."""
        return self


class _Value(_OfPiece):
    """The value on a piece."""

    def __call__(
        self, piece: Operand, rows: slice, given: tuple[Array, ...], Ht: Array
    ) -> tuple[tuple[Array, ...], float]:
        """Given the codes."""
        return (), self.bound(piece).value(State(piece, given[0], Ht))


@dataclass(frozen=True, eq=False)
class _Split(_OfPiece):
    """The gradient on a piece: for its codes by the powers of the step, or its share of that for the components.

    Attributes
    ----------
    powers : tuple of tuples, optional
        Those of the parts that are to be given for the codes; None is for the components.
    """

    powers: tuple[tuple[float, ...], tuple[float, ...]] | None = None

    def __call__(
        self, piece: Operand, rows: slice, given: tuple[Array, ...], Ht: Array
    ) -> tuple[tuple[Array, ...], Split | None]:
        """Given the codes."""
        state, bound = State(piece, given[0], Ht), self.bound(piece)
        if self.powers is None:
            return (), _split_of(bound, state, COMPONENTS)
        split = _split_of(bound, state, CODES)
        parts = [own[power] for own, side in zip((split.up, split.down), self.powers, strict=True) for power in side]
        return tuple(np.broadcast_to(part, given[0].shape) for part in parts), None


def _split_of(bound: BoundTerm, state: State, factor: Factor) -> Split:
    split = bound.split(state, factor)
    assert split is not None  # it compares X with W H
    return split
