"""A β-divergence as a sum over entries, bounded along every step.

With y > 0, up to a constant, d(x | y) = y^β / β − x y^(β−1) / (β − 1). One part may be concave, and then lies below its
tangent. The second derivative of the other is a power of y, and its share of growth along a step to y (1 + t) is

    β < 1       the second part is convex:   (2 − β) x y^(β−3)   grows by   (1 + t)^(β−3)
    1 ≤ β < 2   both are:                    the same, and (β − 1) y^(β−2), which grows by (1 + t)^(β−2)
    β > 2       the first part is convex:    (β − 1) y^(β−2)     grows by   (1 + t)^(β−2)

For 1 < β < 2 the first part is bounded by a parabola: R(t) / t² falls in t, and at t = −1 it is 1 / β.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.forms import EntryRows, Entrywise
from ..core.tiles import Tiles
from ..core.types import Array


@dataclass(frozen=True)
class DivergenceRows(EntryRows):
    """Some rows of X, with the weights of their entries."""

    x: Array
    v: Array
    columns: Array | None
    beta: float

    def derive(self, y: Array, slope: Array, bent: Array, firm: Array) -> None:
        """The bounds above, in terms of t: second derivatives times y²."""
        from ..kernels.divergences import derive

        beta = self.beta
        a, b = (beta - 1, 0.0) if beta > 2 else (0.0, 2 - beta)
        derive(self.x, self.v, y, beta, a, b, beta - 1 if len(firm) else 0.0, slope, bent, firm)

    def bend(self, y: Array, out: Array) -> None:
        """Both parts, also where one is concave."""
        from ..kernels.divergences import derive

        derive(self.x, self.v, y, self.beta, self.beta - 1, 2 - self.beta, 0.0, np.empty_like(y), out, out[:0])

    def values(self, y: Array) -> Array:
        """The divergences from y."""
        from ..kernels.divergences import measure

        values = np.empty(len(y))
        measure(self.x, self.v, y, self.beta, values)
        return values


def entrywise(tiles: Tiles, beta: float, floor: float) -> Entrywise:
    """The form of a divergence between the entries of `tiles` and y."""
    size = sum(_size(tile.x, tile.v, beta) for tile in tiles.all())
    return Entrywise(
        tiles,
        lambda tile: DivergenceRows(*tile, beta),
        growth=beta - 2 if beta > 2 else beta - 3,
        slow=beta - 2 if 1 < beta < 2 else None,
        constant=0.0 if beta in (0, 1) else size / (beta * (beta - 1)),
        size=size,
        floor=floor,
        concave=beta < 1,
    )


def _size(x: Array, v: Array, beta: float) -> float:
    """Σ v x^β."""
    x = x.astype(np.float64)
    powers = np.power(x, beta, out=np.zeros_like(x), where=x > 0)
    return float(np.sum(v * powers))
