"""How kernels are compiled, and where the compiled code is kept.

numba caches it on disk for later processes: in the folder NUMBA_CACHE_DIR, beside the package, or in the user's
cache, whichever is the first that can be written to. If none can, as in a container with a read-only root, every
process compiles for itself and keeps the code in memory; likewise if the disk is full or its files are damaged.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from numba import njit

# Sums may be reordered and contracted, which lets them use vector registers; NaN and infinity keep their meaning.
FAST = {"reassoc", "contract", "nsz", "arcp"}


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function with `numba.njit`, cached on disk if possible.

    A division by zero gives infinity or NaN, as in numpy: a check for it would keep loops out of vector registers.

    Parameters
    ----------
    **options
        Of `numba.njit`, without `cache`.
    """
    options["error_model"] = "numpy"

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            kernel = njit(cache=True, **options)(function)
        except RuntimeError:  # no folder can be written to
            return njit(**options)(function)
        if hasattr(kernel, "_cache"):  # it is a plain function if NUMBA_DISABLE_JIT is set
            kernel._cache = OptionalCache(kernel._cache)
        return kernel

    return decorate


class OptionalCache:
    """numba's cache of a kernel, made optional: code that cannot be read or written is compiled."""

    def __init__(self, cache: Any):
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def load_overload(self, *arguments: Any) -> Any:
        """The code for a signature, or None."""
        with suppress(Exception):  # damaged files may raise anything
            return self._cache.load_overload(*arguments)
        return None

    def save_overload(self, *arguments: Any) -> None:
        """Keep the code for a signature."""
        with suppress(Exception):
            self._cache.save_overload(*arguments)
