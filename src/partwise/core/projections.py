"""The nearest point of a set: for a column, or for every row or column of a factor."""

from __future__ import annotations

import numpy as np

from .types import Array


def onto_nonnegative(z: Array) -> Array:
    """The nearest vector without negative entries."""
    return np.maximum(z, 0)


def onto_unit(z: Array) -> Array:
    """The nearest non-negative vector of unit norm: if no entry is positive, the largest one becomes 1."""
    w = np.maximum(z, 0)
    norm = float(np.linalg.norm(w))
    if norm > 0:
        return np.asarray(w / z.dtype.type(norm))
    w[int(np.argmax(z))] = 1
    return w


def onto_sparseness(z: Array, sparseness: float) -> Array:
    """The nearest non-negative vector of a given sparseness, whatever its length.

    Hoyer's sparseness s fixes the ratio c = ‖w‖₁ / ‖w‖₂ = √n − s (√n − 1). The nearest vector has the direction u of
    unit norm with the largest ⟨u, z⟩. If ‖u‖ = 1 is relaxed to ‖u‖ ≤ 1, that is a convex problem with the same solution
    (Thom & Palm 2013, and the limit of Hoyer's alternating projections), and its optimality conditions give
    u ∝ max(z − α, 0): α is found exactly, by sorting. The result is the zero vector if no such u has ⟨u, z⟩ > 0.

    Parameters
    ----------
    z : ndarray of shape (n,)
    sparseness : float
        From 0, all entries equal, to 1, a single entry. A vector of one entry has no sparseness and is only clipped.

    Returns
    -------
    w : ndarray of shape (n,)
    """
    n = len(z)
    if n == 1:
        return onto_nonnegative(z)
    size = float(np.abs(z).max())
    if size == 0:
        return np.zeros_like(z)
    values = z.astype(np.float64) / size
    ratio = np.sqrt(n) - sparseness * (np.sqrt(n) - 1)
    u = _direction(values, ratio)
    length = max(float(u @ values), 0.0) * size
    return np.asarray(length * u, z.dtype)


def _direction(z: Array, ratio: float) -> Array:
    """The u ≥ 0 with ‖u‖₂ = 1, ‖u‖₁ = ratio and the largest ⟨u, z⟩."""
    ordered = -np.sort(-z)
    n, tied = len(z), int(np.searchsorted(-ordered, -ordered[0], side="right"))
    if ratio**2 <= tied:
        return _shared_peak(z, tied, ratio)
    count = np.arange(1, n + 1)
    mean = np.cumsum(ordered) / count
    # Sum of squares about the mean of the largest entries; differences to the largest one keep it accurate.
    below = ordered[0] - ordered
    spread = np.maximum(np.cumsum(below**2) - count * (ordered[0] - mean) ** 2, 0)
    if ratio**2 >= n * (1 - 1e-14):
        return np.full(n, 1 / np.sqrt(n))
    # With the `count` largest entries in use, the ratio is right at this α. The right count is the one whose α lies
    # between its last entry and the next one.
    possible = count > ratio**2
    depth = np.full(n, np.inf)
    depth[possible] = ratio * np.sqrt(spread[possible] / (count * (count - ratio**2))[possible])
    alpha = mean - depth
    lower = np.append(ordered[1:], -np.inf)
    fits = possible & (alpha < ordered) & (alpha >= lower)
    # Rounding may put α just outside on both sides of a boundary: then the nearest candidate is as good.
    miss = np.where(possible, np.maximum(lower - alpha, alpha - ordered), np.inf)
    used = int(np.argmax(fits)) if fits.any() else int(np.argmin(miss))
    u = np.maximum(z - alpha[used], 0)
    return np.asarray(u / np.linalg.norm(u))


def _shared_peak(z: Array, tied: int, ratio: float) -> Array:
    """Several largest entries are equal and fewer would suffice: the first of them gets more than the others."""
    u = np.zeros_like(z)
    largest = np.flatnonzero(z == z.max())
    rest = tied - 1
    if rest == 0:
        u[largest] = 1
        return u
    mean = ratio / tied
    step = np.sqrt(max(1 - ratio**2 / tied, 0.0) / (rest * tied))
    u[largest] = max(mean - step, 0.0)
    u[largest[0]] = mean + rest * step
    return u


def onto_simplex(F: Array, axis: int) -> Array:
    """The nearest factor without negative entries whose sums over an axis are one.

    Entries become max(z − α, 0), with one α for each sum, which is found by sorting.
    """
    z = np.moveaxis(F.astype(np.float64), axis, -1)
    # A shift common to all entries of a sum does not matter, and would cost digits.
    z = z - z.max(axis=-1, keepdims=True)
    ordered = -np.sort(-z, axis=-1)
    excess = np.cumsum(ordered, axis=-1) - 1
    count = np.arange(1, z.shape[-1] + 1)
    used = (ordered * count > excess).sum(axis=-1, keepdims=True)
    alpha = np.take_along_axis(excess, used - 1, axis=-1) / used
    return np.ascontiguousarray(np.moveaxis(np.maximum(z - alpha, 0), -1, axis), F.dtype)
