"""Products of several fits with the same data: one pass over the rows serves all of them.

Factors of all fits stand side by side, so that their products with X are one; results are cut apart again. Where every
fit must end as it would by itself, to the bit, each has its own product with a block of rows, which is read once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .scratch import Scratch
from .types import Array, sum_in_order

if TYPE_CHECKING:
    from .held import HeldOperand

CodeRows = Callable[[slice, Array], Array]


class CodePass(NamedTuple):
    """The codes of one fit in a pass over the rows.

    Attributes
    ----------
    Ht : ndarray of shape (m, k)
    code_rows : callable
        Given a slice of rows and X[rows] Hᵀ, returns the codes of these rows. Called from several threads.
    sample_weight : ndarray of shape (n,), optional
        How often each sample counts.
    product : ndarray of shape (n, k), optional
        X Hᵀ, if it is already known.
    """

    Ht: Array
    code_rows: CodeRows
    sample_weight: Array | None = None
    product: Array | None = None


def coded_together(
    X: HeldOperand, rows: slice, passes: Sequence[CodePass], Ht: Array | None, grams: list[Array]
) -> Iterator[tuple[slice, list[Array]]]:
    """Every block of some rows with the weighted codes of all fits; adds to their Gram matrices.

    Ht is what `wanting` says: what to multiply X by.
    """
    places = columns_of([each.Ht for each in passes])
    for block in X._blocks(rows):
        if Ht is None:
            products = [each.product[block] for each in passes if each.product is not None]
        else:
            stacked = X._dot_rows(block, Ht)
            products = [cut(stacked, place) for place in places]
        yield block, [coded(each, block, *given) for each, *given in zip(passes, products, grams, strict=True)]


def coded(each: CodePass, block: slice, product: Array, gram: Array) -> Array:
    """The weighted codes of a block, given X[block] Hᵀ; adds to their Gram matrix."""
    W = each.code_rows(block, product)
    weighted = W if each.sample_weight is None else each.sample_weight[block, None] * W
    gram += W.T @ weighted
    return weighted


def wanting(passes: Sequence[CodePass], scratch: Scratch | None = None) -> Array | None:
    """The components of all fits side by side; None if all products with them are known.

    They are at the start of a batch; later, those of a fit that joins it are too few to matter.
    """
    return beside([each.Ht for each in passes], scratch) if any(each.product is None for each in passes) else None


def beside(arrays: Sequence[Array], scratch: Scratch | None = None) -> Array:
    """Arrays side by side, in memory that is used again if some is given; a single one as it is."""
    if len(arrays) == 1:
        return arrays[0]
    columns, dtype = columns_of(arrays), arrays[0].dtype
    shape = len(arrays[0]), columns[-1].stop
    stacked = np.empty(shape, dtype) if scratch is None else scratch.get("beside", shape, dtype)
    for A, place in zip(arrays, columns, strict=True):
        _whole_rows(stacked[:, place])[:] = _whole_rows(np.ascontiguousarray(A, dtype))
    return stacked


def cut(stacked: Array, columns: slice) -> Array:
    """Some columns of arrays side by side, for compiled loops; all of them as they are."""
    if columns.stop - columns.start == stacked.shape[1]:
        return stacked
    return np.ascontiguousarray(_whole_rows(np.ascontiguousarray(stacked)[:, columns])).view(stacked.dtype)


def _whole_rows(A: Array) -> Array:
    """The rows as single items, which are copied faster than a few entries each."""
    return A.view(np.dtype((np.void, A.shape[1] * A.itemsize)))


def columns_of(arrays: Sequence[Array]) -> list[slice]:
    """Where each array is when they stand side by side."""
    stops = np.cumsum([A.shape[1] for A in arrays]).tolist()
    return [slice(stop - A.shape[1], stop) for stop, A in zip(stops, arrays, strict=True)]


def zero_grams(passes: Sequence[CodePass]) -> list[Array]:
    """A Gram matrix for every fit, to be added to."""
    return [np.zeros((each.Ht.shape[1],) * 2, each.Ht.dtype) for each in passes]


def results(total: Array, grams: list[list[Array]], columns: list[slice]) -> list[tuple[Array, Array]]:
    """Xᵀ W and WᵀW of every fit, given the products of all side by side and their Gram matrices by parts."""
    return list(zip([cut(total, place) for place in columns], sums_of_each(grams), strict=True))


def sums_of_each(parts: list[list[Array]]) -> list[Array]:
    """The sums over the parts, for every fit."""
    return [sum_in_order(list(of_one)) for of_one in zip(*parts, strict=True)]
