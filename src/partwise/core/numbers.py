"""Numbers that users give."""

from __future__ import annotations

from numbers import Integral
from typing import Any


def check_number(name: str, number: Any, least: int = 1) -> int:
    """A whole number; refused if it is none, or too small."""
    if isinstance(number, bool) or not isinstance(number, Integral) or number < least:
        raise ValueError(f"{name}={number!r} was given; it must be a whole number of at least {least}.")
    return int(number)
