"""Components of rank one: outer products of one vector for each axis of a sample."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .types import Array


def outer_products(modes: Sequence[Array]) -> Array:
    """Hᵀ (m × k): column j is the outer product of the columns j, in the order of a C-contiguous sample."""
    product = modes[0]
    for mode in modes[1:]:
        product = (product[:, None, :] * mode[None, :, :]).reshape(-1, product.shape[1])
    return np.ascontiguousarray(product)


def split_modes(Ht: Array, shape: Sequence[int]) -> list[Array]:
    """One matrix per axis, from sums over all other axes; the first one carries the scale, the others sum to one.

    For components of rank one these are their factors. For others they are the factors of the nearest component of rank
    one in the Kullback–Leibler sense.

    Parameters
    ----------
    Ht : ndarray of shape (m, k)
    shape : sequence of int
        Of a sample; their product is m.
    """
    k = Ht.shape[1]
    images = Ht.reshape(*shape, k)
    axes = range(len(shape))
    modes = [images.sum(axis=tuple(a for a in axes if a != axis)) for axis in axes]
    total = modes[0].sum(axis=0)
    safe = np.where(total > 0, total, 1)
    return [modes[0], *(mode / safe for mode in modes[1:])]
