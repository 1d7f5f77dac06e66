"""Coding samples: `transform` of the training samples over their fit, and against scikit-learn's `transform`."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import NMF as Peer

import partwise

from .measure import clock, divergence, squared_error
from .problems import problem
from .table import Row, ratios

KL, IS = "kullback-leibler", "itakura-saito"
# The method, and what its data look like.
FITS = {
    "NMF": (partwise.NMF, {}, ""),
    "NMF, Kullback-Leibler": (partwise.NMF, {"loss": KL}, ""),
    "NMF, Itakura-Saito": (partwise.NMF, {"loss": IS}, "positive"),
    "NMF, β = 0.5": (partwise.NMF, {"loss": 0.5}, ""),
    "NMF, β = 1.5": (partwise.NMF, {"loss": 1.5}, ""),
    "NMF, missing entries": (partwise.NMF, {"missing": "nan"}, "holes"),
    "NMF, Kullback-Leibler, missing entries": (partwise.NMF, {"loss": KL, "missing": "nan"}, "holes"),
    "NMF, Itakura-Saito, missing entries": (partwise.NMF, {"loss": IS, "missing": "nan"}, "positive holes"),
    "NMF, mostly missing": (partwise.NMF, {"missing": "nan"}, "mostly holes"),
    "NMF, Itakura-Saito, mostly missing": (partwise.NMF, {"loss": IS, "missing": "nan"}, "positive mostly holes"),
    "WeightedNMF": (partwise.WeightedNMF, {}, "weights"),
    "WeightedNMF, Kullback-Leibler": (partwise.WeightedNMF, {"loss": KL}, "weights"),
    "GraphNMF": (partwise.GraphNMF, {"graph_strength": 10.0}, ""),
    "GraphNMF, Kullback-Leibler": (partwise.GraphNMF, {"graph_strength": 10.0, "loss": KL}, ""),
    "NMF, Huber": (partwise.NMF, {"loss": "huber"}, ""),
    "NMF, l1": (partwise.NMF, {"loss": "l1"}, ""),
    "NMF, Huber, missing entries": (partwise.NMF, {"loss": "huber", "missing": "nan"}, "holes"),
    "NMF, β = 3": (partwise.NMF, {"loss": 3}, ""),
    "CauchyNMF": (partwise.CauchyNMF, {}, ""),
}

SHORT = ("NMF, Kullback-Leibler", "NMF, Itakura-Saito", "NMF, missing entries", "CauchyNMF")


def over_fit(name, methods=tuple(FITS), k=10, seeds=(0, 1, 2), rows=3000, needed="≤ 0.5"):
    """Rows: CPU time of `transform` of the training samples, and of `score`, over that of a fit at the defaults."""
    X, _, data = problem(name)
    X = X[:rows]
    return [row for method in methods for row in _over_fit(method, X, data, k, seeds, needed)]


def _over_fit(method, X, data, k, seeds, needed):
    kind, params, looks = FITS[method]
    X, params = _data(X, looks), dict(params)
    if "weights" in looks:
        params["weights"] = np.random.default_rng(0).random(X.shape)
    times = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in (None, *seeds):
            model = kind(k, random_state=seed, **params)
            if seed is None:  # compile everything
                model.set_params(max_iter=15)
            marks = [clock()]
            for work in (model.fit, model.transform, model.score):
                work(X)
                marks.append(clock())
            if seed is not None:
                times.append(np.diff(marks))
    fit, *others = np.transpose(times)
    return [
        Row(
            f"{method}: {work} of the training samples over their fit",
            f"{data} {X.shape[0]:,} k={k}",
            f"the fit, {model.n_iter_} sweeps",
            float(np.median(seconds)),
            float(np.median(fit)),
            figure=float(np.median(seconds / fit)),
            low=float((seconds / fit).min()),
            high=float((seconds / fit).max()),
            needed=needed,
        )
        for work, seconds in zip(("transform", "score"), others, strict=True)
    ]


def _data(X, looks):
    rng = np.random.default_rng(0)
    X = X.toarray() if sp.issparse(X) and looks else X
    if "positive" in looks:
        X = X + 0.01 * X.max()
    if "holes" in looks:
        X = np.where(rng.random(X.shape) < (0.9 if "mostly" in looks else 0.1), np.nan, X)
    return X


def against_scikit_learn(name, loss, k=10, seeds=(0, 1, 2), needed="≥ 1"):
    """Row: CPU time of scikit-learn's `transform` of the training samples over that of ours, same components."""
    X, _, data = problem(name)
    ours, theirs, ends = [], [], []
    measure = squared_error if loss == "frobenius" else divergence
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in (None, *seeds):
            model = partwise.NMF(k, loss=loss, random_state=seed, max_iter=30, tol=0).fit(X)
            peer = Peer(k, beta_loss=loss, solver="cd" if loss == "frobenius" else "mu").fit(X[: 2 * k])
            peer.components_ = peer._components = model.components_
            begin = clock()
            W = model.transform(X)
            middle = clock()
            V = peer.transform(X)
            end = clock()
            if seed is not None:
                ours.append(middle - begin)
                theirs.append(end - middle)
                ends.append([measure(X, codes, model.components_) for codes in (W, V)])
    our_end, their_end = np.median(ends, axis=0)
    case, data = f"NMF, {loss}: transform", f"{data} k={k}"
    shared = {"data": data, "against": f"scikit-learn {peer.solver}", "needed": needed}
    return [ratios(case, ours, theirs, our_end=float(our_end), their_end=float(their_end), **shared)]
