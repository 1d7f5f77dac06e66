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
from .table import Row, ratios


def counts(name):
    """Raw counts of a text, grey values of images, or made-up counts of single cells."""
    if name == "cells":
        rng = np.random.default_rng(0)
        codes, programs = rng.gamma(0.3, size=(20_000, 20)), rng.gamma(0.3, size=(20, 3_000))
        rate = 0.05 / (codes.mean() * programs.mean() * 20)
        blocks = [sp.csr_array(rng.poisson(rate * part @ programs)) for part in np.array_split(codes, 20)]
        return sp.csr_array(sp.vstack(blocks), dtype=np.float64)
    return datasets.load(name, FOLDER).X.astype(np.float64)


def divergence(X, W, H):
    """The generalised Kullback-Leibler divergence of X from W H, by definition."""
    total = float(W.sum(axis=0) @ H.sum(axis=1))
    for i in range(0, X.shape[0], 500):
        x = sp.csr_array(X[i : i + 500])
        rows = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
        y = np.einsum("pk,pk->p", W[i : i + 500][rows], H.T[x.indices])
        total += float(np.sum(x.data * np.log(x.data / y) - x.data))
    return total


def against_rules(name, k, sweeps=(200, 1000), seeds=(0, 1, 2), needed=("", "")):
    """Rows: ours against scikit-learn's multiplicative rules after `sweeps`, same start, interleaved."""
    if name != "cells" and not (FOLDER / f"{name}.npz").is_file():
        return [Row("NMF, Kullback-Leibler", name, note="the data set is not here")]
    X = counts(name)
    ours = {count: [] for count in sweeps}
    theirs = {count: [] for count in sweeps}
    ends = {count: ([], []) for count in sweeps}
    _fit(X, k, start(X, k, 0), 15, ())  # compile everything
    for seed in seeds:
        first = start(X, k, seed)
        W, H, seconds, targets = *(F.copy() for F in first), 0.0, []
        for done, count in zip((0, *sweeps), sweeps, strict=False):
            begin = clock()
            W, H = _rules(X, W, H, count - done)
            seconds += clock() - begin
            targets.append(divergence(X, W, H))
            theirs[count].append(seconds)
        run = _fit(X, k, first, max(sweeps), targets)
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


def _rules(X, W, H, sweeps):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        how = {"init": "custom", "solver": "mu", "beta_loss": "kullback-leibler", "tol": 0, "max_iter": sweeps}
        return non_negative_factorization(X, W, H, n_components=len(H), **how)[:2]


def _fit(X, k, init, sweeps, targets):
    return watch_fit(NMF(k, loss="kullback-leibler", init=init, tol=0, max_iter=sweeps), X, targets=targets)
