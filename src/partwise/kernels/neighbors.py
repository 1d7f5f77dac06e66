"""Keeping the nearest samples: lists of the best scores so far, filled from products or from an inverted index.

Each sample's list holds (score, index) pairs in ascending order; a lower score is nearer, and among equal scores the
lower index comes first. The final list does not depend on the order in which samples were offered.
"""

from __future__ import annotations

import numpy as np

from ..core.types import Array, IntArray
from .options import compiled

# This many scores are first checked together: usually none of them is near enough for a list.
CHUNK = 64
# Scores are of order one, with rounding errors of a few 1e-16 that differ between dense and sparse products and between
# blocks. Rounded to multiples of this, equal distances are equal, and the lower index wins.
GRAIN = 1e-12

# Sums may be reordered, and nothing here is NaN; infinity keeps its meaning.
_FAST = {"reassoc", "contract", "nsz", "nnan"}


@compiled(nogil=True)
def _offer(best: Array, nearest: IntArray, score: float, index: int) -> None:
    """Put a sample into a list if it is near enough."""
    place = len(best) - 1
    if score > best[place] or (score == best[place] and index >= nearest[place]):
        return
    while place > 0 and (score < best[place - 1] or (score == best[place - 1] and index < nearest[place - 1])):
        best[place] = best[place - 1]
        nearest[place] = nearest[place - 1]
        place -= 1
    best[place] = score
    nearest[place] = index


@compiled(nogil=True, fastmath=_FAST)
def _largest(values: Array, offsets: Array, start: int, stop: int) -> float:
    """max(values + offsets) over a range."""
    largest = values[start] + offsets[start]
    for j in range(start + 1, stop):
        largest = max(largest, values[j] + offsets[j])
    return largest


@compiled(nogil=True)
def _rounded(score: float) -> float:
    return np.rint(score / GRAIN) * GRAIN


@compiled(nogil=True)
def offer_columns(
    products: Array,
    half: Array,
    best: Array,
    nearest: IntArray,
    own: IntArray,
    first: int,
    itself: bool,
    exact: bool,
) -> None:
    """Offer every column of a block of products to the lists of the rows: its score is half_j − ⟨a_i, b_j⟩.

    Columns are numbered from `first` on, rows by `own`. With `itself`, both number the same samples, and none is
    offered to its own list. With `exact`, scores are rounded to multiples of GRAIN.
    """
    n, m = products.shape
    slack = half.dtype.type(GRAIN if exact else 0.0)
    minus = -half
    for i in range(n):
        for start in range(0, m, CHUNK):
            stop = min(start + CHUNK, m)
            if _largest(products[i], minus, start, stop) < -best[i, -1] - slack:
                continue
            for j in range(start, stop):
                score = half[j] - products[i, j]
                if score <= best[i, -1] + slack and not (itself and own[i] == first + j):
                    _offer(best[i], nearest[i], _rounded(score) if exact else score, first + j)


@compiled(nogil=True)
def offer_rows(products: Array, half: Array, best: Array, nearest: IntArray, first: int, exact: bool) -> None:
    """Offer every row of a block of products, numbered from `first`, to the lists of the columns."""
    n, m = products.shape
    slack = half.dtype.type(GRAIN if exact else 0.0)
    worst = best[:, -1] + slack
    for i in range(n):
        for start in range(0, m, CHUNK):
            stop = min(start + CHUNK, m)
            if _largest(products[i], worst, start, stop) < half[i]:
                continue
            for j in range(start, stop):
                score = half[i] - products[i, j]
                if score <= worst[j]:
                    _offer(best[j], nearest[j], _rounded(score) if exact else score, first + i)
                    worst[j] = best[j, -1] + slack


@compiled(nogil=True, fastmath=_FAST)
def _dot(a: Array, b: Array) -> float:
    total = 0.0
    for j in range(len(a)):
        total += np.float64(a[j]) * np.float64(b[j])
    return total


