"""One set of defaults on all data sets: accuracy and NMI of k-means, NMF and GraphNMF, mean of five repeats.

GraphNMF chooses its strength by default; a fixed one is shown beside it.

    python -m studies.defaults            # prints the table, writes studies/results/defaults.csv

Samples have unit norm, text is the tf-idf of the whole corpus, there are as many components as classes, and labels come
from k-means on the codes. Large corpora: draws of 8 topics; MNIST: draws of 3,000 digits.
"""

from __future__ import annotations

import csv
import warnings
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans

from partwise import NMF, GraphNMF
from partwise.metrics import clustering_accuracy, normalized_mutual_information

from .real_data import FOLDER, repeats

SETS = ("coil20", "tdt2", "semeion", "orl32", "mnist10k", "reuters", "yale32")
METHODS = {
    "k-means": lambda k, seed: KMeans(k, n_init=20, random_state=seed),
    "NMF": lambda k, seed: NMF(k, random_state=seed),
    "GraphNMF": lambda k, seed: GraphNMF(k, random_state=seed),
    "GraphNMF, 10": lambda k, seed: GraphNMF(k, graph_strength=10.0, random_state=seed),
}
RESULTS = Path(__file__).parent / "results" / "defaults.csv"


def measure(name):
    """Rows (data set, method, accuracy, NMI): means over the repeats."""
    scores = {method: [] for method in METHODS}
    for X, y, seed in repeats(name, range(5)):
        for method, make in METHODS.items():
            labels = make(int(y.max()) + 1, seed).fit(X).labels_
            scores[method].append((clustering_accuracy(y, labels), normalized_mutual_information(y, labels)))
    return [(name, method, *np.mean(values, axis=0).round(3)) for method, values in scores.items()]


def main():
    if not FOLDER.is_dir():
        raise SystemExit("The data sets are not here; set PARTWISE_DATA to the folder that holds them.")
    warnings.simplefilter("ignore")
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["data", "method", "accuracy", "nmi"])
        for name in SETS:
            for row in measure(name):
                writer.writerow(row)
                print("{:10s} {:12s} accuracy {:.3f}  NMI {:.3f}".format(*row), flush=True)


if __name__ == "__main__":
    main()
