"""The search for neighbours against scikit-learn's brute force."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors

from partwise.graphs import nearest_neighbors

from .measure import clock
from .problems import as_type, made_up_images, problem
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


def approximate(n=70_000, m=784, p=5):
    """Row: CPU time of the approximate and the exact search for many dense samples; once each, as it takes long."""
    case, data = "neighbours, approximate", f"made-up {n} × {m} float32"
    X = as_type(made_up_images(n, m, 10)[0], np.float32)
    try:
        nearest_neighbors(X[:1000], p, method="approximate")
    except ImportError as error:
        return [Row(case, data, note=str(error))]
    begin = clock()
    found = nearest_neighbors(X, p, method="approximate")
    middle = clock()
    exact = nearest_neighbors(X, p, method="exact")
    times = [middle - begin], [clock() - middle]
    note = f"recall {found.multiply(exact).sum() / exact.sum():.4f}"
    return [ratios(case, *times, data=data, against="our exact search", note=note)]
