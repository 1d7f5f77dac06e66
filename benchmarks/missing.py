"""Missing entries and element weights: our fast solvers against the papers' multiplicative rules.

Both start from the same factors and minimise the same objective in the same code; the clock starts with the first
sweep.
"""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp

import partwise
from partwise.graphs import shared_neighbors

from .measure import watch_fit
from .problems import as_type, problem, start
from .table import ratios


def mostly_missing(n=20_000, m=3_000, stored=0.02, k=10, **others):
    """Rows for ratings: made-up data of rank 10 with noise, few entries stored and all others unknown."""
    rng = np.random.default_rng(0)
    W, H = rng.gamma(0.5, size=(n, 10)), rng.gamma(0.5, size=(10, m))
    count = int(stored * n * m)
    rows, columns = rng.integers(n, size=count), rng.integers(m, size=count)
    values = np.einsum("pk,pk->p", W[rows], H.T[columns]) * rng.gamma(5.0, 0.2, size=count)
    X = sp.csr_array((values, (rows, columns)), shape=(n, m))
    X.data[:] = X.data / X.data.max()
    data = f"made-up ratings {n:,} × {m:,}, {100 * stored:g} % stored"
    return against_rules(
        "NMF, mostly missing,", lambda **how: partwise.NMF(k, missing="unstored", **how), X, data, **others
    )


def holes(name, share, k=10, dtype=np.float64, loss="frobenius", **others):
    """Rows for NMF with a share of the entries missing at random."""
    X, data = _with_holes(name, share, dtype)
    method = "NMF, missing entries," if loss == "frobenius" else f"NMF, {loss}, missing entries,"
    return against_rules(method, lambda **how: partwise.NMF(k, missing="nan", loss=loss, **how), X, data, **others)


def weights(name, k=10, dtype=np.float64, **others):
    """Rows for element weights that are uniform in [0, 1]."""
    X, _, data = problem(name)
    V = np.random.default_rng(0).random(X.shape).astype(dtype)
    X = as_type(X, dtype)
    return against_rules("WeightedNMF", lambda **how: partwise.WeightedNMF(k, weights=V, **how), X, data, **others)


def graph_with_holes(name, share, strength=10.0, k=10, dtype=np.float64, loss="frobenius", **others):
    """Rows for GraphNMF under the gauge, with neighbours by what samples share."""
    X, data = _with_holes(name, share, dtype)
    links = shared_neighbors(X, 5)
    graph = links.maximum(links.T)

    def make(**how):
        return partwise.GraphNMF(k, graph_strength=strength, graph=graph, missing="nan", loss=loss, **how)

    method = "GraphNMF" if loss == "frobenius" else f"GraphNMF, {loss},"
    return against_rules(f"{method} {strength:g}, missing entries,", make, X, data, **others)


def _with_holes(name, share, dtype):
    X, _, data = problem(name)
    hidden = np.random.default_rng(0).random(X.shape) < share
    return np.where(hidden, dtype(np.nan), as_type(X, dtype)), f"{data}, {100 * share:g} % missing"


def against_rules(method, make, X, data, sweeps=200, seeds=(0, 1, 2), needed=""):
    """CPU time to the objective of the rules after so many sweeps."""
    k = make().n_components
    ours, rules, counts = [], [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        watch_fit(make(init=_start(X, k, 0), tol=0, max_iter=8), X)  # everything is compiled
        for seed in seeds:
            shared = {"init": _start(X, k, seed), "tol": 0}
            slow = watch_fit(make(solver="multiplicative", max_iter=sweeps, **shared), X, from_first_sweep=True)
            fast = watch_fit(make(max_iter=sweeps, **shared), X, None, [slow.objective], 30, from_first_sweep=True)
            ours.append(fast)
            rules.append(slow)
            counts.append(sum(objective > slow.objective for _, objective in fast.trace) + 1)
    return [
        ratios(
            f"{method} to the rules' objective after {sweeps} sweeps",
            [fast.time_to(slow.objective) for fast, slow in zip(ours, rules, strict=True)],
            [slow.seconds for slow in rules],
            data=f"{data} k={k} {X.dtype.name}",
            against="multiplicative",
            needed=needed,
            our_end=float(np.median([run.objective for run in ours])),
            their_end=float(np.median([run.objective for run in rules])),
            note=f"ours: {int(np.median(counts))} sweeps to it, {int(np.median([run.sweeps for run in ours]))} in all",
        )
    ]


def _start(X, k, seed):
    """A start of the size of what is known."""
    mean = X.data.mean() if sp.issparse(X) else np.nanmean(X)
    return start(_Sized(X.shape, mean, X.dtype), k, seed)


class _Sized:
    """What `start` wants to know of data."""

    def __init__(self, shape, mean, dtype):
        self.shape, self.dtype = shape, dtype
        self.mean = lambda: mean
