"""The examples run as they stand, and their objectives fall."""

import sys
from pathlib import Path

import numpy as np
import pytest

from partwise.terms import LocalLearning

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    yield
    for name in (
        "missing_pixels",
        "labels_and_local_learning",
        "counts_near_samples",
        "nlcf_faces",
        "cauchy_corruption",
    ):
        sys.modules.pop(name, None)


def assert_falls(model, *terms):
    objective = np.array(model.history_["objective"])
    assert np.diff(objective).max() <= 1e-10 * objective[0]
    assert objective[-1] < 0.9 * objective[0]
    assert set(model.history_) == {"objective", "time", "fit", *terms}


def test_missing_pixels():
    from missing_pixels import fit

    model, X, hidden = fit()
    assert_falls(model, "local coordinates")
    filled = model.inverse_transform(model.embedding_)
    assert np.mean((filled - X)[hidden] ** 2) < 0.5 * X[hidden].var()


@pytest.mark.filterwarnings("ignore:The graph of the samples falls")
def test_labels_and_local_learning():
    from labels_and_local_learning import fit

    model, _, unlabelled = fit(LocalLearning(10.0))
    assert_falls(model, "graph", "local learning")
    assert model.solver_ == "coordinate"
    assert unlabelled.sum() == 580


@pytest.mark.filterwarnings("ignore:The graph of the samples falls")
def test_counts_near_samples():
    from counts_near_samples import fit

    model = fit()
    assert_falls(model, "local coordinates", "graph")
    assert model.solver_ == "newton"


def test_montage():
    from nlcf_faces import draw_subjects, montage

    assert montage(np.ones((25, 6)), (2, 3)).shape == (20, 25)
    rows = draw_subjects(np.repeat(np.arange(30), 8), np.random.RandomState(0))
    assert len(set(rows)) == 125


def test_cauchy_corruption():
    from cauchy_corruption import accuracies, broken_pixels, broken_samples
    from sklearn.datasets import load_digits

    X, y = load_digits(n_class=4, return_X_y=True)
    X, y = X[:150] / 16, y[:150]
    for corrupt in (broken_pixels, broken_samples):
        broken, judged = corrupt(X, 8.0, np.random.RandomState(0))
        assert 0.05 < (broken != X).mean() < 0.15
        assert judged.mean() > 0.8
    scores = accuracies(X, y, broken_samples, 8.0, seeds=1)
    assert scores["CauchyNMF"][0] > scores["NMF"][0] + 0.2
