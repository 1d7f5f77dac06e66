"""Axes of a chart: from numbers to places, and the numbers worth naming."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

TICKS = 5


@dataclass(frozen=True)
class Axis:
    """A range of numbers laid over a range of places.

    Attributes
    ----------
    low, high : float
        Numbers at both ends.
    start, end : float
        Their places.
    log : bool
        Equal ratios, instead of differences, are equally far apart.
    ticks : tuple of float
        Numbers to name.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool
    ticks: tuple[float, ...]

    def place(self, number: float) -> float:
        """Where a number goes; numbers beyond an end go to the end."""
        low, high = (math.log10(self.low), math.log10(self.high)) if self.log else (self.low, self.high)
        value = math.log10(max(number, self.low)) if self.log else number
        share = min(max((value - low) / (high - low), 0.0), 1.0)
        return round(self.start + share * (self.end - self.start), 2)


def axis(
    numbers: Iterable[float], start: float, end: float, *, log: bool = False, ticks: Sequence[float] | None = None
) -> Axis:
    """An axis for some numbers, ended by round numbers.

    Parameters
    ----------
    numbers : iterable of float
        Those to show; on a logarithmic axis only those above zero count.
    start, end : float
        Places of the ends.
    log : bool
    ticks : sequence of float, optional
        Numbers to name, instead of round ones.
    """
    shown = [number for number in numbers if math.isfinite(number) and (number > 0 or not log)] or [1.0]
    low, high = min(shown), max(shown)
    if ticks is not None:
        if low == high:
            low, high = (low / 2, high * 2) if log else (low - 0.5, high + 0.5)
        return Axis(low, high, start, end, log, tuple(ticks))
    if log:
        first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
        last = max(last, first + 1)
        powers = range(first, last + 1, max(1, math.ceil((last - first) / TICKS)))
        return Axis(10.0**first, 10.0**last, start, end, log, tuple(10.0**power for power in powers))
    step = _round_step((high - low) / TICKS or abs(high) / TICKS or 1.0)
    first, last = math.floor(low / step), math.ceil(high / step)
    last = max(last, first + 1)
    return Axis(first * step, last * step, start, end, log, tuple(i * step for i in range(first, last + 1)))


def _round_step(step: float) -> float:
    """The next of 1, 2, 5, 10, 20, ...."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= step * (1 - 1e-9))


def name(number: float) -> str:
    """A number as shown on an axis."""
    if number != 0 and not 1e-3 <= abs(number) < 1e5:
        mantissa, exponent = f"{number:.0e}".split("e")
        raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
        return f"10{raised}" if mantissa == "1" else f"{mantissa}·10{raised}"
    return f"{number:.10g}".replace("-", "−")
