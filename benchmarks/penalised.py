"""Methods with penalties: our fast solver against the papers' multiplicative rules, in the same code and scale.

The clock starts with the first sweep: graphs and predictors are built once for both, and are not compared here.
"""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np

import partwise
from partwise.graphs import neighbor_graph
from partwise.selection.grids import fixed_strengths

from .measure import watch_fit
from .problems import problem, start
from .table import ratios

# Least number of our sweeps, for a meaningful final objective; fewer where they are long.
AT_LEAST, AT_LEAST_LONG = 100, 30


def graph_nmf(name, strength, sweeps=(200, 1000), seeds=(0, 1, 2)):
    """Rows for GraphNMF under the gauge: time to the objective of the rules after `sweeps`."""
    X, y, data = problem(name)
    graph = neighbor_graph(X)

    def make(**others):
        return partwise.GraphNMF(int(y.max()) + 1, graph_strength=strength, graph=graph, **others)

    return _against_rules(f"GraphNMF {strength:,g}", make, X, None, data, sweeps, seeds)


def graph_divergence(name, times=1.0, sweeps=(200, 500), seeds=(0, 1, 2), needed=("≥ 8", "≥ 12")):
    """Rows for GraphNMF with the Kullback-Leibler divergence, at a multiple of the strength that "auto" chooses."""
    X, y, data = problem(name)
    graph, strength = neighbor_graph(X), times * _chosen_strength(name)

    def make(**others):
        how = {"graph_strength": strength, "graph": graph, "loss": "kullback-leibler"}
        return partwise.GraphNMF(int(y.max()) + 1, **how, **others)

    method = f"GraphNMF, Kullback-Leibler, {strength:,.0f}"
    return _against_rules(method, make, X, None, data, sweeps, seeds, needed=needed, at_least=AT_LEAST_LONG)


@cache
def _chosen_strength(name):
    X, y, _ = problem(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = partwise.GraphNMF(int(y.max()) + 1, loss="kullback-leibler", random_state=0).fit(X)
    return model.selection_.choice["graph_strength"]


def constrained_nmf(name, sweeps=(500,), seeds=(0, 1, 2)):
    """Rows for ConstrainedNMF, a tenth of the labels known."""
    X, y, data = problem(name)
    known = np.where(np.random.default_rng(0).random(len(y)) < 0.1, y, -1)

    def make(**others):
        return partwise.ConstrainedNMF(int(y.max()) + 1, **others)

    return _against_rules("ConstrainedNMF", make, X, known, data, sweeps, seeds)


def local_method(method, name, sweeps=(500,), seeds=(0, 1, 2)):
    """Rows for LocalLearningNMF or LocalCoordinateNMF with their fallback strength."""
    X, y, data = problem(name)
    kind = getattr(partwise, method)

    def make(**others):
        return kind(int(y.max()) + 1, **fixed_strengths(kind), **others)

    return _against_rules(method, make, X, None, data, sweeps, seeds)


def cauchy_nmf(name, sweeps=(100, 300), seeds=(0, 1, 2), needed=("≥ 15", "≥ 25")):
    """Rows for CauchyNMF, a tenth of the entries broken, from where the search for its scale ends."""
    X, y, data = problem(name)
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.1, X.max(), X)

    def make(**others):
        return partwise.CauchyNMF(int(y.max()) + 1, **others)

    def begin(seed):
        approached = make(random_state=seed, max_iter=1, tol=0).fit(X)
        return {"init": (approached.embedding_, approached.components_), "cauchy_scale": approached.cauchy_scale_}

    return _against_rules("CauchyNMF", make, X, None, f"{data}, broken", sweeps, seeds, begin, needed)


def _against_rules(method, make, X, y, data, sweeps, seeds, begin=None, needed=("≥ 10", "≥ 10"), at_least=AT_LEAST):
    k = make().n_components
    ours, rules = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in (None, *seeds):
            first, most = {"init": start(X, k, seed or 0)} if begin is None else begin(seed or 0), max(sweeps)
            shared = {**first, "tol": 0, "random_state": seed}
            if seed is None:  # compile, and fill the caches
                watch_fit(make(max_iter=5, **shared), X, y)
                continue
            slow = watch_fit(make(solver="multiplicative", max_iter=most, **shared), X, y, from_first_sweep=True)
            targets = [slow.after(sweep)[1] for sweep in sweeps]
            fast = make(solver="auto", max_iter=most, **shared)
            ours.append(watch_fit(fast, X, y, targets, at_least, from_first_sweep=True))
            rules.append(slow)
    rows = []
    for sweep, bound in zip(sweeps, needed, strict=False):
        marks = [run.after(sweep) for run in rules]
        times = [run.time_to(objective) for run, (_, objective) in zip(ours, marks, strict=True)]
        rows.append(
            ratios(
                f"{method} to the rules' objective after {sweep} sweeps",
                times,
                [seconds for seconds, _ in marks],
                data=f"{data} k={k}",
                against="multiplicative",
                needed=bound,
                our_end=float(np.median([run.objective for run in ours])),
                their_end=float(np.median([objective for _, objective in marks])),
                note=f"ours: {fast.solver_}, {int(np.median([run.sweeps for run in ours]))} sweeps in all",
            )
        )
    return rows