@compiled(nogil=True)
def settle(
    A: Array,
    B: Array,
    scales: Array,
    train_scales: Array,
    half: Array,
    rough: Array,
    candidates: IntArray,
    margins: Array,
    found: IntArray,
) -> IntArray:
    """Rank candidates with rough scores by exact ones; `found` gets the nearest, row by row.

    Parameters
    ----------
    A, B : ndarray of shape (n, m) and (n_train, m)
    scales, train_scales : ndarray of shape (n,) and (n_train,)
        What the rows are divided by.
    half : ndarray of shape (n_train,)
    rough, candidates : ndarray of shape (n, size)
        Lists of rough scores; −1 marks unfilled places, infinity unknown scores.
    margins : ndarray of shape (n,)
        Twice the largest error of a rough score.
    found : ndarray of shape (n, p)

    Returns
    -------
    open_rows : ndarray
        Rows whose lists were too short: a sample beyond their ends may be as near as one of the p nearest.
    """
    size, p = rough.shape[1], found.shape[1]
    is_open = np.zeros(len(A), np.bool_)
    best = np.empty(p)
    for i in range(len(A)):
        limit = rough[i, p - 1] + margins[i]
        if candidates[i, size - 1] >= 0 and rough[i, size - 1] <= limit:
            is_open[i] = True
            continue
        best[:] = np.inf
        found[i] = -1
        for t in range(size):
            other = candidates[i, t]
            if other < 0 or rough[i, t] > limit:
                continue
            product = _dot(A[i], B[other]) / (scales[i] * train_scales[other])
            _offer(best, found[i], _rounded(half[other] - product), other)
    return np.flatnonzero(is_open)


@compiled(nogil=True)
def pair_products(A: Array, B: Array, first: IntArray, second: IntArray, out: Array) -> None:
    """⟨a, b⟩ of pairs of rows."""
    for t in range(len(first)):
        out[t] = _dot(A[first[t]], B[second[t]])


@compiled(nogil=True)
def sparse_pair_products(
    indptr: IntArray,
    indices: IntArray,
    data: Array,
    other_indptr: IntArray,
    other_indices: IntArray,
    other_data: Array,
    first: IntArray,
    second: IntArray,
    out: Array,
) -> None:
    """⟨a, b⟩ of pairs of rows of two CSR matrices with sorted indices."""
    for t in range(len(first)):
        total = 0.0
        i, last = indptr[first[t]], indptr[first[t] + 1]
        j, other_last = other_indptr[second[t]], other_indptr[second[t] + 1]
        while i < last and j < other_last:
            if indices[i] == other_indices[j]:
                total += np.float64(data[i]) * np.float64(other_data[j])
                i += 1
                j += 1
            elif indices[i] < other_indices[j]:
                i += 1
            else:
                j += 1
        out[t] = total


@compiled(nogil=True)
def rank_candidates(scores: Array, candidates: IntArray, best: Array, found: IntArray) -> None:
    """The nearest candidates of every row by exact scores, rounded; −1 marks places without a candidate.

    `best` (infinite) and `found` (−1) hold fewer columns, and get scores and samples from near to far.
    """
    for i in range(len(candidates)):
        for t in range(candidates.shape[1]):
            if candidates[i, t] >= 0:
                _offer(best[i], found[i], _rounded(scores[i, t]), candidates[i, t])


@compiled(nogil=True)
def index_starts(indptr: IntArray, holders: IntArray, width: int, n_blocks: int) -> IntArray:
    """Where every block of `width` samples begins in the list of every feature; the last row is where lists end."""
    starts = np.empty((n_blocks + 1, len(indptr) - 1), np.int64)
    for feature in range(len(indptr) - 1):
        q = indptr[feature]
        for block in range(n_blocks + 1):
            while q < indptr[feature + 1] and holders[q] < block * width:
                q += 1
            starts[block, feature] = q
    return starts


@compiled(nogil=True)
def index_products(
    indptr: IntArray,
    indices: IntArray,
    data: Array,
    scales: Array,
    holders: IntArray,
    values: Array,
    train_scales: Array,
    begins: IntArray,
    ends: IntArray,
    start: int,
    stop: int,
    first: int,
    last: int,
) -> Array:
    """⟨a, b⟩ of rows start … stop − 1 of a CSR matrix and the training samples first … last − 1, each over its scale.

    The index lists, for every feature, the training samples that have it (`holders`) and their `values`; those of this
    block run from `begins` to `ends`. Only samples that share a feature are touched.
    """
    products = np.zeros((stop - start, last - first))
    inverse = 1.0 / train_scales[first:last]
    for i in range(start, stop):
        row = products[i - start]
        for t in range(indptr[i], indptr[i + 1]):
            feature, value = indices[t], np.float64(data[t]) / scales[i]
            for q in range(begins[feature], ends[feature]):
                # Unsigned: numba need not check whether to count from the end.
                row[np.uint64(holders[q] - first)] += value * np.float64(values[q])
        row *= inverse
    return products
