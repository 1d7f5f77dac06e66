"""A short run on real digits gives clusters about as good as those of k-means, and never nonsense."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from partwise import ConceptFactorization, ConvexNMF, KernelGraphNMF, OrthogonalNMF, OrthogonalTriNMF, SemiNMF
from partwise.metrics import clustering_accuracy

# Lowest accuracy that is sane: k-means itself has about 0.75 on these digits, chance 0.1.
CASES = [
    (SemiNMF(), 0.65),
    (SemiNMF(solver="coordinate"), 0.65),
    (ConvexNMF(), 0.55),
    (ConvexNMF(solver="multiplicative"), 0.6),
    (ConceptFactorization(graph_strength=1.0), 0.7),
    (ConceptFactorization(graph_strength=0.0), 0.55),
    (KernelGraphNMF(n_landmarks=100), 0.65),
    (KernelGraphNMF(n_landmarks=100, solver="multiplicative"), 0.65),
    (OrthogonalNMF(), 0.65),
    (OrthogonalNMF(solver="multiplicative"), 0.65),
    (OrthogonalTriNMF(), 0.6),
    (OrthogonalTriNMF(solver="multiplicative"), 0.55),
]


@pytest.mark.parametrize(("model", "lowest"), CASES, ids=lambda case: repr(case))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_digits(model, lowest):
    X, y = load_digits(return_X_y=True)
    X, y = normalize(X[:800]), y[:800]
    # Of these rules codes settle late, from whatever start.
    late = isinstance(model, OrthogonalTriNMF) and model.solver == "multiplicative"
    model = clone(model).set_params(n_components=10, max_iter=150 if late else 60, random_state=0).fit(X)
    accuracy = clustering_accuracy(y, model.labels_)
    assert lowest < accuracy < 0.95, accuracy
    assert model.history_["objective"][-1] < model.history_["objective"][0]
    # New samples that are the training samples again get the same labels, except for codes that had not settled.
    assert np.mean(model.predict(X) == model.labels_) > 0.85
