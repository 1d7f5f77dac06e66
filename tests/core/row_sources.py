"""Sources of rows for tests."""

import numpy as np

from partwise.core.reading import StoredRows


class Blocks:
    """Rows in order, in pieces of given sizes."""

    def __init__(self, data, sizes=(7,) * 9, dtype=None):
        self.data, self.sizes = data, sizes
        self.shape, self.dtype = data.shape, data.dtype if dtype is None else dtype

    def blocks(self):
        ends = np.minimum(np.cumsum(self.sizes), self.shape[0])
        return (self.data[end - size : end] for size, end in zip(np.diff([0, *ends]), ends, strict=True) if size)


class AnyRows(Blocks):
    """The same, with any rows on request."""

    chunk_rows = 4

    def rows(self, start, stop):
        return self.data[start:stop]


class EachInTurn(AnyRows):
    """Rows that several threads read, each into the memory of those before."""

    def each(self, slices):
        room = np.empty((max(rows.stop - rows.start for rows in slices), self.shape[1]), self.data.dtype)
        for rows in slices:
            part = room[: rows.stop - rows.start]
            part[:] = self.data[rows]
            yield part


def stored(source):
    rows = StoredRows(source)
    rows.check(None, None)
    return rows
