"""A number that belongs to the objective but that no factor can change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..core.forms import Quadratic
from ..core.operand import Operand
from ..core.state import State
from ..core.term import BoundTerm, Term
from ..core.types import Array, Factor
from ..core.units import Powers


@dataclass(frozen=True)
class Constant(Term):
    """A constant, so that a reduced problem reports the objective of the full one.

    Parameters
    ----------
    amount : float
    name : str, default="constant"
    """

    amount: float
    name: str = "constant"

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """Nothing to prepare."""
        return BoundConstant(self.amount, self.name)

    def units(self, powers: Powers) -> Mapping[str, float]:
        """It is made from the data in their unit."""
        return {}


class BoundConstant(BoundTerm):
    """The constant itself."""

    def __init__(self, amount: float, name: str):
        self.name = name
        self._amount = amount

    def value(self, state: State) -> float:
        """The amount."""
        return self._amount

    def quadratic(self, state: State, factor: Factor) -> Quadratic | None:
        """It depends on no factor."""
        return None

    def for_new(self, state: State) -> Term | None:
        """It says nothing about new samples."""
        return None
