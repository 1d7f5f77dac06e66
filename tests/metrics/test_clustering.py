"""Clustering metrics against their definitions, written out."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import normalized_mutual_info_score

from partwise.metrics import clustering_accuracy, matched_counts, normalized_mutual_information, purity

METRICS = [clustering_accuracy, normalized_mutual_information, purity]

# Pairs of labels: two labellings of equal length with up to five values each.
labellings = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=30).map(
    lambda pairs: tuple(map(list, zip(*pairs, strict=True)))
)


def accuracy_by_permutations(y_true, y_pred):
    classes, clusters = sorted(set(y_true)), sorted(set(y_pred))
    names = classes + [None] * max(0, len(clusters) - len(classes))
    return max(
        np.mean([dict(zip(clusters, chosen, strict=True))[k] == c for c, k in zip(y_true, y_pred, strict=True)])
        for chosen in itertools.permutations(names, len(clusters))
    )


def purity_by_counting(y_true, y_pred):
    members = {k: [c for c, own in zip(y_true, y_pred, strict=True) if own == k] for k in set(y_pred)}
    return sum(max(map(m.count, m)) for m in members.values()) / len(y_true)


def nmi_by_loops(y_true, y_pred, average):
    n = len(y_true)
    information = 0.0
    for c in set(y_true):
        for k in set(y_pred):
            n_ck = sum(a == c and b == k for a, b in zip(y_true, y_pred, strict=True))
            if n_ck:
                information += n_ck / n * math.log(n * n_ck / (y_true.count(c) * y_pred.count(k)))
    a, b = (-sum(y.count(v) / n * math.log(y.count(v) / n) for v in set(y)) for y in (y_true, y_pred))
    if a == b == 0:
        return 1.0
    if a == 0 or b == 0:
        return 0.0
    return information / {"max": max(a, b), "sqrt": math.sqrt(a * b), "arithmetic": (a + b) / 2}[average]


@given(labellings)
@settings(max_examples=60, deadline=None)
def test_metrics_equal_their_definitions(pair):
    assert clustering_accuracy(*pair) == pytest.approx(accuracy_by_permutations(*pair), abs=1e-12)
    assert purity(*pair) == pytest.approx(purity_by_counting(*pair), abs=1e-12)
    for average, sklearn_name in {"max": "max", "sqrt": "geometric", "arithmetic": "arithmetic"}.items():
        nmi = normalized_mutual_information(*pair, average=average)
        assert nmi == pytest.approx(nmi_by_loops(*pair, average), abs=1e-12)
        assert nmi == pytest.approx(normalized_mutual_info_score(*pair, average_method=sklearn_name), abs=1e-12)
        assert 0 <= nmi <= 1


@given(labellings, st.permutations(range(5)))
@settings(max_examples=30, deadline=None)
def test_names_of_clusters_do_not_matter(pair, names):
    y_true, y_pred = pair
    renamed = [f"cluster {names[k]}" for k in y_pred]
    for metric in METRICS:
        assert metric(y_true, renamed) == pytest.approx(metric(y_true, y_pred), abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_a_perfect_clustering_scores_one(metric):
    assert metric(["cat", "dog", "dog", "cow"], [7, 3, 3, 5]) == 1.0


def test_more_clusters_than_classes_and_fewer():
    assert clustering_accuracy([0, 0, 0, 0], [0, 0, 0, 1]) == 0.75
    assert clustering_accuracy([0, 0, 1, 2], [0, 0, 0, 0]) == 0.5
    assert purity([0, 0, 0, 0], [0, 1, 2, 3]) == 1.0


@pytest.mark.parametrize("average", ["max", "sqrt", "arithmetic"])
def test_constant_labellings(average):
    assert normalized_mutual_information([1, 1, 1], [0, 1, 2], average=average) == 0.0
    assert normalized_mutual_information([0, 1, 2], [1, 1, 1], average=average) == 0.0
    assert normalized_mutual_information([1, 1, 1], ["a", "a", "a"], average=average) == 1.0


@pytest.mark.parametrize("metric", METRICS)
class TestBadInput:
    def test_lengths(self, metric):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            metric([0, 1], [0, 1, 1])

    def test_empty(self, metric):
        with pytest.raises(ValueError, match="empty"):
            metric([], [])

    def test_nan(self, metric):
        with pytest.raises(ValueError, match=r"y_pred contains NaN"):
            metric([0, 1], [0, np.nan])

    def test_matrix(self, metric):
        with pytest.raises(ValueError, match="1d array"):
            metric([0, 1], [[0, 1], [1, 0]])

    def test_column(self, metric):
        with pytest.warns(DataConversionWarning):
            assert metric([0, 1], [[0], [1]]) == 1.0


def test_unknown_average():
    with pytest.raises(ValueError, match="average='min' was given"):
        normalized_mutual_information([0, 1], [0, 1], average="min")


@pytest.mark.parametrize("n_clusters", [2, 4, 7])
def test_matched_counts_have_the_accuracy_on_their_diagonal(n_clusters):
    rng = np.random.RandomState(n_clusters)
    y, labels = rng.randint(4, size=200) * 2, rng.randint(n_clusters, size=200) + 5
    counts, classes, clusters = matched_counts(y, labels)
    assert np.trace(counts) / 200 == pytest.approx(clustering_accuracy(y, labels))
    for i, label in enumerate(classes):
        for j, cluster in enumerate(clusters):
            assert counts[i, j] == ((y == label) & (labels == cluster)).sum()
