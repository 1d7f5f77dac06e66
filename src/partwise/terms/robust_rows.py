"""A robust loss as a sum over entries, each bounded along a step by its half-quadratic tangent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.forms import EntryRows, Entrywise
from ..core.tiles import Tiles
from ..core.types import Array


@dataclass(frozen=True)
class RobustRows(EntryRows):
    """Some rows of X, with the weights of their entries."""

    x: Array
    v: Array
    columns: Array | None
    scale: float
    limit: float
    huber: bool

    def derive(self, y: Array, slope: Array, bent: Array, firm: Array) -> None:
        """The tangent is a squared error: all of the curvature is firm."""
        from ..kernels.robust import derive_rows

        bent[:] = 0
        derive_rows(self.x, self.v, y, *self._given(y), slope, firm)

    def bend(self, y: Array, out: Array) -> None:
        """Beyond the scale zero by Huber, negative by Cauchy."""
        from ..kernels.robust import bend_rows

        bend_rows(self.x, self.v, y, *self._given(y), out)

    def values(self, y: Array) -> Array:
        """The losses of the rows."""
        from ..kernels.robust import measure_rows

        values = np.empty(len(y))
        measure_rows(self.x, self.v, y, *self._given(y), values)
        return self.scale * self.scale * values

    def _given(self, y: Array) -> tuple[Any, Any, bool]:
        return y.dtype.type(self.scale), y.dtype.type(self.limit), self.huber


def robust_entries(tiles: Tiles, scale: float, limit: float, huber: bool, dtype: Any) -> Entrywise:
    """The form of a robust loss of the residuals between the entries of `tiles` and y.

    Parameters
    ----------
    tiles : Tiles
    scale, limit : float
        Of the loss; the limit is that of r² / scale².
    huber : bool
        Whether the loss is Huber's, and not Cauchy's.
    dtype : dtype
        Of X.
    """
    # The loss is finite at zero. A tenth of a rounding error of the scale keeps the logarithm of y finite.
    floor = 0.1 * float(np.finfo(dtype).eps) * scale
    return Entrywise(
        tiles,
        lambda tile: RobustRows(*tile, scale, limit, huber),
        growth=0.0,
        slow=0.0,
        constant=0.0,
        size=0.0,
        floor=floor,
    )
