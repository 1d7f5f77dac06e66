"""Threads over blocks of rows, with results that do not depend on how many there are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")


def thread_count() -> int:
    """Threads a fit may use: OMP_NUM_THREADS if it is set, otherwise the cores this process may run on."""
    wished = os.environ.get("OMP_NUM_THREADS", "")
    if wished.isdigit() and int(wished) > 0:
        return int(wished)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _thread_pools() -> Any:
    """The thread pools of the BLAS libraries in this process; finding them takes a while, so it is done once."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Keep BLAS and OpenMP to one thread while the context lasts."""
    limit: AbstractContextManager[Any] = _thread_pools().limit(limits=1)
    return limit


class Workers:
    """A pool of threads while it is open; plain loops otherwise.

    While it is open BLAS runs on one thread: threads of ours and of BLAS side by side would spin against each other.
    """

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None

    @contextmanager
    def open(self) -> Iterator[None]:
        """Start the threads; they are gone when the block ends."""
        with one_thread():
            count = thread_count()
            if count == 1 or self._pool is not None:
                yield
                return
            with ThreadPoolExecutor(count) as pool:
                self._pool = pool
                try:
                    yield
                finally:
                    self._pool = None

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> list[R]:
        """The results in the order of the items."""
        if self._pool is None:
            return [function(item) for item in items]
        return list(self._pool.map(function, items))
