"""Memory that is used again: touching fresh pages can cost ten times what is then computed in them."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np

from .types import Array


class Rooms(threading.local):
    """Arrays by name, one set for every thread; what is in them is lost when the name is asked for again."""

    def __init__(self) -> None:
        self._arrays: dict[str, Array] = {}

    def get(self, name: str, shape: tuple[int, ...], dtype: Any) -> Array:
        """An array of this shape with anything in it."""
        size = math.prod(shape)
        kept = self._arrays.get(name)
        if kept is None or kept.size < size or kept.dtype != dtype:
            kept = self._arrays[name] = np.empty(size, dtype)
        return kept[:size].reshape(shape)
