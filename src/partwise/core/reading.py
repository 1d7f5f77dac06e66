"""Rows that are read when they are needed: in order, units ahead of the computation.

`StoredRows` is what the door makes of a source of rows: the first pass checks every entry, later ones check what
compiled code relies on (`core.fetching`).
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from .fetching import Fetcher, joined
from .rooms import MEMORY, Room
from .sources import RowBlocks
from .types import Array, IntArray
from .units import scaled

T = TypeVar("T")

# A unit is in use while the next ones are read, so many ahead.
UNITS_AHEAD = 2
# Rows are read together if at most this much lies between them.
GAP_BYTES = 2**18
# So many rows identify data.
FINGERPRINT_ROWS = 64


@dataclass(frozen=True)
class Facts:
    """What the first pass found.

    Attributes
    ----------
    sparse : bool
    nnz : int
        Stored entries, if it is sparse.
    smallest, largest : float
        Of the known entries, with zero among them.
    has_nan : bool
    """

    sparse: bool
    nnz: int
    smallest: float
    largest: float
    has_nan: bool

    @classmethod
    def of_all(cls, parts: list[Facts]) -> Facts:
        """Those of all blocks."""
        return cls(
            sparse=bool(parts) and parts[-1].sparse,
            nnz=sum(part.nnz for part in parts),
            smallest=min((part.smallest for part in parts), default=0.0),
            largest=max((part.largest for part in parts), default=0.0),
            has_nan=any(part.has_nan for part in parts),
        )


def inspected(block: Any, first: int, dtype: Any, if_nan: str | None, if_negative: str | None) -> Facts:
    """What is known about a block whose first row has this number; refuses what must not be in it.

    Parameters
    ----------
    block : ndarray or csr_array
    first : int
    dtype : dtype
        Of the fit.
    if_nan : str or None
        What to do about NaN, as a sentence; None allows it.
    if_negative : str or None
        The same for negative entries, with a place for the row.
    """
    sparse = sp.issparse(block)
    values, nnz = (block.data, block.nnz) if sparse else (block, 0)
    if not values.size:
        return Facts(sparse, nnz, 0.0, 0.0, False)
    low, high = float(values.min()), float(values.max())
    has_nan = bool(np.isnan(low))
    if has_nan:
        if if_nan is not None:
            raise ValueError(f"Input X contains NaN in row {first + _first_row(block, np.isnan)}. {if_nan}")
        low, high = float(np.fmin.reduce(values, axis=None)), float(np.fmax.reduce(values, axis=None))
        low, high = (0.0, 0.0) if np.isnan(low) else (low, high)
    if np.isinf(low) or np.isinf(high):
        raise ValueError(
            f"Input X contains infinity or a value too large for {dtype} in row {first + _first_row(block, np.isinf)}."
        )
    if low < 0 and if_negative is not None:
        raise ValueError(if_negative.format(row=first + _first_row(block, lambda x: x < 0)))
    return Facts(sparse, nnz, min(0.0, low), max(0.0, high), has_nan)


@dataclass(frozen=True)
class AbsentRows:
    """What is left of rows that were not in memory when their model was saved.

    Attributes
    ----------
    contents : tuple
        What tells them from others.
    """

    contents: tuple[Any, ...]

    def are(self, rows: StoredRows) -> bool:
        """Whether these are the rows."""
        return self.contents == rows._contents()


class StoredRows:
    """A source of rows as a fit sees it: float rows of one kind, in the unit of the fit.

    Parameters
    ----------
    source : RowBlocks
    """

    def __init__(self, source: RowBlocks):
        self._fetcher = Fetcher(source)
        self.shape, self.dtype = self._fetcher.shape, self._fetcher.dtype
        self._exponent = 0.0
        self._facts: Facts | None = None
        # Where the codes of these rows are kept.
        self.room: Room = getattr(source, "codes", MEMORY)

    @property
    def facts(self) -> Facts:
        """What the first pass found."""
        assert self._facts is not None  # the door has made the first pass
        return self._facts

    @property
    def in_order(self) -> bool:
        """Whether rows can only be read from the first one on."""
        return self._fetcher.in_order

    @property
    def by_threads(self) -> bool:
        """Whether every thread can read for itself."""
        return self._fetcher.by_threads

    @property
    def bytes_per_row(self) -> int:
        """Size of a row in memory."""
        if self._facts is None or not self._facts.sparse:
            return self.shape[1] * self.dtype.itemsize
        nnz = self._facts.nnz
        index = 4 if max(nnz, self.shape[1]) <= np.iinfo(np.int32).max else 8
        return (self.dtype.itemsize + index) * nnz // max(1, self.shape[0])

    def check(self, if_nan: str | None, if_negative: str | None) -> None:
        """Read every entry once; refuse what must not be there, and name its row.

        Parameters
        ----------
        if_nan : str or None
            What to do about NaN, as a sentence; None allows it.
        if_negative : str or None
            The same for negative entries.
        """
        blocks = ahead(self._units([slice(0, self.shape[0])]))
        self._facts = Facts.of_all(
            [inspected(block, first, self.dtype, if_nan, if_negative) for first, block in blocks]
        )

    def scaled(self, exponent: float) -> StoredRows:
        """The same rows times two to a power."""
        other: StoredRows = object.__new__(type(self))
        other.__dict__.update(vars(self))
        other._exponent += exponent
        facts = self.facts
        other._facts = Facts(
            facts.sparse,
            facts.nnz,
            float(scaled(facts.smallest, exponent)),
            float(scaled(facts.largest, exponent)),
            facts.has_nan,
        )
        return other

    def stream(self, slices: Iterable[slice]) -> Iterator[list[tuple[slice, Any]]]:
        """Rows by slices that follow each other, as many at a time as a unit holds; the next unit is being read.

        Parameters
        ----------
        slices : iterable of slice
            In ascending order, without overlap.
        """
        waiting = deque(slices)
        held: deque[tuple[int, Any]] = deque()
        for first, block in ahead(self._units(_spans(waiting))):
            held.append((first, block))
            end, ready = first + block.shape[0], []
            while waiting and waiting[0].stop <= end:
                rows = waiting.popleft()
                while held[0][0] + held[0][1].shape[0] <= rows.start:
                    held.popleft()
                ready.append((rows, joined([_cut(part, at, rows) for at, part in held if at < rows.stop])))
            if ready:
                yield ready

    def in_turn(self, slices: Sequence[slice]) -> Iterator[tuple[slice, Any]]:
        """Rows by slices, read by the thread that asks, each for use before the next."""
        for rows, block in zip(slices, self._fetcher.each(slices), strict=True):
            yield rows, scaled(block, self._exponent) if self._exponent else block

    def whole(self) -> Iterator[tuple[slice, Any]]:
        """All rows, as many at a time as a unit holds."""
        step = self._unit_rows()
        slices = [slice(start, min(start + step, self.shape[0])) for start in range(0, self.shape[0], step)]
        for group in self.stream(slices):
            yield from group

    def take(self, rows: IntArray) -> Any:
        """The chosen rows in memory, in any order."""
        if not len(rows):
            return sp.csr_array((0, self.shape[1]), dtype=self.dtype) if self.facts.sparse else self._empty()
        wanted, back = np.unique(rows, return_inverse=True)
        parts = [
            block[wanted[(wanted >= part.start) & (wanted < part.stop)] - part.start]
            for group in self.stream(self._runs(wanted))
            for part, block in group
        ]
        return joined(parts)[back.ravel()]

    def identity(self) -> tuple[Any, ...]:
        """What tells these data from others, cheaply: shape, type, state of the files, and some evenly spaced rows."""
        return *self._contents(), self._fetcher.watched

    def _contents(self) -> tuple[Any, ...]:
        """The same, wherever they are stored."""
        n = self.shape[0]
        rows = np.unique(np.linspace(0, n - 1, min(n, FINGERPRINT_ROWS)).astype(np.intp))
        some = self.take(rows)
        parts = (
            (some.data, some.indices.astype(np.int64), some.indptr.astype(np.int64)) if sp.issparse(some) else (some,)
        )
        digest = hashlib.blake2b(b"".join(np.ascontiguousarray(part).tobytes() for part in parts), digest_size=16)
        facts = self.facts
        return self.shape, str(self.dtype), facts.nnz, facts.smallest, facts.largest, digest.hexdigest()

    def for_saving(self) -> AbsentRows:
        """What a saved model keeps of them: files and other sources stay where they are."""
        return AbsentRows(self._contents())

    def __reduce__(self) -> tuple[Any, ...]:
        return AbsentRows, (self._contents(),)

    def _empty(self) -> Array:
        return np.empty((0, self.shape[1]), self.dtype)

    def _runs(self, wanted: IntArray) -> list[slice]:
        """Slices around the wanted rows; those that lie close together share one."""
        gap = self.shape[0] if self.in_order else max(GAP_BYTES // max(1, self.bytes_per_row), self._fetcher.chunk_rows)
        breaks = np.flatnonzero(np.diff(wanted) > gap) + 1
        pieces = np.split(wanted, breaks)
        step = self._unit_rows()
        runs = []
        for piece in pieces:
            for start in range(int(piece[0]), int(piece[-1]) + 1, step):
                runs.append(slice(start, min(start + step, int(piece[-1]) + 1)))
        return runs

    def _unit_rows(self) -> int:
        return self._fetcher.unit_rows(self.bytes_per_row)

    def _units(self, spans: list[slice]) -> Iterator[tuple[int, Any]]:
        """The rows of some spans in large pieces in the unit of the fit, each with the number of its first row."""
        for first, block in self._fetcher.units(spans, self._unit_rows()):
            yield first, scaled(block, self._exponent) if self._exponent else block


def ahead(items: Iterator[T]) -> Iterator[T]:
    """The same items, fetched by a thread while those before them are in use."""
    done: Any = object()
    # What is current here, such as a client of dask, is so in the thread.
    run: Any = copy_context().run
    with ThreadPoolExecutor(1) as pool:
        coming: deque[Future[T]] = deque(pool.submit(run, next, items, done) for _ in range(UNITS_AHEAD))
        try:
            while (item := coming.popleft().result()) is not done:
                coming.append(pool.submit(run, next, items, done))
                yield item
        finally:
            for future in coming:
                future.cancel()


def _spans(slices: Iterable[slice]) -> list[slice]:
    """Slices that follow each other without a gap, as one."""
    spans: list[slice] = []
    for rows in slices:
        if spans and spans[-1].stop == rows.start:
            rows = slice(spans.pop().start, rows.stop)
        spans.append(rows)
    return spans


def _first_row(block: Any, wrong: Any) -> int:
    """The first row with an entry for which a function is true."""
    if sp.issparse(block):
        return int(np.searchsorted(block.indptr, np.flatnonzero(wrong(block.data))[0], side="right")) - 1
    return int(np.flatnonzero(wrong(block).any(axis=1))[0])


def _cut(block: Any, first: int, rows: slice) -> Any:
    """The part of a block, whose first row is `first`, that belongs to some rows; sparse ones share memory too."""
    start, stop = max(rows.start - first, 0), min(rows.stop - first, block.shape[0])
    if start == 0 and stop == block.shape[0]:
        return block
    if not sp.issparse(block):
        return block[start:stop]
    begin, end = block.indptr[start], block.indptr[stop]
    parts = block.data[begin:end], block.indices[begin:end], block.indptr[start : stop + 1] - begin
    return sp.csr_array(parts, shape=(stop - start, block.shape[1]))
