"""Matrices over the rows of codes that live on workers: what couples samples of different blocks.

A block is here what is moved by one task: a part of the rows, which holds many blocks of X (:mod:`.spread_parts`). It
holds its own rows of S: links inside the block, and links to rows of other blocks, if there are any, whose codes it is
sent when they change (the halo). Links between blocks that move at the same time are replaced by a bound that touches
at the present codes,

    2 s f_i f_t ≤ 2 s (f_i f⁰_t + f⁰_i f_t − f⁰_i f⁰_t) + |s| ((f_i − f⁰_i)² + (f_t − f⁰_t)²)

so that the objective cannot rise, whatever the other blocks do.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from .block_rows import BlockCliques, BlockLinks, BlockMatrix
from .rows import Cliques, FormedSquare, Links, RowMatrix
from .spread import Leaf, SpreadRows, arrived
from .spread_parts import PartRows
from .types import Array, IntArray, sum_in_order

if TYPE_CHECKING:
    from .spread_rows import ClusterRows

# The rows that a block needs of another one come in one array for all blocks of a group; there are so many groups, or
# one, if all blocks together need at most this multiple of the rows that each of them needs.
MOST_GROUPS, MOST_EXCESS = 16, 2.0


def spread_matrix(home: ClusterRows, S: RowMatrix) -> SpreadMatrix:
    """A matrix over all samples, by blocks."""
    parts = PartRows(home)
    if isinstance(S, Cliques):
        return SpreadCliques(parts, S)
    if isinstance(S, Links):
        return SpreadLinks(parts, S)
    raise NotImplementedError(f"{type(S).__name__} cannot be divided into blocks of rows.")


class SpreadMatrix(RowMatrix):
    """A matrix whose rows are beside those of X.

    Attributes
    ----------
    parts : list of distributed.Future
        One :class:`BlockMatrix` for every block.
    """

    spread = True
    parts: list[Any]
    # S without its diagonal, if it has entries.
    off: Any = None

    def __init__(self, home: PartRows, S: RowMatrix):
        self.home = home
        self._diagonal, self._reach = S.diagonal(), S.reach()
        # What every block gave others to know last, and of which codes; the energy of some codes that workers are at.
        self._picked: dict[int, tuple[Any, dict[Any, Any]]] = {}
        self._begun: tuple[SpreadRows, list[Any]] | None = None

    @property
    def across(self) -> bool:
        """Whether there are other blocks."""
        return len(self.home.slices) > 1

    def arriving(self, F: SpreadRows, moved: Mapping[int, Any] | None = None) -> list[Any]:
        """What every block needs to know of the others' codes F; None if there are no others.

        Some blocks may have moved since, each with the task whose first result are its codes.
        """
        if not self.across:
            return [None]
        leaf, moved = self.home.leaf(F), moved or {}
        self._tell({i: future for i, future in enumerate(leaf.futures) if i not in moved}, leaf.item)
        self._tell(moved, 0)
        return self._sent({name: future for _, picked in self._picked.values() for name, future in picked.items()})

    def _tell(self, codes: Mapping[int, Any], item: int | None) -> None:
        """Let some blocks give others to know their codes, unless they have."""
        known = {i: (future.key, item) for i, future in codes.items()}
        new = {i: codes[i] for i in codes if i not in self._picked or self._picked[i][0] != known[i]}
        picked = self._pick(new, item) if new else {}
        for i in new:
            self._picked[i] = known[i], {name: future for name, future in picked.items() if name[-1] == i}

    @abstractmethod
    def _pick(self, codes: Mapping[int, Any], item: int | None) -> dict[Any, Any]:
        """Futures of what others need to know of some blocks' codes, by names that end with the block's number."""

    @abstractmethod
    def _sent(self, picked: Mapping[Any, Any]) -> list[Any]:
        """Which of these, or what contains them, every block is sent."""

    def _each(self, name: str, task: Callable[..., Any], F: SpreadRows, urgency: int = 0) -> list[Any]:
        leaf, sent = self.home.leaf(F), self.arriving(F)
        return self.home.cluster.each(name, task, self.parts, leaf.futures, sent, urgency=urgency, item=leaf.item)

    def positive(self, F: Any) -> Any:
        """S⁺ F."""
        return self._half(F, 0)

    def negative(self, F: Any) -> Any:
        """S⁻ F."""
        return self._half(F, 1)

    def _half(self, F: SpreadRows, item: int) -> SpreadRows:
        return self.home.divided(Leaf(self._each("halves", _halves, F), item, F.shape[1], F.dtype))

    def diagonal(self) -> Array:
        """The diagonal of S."""
        return self._diagonal

    def reach(self) -> Array:
        """The sums of the links' sizes."""
        return self._reach

    def begin_energy(self, F: SpreadRows) -> None:
        """Let workers compute the energy that will be asked for, when they have nothing else to do."""
        self._begun = F, self._each("energy", _energy, F, urgency=-1)

    def energy(self, F: Any) -> Array:
        """f_jᵀ S f_j for every column, added up by blocks."""
        if self._begun is None or self._begun[0] is not F:
            self.begin_energy(F)
        assert self._begun is not None  # just begun
        return np.asarray(self.home.cluster.total(self._begun[1])[0])


