"""A pass over pieces of the rows that lie in memory one at a time, as a value: it can be sent to where they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol, Self

from .types import Array

if TYPE_CHECKING:
    from .operand import Operand


class PieceStep(Protocol):
    """What is done with a piece."""

    def __call__(
        self, piece: Operand, rows: slice, given: tuple[Array, ...], Ht: Array
    ) -> tuple[tuple[Array, ...], Any]:
        """Arrays with a row for every one of the piece, and its share of what is added up over all pieces.

        Parameters
        ----------
        piece : Operand
            Rows in memory.
        rows : slice
            Which they are.
        given : tuple of ndarray
            The same rows of other arrays.
        Ht : ndarray of shape (n_features, n_components)
        """

    def of(self, rows: slice) -> Self:
        """The step for data that consist of these rows."""


class PiecePass:
    """A step on all pieces.

    Parameters
    ----------
    step : PieceStep
    Ht : ndarray of shape (n_features, n_components)
        The components, which every piece is given.
    given : tuple of ndarray
        Arrays of as many rows as X.
    widths : tuple of int, default=()
        Columns of the arrays that the step gives.
    join : callable, optional
        From a list of shares to one; it may be called on joined ones again. By default none is kept.
    memory : callable, optional
        Gives the arrays for the results, if these are to be here.

    Attributes
    ----------
    results : tuple of ndarray
        What the step has given for all rows.
    share : object
        The joined shares.
    """

    def __init__(
        self,
        step: PieceStep,
        Ht: Array,
        given: tuple[Array, ...],
        widths: tuple[int, ...] = (),
        join: Callable[[list[Any]], Any] | None = None,
        memory: Callable[[], tuple[Array, ...]] | None = None,
    ):
        self.step = step
        self.Ht = Ht
        self.given = given
        self.widths = widths
        self.join = join
        self._memory = memory
        self.results: tuple[Any, ...] = ()
        self.share: Any = None

    def over(self, X: Operand) -> Self:
        """Make the pass over pieces that come here one after another."""
        if self._memory is None:
            self.results = tuple(X.room.empty((X.shape[0], width), X.dtype) for width in self.widths)
        else:
            self.results = self._memory()
        self.share = gone_over(X.pieces(), self.step, self.given, self.Ht, self.join, self.results)
        return self


def gone_over(
    pieces: Iterable[tuple[slice, Operand]],
    step: PieceStep,
    given: tuple[Array, ...],
    Ht: Array,
    join: Callable[[list[Any]], Any] | None,
    out: tuple[Array, ...],
) -> Any:
    """The joined shares of some pieces, in order; arrays are written to `out`."""
    share: Any = None
    for number, (rows, piece) in enumerate(pieces):
        with piece.at_work():
            found, own = step(piece, rows, tuple(F[rows] for F in given), Ht)
        for F, part in zip(out, found, strict=True):
            F[rows] = part
        if join is not None:
            share = own if number == 0 else join([share, own])
    return share
