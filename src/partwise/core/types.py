"""Names used in signatures everywhere, and the two factors."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
IntArray = NDArray[np.intp]

Factor = Literal["codes", "components"]
CODES: Factor = "codes"
COMPONENTS: Factor = "components"
FACTORS: tuple[Factor, Factor] = (CODES, COMPONENTS)
OTHER: dict[Factor, Factor] = {CODES: COMPONENTS, COMPONENTS: CODES}


def dot64(a: Array, b: Array) -> float:
    """⟨a, b⟩ accumulated in float64, whatever the arrays hold."""
    return float(np.einsum("ij,ij->", a, b, dtype=np.float64, casting="safe"))


def column_norms(F: Array, row_weight: Array | None = None) -> Array:
    """Euclidean norm of every column, accumulated in float64; rows may count more or less than once."""
    if row_weight is None:
        return np.sqrt(np.einsum("ij,ij->j", F, F, dtype=np.float64, casting="safe"))
    return np.sqrt(np.einsum("i,ij,ij->j", row_weight, F, F, dtype=np.float64, casting="safe"))


def sum_in_order(parts: list[Array]) -> Array:
    """Their sum, always added in the same order."""
    total = parts[0]
    for part in parts[1:]:
        total += part
    return np.ascontiguousarray(total)
