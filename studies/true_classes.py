"""The four criteria for the true classes, compared with those for the clusters that GraphNMF finds.

    python -m studies.true_classes      # prints the table of docs/selection.md

Where the true classes score worse than the clusters found, no choice by these criteria can lead to them.
"""

from __future__ import annotations

import warnings

import numpy as np

from partwise import GraphNMF
from partwise.graphs import neighbor_graph
from partwise.metrics import clustering_accuracy
from partwise.selection.criteria import link_criteria, silhouette

from .selection import draw

FEW = ("digits", "coil20", "tdt2", "reuters", "webace_1000", "webkb4", "yale32")
REPEATS = (0, 1)


def judge(X, labels, n_clusters):
    """Connectedness, modularity, information, silhouette."""
    return *link_criteria(neighbor_graph(X, 5), labels, n_clusters), silhouette(X, labels)


def main():
    warnings.simplefilter("ignore")
    print("| data | connectedness | modularity | information | silhouette | accuracy of the clusters in % |")
    print("|---|---|---|---|---|---|")
    for name in FEW:
        found = []
        for repeat in REPEATS:
            X, y = draw(name, repeat)
            k = int(y.max()) + 1
            labels = GraphNMF(k, graph_strength="auto", random_state=repeat).fit(X).labels_
            found.append((judge(X, y, k), judge(X, labels, k), [100 * clustering_accuracy(y, labels)] * 4))
        truth, ours, accuracy = np.mean(found, axis=0)
        pairs = " | ".join(f"{true:.2f} / {our:.2f}" for true, our in zip(truth, ours, strict=True))
        print(f"| {name} | {pairs} | {accuracy[0]:.0f} |", flush=True)


if __name__ == "__main__":
    main()
