"""The means of groups of samples that are not in memory, beside the samples that are groups of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from .fetching import joined
from .operand import Operand
from .reading import StoredRows
from .spread_groups import spread_means
from .storage import as_operand, group_shares
from .types import Array, IntArray


class MeansAndRows:
    """A source of rows: some in memory, then chosen rows of another source.

    Parameters
    ----------
    means : ndarray or csr_array
    stored : StoredRows
    chosen : ndarray of int
        Rows of `stored`, in ascending order.
    """

    def __init__(self, means: Any, stored: StoredRows, chosen: IntArray):
        self._means, self._stored, self._chosen = means, stored, chosen
        self.shape = (means.shape[0] + len(chosen), stored.shape[1])
        self.dtype = stored.dtype
        if not stored.in_order:
            self.rows = self._rows

    def _rows(self, start: int, stop: int) -> Any:
        count = self._means.shape[0]
        chosen = self._chosen[max(start - count, 0) : max(stop - count, 0)]
        parts = [self._means[start : min(stop, count)]] if start < count else []
        return joined([*parts, self._stored.take(chosen)] if len(chosen) else parts)

    def blocks(self) -> Iterator[Any]:
        """The means, and the chosen rows of every unit of the other source."""
        if self._means.shape[0]:
            yield self._means
        for rows, block in self._stored.whole():
            first, last = np.searchsorted(self._chosen, [rows.start, rows.stop])
            if last > first:
                yield block[self._chosen[first:last] - rows.start]


def stored_group_means(X: Operand, groups: IntArray, n_groups: int, weight: Array) -> Operand:
    """One row per group: the weighted mean of its samples, with their weight; means are in memory.

    Groups of a single sample, as far as these are the last and in the order of their samples, are not.
    """
    counts = np.bincount(groups, minlength=n_groups)
    n_means = int(np.flatnonzero(counts != 1).max(initial=-1)) + 1
    chosen = np.flatnonzero(groups >= n_means)
    if not (np.diff(groups[chosen]) > 0).all():
        n_means, chosen = n_groups, np.empty(0, np.intp)
    share, totals = group_shares(groups, n_groups, weight)
    if X.spread:
        smaller = spread_means(X.stored, groups, share, n_means, chosen)
        return as_operand(smaller, X.missing, totals.astype(X.dtype))
    members = np.flatnonzero(groups < n_means)
    averaging = np.zeros((X.shape[0], n_means), X.dtype)
    averaging[members, groups[members]] = share[members]
    means: Any = np.ascontiguousarray(X.t_dot(averaging).T)
    means = sp.csr_array(means) if X.is_sparse else means
    totals = totals.astype(X.dtype)
    if not len(chosen):
        return as_operand(means, X.missing, totals)
    rows = StoredRows(MeansAndRows(means, X.stored, chosen))
    rows.check(None, None)
    return as_operand(rows, X.missing, totals)
