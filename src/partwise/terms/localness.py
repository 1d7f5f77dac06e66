"""What local non-negative matrix factorisation adds to the Kullback–Leibler fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.forms import Coupling, Quadratic
from ..core.operand import Operand
from ..core.rows import Diagonal
from ..core.state import State
from ..core.term import BoundTerm, Term
from ..core.types import CODES, Array, Factor
from ..core.units import Powers, Unscalable


@dataclass(frozen=True)
class Localness(Term):
    """Σ_ij (w_ij² / 2 − w_ij): codes are charged by their squares, not their sum, so several components share a sample.

    Where every component sums to one, the Kullback–Leibler fit itself counts Σ W once; this cancels it.
    """

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """Nothing to prepare."""
        return BoundLocalness(sample_weight)

    def units(self, powers: Powers) -> Mapping[str, float]:
        """It weighs counts."""
        raise Unscalable("the objective of LocalNMF weighs counts: in another unit it is another objective")


class BoundLocalness(BoundTerm):
    """B = ½ I and A = ½ for the codes; samples count as often as in the fit."""

    name = "localness"
    factor = CODES

    def __init__(self, sample_weight: Array | None = None):
        self._weight = sample_weight

    def value(self, state: State) -> float:
        """Summed in float64."""
        W = state.W.astype(np.float64, copy=False)
        per_sample = 0.5 * np.einsum("ij,ij->i", W, W) - W.sum(axis=1)
        return float(per_sample.sum() if self._weight is None else per_sample @ self._weight)

    def quadratic(self, state: State, factor: Factor) -> Quadratic | None:
        """A ridge and a constant pull on the codes."""
        if factor != CODES:
            return None
        half = np.full(state.W.shape[1], 0.5, state.W.dtype)
        if self._weight is None:
            return Quadratic(attract=half[None, :], couplings=(Coupling(half),))
        pull = self._weight[:, None] * half
        return Quadratic(attract=pull, couplings=(Coupling(half, Diagonal(self._weight)),))

    def for_new(self, state: State) -> Term:
        """The same for new codes."""
        return Localness()
