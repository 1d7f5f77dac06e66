"""Many fits as one: against the same fits one by one, against what cNMF calls, and on planted signatures."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.decomposition import non_negative_factorization

from partwise import NMF
from partwise.selection import ConsensusNMF
from partwise.solvers import Options, solve, solve_many
from studies.real_data import FOLDER

from .counts import counts
from .measure import clock, divergence, squared_error
from .problems import problem
from .table import Row

# What cNMF 1.7 gives scikit-learn's non_negative_factorization in its step `factorize`.
CNMF = {"init": "random", "tol": 1e-4, "max_iter": 1000}
# Objectives within this share count as the same: single starts differ by more.
SAME = 1e-4
# As part of other work: none warns that it has not converged.
OPTIONS = Options(200, 1e-4, inner=True)
SOLVERS = {"frobenius": "cd", "kullback-leibler": "mu"}


def data(name, dtype):
    """A data set, or the made-up counts of single cells: all of them, or the first 2,000 with 1,000 genes."""
    if name == "few cells":
        return counts("cells")[:2000, :1000].astype(dtype)
    if name == "cells":
        return counts("cells").astype(dtype)
    return problem(name)[0].astype(dtype)


def against_single_fits(name, k=10, n_replicates=20, dtype=np.float32):
    """Replicates side by side over the same fits one by one, and the least share that the rates of products allow.

    That bound replaces, in the time of the single fits, their products of k columns by the same number of products as
    wide as those that are made side by side, at the rates measured here; everything else stays as it is.
    """
    if name == "tdt2" and not (FOLDER / "tdt2.npz").is_file():
        return [Row("replicates side by side", name, note="the data set is not here")]
    X = data(name, dtype)
    posed = NMF(k).problem(X)

    def replicates():
        return (posed.replicate(seed) for seed in range(n_replicates))

    with posed.at_work():
        # Compile, and transpose sparse data, before the clock starts.
        list(solve_many((posed.replicate(seed) for seed in range(2)), Options(2, 0, inner=True)))
        narrow, wide = (_product(posed.X, k * count) / count for count in (1, _live(posed.X, k, n_replicates)))
        zero = clock()
        alone = [solve(each, OPTIONS) for each in replicates()]
        separate = clock() - zero
        zero = clock()
        together = dict(solve_many(replicates(), OPTIONS))
        batched = clock() - zero
    sweeps = sum(minimum.result.n_iter for minimum in alone)
    bound = 1 - sweeps * (narrow - wide) / separate
    ends = [float(np.median([each.result.objective for each in found])) for found in (together.values(), alone)]
    return [
        Row(
            f"{n_replicates} replicates side by side, k = {k}",
            name,
            "one by one",
            ours=batched,
            theirs=separate,
            figure=batched / separate,
            needed="≤ 0.6",
            our_end=ends[0],
            their_end=ends[1],
            note=f"share of the time; product rates allow {bound:.2f}",
        )
    ]


def _live(X, k, n_replicates):
    return max(1, min(X.best_columns // k, n_replicates))


def _product(X, columns):
    """CPU seconds of X Hᵀ and XᵀW with so many columns: the best of three."""
    rng = np.random.RandomState(0)
    W, Ht = (rng.uniform(size=(rows, columns)).astype(X.dtype) for rows in X.shape)
    times = []
    for _ in range(3):
        zero = clock()
        X.dot(Ht)
        X.t_dot(W)
        times.append(clock() - zero)
    return min(times)


def against_cnmf(name, loss, k=10, n_replicates=20, timed=1, dtype=np.float64):
    """Our replicates against the calls of scikit-learn that cNMF's `factorize` makes, to the same or a lower objective.

    Replicates of scikit-learn do not depend on each other, so a few are timed. Ours run at the tolerance at which their
    median objective is no higher.
    """
    X = data(name, dtype)
    measure = squared_error if loss == "frobenius" else divergence
    times, ends = [], []
    for seed in range(timed):
        given = {**CNMF, "solver": SOLVERS[loss], "beta_loss": loss, "random_state": seed}
        zero = clock()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            W, H, sweeps = non_negative_factorization(X, n_components=k, **given)
        times.append(clock() - zero)
        ends.append(measure(X, W, H))
    theirs, goal = float(np.median(times)), float(np.median(ends))
    posed = NMF(k, loss=loss).problem(X)
    list(solve_many([posed.replicate(0)], Options(15, 0, inner=True)))
    for tol in (1e-4, 3e-5, 1e-5, 1e-6):
        zero = clock()
        found = [
            minimum
            for _, minimum in solve_many(map(posed.replicate, range(n_replicates)), Options(500, tol, inner=True))
        ]
        ours = (clock() - zero) / n_replicates
        end = float(np.median([measure(X, each.state.W, each.state.components) for each in found]))
        if end <= (1 + SAME) * goal:
            break
    needed = "≥ 10" if loss == "frobenius" else "≥ 20"
    note = f"per replicate; ours at tol={tol:g}, theirs after {sweeps} sweeps of '{SOLVERS[loss]}' at tol=1e-4"
    return [
        Row(
            f"factorisation step of cNMF, {loss}, k = {k}",
            name,
            "scikit-learn as cNMF calls it",
            ours=ours,
            theirs=theirs,
            figure=theirs / ours,
            needed=needed,
            our_end=end,
            their_end=goal,
            note=note,
        )
    ]


def catalogue(n_tumours=1000, n_signatures=8, seed=0):
    """Mutations of 96 kinds in tumours (in rows), and the signatures that made them: few in every tumour."""
    rng = np.random.RandomState(seed)
    signatures = rng.dirichlet(np.full(96, 0.15), size=n_signatures)
    active = rng.uniform(size=(n_tumours, n_signatures)) < rng.uniform(0.2, 0.7, size=n_signatures)
    exposures = active * rng.lognormal(6, 1, size=(n_tumours, n_signatures))
    return rng.poisson(exposures @ signatures).astype(float), signatures


def signatures(n_tumours=1000, ranks=range(5, 12), n_replicates=20):
    """Planted mutational signatures: the number found, and the lowest cosine of a true one with its match.

    SigProfilerExtractor's defaults are 100 Poisson replicates for each of up to 25 numbers of signatures, each for
    10,000 to 1,000,000 multiplicative sweeps; the note says how many sweeps are made here.
    """
    X, truth = catalogue(n_tumours)
    zero = clock()
    estimator = NMF(loss="kullback-leibler", tol=1e-5)
    model = ConsensusNMF(estimator, list(ranks), n_replicates=n_replicates, resample="counts", random_state=0).fit(X)
    seconds = clock() - zero
    truth = truth / np.linalg.norm(truth, axis=1, keepdims=True)
    cosine = float((truth @ model.components_.T).max(axis=1).min())
    found = model.rank_stability_
    stable = ", ".join(f"{k}: {value:.2f}" for k, value in zip(found.n_components, found.stability, strict=True))
    return [
        Row(
            f"signatures, {len(truth)} planted, {model.n_components_} found",
            f"96 × {n_tumours}",
            ours=seconds,
            figure=cosine,
            needed="≥ 0.95",
            note=f"lowest cosine; stability by number {stable}; {n_replicates} Poisson replicates for each number",
        )
    ]
