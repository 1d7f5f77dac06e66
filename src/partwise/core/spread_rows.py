"""The rows of a dask array as blocks on workers: checked where they are, and never brought here."""

from __future__ import annotations

from pickle import PicklingError
from typing import Any

import numpy as np

from .cluster import Cluster, ClusterError
from .dask_rows import ChunkBlocks, as_block, of_size
from .fetching import BlockError, Fetcher, joined, named
from .reading import Facts, StoredRows, inspected
from .rooms import Room
from .spread import Leaf, SpreadRows, evaluated_alone, evaluated_block, written
from .types import Array, IntArray
from .units import scaled

CANNOT_BE_SENT = (
    "X cannot be sent to the workers: {}. Give a dask array whose chunks open what they read by themselves, or "
    "partwise.blocks.DaskRows(X, client=False) to read X chunk by chunk on this machine."
)


class ClusterRows(StoredRows):
    """Blocks of X on workers, one for every chunk that has rows.

    Parameters
    ----------
    source : ChunkBlocks
    cluster : Cluster

    Attributes
    ----------
    slices : list of slice
        Rows of every block.
    blocks : list of distributed.Future
        The blocks themselves, in the type and unit of the fit.
    """

    def __init__(self, source: ChunkBlocks, cluster: Cluster):
        super().__init__(source)
        self.cluster = cluster
        self.room = WorkerRoom()
        self.slices = source.slices
        self.blocks: list[Any] = []

    def check(self, if_nan: str | None, if_negative: str | None) -> None:
        """Load every block where it will stay, and look at its entries; refuse what must not be there."""
        import dask

        self.cluster.check()
        described = _Described(self.shape, self._fetcher.given)
        source: Any = self._fetcher.source
        tasks = [
            dask.delayed(_prepared, pure=False)(part, number, rows.start, rows.stop, described)
            for number, (part, rows) in enumerate(zip(source.delayed(), self.slices, strict=True))
        ]
        try:
            self.blocks = list(self.cluster.client.compute(tasks))
        except (TypeError, PicklingError) as error:
            raise ClusterError(CANNOT_BE_SENT.format(error.__cause__ or error)) from error
        starts = [rows.start for rows in self.slices]
        options: dict[str, Any] = {"dtype": self.dtype, "if_nan": if_nan, "if_negative": if_negative}
        futures = self.cluster.each("facts", inspected, self.blocks, starts, **options)
        try:
            found: list[Facts] = self.cluster.results(futures)
        except ClusterError:
            raise
        except Exception:
            self._name_broken()
            raise
        kinds = {facts.sparse for facts in found}
        if len(kinds) > 1:
            odd = next(rows for rows, facts in zip(self.slices, found, strict=True) if facts.sparse != found[0].sparse)
            raise BlockError(
                f"The chunk of X from row {odd.start} on is {'dense' if found[0].sparse else 'sparse'}, but others are "
                "not; chunks must be alike."
            )
        self._facts = Facts.of_all(found)

    def _name_broken(self) -> None:
        """Raise the error of a chunk that could not be computed, with its number."""
        for number, (block, rows) in enumerate(zip(self.blocks, self.slices, strict=True)):
            if block.status == "error":
                error = block.exception()
                # As in `Cluster.results`.
                for each in self.blocks:
                    each.release()
                with named(number, rows.start):
                    raise error

    @property
    def in_order(self) -> bool:
        """They can be read anywhere."""
        return False

    def scaled(self, exponent: float) -> ClusterRows:
        """The same rows times two to a power, scaled where they are."""
        other = super().scaled(exponent)
        assert isinstance(other, ClusterRows)  # a copy of this
        other.blocks = self.cluster.each("scaled", _scaled, self.blocks, exponent=exponent)
        return other

    def take(self, rows: IntArray) -> Any:
        """The chosen rows in memory, in any order."""
        return self._taken(self.blocks, rows) if len(rows) else super().take(rows)

    def taken(self, expression: Any, rows: IntArray) -> Array:
        """The same of an array that lives beside the blocks."""
        found: Array = self._taken(self.each(expression), rows)
        return found

    def _taken(self, futures: list[Any], rows: IntArray) -> Any:
        wanted, back = np.unique(rows, return_inverse=True)
        edges = np.searchsorted(wanted, [part.start for part in self.slices] + [self.shape[0]])
        parts = [
            (future, wanted[low:high] - part.start)
            for future, part, low, high in zip(futures, self.slices, edges[:-1], edges[1:], strict=True)
            if high > low
        ]
        held, places = zip(*parts, strict=True)
        return joined(self.cluster.results(self.cluster.each("rows", _taken, held, places)))[back.ravel()]

    def place(self, W: Any) -> SpreadRows:
        """An array of as many rows beside the blocks; one that is there stays as it is."""
        if isinstance(W, SpreadRows):
            return W
        W = np.ascontiguousarray(W)
        return SpreadRows(self, Leaf(self.placed(W), None, W.shape[1], W.dtype))

    def leaf(self, F: Any) -> Leaf:
        """An array beside the blocks that no expression has to be computed for."""
        expression = self.place(F).expression
        if isinstance(expression, Leaf):
            return expression
        return Leaf(self.each(expression), None, F.shape[1], F.dtype)

    def placed(self, values: Array) -> list[Any]:
        """Futures of the rows of an array of this machine, which are part of their tasks."""
        return self.cluster.each("placed", _placed, self.blocks, [values[rows] for rows in self.slices])

    def each(self, expression: Any) -> list[Any]:
        """Futures of the value of an expression, one for every block."""
        if isinstance(expression, Leaf) and expression.item is None:
            return expression.futures
        arguments: list[list[Any]] = []
        template = written(expression, self.slices, arguments)
        return self.cluster.each("rows", evaluated_block, *arguments, expression=template)

    def added(self, expression: Any) -> Any:
        """The sum of an expression over the blocks, in their order."""
        arguments: list[list[Any]] = []
        template = written(expression, self.slices, arguments)
        return self.cluster.total(self.cluster.each("part", evaluated_alone, *arguments, expression=template))[0]

    def extreme(self, name: str, expression: Any) -> Any:
        """Its entrywise "maximum" or "minimum" over the blocks."""
        return self.cluster.extreme(name, self.each(expression))

    def stream(self, slices: Any) -> Any:
        """Refused: X stays where it is."""
        raise ValueError(
            "X is on workers, and what was asked for needs its rows on this machine. Give partwise.blocks.DaskRows(X, "
            "client=False) to read it chunk by chunk here."
        )


