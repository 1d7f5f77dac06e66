"""Steps on rows whose objective is a sum of functions of y = f · g, with lengths that cannot raise it.

Along a step that changes y to y (1 + t), each function lies below its tangent plus

    bent · R(t) + firm · Q(t),   R(t) = ∫₀ᵗ (t − s) (1 + s)^growth ds,   t ≥ −1

with Q like R for its own growth, `slow`, between −1 and 0. R(t) / t² falls in t if `growth` is negative, and rises if
it is positive; Q(αt) ≤ α^(2 + slow) Q(t) for α ≤ 1, since t Q'(t) ≥ (2 + slow) Q(t). So with T, the smallest or the
largest t of a row, a step of length α changes its objective by no more than

    −α D + α² E + α^(2 + slow) S + α² C R(αT) / (αT)²,   C = Σ bent t²,   S = Σ firm Q(t),   E the penalties

where −D is the derivative along the step. The bound is convex in α and zero at α = 0. The step is taken in full if the
bound is not positive there; otherwise its length minimises the bound. Either way the objective cannot rise, and it need
not be evaluated.

If `growth` is positive, T is large where a tiny y grows, and tells little about the other entries. Since α ≤ 1, the sum
of bent t² (1 + max(t, 0))^growth / 2 is another bound on what bends, and the longer of the two steps is taken.
"""

from __future__ import annotations

import math

import numpy as np

from ..core.types import Array
from .options import FAST, compiled

# No y that is bent falls by more than this share in one step. Functions may be infinite at zero, or flat.
MOST_OF_Y = 0.999
# The same where only the values before and after it are known.
MOST_BOLDLY = 0.95
# A slow curvature is that of a y of at least this share of the row's mean: nearer zero it tells nothing about a step.
LEAST_OF_MEAN = 0.01
# Bisections for the length that minimises the bound; it need not be exact.
BISECTIONS = 20
# Below this |t| the closed form of R(t) / t² loses more digits than a series.
SERIES = 1e-3


@compiled(fastmath=FAST, nogil=True, error_model="numpy")
def _curvatures(bent: Array, y: Array, out: Array) -> float:
    """out += bent / y², in float64 since y may be tiny; and the sum of out."""
    total = 0.0
    for p in range(len(y)):
        out[p] += np.float64(bent[p]) / (np.float64(y[p]) * np.float64(y[p]))
        total += out[p]
    return total


@compiled(fastmath=FAST, nogil=True, error_model="numpy")
def _slow_curvatures(firm: Array, y: Array, slow: float, least: float, out: Array) -> float:
    """The same of firm / y², proportional to y^slow, as if no y were below `least`."""
    total = 0.0
    for p in range(len(y)):
        curvature = np.float64(firm[p]) / (np.float64(y[p]) * np.float64(y[p]))
        out[p] += curvature if y[p] >= least else curvature * (least / np.float64(y[p])) ** slow
        total += out[p]
    return total


@compiled(nogil=True, error_model="numpy")
def profile(bent: Array, firm: Array, y: Array, slow: float, sums: Array, out: Array) -> None:
    """The curvatures (bent + firm) / y² of every row: their sum, and their shares of it. `firm` may be empty."""
    own = np.empty(y.shape[1])
    for i in range(len(y)):
        own[:] = 0
        sums[i] = _curvatures(bent[i], y[i], own)
        if len(firm) > 0:
            least = LEAST_OF_MEAN * y[i].mean() if slow < 0 else 0.0
            sums[i] = _slow_curvatures(firm[i], y[i], slow, least, own)
        factor = 1 / sums[i] if sums[i] > 0 else 0.0
        for p in range(len(own)):
            out[i, p] = factor * own[p]


@compiled(fastmath=FAST, nogil=True, error_model="numpy")
def _along(bent: Array, y: Array, z: Array) -> tuple[float, float, float]:
    """Σ bent t² with t = z / y, and the smallest and largest t where bent is positive."""
    total, low, high = 0.0, y[0] * 0, y[0] * 0
    for p in range(len(y)):
        t = z[p] / y[p]
        total += bent[p] * t * t
        t = t if bent[p] > 0 else t * 0
        low, high = min(low, t), max(high, t)
    return total, low, high


@compiled(nogil=True, error_model="numpy")
def _at_most(bent: Array, y: Array, z: Array, growth: float) -> float:
    """Σ bent t² (1 + max(t, 0))^growth."""
    total = 0.0
    for p in range(len(y)):
        t = np.float64(z[p]) / np.float64(y[p])
        total += np.float64(bent[p]) * t * t * (1 + max(t, 0.0)) ** growth
    return total


