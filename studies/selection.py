"""Strengths chosen without labels, compared with strengths chosen with them, on all data sets.

    python -m studies.selection            # continues where it stopped; results/selection.csv.gz
    python -m studies.selection --report   # the tables and the figure of docs/selection.md, from that file

Every repeat is a new draw: some objects, people or topics of sets with many classes, at most 500 samples of the others.
Samples have unit norm, text is the tf-idf of the whole corpus, there are as many components as classes, and labels come
from k-means on the codes. A fixed strength is fitted from the method's default start.

The first rule was designed on draws of DESIGN, mostly with GraphNMF; the present one has also seen SEEN_ONCE.
HELD_OUT was named before anything was run on it, and played no part in the choice of criteria.
"""

from __future__ import annotations

import argparse
import time
import warnings
from functools import cache, partial
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from partwise import NMF, GraphNMF, LocalCoordinateNMF, LocalLearningNMF
from partwise.metrics import clustering_accuracy, normalized_mutual_information

from .kept_out import multiple_features, newsgroups16
from .kept_rows import add_rows, read_rows
from .real_data import FOLDER, draw_classes, draw_samples, load

DESIGN = (
    "yale32",
    "orl32",
    "semeion",
    "digits",
    "cstr",
    "coil20",
    "tdt2",
    "reuters",
    "mnist10k",
    "newsgroup4",
    "newsgroup4_1000",
)
SEEN_ONCE = ("pix", "webkb4", "webkb4_1000", "coil100", "orl64", "webace", "webace_1000")
HELD_OUT = {"multiple_features": multiple_features, "newsgroups16": newsgroups16}
SETS = (*DESIGN, *SEEN_ONCE, *HELD_OUT)

# Classes per draw, where a set has many.
CLASSES = {"coil20": 8, "coil100": 8, "orl32": 20, "orl64": 10, "tdt2": 8, "reuters": 8, "newsgroups16": 8}
MOST_SAMPLES = {"coil20": 576, "coil100": 576, "webace": 300}
STRENGTHS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
METHODS = {
    "GraphNMF": (GraphNMF, "graph_strength", STRENGTHS),
    "LocalLearningNMF": (LocalLearningNMF, "local_strength", STRENGTHS),
    "LocalCoordinateNMF": (LocalCoordinateNMF, "coordinate_strength", (0.001, 0.01, 0.1, 1.0)),
    "GraphNMF, n_neighbors": (partial(GraphNMF, graph_strength=10.0), "n_neighbors", (3, 5, 10, 20)),
}
# In this order, so that an unfinished study has all repeats of the first group.
GROUPS = {
    "graph": ("k-means", "NMF", "GraphNMF"),
    "local": ("LocalCoordinateNMF", "LocalLearningNMF"),
    "neighbors": ("GraphNMF, n_neighbors",),
}
# Neighbours are chosen on only a few sets, at one strength.
FEW = ("orl32", "semeion", "digits", "coil20", "tdt2", "reuters")
REPEATS = 15
RESULTS = Path(__file__).parent / "results" / "selection.csv.gz"
HEADER = ("data", "repeat", "method", "strength", "chosen", "accuracy", "nmi", "seconds")


@cache
def whole(name):
    """All of a data set."""
    if name in HELD_OUT:
        return HELD_OUT[name]()
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return normalize(X), y
    return load(name)


def draw(name, repeat):
    """X and classes of one repeat."""
    rng = np.random.RandomState(repeat)
    X, y = whole(name)
    if name in CLASSES:
        X, y = draw_classes(X, y, CLASSES[name], rng)
    size = min(MOST_SAMPLES.get(name, 500), len(y) if name in CLASSES else int(0.9 * len(y)))
    X, y = draw_samples(X, y, size, rng)
    return X, np.unique(y, return_inverse=True)[1].ravel()


def tasks(group):
    """(method, strength, estimator maker), "auto" among the strengths; without a strength all methods are NMF."""
    baselines = {
        "k-means": lambda k, seed: KMeans(k, n_init=20, random_state=seed),
        "NMF": lambda k, seed: NMF(k, random_state=seed),
    }
    for method in group:
        if method in baselines:
            yield method, "", baselines[method]
            continue
        kind, parameter, grid = METHODS[method]
        for strength in ("auto", *grid):
            yield method, strength, partial(kind, **{parameter: strength})


def measure(name, repeat, X, y, wanted):
    """A row for each of the tasks."""
    for method, strength, make in wanted:
        begin = time.process_time()
        k = int(y.max()) + 1
        model = (make(k, repeat) if not strength else make(k, random_state=repeat)).fit(X)
        seconds = time.process_time() - begin
        chosen = next(iter(model.selection_.choice.values())) if strength == "auto" else strength
        scores = clustering_accuracy(y, model.labels_), normalized_mutual_information(y, model.labels_)
        yield name, repeat, method, strength, chosen, *(f"{score:.4f}" for score in scores), f"{seconds:.3f}"


def run(groups):
    """Group by group, repeat by repeat, over all sets; rows already in the file are not repeated."""
    if not FOLDER.is_dir():
        raise SystemExit("The data sets are not here; set PARTWISE_DATA to the folder that holds them.")
    warnings.simplefilter("ignore")
    GraphNMF(2, max_iter=2).fit(np.random.RandomState(0).uniform(size=(20, 5)))  # compile before the clock runs
    done = {tuple(row[key] for key in HEADER[:4]) for row in read_rows(RESULTS)}
    for group, repeat, name in product(groups, range(REPEATS), SETS):
        if group == "neighbors" and name not in FEW:
            continue
        wanted = [task for task in tasks(GROUPS[group]) if (name, str(repeat), task[0], str(task[1])) not in done]
        if wanted:
            for row in measure(name, repeat, *draw(name, repeat), wanted):
                add_rows(RESULTS, HEADER, [row])
            print(f"{group} repeat {repeat} {name}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", action="store_true", help="print the tables, draw the figure")
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=list(GROUPS), help="methods to run")
    options = parser.parse_args()
    if options.report:
        from .selection_report import report

        report(read_rows(RESULTS), SETS, HELD_OUT)
    else:
        run(options.groups)
