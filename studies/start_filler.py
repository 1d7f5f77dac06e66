"""How to fill the zeros of the start "nndsvda": the objective and the clusters of NMF and GraphNMF.

    python -m studies.start_filler            # prints the tables, writes studies/results/start_filler.csv

A factor grows as the square root of X, and so must the filler, or the model would depend on the unit of X. The study
compares shares of √(mean(X) / k), the size of an entry of either factor, with mean(X), which has the wrong unit. Data
are used as they come and with samples of unit norm; a repeat is a draw of at most eight classes and 1,000 samples.
"""

from __future__ import annotations

import csv
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from partwise import NMF, GraphNMF, datasets
from partwise.core.storage import as_operand
from partwise.experiments.preparation import tf_idf
from partwise.metrics import clustering_accuracy, normalized_mutual_information
from partwise.solvers.starts import start_factors

from .real_data import FOLDER, draw_classes, draw_samples

SETS = ("digits", "coil20", "semeion", "orl32", "yale32", "mnist10k", "tdt2", "reuters")
REPEATS, CLASSES, SAMPLES = 3, 8, 1000
SHARES = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0)
FILLERS = {f"{share:g} √(mean / k)": share for share in SHARES} | {"mean": None}
METHODS = {"NMF": NMF, "GraphNMF": GraphNMF}
RESULTS = Path(__file__).parent / "results" / "start_filler.csv"


def load(name):
    """X as it comes (text as tf-idf) and classes 0, 1, …"""
    if name == "digits":
        return load_digits(return_X_y=True)
    data = datasets.load(name, FOLDER)
    return (tf_idf(data.X) if sp.issparse(data.X) else data.X.astype(float)), data.y


def draws(name):
    """(preparation, X, y, seed) for every repeat."""
    X, y = load(name)
    for seed in range(REPEATS):
        rng = np.random.RandomState(seed)
        part, classes = draw_classes(X, y, min(CLASSES, y.max() + 1), rng)
        part, classes = draw_samples(part, classes, min(SAMPLES, len(classes)), rng)
        yield "as it comes", part, classes, seed
        yield "unit norm", normalize(part), classes, seed


def filled(X, k, share, seed):
    """The start "nndsvd" with its zeros filled."""
    operand = as_operand(X)
    size = operand.mean() if share is None else share * np.sqrt(operand.mean() / k)
    W, Ht = start_factors(operand, k, "nndsvd", np.random.RandomState(seed))
    return tuple(np.where(F > 0, F, size) for F in (W, Ht.T))


def measure(name):
    """Rows (data, preparation, repeat, method, filler, objective over the lowest of all fillers, accuracy, NMI)."""
    for preparation, X, y, seed in draws(name):
        k = int(y.max()) + 1
        starts = {filler: filled(X, k, share, seed) for filler, share in FILLERS.items()}
        for method, kind in METHODS.items():
            models = {filler: kind(k, init=start, random_state=seed).fit(X) for filler, start in starts.items()}
            lowest = min(model.objective_ for model in models.values())
            for filler, model in models.items():
                accuracy = clustering_accuracy(y, model.labels_)
                nmi = normalized_mutual_information(y, model.labels_)
                scores = (f"{number:.4f}" for number in (model.objective_ / lowest, accuracy, nmi))
                yield (name, preparation, seed, method, filler, *scores)


def report(rows):
    """Print, for every method, preparation and filler, the means over data sets and repeats."""
    for method in METHODS:
        for preparation in ("as it comes", "unit norm"):
            print(f"\n{method}, {preparation}:  objective over the lowest, accuracy, NMI")
            for filler in FILLERS:
                chosen = [row[5:] for row in rows if (row[3], row[1], row[4]) == (method, preparation, filler)]
                means = np.mean(np.array(chosen, float), axis=0)
                print("  {:20s} {:.4f}  {:.3f}  {:.3f}".format(filler, *means))


def main():
    if not FOLDER.is_dir():
        raise SystemExit("The data sets are not here; set PARTWISE_DATA to the folder that holds them.")
    warnings.simplefilter("ignore")
    rows = []
    for name in SETS:
        rows += measure(name)
        print(name, flush=True)
    with RESULTS.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["data", "preparation", "repeat", "method", "filler", "objective", "accuracy", "nmi"])
        writer.writerows(rows)
    report(rows)


if __name__ == "__main__":
    main()
