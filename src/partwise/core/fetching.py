"""Rows fetched from a source in large units, none of them trusted: blocks are checked, files watched, errors placed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from stat import S_ISDIR
from typing import Any

import numpy as np
import scipy.sparse as sp

from .indices import canonical_csr
from .sources import RowBlocks

# Fetched at a time.
UNIT_BYTES = 2**24


class BlockError(RuntimeError):
    """A block of X cannot be read, or is not what it should be; the message names it."""


class Fetcher:
    """Units of rows from a source, as float arrays or canonical CSR matrices.

    Parameters
    ----------
    source : RowBlocks

    Attributes
    ----------
    source : RowBlocks
    shape : tuple of int
    given : numpy.dtype
        Of the source.
    dtype : numpy.dtype
        Of the fit.
    watched : tuple
        The state of the files that the source names, when it was given.
    """

    def __init__(self, source: RowBlocks):
        shape = tuple(source.shape)
        if len(shape) != 2:
            raise ValueError(f"Expected 2D array: X has {len(shape)} dimension(s), but samples × features has two.")
        self.source = source
        self.shape = (int(shape[0]), int(shape[1]))
        self.given = np.dtype(source.dtype)
        if self.given.kind not in "bfiu":
            raise ValueError(f"X must hold numbers; its blocks have dtype {self.given}.")
        self.dtype: np.dtype[Any] = self.given if self.given == np.float32 else np.dtype(np.float64)
        self.watched = self._state_of_files()
        # Whether blocks are sparse, which the first one shows.
        self._sparse: bool | None = None

    @property
    def in_order(self) -> bool:
        """Whether rows can only be read from the first one on."""
        return not hasattr(self.source, "rows")

    @property
    def by_threads(self) -> bool:
        """Whether several threads can read at the same time."""
        return hasattr(self.source, "each")

    @property
    def chunk_rows(self) -> int:
        """How many rows are stored together."""
        return max(1, int(getattr(self.source, "chunk_rows", 1)))

    def unit_rows(self, bytes_per_row: int) -> int:
        """Rows of a unit, whole chunks of the source, if rows in memory are that large."""
        nnz = getattr(self.source, "nnz", None)
        stored = bytes_per_row if nnz is None else (self.given.itemsize + 8) * nnz / max(1, self.shape[0])
        return max(1, round(UNIT_BYTES / max(1.0, stored) / self.chunk_rows)) * self.chunk_rows

    def units(self, spans: list[slice], n_rows: int) -> Iterator[tuple[int, Any]]:
        """The rows of some spans in pieces of about so many, each with the number of its first row."""
        if not spans:
            return
        self._check_files()
        if self.in_order:
            yield from self._units_in_order(spans[0].start, spans[-1].stop)
        else:
            yield from self._units_at(spans, n_rows)
        self._check_files()

    def each(self, slices: Sequence[slice]) -> Iterator[Any]:
        """Some slices of rows, each for use before the next; several threads may ask."""
        self._check_files()
        blocks: Iterator[Any] | None = None
        for rows in slices:
            # As many rows in every one but the last.
            number = rows.start // max(1, slices[0].stop - slices[0].start)
            with named(number, rows.start):
                blocks = iter(self.source.each(slices)) if blocks is None else blocks  # type: ignore[attr-defined]
                block = next(blocks, None)
            if block is None:
                raise BlockError(f"Block {number} of X (from row {rows.start} on) is missing; its source gave none.")
            yield self._asked_for(block, number, rows)
        self._check_files()

    def _units_at(self, spans: list[slice], n_rows: int) -> Iterator[tuple[int, Any]]:
        chunk, number = self.chunk_rows, 0
        for span in spans:
            # Beyond the last row nothing need be read, except for the rest of a chunk.
            last = min(-(-span.stop // chunk) * chunk, self.shape[0])
            for at in range(span.start - span.start % chunk, last, n_rows):
                end = min(at + n_rows, last)
                with named(number, at):
                    block = self.source.rows(at, end)  # type: ignore[attr-defined]
                yield at, self._asked_for(block, number, slice(at, end))
                number += 1

    def _units_in_order(self, start: int, stop: int) -> Iterator[tuple[int, Any]]:
        """Blocks of the source, small ones joined."""
        parts: list[Any] = []
        at, size, begin = 0, 0, 0
        blocks = self._begun()
        for number in range(self.shape[0] + 1):
            with named(number, at):
                block = next(blocks, None)
            if block is None:
                break
            block = self.checked(block, number, at)
            n_rows = block.shape[0]
            if at + n_rows > self.shape[0]:
                raise BlockError(
                    f"The blocks of X have more rows than its shape {self.shape} says: block {number} ends with row "
                    f"{at + n_rows}."
                )
            if at + n_rows > start:
                begin = at if not parts else begin
                parts.append(block)
                size += block.data.nbytes + block.indices.nbytes if sp.issparse(block) else block.nbytes
            at += n_rows
            if parts and (size >= UNIT_BYTES or at >= stop):
                yield begin, joined(parts)
                parts, size = [], 0
            if at >= stop and stop < self.shape[0]:
                return
        if at < stop:
            raise BlockError(f"The blocks of X end after {at} rows, but its shape is {self.shape}.")

    def _begun(self) -> Iterator[Any]:
        """The blocks of the source from the first one on."""
        with named(0, 0):
            blocks: Any = self.source.blocks()
        if not isinstance(blocks, Iterable):
            raise BlockError(f"blocks() of X gives a {type(blocks).__name__}; it must give or yield blocks of rows.")
        return iter(blocks)

    def _asked_for(self, block: Any, number: int, rows: slice) -> Any:
        block = self.checked(block, number, rows.start)
        if block.shape[0] != rows.stop - rows.start:
            raise BlockError(
                f"Block {number} of X (from row {rows.start} on) has {block.shape[0]} rows; "
                f"{rows.stop - rows.start} were asked for."
            )
        return block

    def checked(self, block: Any, number: int, at: int) -> Any:
        """A block of the source in the type of the fit; refused if it is not what it should be."""
        where = f"Block {number} of X (from row {at} on)"
        sparse = sp.issparse(block)
        if not sparse and not isinstance(block, np.ndarray):
            raise BlockError(f"{where} is a {type(block).__name__}; blocks are numpy arrays or CSR matrices.")
        if isinstance(block, np.ma.MaskedArray):
            raise BlockError(f"{where} is a masked array, whose mask would be ignored; fill it, for example with NaN.")
        if block.ndim != 2 or block.shape[1] != self.shape[1]:
            raise BlockError(f"{where} has shape {block.shape}; it must have {self.shape[1]} columns.")
        if not block.shape[0]:
            raise BlockError(f"{where} is empty; leave such blocks out.")
        if block.dtype != self.given:
            raise BlockError(f"{where} has dtype {block.dtype}; the source says {self.given}.")
        self._sparse = sparse if self._sparse is None else self._sparse
        if sparse != self._sparse:
            kinds = ("dense", "sparse")
            raise BlockError(f"{where} is {kinds[sparse]}, but others are {kinds[not sparse]}; blocks must be alike.")
        block = _canonical(block, where) if sparse else np.ascontiguousarray(block)
        return block.astype(self.dtype, copy=False)

    def _state_of_files(self) -> tuple[tuple[str, int, int], ...]:
        """Size and time of the last change of the files and folders that the source names."""
        return tuple((path, *_size_and_time(path)) for path in getattr(self.source, "paths", ()))

    def _check_files(self) -> None:
        try:
            unchanged, change = self._state_of_files() == self.watched, "written to"
        except FileNotFoundError:
            unchanged, change = False, "removed"
        if not unchanged:
            names = " and ".join(path for path, *_ in self.watched)
            raise BlockError(f"X has changed since it was first read: {names} was {change}. Fit to a file at rest.")


def _size_and_time(path: str) -> tuple[int, int]:
    """Of a file; of a folder, their sums over all that is in it, which any change changes."""
    state = os.stat(path)
    if not S_ISDIR(state.st_mode):
        return state.st_size, state.st_mtime_ns
    own = [_size_and_time(os.path.join(path, name)) for name in os.listdir(path)]
    return sum(size for size, _ in own), state.st_mtime_ns + sum(time for _, time in own)


def _canonical(block: Any, where: str) -> Any:
    """A CSR block with sorted, unique indices inside the matrix: compiled code relies on it."""
    from ..kernels.sparse import is_canonical

    if block.format == "csr" and is_canonical(block.indptr, block.indices, *block.shape):
        return sp.csr_array(block)
    try:
        return canonical_csr(block, where)
    except ValueError as error:
        raise BlockError(str(error)) from error


class named:
    """Errors of a source reach the user with the number of the block."""

    def __init__(self, number: int, at: int):
        self._number, self._at = number, at

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        # A source of partwise's own may have named the block.
        if isinstance(error, Exception) and not isinstance(error, BlockError):
            raise BlockError(
                f"Block {self._number} of X (from row {self._at} on) cannot be read: {type(error).__name__}: {error}"
            ) from error


def joined(parts: list[Any]) -> Any:
    """One block of several."""
    parts = [part for part in parts if part.shape[0]] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    return sp.csr_array(sp.vstack(parts, format="csr")) if sp.issparse(parts[0]) else np.concatenate(parts)
