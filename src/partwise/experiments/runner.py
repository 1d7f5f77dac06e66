"""Carry out a plan: in parallel, keeping every finished run, so that nothing is computed twice."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import connection

from .journal import Journal
from .plan import Plan
from .runs import Run, execute

# done, all, seconds left or None
Progress = Callable[[int, int, float | None], None]


def reproduce(plan: Plan, journal: Journal, jobs: int = 1, progress: Progress | None = None) -> None:
    """Make all runs that the journal does not have yet.

    The result of a run depends only on the run, so neither the order nor the number of processes matters, and the
    file is the same whether or not the work was interrupted.

    Parameters
    ----------
    plan : Plan
    journal : Journal
    jobs : int
        Processes; with 1 everything happens in this one.
    progress : callable, optional
        Is told how many runs are done, how many there are, and how many seconds are left.
    """
    with journal.alone():
        for stage in (plan.grid_runs, lambda: plan.further_runs(journal), plan.figure_runs):
            runs = list(stage())
            missing = [run for run in runs if run not in journal]
            clock = _Clock(missing, jobs)
            for run, scores, seconds in _results(missing, jobs):
                journal.add(run, scores)
                clock.finished(run, seconds)
                if progress is not None:
                    progress(len(runs) - clock.n_left, len(runs), clock.seconds_left())
        journal.tidy()


def _timed(run: Run) -> tuple[dict[str, float], float]:
    start = time.perf_counter()
    return execute(run), time.perf_counter() - start


def _results(runs: list[Run], jobs: int) -> Iterator[tuple[Run, dict[str, float], float]]:
    """Every run with its scores and seconds, as they are finished."""
    if jobs == 1 or len(runs) < 2:
        yield from ((run, *_timed(run)) for run in runs)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, initializer=_begin_worker) as pool:
        waiting: dict[Future[tuple[dict[str, float], float]], Run] = {}
        queue = iter(runs)
        try:
            while True:
                for run in _take(queue, 2 * jobs - len(waiting)):
                    waiting[pool.submit(_timed, run)] = run
                if not waiting:
                    return
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    yield waiting.pop(future), *future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _take(queue: Iterator[Run], count: int) -> Iterable[Run]:
    return [run for _, run in zip(range(count), queue, strict=False)]


def _begin_worker() -> None:
    """Leave Ctrl-C to the parent process, and exit when the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def leave() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=leave, daemon=True).start()


class _Clock:
    """Estimates the time left from runs of the same kind: the same method on the same data."""

    def __init__(self, runs: list[Run], jobs: int):
        self._jobs = jobs
        self._left: dict[tuple[str, str], int] = defaultdict(int)
        self._seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
        for run in runs:
            self._left[_kind(run)] += 1

    @property
    def n_left(self) -> int:
        return sum(self._left.values())

    def finished(self, run: Run, seconds: float) -> None:
        self._left[_kind(run)] -= 1
        self._seconds[_kind(run)].append(seconds)

    def seconds_left(self) -> float | None:
        everything = [second for seconds in self._seconds.values() for second in seconds]
        if not everything:
            return None
        usual = sum(everything) / len(everything)
        total = 0.0
        for kind, count in self._left.items():
            known = self._seconds[kind]
            total += count * (sum(known) / len(known) if known else usual)
        return total / self._jobs


def _kind(run: Run) -> tuple[str, str]:
    return run.data.name, run.method.name
