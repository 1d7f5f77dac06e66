"""Learning from batches: `partial_fit` against a fit to all samples, and against scikit-learn's `MiniBatchNMF`."""

from __future__ import annotations

import csv
import warnings

import numpy as np
from sklearn.decomposition import MiniBatchNMF

import partwise
from partwise.core.storage import as_operand
from partwise.estimators.nmf import fit_term
from partwise.solvers import code_samples

from .measure import clock, divergence, squared_error
from .problems import problem
from .table import RESULTS, Row

BATCH, PASSES = 1000, 2
CURVES = RESULTS / "stream.csv"


def shuffled(name):
    """The data in random order."""
    X, _, data = problem(name)
    return X[np.random.RandomState(0).permutation(X.shape[0])], data


def objective(X, H, loss):
    """The loss on all samples, with the best codes for these components."""
    H = np.ascontiguousarray(H, X.dtype)
    W = code_samples([fit_term(loss)], as_operand(X), np.ascontiguousarray(H.T))
    return (squared_error if loss == "frobenius" else divergence)(X, W, H)


def streamed(X, k, loss):
    """(CPU seconds, components) after every batch of two passes."""
    model, seconds, trace = partwise.NMF(k, loss=loss, random_state=0), 0.0, []
    for _ in range(PASSES):
        for start in range(0, X.shape[0], BATCH):
            begin = clock()
            model.partial_fit(X[start : start + BATCH])
            seconds += clock() - begin
            trace.append((seconds, model.components_))
    return trace


def compiled(X, k, loss):
    """Run everything once, so that nothing is compiled on the clock."""
    small = partwise.NMF(k, loss=loss, random_state=0, max_iter=15)
    small.fit(X[: 25 * k])
    for _ in range(2):
        small.partial_fit(X[:200])


def against_all(name, k, loss):
    """Rows: the objective after two passes over that of a fit, and over that of MiniBatchNMF after as much CPU time."""
    X, data = shuffled(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled(X, k, loss)
        trace = streamed(X, k, loss)
        begin = clock()
        whole = partwise.NMF(k, loss=loss, random_state=0).fit(X)
        spent = clock() - begin
        # Until it has had as much time as we had.
        theirs = [_minibatch(X, k, loss, passes=1)]
        while theirs[-1][0] < trace[-1][0]:
            seconds, passes = theirs[-1][0], theirs[-1][2]
            theirs.append(_minibatch(X, k, loss, max(passes + 1, round(1.1 * passes * trace[-1][0] / seconds))))
        ends = [objective(X, H, loss) for H in (trace[-1][1], whole.components_, theirs[-1][1])]
        ours = [(trace[i][0], objective(X, trace[i][1], loss)) for i in (0, len(trace) // 4, len(trace) // 2 - 1)]
        _record(data, k, loss, [*ours, (trace[-1][0], ends[0])], theirs, X)
    text = f"{data} k={k}"
    case = f"partial_fit, {PASSES} passes, {loss}: objective over that of"
    shared = {"data": text, "ours": trace[-1][0], "our_end": ends[0]}
    note = f"batches of {BATCH}; codes of all samples refitted"
    return [
        Row(f"{case} fit", against="NMF.fit", theirs=spent, figure=ends[0] / ends[1], their_end=ends[1],
            needed="≤ 1.01", note=note, **shared),
        Row(f"{case} MiniBatchNMF", against=f"MiniBatchNMF, {theirs[-1][2]} passes", theirs=theirs[-1][0],
            figure=ends[0] / ends[2], their_end=ends[2], needed="≤ 1", note="as much CPU time", **shared),
    ]  # fmt: skip


def _minibatch(X, k, loss, passes):
    """CPU seconds, components and passes of scikit-learn's fit in batches of its own size."""
    model = MiniBatchNMF(k, beta_loss=loss, random_state=0, max_iter=passes, tol=0, max_no_improvement=None)
    begin = clock()
    model.fit(X)
    return clock() - begin, model.components_, passes


def _record(data, k, loss, ours, theirs, X):
    """Replace the rows of this case in the file of curves."""
    columns = ("data", "k", "loss", "method", "seconds", "objective")
    kept = []
    if CURVES.is_file():
        with CURVES.open(encoding="utf-8", newline="") as file:
            kept = [row for row in csv.DictReader(file) if (row["data"], row["k"], row["loss"]) != (data, str(k), loss)]
    curves = {"partial_fit": ours, "MiniBatchNMF": [(seconds, objective(X, H, loss)) for seconds, H, _ in theirs]}
    with CURVES.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(kept)
        for method, points in curves.items():
            for seconds, value in points:
                values = (data, k, loss, method, f"{seconds:.3f}", f"{value:.6g}")
                writer.writerow(dict(zip(columns, values, strict=True)))
