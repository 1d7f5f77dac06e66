"""Values of chosen pairs of samples, where one side may be read block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.operand import Operand
from ..core.threads import Workers
from ..core.types import Array, IntArray
from .samples import blocks_of

# function(A, B, first, second): a value for every pair of a row of A and a row of B.
PairFunction = Callable[[Any, Any, IntArray, IntArray], Array]

# Pairs at a time.
PAIRS = 2**14
# Rows of data that are not in memory which are held while all others pass by.
HELD_BYTES = 2**28
# Rows by which the size of others is judged.
FEW_ROWS = 64


def held_rows(X: Operand) -> Iterator[tuple[slice, Any]]:
    """Consecutive rows in memory: all at once if they are there, otherwise as many as fit into `HELD_BYTES`."""
    if X.in_memory:
        yield slice(0, X.shape[0]), X.array
        return
    for rows in blocks_of(X.shape[0], max(1, int(HELD_BYTES / stored_row_bytes(X)))):
        yield rows, X.take(np.arange(rows.start, rows.stop)).array


def stored_row_bytes(X: Operand) -> float:
    """Size of a row in memory, judged by the first ones."""
    few = X.take(np.arange(min(X.shape[0], FEW_ROWS))).array
    size = few.data.nbytes + few.indices.nbytes if sp.issparse(few) else few.nbytes
    return max(1.0, size / few.shape[0])


def over_pairs(
    function: PairFunction, A: Any, X: Operand, first: IntArray, second: IntArray, workers: Workers
) -> Array:
    """function(A, X, first, second) for all pairs, a part at a time; X is read once, in order, if it is not in memory.

    Parameters
    ----------
    function : callable
    A : ndarray or csr_array
    X : Operand
    first, second : ndarray of int, shape (n_pairs,)
        Rows of A and of X.
    workers : Workers
    """
    values = np.empty(len(first))

    def fill(B: Any, start: int, chosen: IntArray | slice) -> None:
        values[chosen] = function(A, B, first[chosen], second[chosen] - start)

    if X.in_memory:
        workers.map(partial(fill, X.array, 0), blocks_of(len(first), PAIRS))
        return values
    order = np.argsort(second, kind="stable")
    rising = second[order]
    for rows, B in X.row_blocks():
        here = order[slice(*np.searchsorted(rising, [rows.start, rows.stop]))]
        workers.map(partial(fill, B, rows.start), [here[part] for part in blocks_of(len(here), PAIRS)])
    return values


def products(A: Any, B: Any, first: IntArray, second: IntArray) -> Array:
    """⟨a, b⟩ of every pair, in float64."""
    from ..kernels.neighbors import pair_products, sparse_pair_products

    out = np.empty(len(first))
    if sp.issparse(B):
        A, B = sp.csr_array(A), sp.csr_array(B)
        A.sort_indices()
        B.sort_indices()
        sparse_pair_products(A.indptr, A.indices, A.data, B.indptr, B.indices, B.data, first, second, out)
    else:
        pair_products(A, B, first, second, out)
    return out
