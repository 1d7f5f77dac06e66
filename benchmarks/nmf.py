"""Plain NMF: CPU time to the objective that a peer reaches after a number of sweeps."""

from __future__ import annotations

import numpy as np

from partwise import NMF

from .measure import squared_error, watch_fit
from .peers import CD
from .problems import as_type, problem, start
from .table import Row, ratios

# A claim about ours is checked against the definition: relative difference allowed between the objective it reports
# and ‖X − W H‖² of the factors it returns.
HONEST = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-4}
# Untimed sweeps, in which every routine of a library is compiled or loaded.
WARM_UP = 8


def fit_ours(X, k, init, seed, sweeps):
    """A run of ours, its objective checked against the definition."""
    model = NMF(k, init=init, tol=0, max_iter=sweeps, random_state=seed)
    run = watch_fit(model, X)
    true = squared_error(X, model.embedding_, model.components_)
    if abs(true - run.objective) > HONEST[X.dtype] * true:
        raise AssertionError(f"NMF reports the objective {run.objective:.8g}; its factors have {true:.8g}.")
    return run


def against_peers(name, k, dtype, peers, sweeps=100, seeds=(0, 1, 2), needed=None, our_sweeps=None):
    """Rows: ours against each peer, same start, interleaved; targets are the peers' objectives after `sweeps`.

    Ours makes as many, unless `our_sweeps` says otherwise: a sweep of an online method is something else.
    """
    X, _, data = problem(name)
    X = as_type(X, dtype)
    needed = needed or {}
    data, case = f"{data} k={k} {np.dtype(dtype).name}", f"NMF to the peer's objective after {sweeps} sweeps"
    rows = [Row(case, data, peer.name, note=peer.missing) for peer in peers if peer.missing]
    runs = {peer: [] for peer in peers if not peer.missing}
    ours = []
    for seed in (None, *seeds):
        count = WARM_UP if seed is None else sweeps
        W, H = start(X, k, seed or 0)
        for peer in list(runs):
            try:
                runs[peer].append(peer.run(X, W, H, count))
            except Exception as error:
                del runs[peer]
                reason = f"{peer.package} does not run here: {type(error).__name__}: {error}"
                rows.append(Row(case, data, peer.name, note=reason.splitlines()[0]))
        ours.append(fit_ours(X, k, (W, H), seed, our_sweeps or count))
    for peer, theirs in runs.items():
        others = {"against": peer.name, "needed": needed.get(peer.name, "")}
        rows.append(_row(case, data, ours[1:], theirs[1:], peer.note, **others))
    return rows


def sampled_start(name, k, dtype, sweeps=100, seeds=(0, 1, 2), needed=""):
    """Row: ours with init="sampled" against scikit-learn cd from a random start."""
    X, _, data = problem(name)
    X = as_type(X, dtype)
    case, data = f"NMF, sampled start, to cd's objective after {sweeps} sweeps", f"{data} k={k} {np.dtype(dtype).name}"
    fit_ours(X, k, "sampled", 0, WARM_UP)
    ours, theirs = [], []
    for seed in seeds:
        theirs.append(CD.run(X, *start(X, k, seed), sweeps))
        ours.append(fit_ours(X, k, "sampled", seed, sweeps))
    return [_row(case, data, ours, theirs, against=CD.name, needed=needed)]


def near_the_best(name, k, dtype, peers, sweeps=100, chunk=2, share=1.01, seeds=(0, 1, 2), needed=None):
    """Rows: CPU time to 1.01 of the best objective that any library reaches from that start."""
    X, _, data = problem(name)
    X = as_type(X, dtype)
    needed = needed or {}
    data, case = f"{data} k={k} {np.dtype(dtype).name}", f"NMF to {share} of the best objective"
    ours, theirs = [], {peer.name: [] for peer in peers}
    fit_ours(X, k, start(X, k, 0), 0, WARM_UP)
    for seed in seeds:
        W, H = start(X, k, seed)
        runs = {peer.name: peer.run(X, W, H, sweeps, chunk) for peer in peers}
        own = fit_ours(X, k, (W, H), seed, sweeps)
        target = share * min(run.objective for run in (own, *runs.values()))
        ours.append((own.time_to(target), own.objective))
        for peer, run in runs.items():
            theirs[peer].append((run.time_to(target), run.objective))
    times, ends = np.transpose(ours)
    rows = []
    for peer, values in theirs.items():
        their_times, their_ends = np.transpose(values)
        end = {"our_end": float(np.median(ends)), "their_end": float(np.median(their_ends))}
        rows.append(ratios(case, times, their_times, data=data, against=peer, needed=needed.get(peer, ""), **end))
    return rows


def _row(case, data, ours, theirs, note="", **others):
    """CPU time of ours to the objectives at which the other's runs end."""
    reached = [run.time_to(other.objective) for run, other in zip(ours, theirs, strict=True)]
    missed = int(np.isinf(reached).sum())
    if missed:
        note = f"{note}; " * bool(note) + f"{missed} of {len(ours)} runs of ours end above it"
    seconds = [run.seconds for run in theirs]
    ends = {"our_end": _middle(ours), "their_end": _middle(theirs)}
    return ratios(case, reached, seconds, data=data, note=note, **ends, **others)


def _middle(runs):
    return float(np.median([run.objective for run in runs]))
