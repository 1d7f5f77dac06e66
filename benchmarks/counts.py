"""Kullback-Leibler fits of counts: CPU time to what scikit-learn's multiplicative rules reach."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import non_negative_factorization

from partwise import NMF, datasets
from studies.real_data import FOLDER

from .measure import clock, watch_fit
from .problems import start
from .processes import python
from .table import Row, ratios

# Sweeps of scikit-learn that are timed.
TIMED = 10


def counts(name):
    """Raw counts of a text, grey values of images, or made-up counts of single cells."""
    if name == "cells":
        rng = np.random.default_rng(0)
        codes, programs = rng.gamma(0.3, size=(20_000, 20)), rng.gamma(0.3, size=(20, 3_000))
        rate = 0.05 / (codes.mean() * programs.mean() * 20)
        blocks = [sp.csr_array(rng.poisson(rate * part @ programs)) for part in np.array_split(codes, 20)]
        return sp.csr_array(sp.vstack(blocks), dtype=np.float64)
    return datasets.load(name, FOLDER).X.astype(np.float64)


def against_rules(name, k, sweeps=(200, 1000), seeds=(0, 1, 2), needed=("", "")):
    """Rows: ours against scikit-learn's multiplicative rules after `sweeps`, same start, interleaved.

    All sweeps of scikit-learn take equally long, so a few are timed, in their own process: what was allocated before
    decides how often they fetch memory anew. Our own multiplicative solver makes the same steps in a fraction of the
    time, and gives the objectives to reach.
    """
    if name != "cells" and not (FOLDER / f"{name}.npz").is_file():
        return [Row("NMF, Kullback-Leibler", name, note="the data set is not here")]
    X = counts(name)
    ours = {count: [] for count in sweeps}
    theirs = {count: [] for count in sweeps}
    ends = {count: ([], []) for count in sweeps}
    _fit(X, k, start(X, k, 0), 15)  # compile everything
    for seed in seeds:
        first = start(X, k, seed)
        seconds = python(f"from benchmarks.counts import time_rules; print(time_rules({name!r}, {k}, {seed}))")
        rules = _fit(X, k, first, max(sweeps), solver="multiplicative")
        targets = [rules.after(count)[1] for count in sweeps]
        run = _fit(X, k, first, max(sweeps), targets)
        for count in sweeps:
            theirs[count].append(count * seconds)
        for count, target in zip(sweeps, targets, strict=True):
            ours[count].append(run.time_to(target))
            ends[count][0].append(run.objective)
            ends[count][1].append(target)
    return [
        ratios(
            f"NMF, Kullback-Leibler, to the objective after {count} sweeps",
            ours[count],
            theirs[count],
            data=f"{name} k={k}",
            against="scikit-learn mu",
            needed=bound,
            our_end=float(np.median(ends[count][0])),
            their_end=float(np.median(ends[count][1])),
        )
        for count, bound in zip(sweeps, needed, strict=True)
    ]


def time_rules(name, k, seed):
    """Seconds per sweep of scikit-learn's multiplicative rules."""
    X = counts(name)
    W, H = start(X, k, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        how = {"init": "custom", "solver": "mu", "beta_loss": "kullback-leibler", "tol": 0, "max_iter": TIMED}
        begin = clock()
        non_negative_factorization(X, W, H, n_components=k, **how)
        return (clock() - begin) / TIMED


def _fit(X, k, init, sweeps, targets=(), solver="auto"):
    model = NMF(k, loss="kullback-leibler", init=init, tol=0, max_iter=sweeps, solver=solver)
    return watch_fit(model, X, targets=targets)
