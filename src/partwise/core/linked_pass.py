"""A pass over rows on workers that are coupled with each other: by parts of many blocks, which learn of each other.

The blocks' products with X are made beside X, and then codes are moved, part by part. If there are several parts, all
of them move at the same time, and links between them are replaced by a bound, see `spread_links`.
"""

from __future__ import annotations

from typing import Any

from .row_pass import RowPass
from .spread import Leaf, SpreadRows, arrived
from .spread_parts import PartRows, joined_rows
from .threads import one_thread
from .types import Array


class LinkedPass:
    """A pass with links.

    Parameters
    ----------
    parts : PartRows
    run : RowPass
    products : list of futures
        X Hᵀ of every block.
    """

    def __init__(self, parts: PartRows, run: RowPass, products: list[Any]):
        self.parts = parts
        self._run = run
        self.products = parts.grouped(products)

    def moved(self) -> list[SpreadRows]:
        """The results of the pass, by parts; the last one holds the codes."""
        run = self._run
        F: Any = run.given[0]
        if run.aggregates is not None:
            F = run.aggregates.moved(self, run.step, F)
        before, others = F, run.given[run.step.n_results :]
        for step in run.before:
            given = (F, before, *others) if step.n_results == 2 else (F, *others)
            found = self._step(step, given)
            before, F = found[0], found[-1]
        return self._step(run.step, (F, *run.given[1:]))

    def links(self, F: Any) -> list[list[Any]]:
        """For every part, its rows of the matrices that couple samples, and what it is sent of others' codes F."""
        matrices = [(S.parts, S.arriving(F)) for S in self._run.links]
        return [[(held[i], sent[i]) for held, sent in matrices] for i in range(len(self.parts.slices))]

    def _step(self, step: Any, given: tuple[Any, ...]) -> list[SpreadRows]:
        leaves = [self.parts.leaf(F) for F in given]
        steps = [step.of(rows) for rows in self.parts.slices]
        lists = (steps, self.products, self.links(given[0]), *(leaf.futures for leaf in leaves))
        done = self.parts.cluster.each("code", _stepped, *lists, items=tuple(leaf.item for leaf in leaves))
        results = [Leaf(done, item, *leaves[0].kind) for item in range(step.n_results)]
        return [SpreadRows(self.parts, leaf) for leaf in results]


def _stepped(
    step: Any, products: list[Any], links: list[Any], *given: Any, items: tuple[int | None, ...]
) -> tuple[Array, ...]:
    """What a step gives for the rows of a part.

    Parameters
    ----------
    step : RowStep
    products : list of ndarray
        X Hᵀ of its blocks.
    links : list of (BlockMatrix, object)
        Its rows of the matrices that couple samples, each with what it knows of other parts.
    *given : ndarray or tuple of ndarray
        The rows of other arrays, each by itself or an item of what another task gave.
    items : tuple
        Which items.
    """
    with one_thread():
        results: tuple[Array, ...] = step.whole(joined_rows(products), tuple(map(arrived, given, items)), links)
        return results
