"""Rows on workers in parts of many blocks, for what couples rows.

A block of X is as large as its chunk. Codes are far smaller, and what is linked across blocks has to travel. So codes
of many blocks are moved together, by one task: links within such a part are no different from links in memory. Where
there are several parts, every other one moves first, all of these at once, and then the rest: half of the links between
parts, or more, then lead to rows that stay where they are.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from .scratch import Scratch
from .spread import Leaf, SpreadRows, arrived
from .spread_rows import ClusterRows
from .types import Array

# A part has about so many rows at most, unless a block has more. To move these in one task costs no more than to let
# smaller parts know of each other, and to move together what spans them.
MOST_ROWS = 2**18


class PartRows(ClusterRows):
    """The same rows in parts: blocks next to each other, together.

    Parameters
    ----------
    rows : ClusterRows

    Attributes
    ----------
    rows : ClusterRows
        By blocks.
    members : list of slice
        The blocks of every part.
    turns : list of range
        The parts that move at the same time, turn by turn.
    """

    def __init__(self, rows: ClusterRows):
        self.__dict__.update(vars(rows))
        self.rows = rows
        n = rows.shape[0]
        n_parts = -(-n // MOST_ROWS)
        middles = np.array([(block.start + block.stop) // 2 for block in rows.slices])
        edges = np.unique(middles * n_parts // n, return_index=True)[1]
        self.members = [slice(int(low), int(high)) for low, high in pairwise([*edges, len(middles)])]
        self.slices = [slice(rows.slices[own.start].start, rows.slices[own.stop - 1].stop) for own in self.members]
        self.blocks = [None] * len(self.slices)
        self.turns = [range(first, len(self.slices), 2) for first in (0, 1) if first < len(self.slices)]

    @property
    def same(self) -> bool:
        """Whether every part is a block."""
        return len(self.slices) == len(self.rows.slices)

    def in_turn_with(self, number: int) -> Array:
        """Which of the other parts move at the same time as one."""
        others = np.arange(len(self.slices))
        return (others % 2 == number % 2) & (others != number)

    def leaf(self, F: Any) -> Leaf:
        """An array by parts, whichever way it is divided."""
        if not isinstance(F, SpreadRows) or F.home.slices == self.slices:
            return super().leaf(F)
        leaf = self.rows.leaf(F)
        if leaf.whole is not None:
            return leaf.whole
        return Leaf(self.cluster.each("joined", _joined, self.grouped(leaf.futures), item=leaf.item), None, *leaf.kind)

    def grouped(self, futures: list[Any]) -> list[list[Any]]:
        """What there is of every block, by parts."""
        return [futures[own] for own in self.members]

    def divided(self, leaf: Leaf) -> SpreadRows:
        """An array by blocks, given one by parts; it remembers where it is whole."""
        if self.same:
            return SpreadRows(self.rows, leaf)
        blocks = self.rows.slices
        wholes, places = [], []
        for own, part, future in zip(self.members, self.slices, leaf.futures, strict=True):
            for rows in blocks[own]:
                wholes.append(future)
                places.append(slice(rows.start - part.start, rows.stop - part.start))
        futures = self.cluster.each("divided", _rows_of, wholes, places, urgency=1, item=leaf.item)
        return SpreadRows(self.rows, replace(leaf, futures=futures, item=None, whole=leaf))


def joined_rows(parts: list[Any], scratch: Scratch | None = None) -> Array:
    """Arrays of blocks as one, in memory that is used again if some is given."""
    if len(parts) == 1:
        return np.asarray(arrived(parts[0]))
    out = None
    if scratch is not None:
        out = scratch.get("joined", (sum(map(len, parts)), parts[0].shape[1]), parts[0].dtype)
    return np.concatenate([arrived(part) for part in parts], out=out)


def _joined(parts: list[Any], item: int | None) -> Array:
    return joined_rows([arrived(part, item) for part in parts])


def _rows_of(whole: Any, rows: slice, item: int | None) -> Array:
    return np.array(arrived(whole, item)[rows])
