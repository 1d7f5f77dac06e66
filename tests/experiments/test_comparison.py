"""Methods compared from Python: by name or as estimators, with and without classes."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

from partwise import NMF, GraphNMF, NormalizedCut, TensorNMF
from partwise.experiments import compare_methods
from partwise.experiments.comparison import Steps, prepared, warm_up
from partwise.files import DataSet
from partwise.metrics import clustering_accuracy
from partwise.report import comparison_page

Y = np.arange(60) % 3
X = np.random.RandomState(0).uniform(size=(60, 12)) + 3 * np.repeat(np.eye(3), 4, axis=1)[Y]


class Lines(Steps):
    """Keeps what is said."""

    def __init__(self):
        self.said = []

    def say(self, text):
        self.said.append(text)

    def end(self, step, ending):
        self.said.append(f"{step}: {ending}")


def test_methods_by_name_are_those_of_a_fit_by_hand():
    found = compare_methods(X, Y, ["k-means", "GraphNMF"], seed=3)
    assert [outcome.name for outcome in found.outcomes] == ["k-means", "GraphNMF"]
    assert found.n_components == 3
    by_hand = GraphNMF(3, random_state=3).fit(normalize(X))
    np.testing.assert_allclose(found.outcomes[1].components, by_hand.components_)
    assert found.outcomes[1].accuracy == clustering_accuracy(Y, by_hand.labels_)
    assert "GraphNMF" in str(found)
    assert "GraphNMF" in comparison_page(found, {})


def test_estimators_of_the_user_and_samples_as_they_are():
    start = (np.ones((60, 2)), np.ones((2, 12)))
    models = {"mine": NMF(2, init=start, random_state=0), "shaped": TensorNMF(2, sample_shape=(3, 4), random_state=0)}
    found = compare_methods(X, Y, models, prepare=False)
    assert [outcome.name for outcome in found.outcomes] == ["mine", "shaped"]
    np.testing.assert_allclose(found.outcomes[0].components, clone(models["mine"]).fit(X).components_)
    assert found.preparation == "Samples as they are"
    lines = Lines()  # they have their own numbers of components, so without classes none need be named
    assert len(compare_methods(X, None, models, prepare=False, steps=lines).outcomes) == 2
    assert "components as given, no labels, seed 0" in lines.said


def test_classes_may_have_names_and_be_unknown():
    names = np.array(["a", "b", "c"], object)[Y]
    names[:6] = ""
    found = compare_methods(X, names, ["NMF"], labels_per_class=2)
    assert found.data.class_names == ("a", "b", "c")
    assert (found.data.y[:6] == -1).all()
    assert (found.known >= 0).sum() == 6
    assert found.n_hidden == 60 - 6 - 6


def test_without_classes_there_are_no_scores_and_nothing_to_tell():
    lines = Lines()
    found = compare_methods(X, n_components=3, graph_strengths=[1.0], steps=lines)
    assert [outcome.name for outcome in found.outcomes] == ["k-means", "NMF", "GraphNMF"]
    assert found.outcomes[0].accuracy is None
    assert found.strengths == ()
    assert "3 components, no labels, so ConstrainedNMF is left out, seed 0" in lines.said


def test_strengths_are_run_besides():
    lines = Lines()
    found = compare_methods(X, Y, ["GraphNMF"], graph_strengths=[0.5, 5.0], steps=lines)
    assert [strength for strength, _ in found.strengths] == [0.5, 5.0]
    assert "graph_strength=5.0" in found.strengths[1][1].settings
    assert any(line.startswith("GraphNMF, strength 5: ") for line in lines.said)


def test_counts_are_weighted_and_other_numbers_are_not():
    counts = sp.csr_array(np.array([[1.0, 2.0, 0.0], [0.0, 3.0, 1.0]]))
    assert prepared(counts)[1] == "Counts weighted by tf-idf, samples scaled to unit norm"
    scaled, words = prepared(counts * 0.3)
    assert words == "Samples scaled to unit norm"
    np.testing.assert_allclose(scaled.toarray(), normalize(counts.toarray()))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"y": Y[:-1]}, "y cannot be read as classes: it has 59 labels for 60 samples."),
        ({}, "data has no labels, so the number of components must be given"),
        ({"y": Y, "n_components": 13}, "n_components is 13; data allows at most 12."),
        ({"y": Y, "labels_per_class": 20}, "the smallest class of data has 20 samples"),
        ({"y": Y, "methods": ["PCA"]}, "There is no method 'PCA'"),
        ({"y": Y, "methods": [NMF(3)]}, "give a list of names, or a dict of estimators"),
        ({"y": Y, "methods": "NMF"}, "give a list of names, or a dict of estimators"),
        ({"y": Y, "methods": ["NormalizedCut"]}, "NormalizedCut cannot be compared"),
        ({"y": Y, "methods": {"cut": NormalizedCut(3)}}, "cut cannot be compared"),
        ({"y": Y, "methods": {"short": NMF(3, init=(X[:5, :3], X[:3]))}}, "^short: "),
        ({"X": DataSet("set", X, Y, ("a", "b", "c"), None, "", ""), "y": Y}, "which has its own classes"),
    ],
)
def test_what_cannot_be_compared(arguments, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        compare_methods(**{"X": X, **arguments})


def test_the_warm_up_leaves_models_alone():
    model = KMeans(7, n_init=1)
    warm_up([type("Method", (), {"model": model})])
    assert model.n_clusters == 7
    assert not hasattr(model, "labels_")