class SpreadLinks(SpreadMatrix):
    """Links by blocks.

    Parameters
    ----------
    home : PartRows
    S : Links
    """

    def __init__(self, home: PartRows, S: Links):
        super().__init__(home, S)
        self.off = S.off
        slices, n_blocks = home.slices, len(home.slices)
        residual = S.residual if isinstance(S, FormedSquare) else None
        needs = [np.unique(_needed(S, residual, rows)) for rows in slices]
        every = len(np.unique(np.concatenate(needs)))
        alike = every <= MOST_EXCESS * sum(map(len, needs)) / n_blocks
        groups = np.array_split(np.arange(n_blocks), 1 if alike else min(n_blocks, MOST_GROUPS))
        self._group_of = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        # For every group, the rows of each block that its blocks need.
        self._wanted: list[list[IntArray]] = []
        described: list[tuple[Any, ...]] = []
        for group in groups:
            needed = np.unique(np.concatenate([needs[number] for number in group]))
            for number in group:
                own = slices[number]
                elsewhere = needed[(needed < own.start) | (needed >= own.stop)]
                owners = np.searchsorted([rows.stop for rows in slices], elsewhere, side="right")
                described.append((*_described(S, residual, own, elsewhere), home.in_turn_with(number)[owners]))
            edges = np.searchsorted(needed, [rows.start for rows in slices] + [home.shape[0]])
            self._wanted.append([needed[edges[i] : edges[i + 1]] - rows.start for i, rows in enumerate(slices)])
        self.parts = home.cluster.each("links", _block_links, home.blocks, described)

    def _pick(self, codes: Mapping[int, Any], item: int | None) -> dict[Any, Any]:
        """The wanted rows of the blocks, one array for each group that wants some."""
        names = [(group, i) for group, wanted in enumerate(self._wanted) for i in codes if len(wanted[i])]
        if not names:
            return {}
        given = [codes[i] for _, i in names], [self._wanted[group][i] for group, i in names]
        return dict(zip(names, self.home.cluster.each("halo", _picked, *given, urgency=1, item=item), strict=True))

    def _sent(self, picked: Mapping[Any, Any]) -> list[Any]:
        """Those of its group; a block has its own rows."""
        names, count = sorted(picked), len(self.parts)
        return [
            [picked[group, owner] for group, owner in names if group == self._group_of[i] and owner != i]
            for i in range(count)
        ]


class SpreadCliques(SpreadMatrix):
    """Groups of rows that are fully linked, with members in several blocks.

    Parameters
    ----------
    home : PartRows
    S : Cliques
    """

    def __init__(self, home: PartRows, S: Cliques):
        super().__init__(home, S)
        own = [S.groups[rows] for rows in home.slices]
        counts = np.array([np.bincount(groups[groups >= 0], minlength=S.n_groups) for groups in own])
        moving = [counts[home.in_turn_with(number)].sum(axis=0) for number in range(len(own))]
        given: dict[str, Any] = {"sizes": counts.sum(axis=0), "strength": S.strength, "dtype": self._diagonal.dtype}
        self.parts = home.cluster.each("cliques", _block_cliques, home.blocks, own, moving, **given)

    def _pick(self, codes: Mapping[int, Any], item: int | None) -> dict[Any, Any]:
        """The sums of all groups in the blocks."""
        given = [self.parts[i] for i in codes], list(codes.values())
        sums = self.home.cluster.each("groups", _group_sums, *given, urgency=1, item=item)
        return {(i,): future for i, future in zip(codes, sums, strict=True)}

    def _sent(self, picked: Mapping[Any, Any]) -> list[Any]:
        """The sums over all blocks."""
        together = self.home.cluster.each("groups", _all_sums, [[picked[name] for name in sorted(picked)]], urgency=1)
        return together * len(self.parts)


def _needed(S: Links, residual: Any, own: slice) -> IntArray:
    """The rows that a block needs of others."""
    matrices = [S.off[own]] + ([] if residual is None else [_of_rows(residual, own)])
    columns = np.concatenate([matrix.indices for matrix in matrices])
    return columns[(columns < own.start) | (columns >= own.stop)]


def _of_rows(B: tuple[Any, IntArray, float], span: slice) -> Any:
    """The rows of a residual matrix that belong to some samples."""
    matrix, owners, _ = B
    low, high = np.searchsorted(owners, [span.start, span.stop])
    return matrix[low:high]


def _described(S: Links, residual: Any, own: slice, sent: IntArray) -> tuple[Any, ...]:
    """What :class:`BlockLinks` is made of."""
    off = sp.csr_array(S.off[own])
    inside = sp.csr_array(off[:, own.start : own.stop])
    parts = S.diagonal()[own], S.row_sums[own], inside, sp.csr_array(off[:, sent])
    if residual is None:
        return (*parts, None)
    B = _of_rows(residual, own)
    return (*parts, (sp.csr_array(sp.hstack([B[:, own.start : own.stop], B[:, sent]])), float(residual[2])))


def _block_links(block: Any, described: tuple[Any, ...]) -> BlockLinks:
    return BlockLinks(*described)


def _block_cliques(
    block: Any, groups: IntArray, moving: IntArray, sizes: IntArray, strength: float, dtype: Any
) -> BlockCliques:
    return BlockCliques(np.array(groups), moving, sizes, strength, dtype)


def _picked(F: Any, rows: IntArray, item: int | None) -> Array:
    return np.asarray(arrived(F, item)[rows])


def _group_sums(part: BlockCliques, F: Any, item: int | None) -> Array:
    return part.sums(arrived(F, item))


def _all_sums(parts: list[Array]) -> Array:
    return sum_in_order([np.array(part) for part in parts])


def _halves(part: BlockMatrix, F: Any, others: Any, item: int | None) -> tuple[Array, Array]:
    return part.halves(arrived(F, item), others)


def _energy(part: BlockMatrix, F: Any, others: Any, item: int | None) -> tuple[Array]:
    return (part.energy(arrived(F, item), others),)
