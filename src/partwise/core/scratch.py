"""Reused memory: touching fresh pages can cost ten times as much as the computation in them."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np

from .types import Array


class Scratch(threading.local):
    """Arrays by name, one set per thread; asking for a name again overwrites its contents."""

    def __init__(self) -> None:
        self._arrays: dict[str, Array] = {}

    def get(self, name: str, shape: tuple[int, ...], dtype: Any) -> Array:
        """An array of this shape with arbitrary contents."""
        size = math.prod(shape)
        kept = self._arrays.get(name)
        if kept is None or kept.size < size or kept.dtype != dtype:
            kept = self._arrays[name] = np.empty(size, dtype)
        return kept[:size].reshape(shape)


# Of every thread of the process, whoever is at work in it: a task on a worker is over too soon to keep memory itself.
_OF_THREAD = Scratch()
# More than this is not kept. Blocks of rows that fit into the cache need less.
KEPT_BYTES = 2**21


def short_lived(name: str, shape: tuple[int, ...], dtype: Any) -> Array:
    """An array of arbitrary contents until this thread asks for the same name again."""
    if math.prod(shape) * np.dtype(dtype).itemsize > KEPT_BYTES:
        return np.empty(shape, dtype)
    return _OF_THREAD.get(name, shape, dtype)
