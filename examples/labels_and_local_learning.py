"""Labels with a graph, and local learning: two kinds of knowledge about the samples in one objective.

    ‖X − W H‖² + λ tr(Wᵀ (D − E) W) + μ ‖(I − G) W‖²

The graph E joins samples of one known class and cuts edges between different ones (SemiGNMF). The local predictors G
ask that every code can be predicted from its neighbours' (LLNMF), which carries the few labels along the manifold. Both
are quadratic in the codes, so the coordinate solver takes their sum as it takes each of them.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from partwise import Factorization
from partwise.metrics import clustering_accuracy
from partwise.terms import Frobenius, LocalLearning, NeighborGraph


def fit(*extra, n_labels=2):
    """Digits of which a few per class are labelled; returns the model, the classes and who was unlabelled."""
    X, y = load_digits(return_X_y=True)
    X, y = normalize(X[:600]), y[:600]
    known = np.full(len(y), -1)
    for label in range(10):
        known[np.flatnonzero(y == label)[:n_labels]] = label
    terms = [Frobenius(), NeighborGraph(1.0, use_labels=True), *extra]
    return Factorization(10, terms=terms, max_iter=100, tol=0, random_state=0).fit(X, known), y, known < 0


if __name__ == "__main__":
    for name, extra in (("graph and labels", []), ("with local learning", [LocalLearning(10.0)])):
        model, y, unlabelled = fit(*extra)
        print(f"{name}: accuracy on unlabelled {clustering_accuracy(y[unlabelled], model.labels_[unlabelled]):.3f}")
