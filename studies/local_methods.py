"""What the papers' own methods promise, on whole data: python -m studies.local_methods [grids] [memory] [faces].

grids: every setting of the papers' grids on whole COIL20, ORL, Yale, PIX and Semeion, both solvers: the largest rise
of the objective, relative to max(‖X‖², objective at the start), and how many fits are not finite.
memory: peak beyond X of a fit, and of a transform of a tenth of the data, on 50,000 × 500 dense data with 20
components, each in its own process.
faces: mean sparseness of NLCF's codes on ORL (paper's Table VIII: 0.843), and the sweeps that coordinate descent needs
for the objective of the papers' rules.
"""

from __future__ import annotations

import csv
import multiprocessing
import resource
import sys
import warnings
from itertools import product
from pathlib import Path

import numpy as np

from partwise import LocalCoordinateNMF, LocalLearningClustering, LocalLearningNMF, LocalSimilarityNMF
from partwise.metrics import sparseness

from . import real_data

SETS = ("yale32", "pix", "orl32", "semeion", "coil20")
SWEEPS = 20
RESULTS = Path(__file__).parent / "results" / "local_grids.csv"


def _local_learning(k):
    """LLNMF Sec. 4.3: μ 0.1 … 1000, 5 … 80 neighbours, Gaussian kernel."""
    for strength, p in product((0.1, 1.0, 10.0, 100.0, 500.0, 1000.0), (5, 10, 20, 40, 80)):
        yield LocalLearningNMF(k, local_strength=strength, n_neighbors=p, kernel="rbf", init="random")


def _local_coordinates(k):
    """NLCF Fig. 2: μ 0.1 … 1; NLCF-G: the same with λ = 1 … 100."""
    for strength, graph in product((0.1, 0.2, 0.3, 0.5, 0.7, 1.0), (0.0, 1.0, 10.0, 100.0)):
        yield LocalCoordinateNMF(k, coordinate_strength=strength, graph_strength=graph, init="random")


def _local_similarity(k):
    """RLS-NMF Sec. 4.5: λ 0.001 … 1000, γ 0.001 … 1000."""
    for lam, gamma in product((0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0), (0.001, 0.1, 1.0, 10.0, 1000.0)):
        yield LocalSimilarityNMF(k, similarity_strength=lam, outlier_strength=gamma)


GRIDS = {
    ("LLNMF", "auto"): (_local_learning, {}),
    ("LLNMF", "multiplicative"): (_local_learning, {"solver": "multiplicative"}),
    ("LLNMF", "unit-norm codes"): (_local_learning, {"scale": "codes"}),
    ("NLCF, NLCF-G", "auto"): (_local_coordinates, {}),
    ("NLCF, NLCF-G", "multiplicative"): (_local_coordinates, {"solver": "multiplicative"}),
    ("NLCF, NLCF-G", "Kullback-Leibler"): (_local_coordinates, {"loss": "kullback-leibler"}),
    ("RLS-NMF", "auto"): (_local_similarity, {}),
    ("RLS-NMF", "multiplicative"): (_local_similarity, {"solver": "multiplicative"}),
}


def grids():
    """Print and write a line per data set, method and solver."""
    with RESULTS.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["data", "method", "solver", "settings", "sweeps", "largest_rise", "not_finite"])
        for name in SETS:
            X, y = real_data.load(name)
            for (method, solver), (grid, how) in GRIDS.items():
                rises = [_largest_rise(model.set_params(**how), X) for model in grid(int(y.max()) + 1)]
                bad = sum(np.isnan(rises))
                row = (name, method, solver, len(rises), SWEEPS, f"{np.nanmax(rises):.1e}", bad)
                writer.writerow(row)
                file.flush()
                print(
                    "{:8} {:13} {:16} {} settings, {} sweeps: largest rise {}, {} not finite".format(*row), flush=True
                )


