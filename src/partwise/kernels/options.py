"""How kernels are compiled, and where the compiled code is kept.

numba keeps it on the disk for later processes: in the folder NUMBA_CACHE_DIR, beside the package, or in the user's
cache, whichever can be written to first. Where none can, as in a container with a read-only root, every process
compiles for itself and keeps the code in memory. The same holds if the disk is full or the files on it are damaged.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from numba import njit

# Sums may be reordered and contracted, which lets them use vector registers; NaN and infinity keep their meaning.
FAST = {"reassoc", "contract", "nsz", "arcp"}


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function by `numba.njit`, on the disk if that is possible.

    Parameters
    ----------
    **options
        Of `numba.njit`, without `cache`.
    """

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
    """numba's cache of a kernel, without which everything works: what cannot be read or written is compiled."""

    def __init__(self, cache: Any):
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def load_overload(self, *arguments: Any) -> Any:
        """The code for a signature, None if there is none."""
        with suppress(Exception):  # damaged files raise whatever comes
            return self._cache.load_overload(*arguments)
        return None

    def save_overload(self, *arguments: Any) -> None:
        """Keep the code for a signature."""
        with suppress(Exception):
            self._cache.save_overload(*arguments)
