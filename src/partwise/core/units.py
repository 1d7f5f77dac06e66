"""Data whose squares would overflow or underflow are scaled by a power of two, and results are scaled back.

X is divided by 2^e where it enters. Every term says which powers of the unit of X its parameters have, so that they are
converted too, and results are converted back. Powers of two change no digit: the answer is that for data of ordinary
size, bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from .types import Array
from .warn import warn


class Unscalable(ValueError):
    """Why data cannot be converted to another unit."""


@dataclass(frozen=True)
class Powers:
    """The powers of the unit of X with which an objective and its factors grow."""

    objective: float = 2.0
    codes: float = 1.0
    components: float = 0.0


@dataclass(frozen=True)
class Unit:
    """The unit of a fit, 2^exponent times that of its data, and the conversions of its results.

    Attributes
    ----------
    exponent : int
        0 for data that are fitted as they are; even, so that its half is whole.
    powers : Powers
    shift : int
        The power of two by which codes are smaller than in their unit, and components larger.
    history : float
        The power of two by which the objective and its history were multiplied.
    """

    exponent: int = 0
    powers: Powers = Powers()
    shift: int = 0
    history: float = 0.0

    def inside(self, values: Any, power: float = 1.0) -> Any:
        """Values in some power of the data's unit, converted to that of the fit."""
        return scaled(values, -power * self.exponent) if self.exponent else values

    def outside(self, values: Any, power: float) -> Any:
        """Values in some power of the fit's unit, converted to that of the data."""
        return scaled(values, power * self.exponent) if self.exponent else values

    def codes(self, W: Array) -> Array:
        """Codes in the unit of the data."""
        return scaled(W, self.powers.codes * self.exponent - self.shift) if self.exponent else W

    def components(self, H: Array) -> Array:
        """Components in the unit of the data."""
        return scaled(H, self.powers.components * self.exponent + self.shift) if self.exponent else H

    def components_inside(self, H: Array) -> Array:
        """Components of the data's unit in that of the fit."""
        return scaled(H, -self.powers.components * self.exponent - self.shift) if self.exponent else H

    def fitting(self, W: Array) -> Unit:
        """The unit with the shift that these codes need, with a warning."""
        if not self.exponent or not self.powers.codes:
            return self
        shift = _shift(W, self.powers.codes * self.exponent)
        if shift:
            warn(
                f"The codes of data of this size do not fit into {W.dtype}: they are divided by 2^{shift}, and the "
                "components multiplied by it.",
            )
        return replace(self, shift=shift)

    def number(self, name: str, value: Any, power: float, dtype: Any) -> Any:
        """A parameter in the unit of the fit. Only numbers have a unit."""
        if not self.exponent or not power or not isinstance(value, Real) or value == 0 or not math.isfinite(value):
            return value
        limits, there = np.finfo(dtype), float(scaled(float(value), -power * self.exponent))
        # The solver multiplies it by squares.
        if not limits.tiny**0.25 < there < limits.max**0.25:
            raise Unscalable(f"{name}={value!r} has a unit too, and is {there:.3g} where X is of order one")
        return there

    def recorded(self, history: Mapping[str, list[float]]) -> tuple[Unit, dict[str, list[float]]]:
        """The history in the unit of the data, if every value is finite there; and the unit that records it."""
        power = self.powers.objective * self.exponent
        if not power:
            return self, dict(history)
        back = {
            name: values if name == "time" else np.asarray(scaled(np.asarray(values, float), power)).tolist()
            for name, values in history.items()
        }
        pairs = [pair for name in history.keys() - {"time"} for pair in zip(history[name], back[name], strict=True)]
        tiny = float(np.finfo(float).tiny)
        if all(math.isfinite(there) and (abs(there) >= tiny or here == 0) for here, there in pairs):
            return replace(self, history=power), back
        warn(
            f"The objective of data of this size does not fit into float64: objective_ and history_ are those of "
            f"X / 2^{self.exponent}.",
        )
        return self, dict(history)


def scaled(values: Any, exponent: float) -> Any:
    """The values times two to a power, exactly if the power is whole."""
    whole = math.floor(exponent)
    if hasattr(values, "scaled"):
        # Rows that are not in memory are scaled when they are read.
        return values.scaled(exponent)
    if sp.issparse(values):
        return type(values)((scaled(values.data, exponent), values.indices, values.indptr), shape=values.shape)
    if exponent != whole:
        values = values * 2.0 ** (exponent - whole)
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(values, whole)


def no_function(name: str, value: Any) -> None:
    """Refuse a parameter that is a function of X: it would not see the numbers that were given."""
    if callable(value):
        raise Unscalable(f"{name} is a function, which would see X in another unit")


def _shift(codes: Array, exponent: float) -> int:
    """The power of two by which codes must be smaller, or larger, to keep all their digits and be finite."""
    length = float(np.abs(codes).max()) if codes.size else 0.0
    if length == 0:
        return 0
    limits, reached = np.finfo(codes.dtype), math.log2(length) + exponent
    # Codes of new samples need some room, and small entries their digits.
    highest, lowest = limits.maxexp - 4, limits.minexp + limits.nmant
    return math.ceil(max(reached - highest, 0)) or math.floor(min(reached - lowest, 0))
