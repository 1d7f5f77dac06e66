"""Numbers of components chosen without labels, compared with numbers of classes.

    python -m studies.ranks         # prints a line per draw, writes studies/results/ranks.csv

GraphNMF, at the strength 10, and NMF with n_components="auto", on five draws of each: 600 digits of scikit-learn, 5
and 10 objects of COIL-20, and 600 documents of 8 topics of TDT2. A strength that is also open is chosen afterwards.
"""

from __future__ import annotations

import csv
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from scipy.sparse.csgraph import connected_components

from partwise import NMF, GraphNMF
from partwise.graphs import neighbor_graph
from partwise.metrics import purity

from .real_data import draw_classes, draw_samples
from .selection import whole

# Data set, classes per draw (None: all), samples per draw (None: all).
DRAWS = (("digits", None, 600), ("coil20", 5, None), ("coil20", 10, None), ("tdt2", 8, 600))
REPEATS = 5
METHODS = {"GraphNMF": partial(GraphNMF, graph_strength=10.0), "NMF": NMF}
RESULTS = Path(__file__).parent / "results" / "ranks.csv"


def draw(name, n_classes, n_samples, repeat):
    """X and its classes."""
    rng = np.random.RandomState(repeat)
    X, y = whole(name)
    if n_classes is not None:
        X, y = draw_classes(X, y, n_classes, rng)
    if n_samples is not None:
        X, y = draw_samples(X, y, min(n_samples, len(y)), rng)
    return X, y


def main():
    warnings.simplefilter("ignore")
    with RESULTS.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["data", "classes", "repeat", "method", "chosen", "purity", "pieces", "largest_class"])
        for method, make in METHODS.items():
            for name, n_classes, n_samples in DRAWS:
                for repeat in range(REPEATS):
                    X, y = draw(name, n_classes, n_samples, repeat)
                    sizes = np.unique(y, return_counts=True)[1]
                    # Only the choice counts here; the final fit continues from it.
                    model = make("auto", max_iter=1, tol=0, random_state=repeat).fit(X)
                    chosen = model.selection_.choice["n_components"]
                    pieces = connected_components(neighbor_graph(X, 5))[0]
                    found = f"{purity(y, model.labels_):.3f}", pieces, f"{sizes.max() / sizes.sum():.3f}"
                    row = (name, len(sizes), repeat, method, chosen, *found)
                    writer.writerow(row)
                    file.flush()
                    print(*row, flush=True)


if __name__ == "__main__":
    main()
