"""Counts drawn from Poisson distributions with the data as means: data that might have been counted instead."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.door import read_data, values_of
from ..core.types import Array
from .programs import BLOCK_BYTES

# Draws with such a mean vary by a millionth.
LARGEST_MEAN = 1e12


def check_counts(X: Any, n_components: int) -> None:
    """Refuse data that no counts can be drawn for."""
    # As given: that of a problem may be in another unit, in which draws would be others.
    means = values_of(read_data(X))
    largest, total = float(means.max(initial=0)), float(means.sum(dtype=np.float64))
    if largest > LARGEST_MEAN or total < n_components:
        which = f"the largest is {largest:.3g}" if largest > LARGEST_MEAN else f"they add up to {total:.3g}"
        raise ValueError(
            f"resample='counts' draws counts whose means are the entries of X, but {which}. Give counts, or use "
            "resample='samples'."
        )


def drawn_counts(X: Any, rng: np.random.RandomState) -> Any:
    """Counts from the Poisson distribution of mean X; a sparse X keeps its zeros."""
    if not sp.issparse(X):
        return _poisson(X, rng)
    drawn = sp.csr_array((_poisson(X.data, rng), X.indices.copy(), X.indptr.copy()), shape=X.shape)
    drawn.eliminate_zeros()
    return drawn


def _poisson(means: Array, rng: np.random.RandomState) -> Array:
    """A draw for every mean, some rows at a time, because they are drawn as whole numbers of eight bytes."""
    drawn = np.empty_like(means)
    at_a_time = max(1, BLOCK_BYTES * len(means) // (8 * means.size or 1))
    for start in range(0, len(means), at_a_time):
        drawn[start : start + at_a_time] = rng.poisson(means[start : start + at_a_time])
    return drawn
