"""Multiplicative steps on the simplex.

A multiplicative step minimises a separable majoriser of the objective, whose derivative in the ratio r = new / old of
an entry f is a r + b − c / r with a, c ≥ 0 (`core.forms.Split`). Under Σ f r = 1 a multiplier θ joins b. Every entry
still has its positive root in closed form, and the sum falls with θ. The θ at which an entry alone would take the whole
sum is known, and so is the one at which it would take no more than its share: the right one lies between the largest of
the former and the largest of the latter, and is found by bisection.

For the Kullback–Leibler divergence a = 0, and on components b is the same for all entries: then r ∝ c, the step of
expectation–maximisation.
"""

from __future__ import annotations

import numpy as np

from ..core.forms import Split
from ..core.types import Array

# Bisections of the interval that holds θ, which is at first as wide as there are entries in a sum.
HALVINGS = {np.dtype(np.float64): 70, np.dtype(np.float32): 45}
# An entry that enters linearly gets this share of its slope as a curvature, which keeps its step finite.
LEAST_CURVATURE = 1e-6


def on_simplex(split: Split, F: Array, axis: int) -> Array:
    """The factor of least majoriser whose sums over an axis are one.

    Parameters
    ----------
    split : Split
        The halves of the gradient, at powers of r between −1 and 1.
    F : ndarray of shape (rows, k)
        The present one, on the simplex.
    axis : {0, 1}
    """
    a, b, c = (np.broadcast_to(part, F.shape) for part in _three(split))
    if not a.any() and (b == b.take([0], axis)).all():
        pulled = F * c
        sums = pulled.sum(axis=axis, keepdims=True)
        # Where nothing attracts any entry, all are equally good.
        return np.where(sums > 0, pulled / np.where(sums > 0, sums, 1), F).astype(F.dtype)
    a, b, c, f = (part.astype(np.float64) for part in (a, b, c, F))
    # A little curvature about the present entry keeps it a majoriser.
    flat = np.where((a == 0) & (c == 0), LEAST_CURVATURE * (np.abs(b) + np.abs(b).mean()), 0)
    a, b = a + flat, b - flat
    alive = f > 0
    safe = np.where(alive, f, 1)

    def least_multiplier(mass: float) -> Array:
        """The least θ at which no entry is more than this."""
        theta = c * safe / mass - b - a * mass / safe
        return np.where(alive, theta, -np.inf).max(axis=axis, keepdims=True)

    low, high = least_multiplier(1.0), least_multiplier(1 / F.shape[axis])
    for _ in range(HALVINGS[F.dtype]):
        middle = low + (high - low) / 2
        over = (f * _root(a, b + middle, c)).sum(axis=axis, keepdims=True) > 1
        low, high = np.where(over, middle, low), np.where(over, high, middle)
    new = f * _root(a, b + low, c)
    return np.asarray(new / new.sum(axis=axis, keepdims=True), F.dtype)


def _three(split: Split) -> tuple[Array, Array, Array]:
    """The parts at powers 1, 0 and −1. Young's inequality lifts those between to the outer ones."""
    zero = np.zeros((1, 1))
    a = sum((part for power, part in split.up.items() if power > 0), start=zero)
    c = sum((part for power, part in split.down.items() if power < 0), start=zero)
    return a, split.up.get(0, zero) - split.down.get(0, zero), c


def _root(a: Array, b: Array, c: Array) -> Array:
    """The positive root of a r² + b r − c = 0 with a, c ≥ 0 of which one is positive, without cancellation."""
    root = np.sqrt(b * b + 4 * a * c)
    return np.where(
        b >= 0,
        np.divide(2 * c, b + root, out=np.zeros_like(root), where=b + root > 0),
        np.divide(root - b, 2 * a, out=np.zeros_like(root), where=a > 0),
    )
