"""Work on the workers of a `distributed.Client`: plain tasks, so that dask moves, spills and repeats them.

A worker that is lost takes results with it, and dask computes them again from what they were made of. That is known as
long as every input is part of a task: nothing is put on a worker by hand.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import CancelledError
from functools import partial
from typing import Any
from uuid import uuid4

import numpy as np

# Seconds between two looks at the cluster, and for what was computed to be brought here.
GLANCE, LONGEST = 2.0, 600.0
# Copies of an array that all tasks are given, one for every task, may take this much; a larger one is sent once.
COPIED_BYTES = 2**22
# So much may be looked up on workers at once.
LOOKED_UP_BYTES = 2**24
# Sums are added on workers, so many at a time, in order: up to sixteen blocks as parts in memory are.
FAN_IN = 16
# Tasks hold codes and components, which are no mistake.
LARGE_GRAPH = "100 GiB"


ALONE = (
    "The cluster has had no worker for {:g} seconds. Start workers and fit again; with callbacks=Checkpoint(path) a "
    "fit resumes from its last checkpoint."
)


ASYNCHRONOUS = (
    "The client of the fit is asynchronous, and this is its event loop, which must not wait. Fit in a thread: `await "
    "asyncio.to_thread(model.fit, DaskRows(X, client))`."
)


class ClusterError(RuntimeError):
    """The workers of a fit are gone, or cannot do what they are asked to."""


class Cluster:
    """The workers of one client, as one fit uses them.

    Parameters
    ----------
    client : distributed.Client
    patience : float
        Seconds to wait for a worker when there is none.
    """

    def __init__(self, client: Any, patience: float):
        self.client = client
        self.patience = patience
        # Fits at the same time have tasks of their own.
        self._token = uuid4().hex[:12]
        self._count = 0
        self._alone_since: float | None = None
        self._n_workers = 1

    def check(self) -> None:
        """Refuse a client that is closed, and workers with another partwise, before any work."""
        self._check_open()
        # A cluster that adapts has workers only while there are tasks.
        waiting = None if self._workers() else self.client.submit(int, key=f"partwise-first-{self._token}", pure=False)
        try:
            self.client.wait_for_workers(1, timeout=self.patience)
        except TimeoutError as error:
            raise ClusterError(ALONE.format(self.patience)) from error
        del waiting
        self._n_workers = len(self._workers())
        self.compare_versions()

    @property
    def answers(self) -> bool:
        """Whether the client can be asked, which must wait for the answer."""
        return not self.client.asynchronous and self.client.status == "running"

    def compare_versions(self) -> None:
        """Refuse workers with another partwise, or none: a task that a worker cannot import would end the worker."""
        version_of = _sent_whole()
        ours = version_of()
        found = self.client.run(version_of, on_error="return")
        # A worker that dies now answers with another error, and is none any more.
        answers = {worker: theirs for worker, theirs in found.items() if isinstance(theirs, str | ImportError)}
        other = {worker: theirs for worker, theirs in answers.items() if theirs != ours}
        if other:
            worker, theirs = next(iter(other.items()))
            what = f"partwise {theirs}" if isinstance(theirs, str) else f"no partwise ({theirs})"
            raise ClusterError(
                f"{len(other)} of {len(found)} workers have another partwise than this process, which has {ours}: "
                f"{worker} has {what}. Install the same version on all workers."
            )

    def each(
        self, name: str, function: Callable[..., Any], /, *iterables: Iterable[Any], urgency: int = 0, **common: Any
    ) -> list[Any]:
        """Futures of a function of every block: arguments come from iterables, one per block, and are common.

        Workers do first what is more urgent.
        """
        import dask

        lists = [list(items) for items in iterables]
        common = {argument: self._given(value, len(lists[0])) for argument, value in common.items()}
        self._count += 1
        keys = [f"partwise-{name}-{self._token}-{self._count}-{i}" for i in range(len(lists[0]))]
        self._check_open()
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": LARGE_GRAPH}):
            # Dask would keep large arguments by keyword under a name that other calls use as well.
            arrays = {argument: value for argument, value in common.items() if isinstance(value, np.ndarray)}
            others = {argument: value for argument, value in common.items() if argument not in arrays}
            known = partial(function, **arrays) if arrays else function
            futures: list[Any] = self.client.map(known, *lists, key=keys, pure=False, priority=urgency, **others)
        return futures

    def given(self, value: Any) -> Any:
        """A value for all tasks, which is sent once."""
        return self.each("given", _unpacked, [[value]])[0]

    def _given(self, value: Any, n_tasks: int) -> Any:
        """A value for all tasks: as it is, or a large array once for all."""
        size = value.nbytes if isinstance(value, np.ndarray) else 0
        return value if size * n_tasks <= COPIED_BYTES else self.given(value)

    def total(self, futures: Sequence[Any]) -> tuple[Any, ...]:
        """The sum of tuples of arrays or numbers, added in the order of the blocks."""
        return _added(self._few("sum", _added, futures))

    def total_of_last(self, futures: Sequence[Any], nbytes: int) -> tuple[Any, ...]:
        """The same of the last items of what tasks give, each of `nbytes`.

        If they are small, all workers are asked for them at once, unless there are far more workers than tasks: tasks
        that take them out would make a sweep longer than its work does.
        """
        small = nbytes * len(futures) <= LOOKED_UP_BYTES and self._n_workers <= 2 * len(futures)
        found = self._looked_up(futures) if small else None
        if found is None:
            return self.total(self.each("shares", last_item, futures))
        while len(found) > FAN_IN:
            found = [_added(found[i : i + FAN_IN]) for i in range(0, len(found), FAN_IN)]
        return _added(found)

    def _looked_up(self, futures: Sequence[Any]) -> list[Any] | None:
        """The last items, as workers have them in memory; None if one is not there any more, or if a task failed."""
        try:
            self._wait(futures)
            answers = self.client.run(_last_items, [future.key for future in futures], on_error="ignore")
        except (CancelledError, OSError):
            # Tasks that are asked for instead say what has happened.
            return None
        known = {key: item for answer in answers.values() for key, item in answer.items()}
        return [known[future.key] for future in futures] if all(future.key in known for future in futures) else None

    def joined(self, function: Callable[[list[Any]], Any], futures: Sequence[Any]) -> Any:
        """What a function makes of the results of tasks, in the order of the blocks; also of what it made of some."""
        return function(self._few("joined", function, futures))

    def extreme(self, name: str, futures: Sequence[Any]) -> Any:
        """The entrywise "maximum" or "minimum" of arrays."""
        function = _maximum if name == "maximum" else _minimum
        return function(self._few(name, function, futures))

    def _few(self, name: str, function: Callable[..., Any], futures: Sequence[Any]) -> list[Any]:
        """What tasks give, joined on the workers until little is left."""
        while len(futures) > FAN_IN:
            groups = [list(futures[i : i + FAN_IN]) for i in range(0, len(futures), FAN_IN)]
            futures = self.each(name, function, groups)
        return self.results(futures)

    def results(self, futures: Sequence[Any]) -> list[Any]:
        """What tasks give; waits as long as there are workers, or some are to be expected."""
        try:
            return self._gathered(futures)
        except Exception:
            # A client keeps the error of a task, and its traceback all that the fit has on workers.
            for future in futures:
                future.release()
            raise

    def _wait(self, futures: Sequence[Any]) -> None:
        """Until tasks have ended, as long as there are workers, or some are to be expected."""
        from distributed import wait

        self._alone_since = None
        while True:
            try:
                with self.client.as_current():
                    wait(futures, timeout=GLANCE)
                return
            except TimeoutError:
                self._look_for_workers()

    def _gathered(self, futures: Sequence[Any]) -> list[Any]:
        from distributed import KilledWorker

        while True:
            try:
                self._wait(futures)
                found: list[Any] = self.client.sync(self.client._gather, futures, callback_timeout=LONGEST)
                return found
            except TimeoutError:
                self._look_for_workers()
            except KilledWorker as error:
                raise ClusterError(
                    f"Several workers died at the same task: {error} Chunks may be too large for their memory."
                ) from error
            except CancelledError as error:
                self._check_open()
                raise ClusterError(
                    "Data of the fit were lost with their worker, and cannot be computed again: X was put on the "
                    "workers by hand (scatter), or its futures were cancelled, as client.restart() does. Give a dask "
                    "array that knows its source."
                ) from error
            except ImportError as error:
                raise ClusterError(f"A worker lacks what this process has: {error}.") from error

    def _check_open(self) -> None:
        if self.client.asynchronous:
            raise ClusterError(ASYNCHRONOUS)
        if self.client.status != "running":
            raise ClusterError(f"The client of the fit is {self.client.status}. Give a client that is connected.")

    def _workers(self) -> Any:
        try:
            return self.client.nthreads()
        except (OSError, RuntimeError, TimeoutError) as error:
            raise ClusterError(f"The scheduler does not answer: {error}") from error

    def _look_for_workers(self) -> None:
        """Give up when there has been no worker for long."""
        self._check_open()
        now = time.monotonic()
        if self._workers():
            self._alone_since = None
            return
        self._alone_since = self._alone_since or now
        if now - self._alone_since > self.patience:
            raise ClusterError(ALONE.format(self.patience))


def _sent_whole() -> Callable[[], str]:
    """What tells the version of partwise, also to workers that have none: a function within one is sent whole."""

    def version_of() -> str:
        from importlib import import_module

        found: str = import_module("partwise").__version__
        return found

    return version_of


def current_client() -> Any:
    """The client of this process, if it has one."""
    import sys

    if "distributed" not in sys.modules:
        return None
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        return None


def _unpacked(values: list[Any]) -> Any:
    return values[0]


def last_item(items: tuple[Any, ...]) -> Any:
    """What is added up over all blocks, of what a task gives."""
    return items[-1]


def _last_items(keys: list[str], dask_worker: Any) -> dict[str, Any]:
    """Of those results that this worker holds in memory; what it has put on disk stays there."""
    held = getattr(dask_worker.data, "fast", dask_worker.data)
    return {key: held[key][-1] for key in keys if key in held}


def _added(parts: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Sums from left to right; what is added up stays as it is."""
    totals = [np.array(value) for value in parts[0]]
    for part in parts[1:]:
        for total, value in zip(totals, part, strict=True):
            total += value
    return tuple(totals)


def _maximum(parts: list[Any]) -> Any:
    return np.maximum.reduce(parts)


def _minimum(parts: list[Any]) -> Any:
    return np.minimum.reduce(parts)
