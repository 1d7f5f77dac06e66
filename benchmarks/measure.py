"""Clocks and objectives, which every case uses."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from partwise.callbacks import Callback

# CPU seconds of the process: unlike wall-clock time, they ignore other work on the machine.
clock = time.process_time


def restart_peak():
    """Forget earlier peaks of memory; Linux alone allows it."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def resident():
    """Memory of this process, in MB."""
    return _status("VmRSS:")


def peak_memory():
    """Its peak since `restart_peak`, in MB."""
    return _status("VmHWM:")


def _status(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(name))


def squared_error(X, W, H):
    """‖X − W H‖² in float64, by definition for dense data and by the Gram trick for sparse."""
    W, H = np.asarray(W, np.float64), np.asarray(H, np.float64)
    if sp.issparse(X):
        cross = float(np.sum((X.astype(np.float64) @ H.T) * W))
        squares = float(np.sum(np.square(X.data, dtype=np.float64)))
        return squares - 2 * cross + float(np.sum((W.T @ W) * (H @ H.T)))
    blocks = range(0, X.shape[0], 1000)
    return sum(float(np.square(X[i : i + 1000] - W[i : i + 1000] @ H).sum()) for i in blocks)


def divergence(X, W, H):
    """The generalised Kullback-Leibler divergence of X from W H, by definition."""
    total = float(W.sum(axis=0) @ H.sum(axis=1))
    for i in range(0, X.shape[0], 500):
        x = sp.csr_array(X[i : i + 500])
        rows = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
        y = np.einsum("pk,pk->p", W[i : i + 500][rows], H.T[x.indices])
        total += float(np.sum(x.data * np.log(x.data / y) - x.data))
    return total


@dataclass
class Run:
    """One fit: CPU seconds and objective after each recorded step, and the total."""

    seconds: float
    objective: float
    trace: list[tuple[float, float]] = field(default_factory=list)
    sweeps: int = 0

    def time_to(self, target):
        """CPU seconds until the objective is at or below the target; infinite if it never is."""
        return next((seconds for seconds, objective in self.trace if objective <= target), np.inf)

    def after(self, sweep):
        """(CPU seconds, objective) after this many sweeps, or at the end if there were fewer."""
        return self.trace[min(sweep, len(self.trace)) - 1]


class Watch(Callback):
    """Records the CPU time and the objective after every sweep of ours, and stops when all targets are reached.

    Parameters
    ----------
    targets : list of float
        Objectives to reach.
    at_least : int
        Sweeps to make even if the targets are reached earlier.
    """

    def __init__(self, targets=(), at_least=0):
        self.lowest = min(targets, default=-np.inf)
        self.at_least = at_least
        self.begun = self.ended = None
        self.trace = []

    def on_begin(self):
        """The graph is built and the first sweep begins."""
        self.begun = self.begun or clock()

    def on_end(self):
        """The last sweep is over; what a model keeps is yet to be copied."""
        self.ended = clock()

    def on_sweep(self, progress):
        """Record, and perhaps stop."""
        self.trace.append((clock(), progress.objective))
        return progress.objective <= self.lowest and progress.sweep >= self.at_least


def watch_fit(model, X, y=None, targets=(), at_least=0, *, from_first_sweep=False):
    """Fit a partwise model under a watch.

    Parameters
    ----------
    model : partwise estimator
    X, y : data
    targets, at_least
        When to stop, see `Watch`.
    from_first_sweep : bool, default=False
        Start the clock when the sweeps begin and stop it when they end, to compare solvers that share the building of
        a graph and the copy of the data that a model keeps.

    Returns
    -------
    run : Run
        Time spent after the last sweep is charged to every entry of the trace.
    """
    watch = Watch(targets, at_least)
    model.set_params(callbacks=watch)
    start = clock()
    model.fit(X, y)
    end = clock()
    zero = start
    if from_first_sweep:
        zero, end = watch.begun, watch.ended
    tail = end - watch.trace[-1][0]
    trace = [(seconds - zero + tail, objective) for seconds, objective in watch.trace]
    return Run(end - zero, model.objective_, trace, model.n_iter_)
