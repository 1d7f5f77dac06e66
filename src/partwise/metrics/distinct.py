"""How many components are distinct."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.types import Array


def distinct_components(components: Any, similarity: float = 0.9) -> int:
    """Number of components that are not nearly parallel to an earlier one.

    Parameters
    ----------
    components : array-like of shape (n_components, n_features)
        For instance `components_` of a fitted model. Components that are zero count as distinct.
    similarity : float, default=0.9
        Two components whose cosine is larger count as one.

    Returns
    -------
    count : int

    Examples
    --------
    >>> from partwise.metrics import distinct_components
    >>> distinct_components([[1.0, 0.0], [0.0, 1.0], [0.0, 3.0]])
    2
    """
    return int((~repeats(np.asarray(components, float), similarity)).sum())


def repeats(components: Array, similarity: float) -> Array:
    """Which components are nearly parallel to an earlier one."""
    norms = np.linalg.norm(components, axis=1, keepdims=True)
    unit = components / np.where(norms > 0, norms, 1)
    return np.asarray((np.tril(unit @ unit.T, -1) > similarity).any(axis=1))
