"""A pass over rows on workers that are coupled with each other: by parts of many blocks, which learn of each other.

The blocks' products with X are made beside X, and then codes are moved, part by part. If there are several parts, every
other one moves at the same time, and then the rest, which know where the first ones have gone. Links between parts
that move at the same time are replaced by a bound, see `spread_links`. While some wait for others, workers have
products to make.
"""

from __future__ import annotations

from collections.abc import Mapping
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
        for step in run.before:
            (F,) = self._stepped(step, (F, *run.given[run.step.n_results :]))
        return self._stepped(run.step, (F, *run.given[1:]))

    def _stepped(self, step: Any, given: tuple[Any, ...]) -> list[SpreadRows]:
        """What a step gives for every part, turn by turn."""
        leaves = [self.parts.leaf(F) for F in given]
        items, done = tuple(leaf.item for leaf in leaves), dict[int, Any]()
        for turn in self.parts.turns:
            steps = [step.of(self.parts.slices[i]) for i in turn]
            lists = (self.products, self.links(given[0], done), *(leaf.futures for leaf in leaves))
            arguments = ([each[i] for i in turn] for each in lists)
            moved = self.parts.cluster.each("code", _stepped, steps, *arguments, urgency=1, items=items)
            done.update(zip(turn, moved, strict=True))
        results = [Leaf([done[i] for i in sorted(done)], item, *leaves[0].kind) for item in range(step.n_results)]
        return [SpreadRows(self.parts, leaf) for leaf in results]

    def links(self, F: Any, moved: Mapping[int, Any] | None = None) -> list[list[Any]]:
        """For every part, its rows of the matrices that couple samples, and what it is sent of others' codes.

        These are F, except of the parts that have moved, each with the task that moved it.
        """
        matrices = [(S.parts, S.arriving(F, moved or {})) for S in self._run.links]
        return [[(held[i], sent[i]) for held, sent in matrices] for i in range(len(self.parts.slices))]


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
    scratch = links[0][0].scratch
    with one_thread():
        product = joined_rows(products, scratch)
        results: tuple[Array, ...] = step.whole(product, tuple(map(arrived, given, items)), links, scratch)
        return results
