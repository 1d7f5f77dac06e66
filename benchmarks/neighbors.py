"""The search for neighbours against scikit-learn's brute force."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors

from partwise import GraphNMF
from partwise.graphs import find_neighbors, nearest_neighbors

from .measure import clock, peak_memory, resident, restart_peak
from .problems import as_type, many_digits, problem
from .table import Row, ratios


def against_brute_force(name, metric="cosine", dtype=np.float64, p=5, repeats=3, needed=""):
    """Row: CPU time of our exact search and of scikit-learn's."""
    X, _, data = problem(name)
    X = as_type(X, dtype)
    nearest_neighbors(X[:100], p, metric)
    ours, theirs, same = [], [], 0.0
    for _ in range(repeats):
        begin = clock()
        links = nearest_neighbors(X, p, metric)
        middle = clock()
        others = NearestNeighbors(n_neighbors=p, metric=metric, algorithm="brute").fit(X).kneighbors_graph()
        theirs.append(clock() - middle)
        ours.append(middle - begin)
        same = links.multiply(others).sum() / others.sum()
    data = f"{data} {X.shape[0]} × {X.shape[1]} {np.dtype(dtype).name} {metric}"
    note = f"{same:.2%} of the links are the same"
    return [ratios("neighbours", ours, theirs, data=data, against="scikit-learn brute", needed=needed, note=note)]


def approximate(n=70_000, p=5, metric="cosine", needed=""):
    """Rows: CPU time of the exact over that of the approximate search for many dense samples, and of pynndescent.

    Once each, as the exact search takes a minute. The data are MNIST, or jittered copies of its test set.
    """
    X, _, data = many_digits(n)
    case, data = "neighbours, approximate", f"{data} {n} × {X.shape[1]} float32 {metric}"
    for method in ("approximate", "exact"):
        nearest_neighbors(X[:2500], p, metric, method=method)
    begin = clock()
    found = find_neighbors(X, p, metric, method="approximate")
    middle = clock()
    exact = nearest_neighbors(X, p, metric, method="exact")
    times = [middle - begin], [clock() - middle]
    recall = found.links.multiply(exact).sum() / exact.sum()
    note = f"recall {recall:.4f}; {found.recall:.4f} as measured by the search itself"
    rows = [ratios(case, *times, data=data, against="our exact search", needed=needed, note=note)]
    return [*rows, *_by_descent(X, p, metric, exact, times[0], case, data)]


def _by_descent(X, p, metric, exact, ours, case, data):
    """Row: the same by pynndescent, with as many neighbours in its lists as it needs for such a recall."""
    try:
        from pynndescent import NNDescent
    except ImportError:
        return [Row(case, data, "pynndescent", note="pynndescent is not installed")]
    settings = {"metric": metric, "n_neighbors": 15, "random_state": 0, "n_jobs": 1}
    NNDescent(X[:2500], **settings)
    begin = clock()
    lists = NNDescent(X, **settings).neighbor_graph[0]
    theirs = [clock() - begin]
    places = np.repeat(np.arange(len(X)), p), lists[:, 1 : p + 1].ravel()
    recall = float(np.asarray(exact[places]).sum() / exact.sum())
    return [ratios(case, ours, theirs, data=data, against="pynndescent", note=f"its recall {recall:.4f}")]


def whole_fit(n=70_000, k=10, strength=10.0, needed=""):
    """Rows: CPU time of a GraphNMF fit with exact neighbours over that with approximate ones, and its memory.

    Labels are included.
    """
    X, _, data = many_digits(n)
    data = f"{data} {n} × {X.shape[1]} k={k} float32 strength {strength:g}"
    times, objectives, peaks, recalls = {}, {}, {}, {}
    for method in ("approximate", "exact"):
        model = GraphNMF(k, graph_strength=strength, neighbors_method=method, random_state=0)
        clone(model).set_params(max_iter=2, tol=0).fit_predict(X[:2500])
        restart_peak()
        before, begin = resident(), clock()
        model.fit_predict(X)
        times[method], peaks[method] = [clock() - begin], peak_memory() - before
        objectives[method], recalls[method] = model.objective_, model.graph_recall_
    note = f"recall {recalls['approximate']:.4f} as measured by the search"
    case, against = "GraphNMF, neighbours included", "with our exact search"
    fits = ratios(case, *times.values(), data=data, against=against, needed=needed, note=note)
    fits.our_end, fits.their_end = objectives.values()
    memory = "GraphNMF, peak memory beyond X"
    return [fits, Row(memory, data, figure=peaks["approximate"], needed="≤ 1024", note="MB")]
