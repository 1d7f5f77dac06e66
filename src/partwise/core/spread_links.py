"""Matrices over the rows of codes that live on workers: what couples samples of different blocks.

A block is here what is moved by one task: a part of the rows, which holds many blocks of X (:mod:`.spread_parts`). It
holds its own rows of S: links inside the block, and links to rows of other blocks, if there are any, whose codes it is
sent when they change (the halo). For a step that all blocks make at once, links between blocks are replaced by a bound
that touches at the present codes,

    2 s f_i f_t ≤ 2 s (f_i f⁰_t + f⁰_i f_t − f⁰_i f⁰_t) + |s| ((f_i − f⁰_i)² + (f_t − f⁰_t)²)

so that the objective cannot rise, whatever the other blocks do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from .rows import Cliques, FormedSquare, Links, RowMatrix
from .spread import Leaf, SpreadRows, arrived
from .spread_parts import PartRows
from .types import Array, IntArray

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
        self._diagonal = S.diagonal()
        # What blocks were sent last, and of which codes; and the energy of some codes that workers are at.
        self._sent: tuple[Leaf, list[Any]] | None = None
        self._begun: tuple[SpreadRows, list[Any]] | None = None

    @property
    def across(self) -> bool:
        """Whether there are other blocks."""
        return len(self.home.slices) > 1

    def arriving(self, F: SpreadRows) -> list[Any]:
        """What every block needs to know of the others; it is sent once for the same codes. None if there are none."""
        if not self.across:
            return [None]
        leaf = self.home.leaf(F)
        if self._sent is None or self._sent[0] is not leaf:
            self._sent = leaf, self._send(leaf)
        return self._sent[1]

    @abstractmethod
    def _send(self, leaf: Leaf) -> list[Any]:
        """Futures, or what contains them, for every block."""

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

    def begin_energy(self, F: SpreadRows) -> None:
        """Let workers compute the energy that will be asked for, when they have nothing else to do."""
        self._begun = F, self._each("energy", _energy, F, urgency=-1)

    def energy(self, F: Any) -> Array:
        """f_jᵀ S f_j for every column, added up by blocks."""
        if self._begun is None or self._begun[0] is not F:
            self.begin_energy(F)
        assert self._begun is not None  # just begun
        return np.asarray(self.home.cluster.total(self._begun[1])[0])


class BlockMatrix(ABC):
    """The rows of S that belong to a block.

    Attributes
    ----------
    inside : RowMatrix
        Between rows of the block.
    stiffness : ndarray of shape (rows,)
        The diagonal of S, and what the bound on links to other blocks adds to it.
    """

    inside: RowMatrix
    stiffness: Array
    # By how much the stiffness exceeds the diagonal of S.
    extra: Array

    def __init__(self) -> None:
        self._kept: dict[str, Any] = {}

    def kept(self, name: str, make: Callable[[], Any]) -> Any:
        """What a solver has built of it, as long as it stays on its worker."""
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_kept": {}}

    def pull(self, F: Array, others: Any) -> Array:
        """What the bound on links to other blocks adds to the linear part A."""
        return self.extra[:, None] * F - self._outside(F, others)

    @abstractmethod
    def _outside(self, F: Array, others: Any) -> Array:
        """Σ_t s_it f_t over rows of other blocks."""

    @abstractmethod
    def halves(self, F: Array, others: Any) -> tuple[Array, Array]:
        """S⁺ F and S⁻ F."""

    @abstractmethod
    def energy(self, F: Array, others: Any) -> Array:
        """Its share of f_jᵀ S f_j."""


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
                described.append(_described(S, residual, own, elsewhere))
            edges = np.searchsorted(needed, [rows.start for rows in slices] + [home.shape[0]])
            self._wanted.append([needed[edges[i] : edges[i + 1]] - rows.start for i, rows in enumerate(slices)])
        self.parts = home.cluster.each("links", _block_links, home.blocks, described)

    def _send(self, leaf: Leaf) -> list[Any]:
        """The wanted rows of every block, one array for each group that wants some."""
        futures, places, owners = [], [], []
        for group, by_block in enumerate(self._wanted):
            for number, rows in enumerate(by_block):
                if len(rows):
                    futures.append(leaf.futures[number])
                    places.append(rows)
                    owners.append((group, number))
        cluster = self.home.cluster
        sent = cluster.each("halo", _picked, futures, places, item=leaf.item) if futures else []
        by_group: list[list[tuple[int, Any]]] = [[] for _ in self._wanted]
        for (group, number), future in zip(owners, sent, strict=True):
            by_group[group].append((number, future))
        # A block has its own rows.
        return [
            [future for owner, future in by_group[self._group_of[number]] if owner != number]
            for number in range(len(self.parts))
        ]


class BlockLinks(BlockMatrix):
    """Links of a block.

    Parameters
    ----------
    diagonal, row_sums : ndarray of shape (rows,)
    inside : csr_array of shape (rows, rows)
        Links between rows of the block.
    across : csr_array of shape (rows, rows of other blocks that are sent)
    residual : tuple of csr_array and float, optional
        If S is a square strength · BᵀB: rows of B, over the rows of the block and then those that are sent, and the
        strength.
    """

    inside: Links

    def __init__(
        self, diagonal: Array, row_sums: Array, inside: Any, across: Any, residual: tuple[Any, float] | None = None
    ):
        super().__init__()
        self.inside = Links(diagonal, inside, row_sums)
        self._across = across
        self._residual = residual
        self.extra = np.asarray(abs(across).sum(axis=1)).ravel().astype(diagonal.dtype)
        self.stiffness = diagonal + self.extra

    def _outside(self, F: Array, others: list[Array] | None) -> Array:
        return np.asarray(self._across @ _halo(others, F)) if others else np.zeros_like(F)

    def halves(self, F: Array, others: list[Array] | None) -> tuple[Array, Array]:
        """The positive links and the diagonal; the negative ones."""
        if not others:
            return self.inside.positive(F), self.inside.negative(F)
        halo, (up, down) = _halo(others, F), self.kept("halves", self._halves)
        return self.inside.positive(F) + up @ halo, self.inside.negative(F) + down @ halo

    def _halves(self) -> tuple[Any, Any]:
        return self._across.maximum(0), -(self._across.minimum(0))

    def energy(self, F: Array, others: list[Array] | None) -> Array:
        """Half of that of links to other blocks, which have the other half; or of the rows of B."""
        whole = np.concatenate([F, _halo(others, F)]) if others else F
        if self._residual is not None:
            B, strength = self._residual
            rest = B @ whole
            return strength * np.einsum("ij,ij->j", rest, rest, dtype=np.float64, casting="safe")
        from ..kernels.links import edge_energy

        off = self.kept("edges", self._edges)
        by_edges = edge_energy(off.indptr, off.indices, off.data, whole)
        return by_edges + np.einsum("i,ij,ij->j", self.inside.row_sums, F, F, dtype=np.float64, casting="safe")

    def _edges(self) -> Any:
        n_sent = self._across.shape[1]
        off = sp.hstack([self.inside.off, self._across * self._across.dtype.type(0.5)], format="csr")
        indptr = np.concatenate([off.indptr, np.full(n_sent, off.indptr[-1], off.indptr.dtype)])
        return sp.csr_array((off.data, off.indices, indptr), shape=(off.shape[1], off.shape[1]))


class SpreadCliques(SpreadMatrix):
    """Groups of rows that are fully linked, with members in several blocks.

    Parameters
    ----------
    home : PartRows
    S : Cliques
    """

    def __init__(self, home: PartRows, S: Cliques):
        super().__init__(home, S)
        sizes = np.bincount(S.groups[S.groups >= 0], minlength=S.n_groups)
        own = [S.groups[rows] for rows in home.slices]
        given: dict[str, Any] = {"sizes": sizes, "strength": S.strength, "dtype": self._diagonal.dtype}
        self.parts = home.cluster.each("cliques", _block_cliques, home.blocks, own, **given)

    def _send(self, leaf: Leaf) -> list[Any]:
        """The sums of all groups."""
        cluster = self.home.cluster
        sums = cluster.total(cluster.each("groups", _group_sums, self.parts, leaf.futures, item=leaf.item))[0]
        return [sums] * len(self.parts)


class BlockCliques(BlockMatrix):
    """The members of groups in a block.

    Parameters
    ----------
    groups : ndarray of int, shape (rows,)
        −1 for none.
    sizes : ndarray of int
        Members of every group, in all blocks.
    strength : float
    dtype : dtype
    """

    inside: Cliques

    def __init__(self, groups: IntArray, sizes: IntArray, strength: float, dtype: Any):
        super().__init__()
        self.inside = Cliques(groups, strength, dtype)
        self._sizes = sizes
        members = groups >= 0
        whole = np.zeros(len(groups), dtype)
        whole[members] = strength * (sizes[groups[members]] - 1.0)
        self.extra = whole - self.inside.diagonal()
        self.stiffness = whole + self.extra

    def sums(self, F: Array) -> Array:
        """Over the members of every group."""
        out = np.zeros((len(self._sizes), F.shape[1]), F.dtype)
        out[: self.inside.n_groups] = self.inside.group_sums(F)
        return out

    def _outside(self, F: Array, others: Array | None) -> Array:
        groups, out = self.inside.groups, np.zeros_like(F)
        if others is None:
            return out
        members = groups >= 0
        elsewhere = np.maximum(others - self.sums(F), 0)
        out[members] = -F.dtype.type(self.inside.strength) * elsewhere[groups[members]]
        return out

    def halves(self, F: Array, others: Array | None) -> tuple[Array, Array]:
        """The degrees; the sums of the other members."""
        up = (self.stiffness - self.extra)[:, None] * F
        return up, self.inside.negative(F) - self._outside(F, others)

    def energy(self, F: Array, others: Array | None) -> Array:
        """Σ_c n_c Σ_{i in c} (f_ij − mean_cj)² over its members."""
        groups, others = self.inside.groups, self.sums(F) if others is None else others
        own = groups[groups >= 0]
        centred = F[groups >= 0] - (others / np.maximum(self._sizes, 1)[:, None])[own]
        return self.inside.strength * np.einsum("i,ij,ij->j", self._sizes[own], centred, centred, dtype=np.float64)


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


def _halo(others: list[Array], F: Array) -> Array:
    return np.concatenate([arrived(part) for part in others])


def _block_links(block: Any, described: tuple[Any, ...]) -> BlockLinks:
    return BlockLinks(*described)


def _block_cliques(block: Any, groups: IntArray, sizes: IntArray, strength: float, dtype: Any) -> BlockCliques:
    return BlockCliques(np.array(groups), sizes, strength, dtype)


def _picked(F: Any, rows: IntArray, item: int | None) -> Array:
    return np.asarray(arrived(F, item)[rows])


def _group_sums(part: BlockCliques, F: Any, item: int | None) -> tuple[Array]:
    return (part.sums(arrived(F, item)),)


def _halves(part: BlockMatrix, F: Any, others: Any, item: int | None) -> tuple[Array, Array]:
    return part.halves(arrived(F, item), others)


def _energy(part: BlockMatrix, F: Any, others: Any, item: int | None) -> tuple[Array]:
    return (part.energy(arrived(F, item), others),)
