"""Readings of GNMF and SemiGNMF in the CNMF paper: what is in the graph. The numbers in ``findings.md``.

    python -m docs.reproduction.readings_cnmf

The paper says that SemiGNMF modifies the weight matrix of GNMF: "a large weight" between samples of one label, none
between samples of different labels. It does not say how large, nor what becomes of the other edges. Accuracy / NMI,
mean over all numbers of classes, with fewer draws than the protocol has.
"""

import warnings

import numpy as np
import scipy.sparse as sp

from partwise import GraphNMF
from partwise.experiments import load_protocol
from partwise.experiments.paper_starts import unit_component_start
from partwise.experiments.preparation import draw_classes, draw_labels, prepare, seed
from partwise.graphs import nearest_neighbors
from partwise.metrics import clustering_accuracy, normalized_mutual_information

DRAWS, SIZES = 5, range(2, 11)


def edges(X, known, neighbors, label_weight):
    """Binary neighbours, edited by labels: this weight within a class, none between classes."""
    n = len(known)
    nearest = nearest_neighbors(X, neighbors, "cosine").toarray() != 0 if neighbors else np.zeros((n, n), bool)
    links = (nearest | nearest.T).astype(float)
    if label_weight:
        labelled = known >= 0
        links[np.ix_(labelled, labelled)] = 0
        links[labelled[:, None] & (known[:, None] == known)] = label_weight
    np.fill_diagonal(links, 0)
    return sp.csr_array(links)


def scores(protocol, dataset, neighbors, label_weight, strength):
    """Accuracy and NMI in per cent, mean over numbers of classes and draws."""
    plan = protocol.datasets[dataset]
    whole = prepare(plan, plan.prepare)
    found = []
    for k in SIZES:
        for draw in range(DRAWS):
            place = protocol.paper, dataset, k, draw
            sample = draw_classes(whole, k, seed(*place, "classes"))
            known = draw_labels(sample.y, 2, seed(*place, "labels"))
            model = GraphNMF(k, graph_strength=strength, graph=edges(sample.X, known, neighbors, label_weight))
            model.set_params(solver="multiplicative", scale=None, max_iter=200, tol=0, assign="kmeans", random_state=0)
            start = unit_component_start(sample.X, k, seed(*place, "SemiGNMF"))
            labels = model.set_params(init=start).fit(sample.X).labels_
            nmi = normalized_mutual_information(sample.y, labels, average="max")
            found.append((clustering_accuracy(sample.y, labels), nmi))
    return 100 * np.mean(found, axis=0)


def printed(protocol, dataset, method):
    """The printed averages over the numbers of classes."""
    of = [n for n in protocol.numbers if (n.dataset, n.method, n.n_clusters) == (dataset, method, None)]
    return [next(n.mean for n in of if n.metric == metric) for metric in ("accuracy", "nmi_max")]


def main():
    """All readings on both data sets."""
    protocol = load_protocol("cnmf")
    readings = {
        "neighbours": (5, 0),
        "neighbours and labels at 1": (5, 1),
        "neighbours and labels at 100": (5, 100),
        "labels only": (0, 1),
    }
    for dataset in protocol.datasets:
        for method in ("NMF", "GNMF", "SemiGNMF"):
            print("{}, {} printed: {:.1f} / {:.1f}".format(dataset, method, *printed(protocol, dataset, method)))
        for title, (neighbors, weight) in readings.items():
            for strength in (1.0, 10.0, 100.0):
                found = scores(protocol, dataset, neighbors, weight, strength)
                print("{}, {}, λ = {:g}: {:.1f} / {:.1f}".format(dataset, title, strength, *found), flush=True)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
