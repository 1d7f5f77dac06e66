"""Many problems solved as one: fits of the same data share every product with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, groupby

from .loop import Options
from .problem import ORDINARY, Minimum, Problem, solving
from .steps import Steps, answer, most_live, side_by_side


def solve_many(
    problems: Iterable[Problem], options: Options = ORDINARY, *, alike: bool = False
) -> Iterator[tuple[int, Minimum]]:
    """Solve several problems side by side; those that have the same data share every product with it.

    The products X [H₁ᵀ … H_rᵀ] and Xᵀ [W₁ … W_r] of r fits with k components have r·k columns, for which processors
    are made; X is also read only once. Everything else belongs to a single fit: its steps, its extrapolation, its
    history, and when it stops. Results are those of :func:`solve`, except that products of more columns may round
    differently.

    A fit that makes no products with X has nothing to share. That is so for the Kullback–Leibler divergence, whose
    steps need a sum over the entries of every row with the components of the one fit, and for missing entries: such
    problems are solved one after another.

    Parameters
    ----------
    problems : iterable of Problem
        They may have different starts, numbers of components, terms, and sample weights (`Problem.reweighted`).
        Problems on other data wait until those before them have ended, and share nothing with them. Each is taken when
        there is room for it, and forgotten when it is solved: any number of them needs no more memory than those that
        run side by side, and one more.
    options : Options, optional
        How long each may run.
    alike : bool, default=False
        Whether results must be, to the bit, those of :func:`solve`: then every fit has its own products, and only
        reading X is shared.

    Yields
    ------
    index : int
        The place of the problem among those given.
    minimum : Minimum
        Where its fit ended. Those that end first come first.
    """
    # Not by the number of an object: the next data may be where forgotten ones were.
    for _, same in groupby(enumerate(problems), key=lambda numbered: numbered[1].X.source):
        yield from _solve_on_same(same, options, alike)


def _solve_on_same(
    numbered: Iterator[tuple[int, Problem]], options: Options, alike: bool
) -> Iterator[tuple[int, Minimum]]:
    """Solve problems that follow each other and have the same data."""
    place, first = next(numbered)
    solved: list[tuple[int, Minimum]] = []
    makers = (_maker(options, problem) for problem in chain([first], (problem for _, problem in numbered)))
    steps = side_by_side(makers, lambda index, minimum: solved.append((place + index, minimum)), _room(first))
    with first.at_work():
        for requests in steps:
            answer(requests, alike)
            while solved:
                yield solved.pop(0)
        while solved:
            yield solved.pop(0)


def _maker(options: Options, problem: Problem) -> Callable[[], Steps[Minimum]]:
    return partial(solving, problem, options)


def _room(problem: Problem) -> int:
    return most_live(problem.X, problem.n_components)
