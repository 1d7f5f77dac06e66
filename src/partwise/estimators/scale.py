"""Who carries the scale: resolve the `scale` parameter, and bring the factors into that scale at the end."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from ..core.operand import Operand
from ..core.term import BoundPenalty, BoundTerm
from ..core.types import CODES, COMPONENTS, FACTORS, OTHER, Array, Factor, column_norms
from ..terms.gauge import Gauged


def apply_scale(terms: Sequence[BoundTerm], scale: str | None) -> tuple[list[BoundTerm], Factor | None]:
    """The terms under the gauge, and the factor whose columns have unit norm in the end (None: neither).

    With scale="auto", a penalty on one factor alone is measured where the other has unit norm; with penalties on both
    factors these settle the scale themselves; without any, the components are simply given unit norm at the end. A term
    that ties the components to the samples settles the scale alone. With scale="codes" the codes are held to columns
    of unit norm, so that penalties on them are measured as they stand.
    """
    anchored = [term.name for term in terms if term.anchored]
    if anchored and scale in FACTORS:
        raise ValueError(
            f"scale={scale!r} fixes the norm of the {scale}, but the term {anchored[0]!r} ties the components to the "
            "samples and leaves no scale to choose. Use scale='auto' or scale=None."
        )
    if scale is None or anchored:
        return list(terms), None
    penalised: set[Factor] = {term.factor for term in terms if isinstance(term, BoundPenalty)}
    if scale == COMPONENTS and COMPONENTS in penalised:
        raise ValueError(
            "scale='components' fixes the norm of the components, but these are penalised themselves. "
            "Use scale='auto' or scale=None."
        )
    if scale == CODES:
        if COMPONENTS in penalised:
            raise ValueError(
                "scale='codes' fixes the norm of the codes for penalties on them, but the components are penalised "
                "too. Use scale='auto' or scale=None."
            )
        return list(terms), CODES
    if len(penalised) == 2:
        return list(terms), None
    unit = OTHER[penalised.pop()] if penalised else COMPONENTS
    return [Gauged(term) if isinstance(term, BoundPenalty) else term for term in terms], unit


def normalise(W: Array, Ht: Array, unit: Factor | None, X: Operand) -> tuple[Array, Array]:
    """Give the columns of one factor unit norm, the other the scale; components that died get a valid direction."""
    factors = {CODES: W, COMPONENTS: Ht}
    dead = (column_norms(W) == 0) | (column_norms(Ht) == 0)
    if dead.any():
        warnings.warn(
            f"{int(dead.sum())} of {len(dead)} components are not used by any sample. "
            "Use fewer components, a smaller strength or another start.",
            UserWarning,
            stacklevel=2,
        )
    if unit is None:
        return W, Ht
    norms = column_norms(factors[unit], X.sample_weight if unit == CODES else None)
    safe = np.where(norms > 0, norms, 1).astype(W.dtype)
    factors = {unit: factors[unit] / safe, OTHER[unit]: factors[OTHER[unit]] * safe}
    for j in np.flatnonzero(norms == 0):
        factors[unit][_strongest(X, unit), j] = 1
        factors[OTHER[unit]][:, j] = 0
    return factors[CODES], factors[COMPONENTS]


def _strongest(X: Operand, factor: Factor) -> int:
    """The row of the factor with most of the data: any direction is valid for a component that is not used."""
    norms = X.row_squared_norms() if factor == CODES else X.column_squared_norms()
    return int(np.argmax(np.nan_to_num(norms)))
