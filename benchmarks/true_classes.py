"""What the rule of choice says of the true classes, against what it says of the clusters that GraphNMF finds.

    python benchmarks/true_classes.py      # prints the table of docs/selection.md

Where the true classes are worth less than what is found, no choice by this worth can lead to them.
"""

from __future__ import annotations

import warnings

import numpy as np
from selection_study import draw

from partwise import GraphNMF
from partwise.graphs import neighbor_graph
from partwise.metrics import clustering_accuracy
from partwise.selection import linked_information

FEW = ("digits", "coil20", "tdt2", "reuters", "webace_1000", "webkb4", "yale32")
REPEATS = (0, 1)


def main():
    warnings.simplefilter("ignore")
    print("| data | worth of the true classes | worth of the clusters found | accuracy in % |")
    print("|---|---|---|---|")
    for name in FEW:
        found = []
        for repeat in REPEATS:
            X, y = draw(name, repeat)
            labels = GraphNMF(int(y.max()) + 1, graph_strength="auto", random_state=repeat).fit(X).labels_
            edges = neighbor_graph(X, 5)
            accuracy = 100 * clustering_accuracy(y, labels)
            found.append((sum(linked_information(edges, y)), sum(linked_information(edges, labels)), accuracy))
        truth, ours, accuracy = np.mean(found, axis=0)
        print(f"| {name} | {truth:.2f} | {ours:.2f} | {accuracy:.0f} |", flush=True)


if __name__ == "__main__":
    main()
