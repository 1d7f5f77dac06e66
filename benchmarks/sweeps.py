"""What a sweep costs: compared with two bare products, inside the products, and per row as data grow."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import scipy.sparse as sp

from partwise import NMF
from partwise.core.forms import Coupling, Quadratic
from partwise.core.storage import DenseOperand, SparseOperand
from partwise.solvers.systems import assemble

from .measure import clock, watch_fit
from .problems import as_type, problem, start
from .table import Row

FIRST, LAST = 10, 40


def over_bare_products(name, k, dtype, needed="", seeds=(0, 1, 2)):
    """Rows: time of a sweep over the time of X Hᵀ and Xᵀ W as plain calls, and the share of products in a fit."""
    X, _, data = problem(name)
    X = as_type(X, dtype)
    watch_fit(NMF(k, init=start(X, k, 0), tol=0, max_iter=2), X)
    figures, times, shares = [], [], []
    for seed in seeds:
        init = start(X, k, seed)
        bare = _bare_products(X, *init)
        sweep = _sweep_seconds(X, k, init)
        bare = (bare + _bare_products(X, *init)) / 2
        figures.append(sweep / bare)
        times.append((sweep, bare))
        shares.append(_share_of_products(X, k, init))
    ours, theirs = np.median(times, axis=0)
    data = f"{data} k={k} {np.dtype(dtype).name}"
    rows = [
        Row(
            "sweep over two bare products",
            data,
            "X @ Ht, X.T @ W",
            1e3 * ours,
            1e3 * theirs,
            "ms",
            float(np.median(figures)),
            min(figures),
            max(figures),
            needed,
        )
    ]
    share = {"figure": float(np.median(shares)), "low": min(shares), "high": max(shares)}
    return [*rows, Row("share of a fit inside the products", data, unit="", **share)]


def _sweep_seconds(X, k, init):
    run = watch_fit(NMF(k, init=init, tol=0, max_iter=LAST), X)
    return (run.after(LAST)[0] - run.after(FIRST)[0]) / (LAST - FIRST)


def _bare_products(X, W, H, repeats=15):
    """Median CPU seconds of the two products, X Hᵀ and Xᵀ W, in numpy or scipy."""
    Ht, Xt = np.ascontiguousarray(H.T), X.T.tocsr() if sp.issparse(X) else X.T
    times = []
    for _ in range(repeats):
        begin = clock()
        X @ Ht
        Xt @ W
        times.append(clock() - begin)
    return float(np.median(times))


def _share_of_products(X, k, init):
    with _timed_products() as inside:
        run = watch_fit(NMF(k, init=init, tol=0, max_iter=LAST), X)
    return sum(inside) / run.seconds if inside else np.nan


@contextmanager
def _timed_products():
    """Collect the CPU seconds of every product with a block of X, by wrapping the operand's methods."""
    inside = []

    def timed(method):
        def call(*args):
            begin = clock()
            result = method(*args)
            inside.append(clock() - begin)
            return result

        return call

    kinds = (DenseOperand, SparseOperand)
    names = ("_dot_rows", "_add_t_dot_rows", "_dot_features")
    kept = {(kind, name): kind.__dict__[name] for kind in kinds for name in names if name in kind.__dict__}
    try:
        for (kind, name), method in kept.items():
            setattr(kind, name, timed(method))
        yield inside
    finally:
        for (kind, name), method in kept.items():
            setattr(kind, name, method)


def growth(factor, k=20, dtype=np.float32, sweeps=20, repeats=3, needed="≤ 1.1"):
    """Row: CPU time per row of a fit on 10k rows and on `factor` times as many (the same ones again)."""
    X, _, data = problem("mnist")
    small = as_type(X, dtype)
    large = np.tile(small, (factor, 1))
    times = []
    for seed in (None, *range(repeats)):
        per_row = []
        for rows in (small, large):
            init = start(rows, k, seed or 0)
            run = watch_fit(NMF(k, init=init, tol=0, max_iter=sweeps if seed is not None else 1), rows)
            per_row.append(1e6 * run.seconds / len(rows) / sweeps)
        if seed is not None:
            times.append(per_row)
    times = np.array(times)
    ours, theirs = np.median(times[:, 1]), np.median(times[:, 0])
    figures = times[:, 1] / times[:, 0]
    return [
        Row(
            "time per row and sweep, many rows over few",
            f"{data} ×{factor} k={k} {np.dtype(dtype).name}",
            f"{len(large) // 1000}k rows : {len(small) // 1000}k rows",
            float(ours),
            float(theirs),
            "µs",
            float(np.median(figures)),
            float(figures.min()),
            float(figures.max()),
            needed,
        )
    ]


def kernel_rate(k, dtype, n=20_000, passes=8, repeats=5, note=""):
    """Row: billions of operations per second of the coordinate kernel, 2 k² of them per row and pass."""
    rng = np.random.default_rng(0)
    F, G = rng.random((n, k)).astype(dtype), rng.random((300, k)).astype(dtype)
    gram = np.ascontiguousarray(G.T @ G)
    system = assemble([Quadratic(data=1.0, couplings=(Coupling(gram=gram),))], F)
    product, out = 0.9 * F @ gram, np.empty_like(F)
    rates = []
    for _ in range(repeats + 1):
        begin = clock()
        system.descend_rows(slice(0, n), F, product, passes, 0.0, jointly=True, out=out)
        rates.append(2 * n * k * k * passes / (clock() - begin) / 1e9)
    rates = np.array(rates[1:])  # the first call compiles
    data = f"{n // 1000}k rows k={k} {np.dtype(dtype).name}"
    middle = float(np.median(rates))
    bounds = {"figure": middle, "low": rates.min(), "high": rates.max()}
    return [Row("coordinate kernel", data, "", middle, unit="GFLOP/s", **bounds, note=note)]
