"""Quadratic models of single rows: minimise gradient · d + ½ dᵀ Q d over steps d that keep a row non-negative."""

from __future__ import annotations

import numpy as np

from ..core.types import Array
from .options import FAST, compiled

# Passes over the quadratic model; it need not be solved more exactly than it holds.
MODEL_PASSES, MODEL_TOLERANCE = 10, 1e-3


@compiled(fastmath=FAST, nogil=True)
def begin_model(Q: Array, gradient: Array, width: int, d: Array, slope: Array, inverse: Array) -> None:
    """No step yet, and the inverses of the diagonal of Q."""
    for a in range(width):
        d[a] = 0
        slope[a] = gradient[a]
        # Of a subnormal curvature it would be infinite, and 0 · ∞ is not a number.
        inverse[a] = 1 / Q[a, a] if 1 / Q[a, a] < np.inf else Q[a, a] * 0


@compiled(fastmath=FAST, nogil=True)
def solve_model(Q: Array, lowest: Array, width: int, d: Array, slope: Array, inverse: Array) -> None:
    """d ≈ argmin of gradient · d + ½ dᵀ Q d over d ≥ lowest, by coordinate descent. Q is symmetric."""
    first = gained = 0.0
    for turn in range(MODEL_PASSES):
        if turn < 2 or gained > MODEL_TOLERANCE * first:
            gained = 0.0
            for a in range(width):
                old = d[a]
                flat = lowest[a] if slope[a] > 0 else old
                new = max(old - slope[a] * inverse[a], lowest[a]) if inverse[a] > 0 else flat
                step = new - old
                if step != 0:
                    d[a] = new
                    for b in range(width):
                        slope[b] += step * Q[a, b]
                    gained += step * step * Q[a, a]
            if turn == 0:
                first = gained


@compiled(fastmath=FAST, nogil=True)
def exchange(Q: Array, lowest: Array, width: int, d: Array, slope: Array) -> None:
    """The same with Σ d = 0: the entry of least slope takes from that of largest slope, until little is gained."""
    most = 0.0
    for _ in range(MODEL_PASSES * width):
        taker, giver = 0, -1
        for a in range(width):
            if slope[a] < slope[taker]:
                taker = a
            if d[a] > lowest[a] and (giver < 0 or slope[a] > slope[giver]):
                giver = a
        if giver < 0 or slope[giver] <= slope[taker]:
            break
        difference = slope[giver] - slope[taker]
        curvature = Q[taker, taker] + Q[giver, giver] - 2 * Q[taker, giver]
        step = d[giver] - lowest[giver]
        if curvature * step > difference:
            step = difference / curvature
        d[taker] += step
        d[giver] -= step
        for b in range(width):
            slope[b] += step * (Q[taker, b] - Q[giver, b])
        gained = step * (difference - step * curvature / 2)
        most = max(most, gained)
        if gained <= MODEL_TOLERANCE * most / width:
            break


@compiled(fastmath=FAST, nogil=True)
def gradient_of_common(B: Array, weight: float, F: Array, row: int, gradient: Array) -> None:
    """Add that of weight · f B fᵀ, f a row of F; B is symmetric, and may be empty."""
    for j in range(len(B)):
        total = F.dtype.type(0)
        for other in range(F.shape[1]):
            total += B[j, other] * F[row, other]
        gradient[j] += 2 * weight * total


@compiled(fastmath=FAST, nogil=True)
def add_common(B: Array, weight: float, active: Array, width: int, Q: Array) -> None:
    """Add the curvature of weight · f B fᵀ for the active columns, below the diagonal and on it."""
    if len(B) > 0:
        for a in range(width):
            for b in range(a + 1):
                Q[a, b] += 2 * weight * B[active[a], active[b]]


@compiled(fastmath=FAST, nogil=True)
def energy_of_common(B: Array, weight: float, active: Array, width: int, d: Array) -> float:
    """weight · d B dᵀ, d having an entry for every active column."""
    total = 0.0
    if len(B) > 0:
        for a in range(width):
            for b in range(width):
                total += weight * B[active[a], active[b]] * d[a] * d[b]
    return total
