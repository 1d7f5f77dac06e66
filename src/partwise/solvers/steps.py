"""Fits that ask for their products with X, so that those of several fits can be made in one pass.

A fit is a generator. It yields what it needs to know of X next, a list of requests, and goes on when these are
answered. `answered` runs a fit by itself. `side_by_side` runs several: what they ask for at the same time is one
product of as many columns as all of them have components, and a product of 200 columns takes far less than twenty times
as long as one of ten. Each keeps its own state, solver, history and stopping rule, and leaves when it has ended.

A fit that asks for nothing, because nothing can be shared, runs to its end before the next one begins.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..core.objective import Objective
from ..core.operand import Operand
from ..core.state import State
from ..core.together import CodePass, CodeRows
from ..core.types import CODES, OTHER, Array, Factor

T = TypeVar("T")

# Fits side by side may take as much memory as X, or this much; each holds about this many copies of its codes.
LIVE_BYTES, COPIES = 256 * 2**20, 5


@dataclass(eq=False)
class Product:
    """The data's pull on a factor, to be known by a state.

    Attributes
    ----------
    state : State
    factor : {"codes", "components"}
    """

    state: State
    factor: Factor

    @property
    def multiplied(self) -> Array:
        """What X is multiplied by."""
        G, weight = self.state[OTHER[self.factor]], self.state.X.sample_weight
        return G if weight is None or self.factor == CODES else weight[:, None] * G


@dataclass(eq=False)
class Coding:
    """New codes, block by block of rows, and what the components need of them.

    Attributes
    ----------
    state : State
    code_rows : callable
        Given a slice of rows and X[rows] Hᵀ, returns the codes of these rows.
    pull, gram : ndarray
        The answer: Xᵀ W and WᵀW, with the sample weights.
    """

    state: State
    code_rows: CodeRows
    pull: Array = field(init=False)
    gram: Array = field(init=False)

    @property
    def asked(self) -> CodePass:
        """The codes in a pass over the rows; the objective may have computed X Hᵀ already."""
        state = self.state
        known = state.product(CODES) if state.has_product(CODES) else None
        return CodePass(state.Ht, self.code_rows, state.X.sample_weight, known)


Request = Product | Coding
Steps = Generator[list[Request], None, T]


def wanted(objective: Objective, state: State, factor: Factor) -> list[Request]:
    """The data's pull on a factor, if the objective needs it and it is not yet known."""
    # Other kinds of states have products of their own.
    if type(state) is not State or state.has_product(factor):
        return []
    return [Product(state, factor)] if any(term.multiplies for term in objective.terms) else []


def most_live(X: Operand, n_components: int) -> int:
    """How many fits run side by side: as many as products with X gain from, and memory allows."""
    room = (max(LIVE_BYTES, X.nbytes) if X.in_memory else LIVE_BYTES) // (
        COPIES * sum(X.shape) * n_components * X.dtype.itemsize
    )
    return max(1, min(X.best_columns // n_components, room))


def answered(steps: Steps[T]) -> T:
    """Run a fit by itself; Ctrl-C reaches it wherever it is.

    What its starts ask for together is answered as if each were alone: their number is no reason for other results.
    """
    try:
        requests = next(steps)
        while True:
            try:
                answer(requests, alike=True)
            except KeyboardInterrupt as pressed:
                requests = steps.throw(pressed)
            else:
                requests = next(steps)
    except StopIteration as end:
        result: T = end.value
        return result


def side_by_side(makers: Iterable[Callable[[], Steps[T]]], ended: Callable[[int, T], None], most: int) -> Steps[None]:
    """Run fits side by side.

    Parameters
    ----------
    makers : iterable of callable
        Each makes a fit, when there is room for it.
    ended : callable
        Called with the place of a fit among the makers, and its result.
    most : int
        How many fits there are at a time; when one ends, the next begins.
    """
    waiting = enumerate(makers)
    running: list[tuple[int, Steps[T], list[Request]]] = []
    while True:
        while len(running) < most and (following := next(waiting, None)) is not None:
            index, make = following
            if not _advance(index, make(), ended, running):
                # Its result can be used and forgotten before the next fit begins.
                yield []
        if not running:
            return
        yield [request for _, _, requests in running for request in requests]
        before, running = running, []
        for index, steps, _ in before:
            _advance(index, steps, ended, running)


def _advance(
    index: int, steps: Steps[T], ended: Callable[[int, T], None], running: list[tuple[int, Steps[T], list[Request]]]
) -> bool:
    """Run a fit to its next request, or to its end; whether it is still running."""
    try:
        requests = next(steps)
        while not requests:
            requests = next(steps)
        running.append((index, steps, requests))
        return True
    except StopIteration as end:
        ended(index, end.value)
        return False


def answer(requests: Sequence[Request], alike: bool = False) -> None:
    """Answer requests of the same kind, to the same data, together.

    Parameters
    ----------
    requests : sequence of Request
    alike : bool, default=False
        Whether each answer must be, to the bit, what it would be without the others.
    """
    groups: dict[Any, list[Any]] = {}
    for request in requests:
        kind = request.factor if isinstance(request, Product) else "coding"
        width = request.state.Ht.shape[1] if alike else None
        groups.setdefault((kind, id(request.state.X.source), width), []).append(request)
    for (kind, *_), group in groups.items():
        X = group[0].state.X.source
        if kind == "coding":
            _answer_codings(X.code_alike if alike else X.code_together, group)
        else:
            _answer_products(X.dots_alike if alike else X.dots, kind, group)


def _answer_products(dots: Callable[..., list[Array]], factor: Factor, requests: list[Product]) -> None:
    for request, product in zip(requests, dots([each.multiplied for each in requests], factor), strict=True):
        request.state.remember("product", OTHER[factor], product)


def _answer_codings(code: Callable[..., list[tuple[Array, Array]]], requests: list[Coding]) -> None:
    for request, (pull, gram) in zip(requests, code([each.asked for each in requests]), strict=True):
        request.pull, request.gram = pull, gram