class WorkerRoom(Room):
    """The memory of workers, where codes live; what a start has to fill is here."""

    elsewhere = True

    def copied(self, codes: Any) -> Any:
        """A dask array, whose chunks stay where they are."""
        import dask.array as da

        home = codes.home
        parts = [
            da.from_delayed(future, (rows.stop - rows.start, codes.shape[1]), codes.dtype)
            for future, rows in zip(home.each(codes.expression), home.slices, strict=True)
        ]
        return da.concatenate(parts)

    def guarded(self, codes: Any) -> Any:
        """The same: nobody can change them."""
        return codes


class _Described:
    """What blocks should be; a source that nobody reads."""

    def __init__(self, shape: tuple[int, int], dtype: Any):
        self.shape = shape
        self.dtype = dtype

    def blocks(self) -> Any:
        """There are none."""
        return iter(())


def _prepared(chunk: Any, number: int, start: int, stop: int, described: _Described) -> Any:
    """A chunk in the type of the fit; refused if it is not what it should be."""
    try:
        block = of_size(as_block(chunk), start, stop, number)
    except ValueError as error:
        raise BlockError(f"Block {number} of X (from row {start} on) cannot be used: {error}.") from None
    return Fetcher(described).checked(block, number, start)


def _placed(block: Any, values: Array) -> Array:
    """An array where its block is."""
    return np.array(values)


def _taken(block: Any, rows: IntArray) -> Any:
    return block[rows]


def _scaled(block: Any, exponent: float) -> Any:
    return scaled(block, exponent)