@compiled(fastmath=FAST, nogil=True, error_model="numpy")
def _by_roots(firm: Array, y: Array, z: Array) -> float:
    """Σ firm Q(t) for slow = −1/2: with r = √(1 + t) it is t² (r + ½) / (¾ (r + 1)²)."""
    total = 0.0
    for p in range(len(y)):
        t = np.float64(z[p]) / np.float64(y[p])
        r = math.sqrt(max(1 + t, 0.0))
        total += firm[p] * t * t * (r + 0.5) / (0.75 * (r + 1) * (r + 1))
    return total


@compiled(nogil=True, error_model="numpy")
def _slowly(firm: Array, y: Array, z: Array, slow: float) -> float:
    """Σ firm Q(t)."""
    if slow == -0.5:
        return _by_roots(firm, y, z)
    total = 0.0
    for p in range(len(y)):
        t = max(np.float64(z[p]) / np.float64(y[p]), -1.0)
        total += firm[p] * t * t * remainder(t, slow)
    return total


@compiled(nogil=True, error_model="numpy")
def remainder(t: float, growth: float) -> float:
    """R(t) / t²."""
    if abs(t) < SERIES:
        return 0.5 + growth * t / 6 * (1 + (growth - 1) * t / 4)
    if t <= -1 and growth <= -2:
        return math.inf
    if growth == -1:
        return ((1 + t) * math.log1p(t) - t) / (t * t)
    if growth == -2:
        return (t - math.log1p(t)) / (t * t)
    power = (1 + t) ** (growth + 2)
    return (power - 1 - (growth + 2) * t) / ((growth + 1) * (growth + 2) * t * t)


@compiled(nogil=True, error_model="numpy")
def _rate(t: float, growth: float) -> float:
    """R'(t) / t, the mean of (1 + s)^growth from 0 to t."""
    if t == 0:
        return 1.0
    logarithm = math.log1p(t)
    return (logarithm if growth == -1 else math.expm1((growth + 1) * logarithm) / (growth + 1)) / t


@compiled(nogil=True, error_model="numpy")
def step_length(
    D: float, C: float, E: float, S: float, lowest: float, highest: float, growth: float, slow: float
) -> float:
    """How far to go along a step, given the smallest and the largest t."""
    T = lowest if growth < 0 else highest
    longest = min(1.0, MOST_OF_Y / -lowest) if lowest < 0 else 1.0
    power = 1 + slow
    if longest * (E + C * remainder(longest * T, growth)) + (S * longest**power if S > 0 else 0.0) <= D:
        return longest
    low, high = 0.0, longest
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        steep = (1 + power) * S * middle**power if S > 0 else 0.0
        if middle * (2 * E + C * _rate(middle * T, growth)) + steep <= D:
            low = middle
        else:
            high = middle
    return low


@compiled(nogil=True, error_model="numpy")
def advance(
    bent: Array,
    firm: Array,
    y: Array,
    z: Array,
    D: Array,
    E: Array,
    growth: float,
    slow: float,
    floor: float,
    gains: Array,
    lengths: Array,
) -> None:
    """The length of every row's step, which changes y by z; and y after it, in place, never below the floor.

    A row that is known to gain by the whole step makes it, unless it would lose most of a y that is bent, which could
    hardly leave zero again.
    """
    for i in range(len(y)):
        C, lowest, highest = _along(bent[i], y[i], z[i])
        whole = gains[i] and lowest >= -MOST_BOLDLY
        held, S = E[i], 0.0
        if len(firm) > 0 and slow == 0:
            held += 0.5 * _along(firm[i], y[i], z[i])[0]
        elif len(firm) > 0:
            S = _slowly(firm[i], y[i], z[i], slow)
        lengths[i] = 1.0 if whole else step_length(D[i], C, held, S, lowest, highest, growth, slow)
        if growth > 0 and lengths[i] < 1:
            most = 2 * held + _at_most(bent[i], y[i], z[i], growth)
            longest = min(1.0, MOST_OF_Y / -lowest) if lowest < 0 else 1.0
            lengths[i] = max(lengths[i], min(longest, D[i] / most) if most > 0 else longest)
        length = y.dtype.type(lengths[i])
        for p in range(y.shape[1]):
            y[i, p] = max(y[i, p] + length * z[i, p], floor)
