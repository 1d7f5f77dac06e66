"""LocalLearningClustering: a spectral embedding, and clusters of it."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from partwise import LocalLearningClustering
from partwise.metrics import clustering_accuracy

DIGITS, CLASSES = (part[:500] for part in load_digits(return_X_y=True))
SMALL = np.random.RandomState(0).gamma(0.5, size=(40, 9))


@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks([LocalLearningClustering(n_components=3)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_clustering():
    model = LocalLearningClustering(10, random_state=0).fit(DIGITS)
    assert clustering_accuracy(CLASSES, model.labels_) > 0.75
    np.testing.assert_allclose(np.linalg.norm(model.embedding_, axis=1), 1)
    other = LocalLearningClustering(10, random_state=1).fit(sp.csr_array(DIGITS))
    np.testing.assert_allclose(abs(model.embedding_), abs(other.embedding_), atol=1e-6)
    assert not hasattr(model, "transform")
    with pytest.raises(NotFittedError):
        _ = LocalLearningClustering().labels_


def test_clustering_by_iteration_agrees_with_the_dense_way(monkeypatch):
    dense = LocalLearningClustering(10, random_state=0).fit(DIGITS)
    monkeypatch.setattr("partwise.solvers.spectral.MOST_DENSE", 0)
    iterated = LocalLearningClustering(10, random_state=0).fit(DIGITS)
    assert clustering_accuracy(dense.labels_, iterated.labels_) > 0.95
    again = LocalLearningClustering(10, random_state=0).fit(DIGITS)
    assert np.array_equal(again.embedding_, iterated.embedding_)


@pytest.mark.filterwarnings("ignore:The graph of the samples falls")
def test_clustering_of_zero_samples():
    X = SMALL.copy()
    X[3] = 0
    model = LocalLearningClustering(2, n_neighbors=5, random_state=0).fit(X)
    assert not model.embedding_[3].any()
    assert len(model.labels_) == 40
    with pytest.raises(ValueError, match="n_components=41 clusters"):
        LocalLearningClustering(41).fit(X)
