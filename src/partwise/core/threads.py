"""Threads over blocks of rows, with results that do not depend on how many there are."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, Literal, TypeVar

T = TypeVar("T")
R = TypeVar("R")


def thread_count() -> int:
    """Threads a fit may use: OMP_NUM_THREADS if it is set, otherwise the cores this process may run on."""
    wished = os.environ.get("OMP_NUM_THREADS", "")
    if wished.isdigit() and int(wished) > 0:
        return int(wished)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pools(kind: Literal["blas", "openmp"]) -> list[Any]:
    """The thread pools of one kind in this process; finding them takes a while, so it is done once."""
    from threadpoolctl import ThreadpoolController

    return [pool for pool in ThreadpoolController().lib_controllers if pool.user_api == kind]


class _Limit:
    """One thread for the pools of one kind, from the first to enter to the last to leave."""

    def __init__(self, kind: Literal["blas", "openmp"]):
        self._kind = kind
        self._before: list[tuple[Any, int]] = []
        self.depth = 0

    def enter(self) -> None:
        """Set the limit, unless it is set."""
        if self.depth == 0:
            counts = [(pool, pool.get_num_threads()) for pool in _pools(self._kind)]
            for pool, _ in counts:
                _set(pool, 1)
            # A pool may refuse: then there is nothing to restore.
            self._before = [(pool, count) for pool, count in counts if pool.get_num_threads() == 1 != count]
        self.depth += 1

    def leave(self) -> None:
        """Restore the earlier limit, unless another thread is still inside."""
        self.depth -= 1
        self.restore_if_empty()

    def restore_if_empty(self) -> None:
        """Restore the earlier limit, if no thread is inside."""
        if self.depth == 0:
            for pool, count in self._before:
                # Keep a limit that was changed in the meantime.
                if pool.get_num_threads() == 1:
                    _set(pool, count)
            self._before = []


def _set(pool: Any, count: int) -> None:
    """Set the threads of a pool so that any other thread can set them later."""
    pool.set_num_threads(count)
    # Newer versions of threadpoolctl let only the first thread that changed the limits of OpenBLAS do so again.
    getattr(pool, "clear_controlling_thread", lambda: None)()


class _OwnLimit(threading.local):
    """OpenMP has a limit for every thread."""

    def __init__(self) -> None:
        self.limit = _Limit("openmp")


# BLAS has one limit for the whole process, in whatever order its threads come and go.
_shared, _own, _lock = _Limit("blas"), _OwnLimit(), threading.RLock()


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread within the context.

    Contexts of several threads may overlap in any order: the limits are restored when the last of them ends.
    """
    own = _own.limit
    # A BLAS built on OpenMP changes the limit of this thread too: OpenMP's is saved before and set after.
    own.enter()
    try:
        with _lock:
            _shared.enter()
        try:
            yield
        finally:
            with _lock:
                _shared.leave()
    finally:
        own.leave()


def _stay_alone() -> None:
    """In a forked process only the thread that forked continues, and the others never leave."""
    _shared.depth = _own.limit.depth
    try:
        _shared.restore_if_empty()
    finally:
        _lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_stay_alone)


class Workers:
    """A pool of threads while it is open; plain loops otherwise.

    While it is open BLAS runs on one thread: our threads and those of BLAS would compete by spinning.
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

    def flow(self, function: Callable[[T], R], items: Iterable[T], most: int) -> Iterator[R]:
        """The results in the order of the items, which are taken as they come, at most so many ahead of the results."""
        if self._pool is None:
            yield from map(function, items)
            return
        under_way: deque[Future[R]] = deque()
        try:
            for item in items:
                under_way.append(self._pool.submit(function, item))
                if len(under_way) >= most:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            for future in under_way:
                future.cancel()