def _largest_rise(model, X):
    """Relative; NaN if anything in the fit is not finite."""
    model.set_params(max_iter=SWEEPS, tol=0, random_state=0).fit(X)
    objective = np.array(model.history_["objective"])
    finite = all(np.isfinite(found).all() for found in (objective, model.embedding_, model.components_))
    return np.diff(objective).max() / max(float((X * X).sum()), objective[0]) if finite else np.nan


N_SAMPLES, N_FEATURES, N_COMPONENTS = 50_000, 500, 20
MODELS = {
    "LocalLearningNMF": LocalLearningNMF(N_COMPONENTS, local_strength=10.0),
    "LocalLearningNMF, unit-norm codes": LocalLearningNMF(N_COMPONENTS, local_strength=10.0, scale="codes"),
    "LocalLearningNMF, spectral start": LocalLearningNMF(N_COMPONENTS, local_strength=10.0, init="spectral"),
    "LocalLearningClustering": LocalLearningClustering(N_COMPONENTS),
    "LocalCoordinateNMF": LocalCoordinateNMF(N_COMPONENTS, coordinate_strength=0.1),
    "LocalCoordinateNMF, graph": LocalCoordinateNMF(N_COMPONENTS, graph_strength=1.0),
    "LocalCoordinateNMF, Kullback-Leibler": LocalCoordinateNMF(
        N_COMPONENTS, coordinate_strength=0.1, loss="kullback-leibler"
    ),
    "LocalSimilarityNMF": LocalSimilarityNMF(N_COMPONENTS),
    "LocalSimilarityNMF, rules": LocalSimilarityNMF(N_COMPONENTS, solver="multiplicative"),
    "LocalSimilarityNMF, Gaussian kernel": LocalSimilarityNMF(N_COMPONENTS, kernel="rbf"),
}


def memory():
    """Print the peak of every method."""
    context = multiprocessing.get_context("spawn")
    for name in MODELS:
        process = context.Process(target=_measure_peak, args=(name,))
        process.start()
        process.join()


def _measure_peak(name):
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = np.empty((N_SAMPLES, N_FEATURES))
    H = rng.gamma(0.3, size=(N_COMPONENTS, N_FEATURES))
    for start in range(0, N_SAMPLES, 1000):
        block = X[start : start + 1000]
        block[:] = rng.gamma(1.0, size=(len(block), N_COMPONENTS)) @ H
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    before = pages * resource.getpagesize() / 2**30
    model = MODELS[name].set_params(random_state=0)
    if hasattr(model, "max_iter"):
        model.set_params(max_iter=5, tol=0)
    model.fit(X)
    if hasattr(model, "transform"):
        model.transform(X[:5000])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{name:38} {peak - before:5.2f} GB beyond X ({X.nbytes / 2**30:.2f} GB)", flush=True)


def faces():
    """Print sparseness and sweeps."""
    X, _ = real_data.load("orl32")
    model = LocalCoordinateNMF(40, coordinate_strength=0.1, max_iter=20_000, random_state=0).fit(X)
    mean = float(sparseness(model.embedding_, axis=1).mean())
    print(f"NLCF on ORL, μ = 0.1, {model.stop_reason_} after {model.n_iter_} sweeps: mean sparseness {mean:.3f}")
    rng = np.random.RandomState(0)
    start = rng.uniform(size=(len(X), 40)), rng.uniform(size=(40, X.shape[1]))
    for method in (LocalCoordinateNMF(40, coordinate_strength=0.1), LocalLearningNMF(40, local_strength=10.0)):
        method.set_params(init=start, tol=0)
        for sweeps in (100, 500, 1000):
            papers = method.set_params(solver="multiplicative", max_iter=sweeps).fit(X).objective_
            ours = np.array(method.set_params(solver="coordinate", max_iter=sweeps // 5).fit(X).history_["objective"])
            needed = int(np.flatnonzero(ours <= papers)[0])
            print(f"{type(method).__name__} on ORL: {needed} sweeps for what the rules reach in {sweeps}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for part in sys.argv[1:] or ("grids", "memory", "faces"):
        {"grids": grids, "memory": memory, "faces": faces}[part]()
