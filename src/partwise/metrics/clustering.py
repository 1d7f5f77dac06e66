"""Agreement of a clustering with the true classes, from the table of counts n_ck (class c, cluster k)."""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import entr
from sklearn.metrics import mutual_info_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d

from ..core.types import Array

Average = Literal["max", "sqrt", "arithmetic"]


def clustering_accuracy(y_true: Any, y_pred: Any) -> float:
    """Share of samples whose cluster is matched to their class, under the best one-to-one matching.

    max over matchings π of Σ_k n_{π(k) k} / n. With more clusters than classes some clusters stay unmatched,
    and their samples count as wrong; with fewer, some classes do.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Classes, of any type that can be sorted.
    y_pred : array-like of shape (n_samples,)
        Clusters; their names do not matter.

    Returns
    -------
    accuracy : float
        In (0, 1].

    Examples
    --------
    >>> from partwise.metrics import clustering_accuracy
    >>> clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 2])
    0.75
    """
    counts = _count(y_true, y_pred)
    matched = counts[linear_sum_assignment(counts, maximize=True)]
    return float(matched.sum() / counts.sum())


def purity(y_true: Any, y_pred: Any) -> float:
    """Share of samples that belong to the most frequent class of their cluster, Σ_k max_c n_ck / n.

    Unlike the accuracy it lets several clusters stand for one class, and so favours many clusters.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Classes, of any type that can be sorted.
    y_pred : array-like of shape (n_samples,)
        Clusters; their names do not matter.

    Returns
    -------
    purity : float
        In (0, 1].

    Examples
    --------
    >>> from partwise.metrics import purity
    >>> purity(["a", "a", "b", "b"], [1, 1, 0, 2])
    1.0
    """
    counts = _count(y_true, y_pred)
    return float(counts.max(axis=0).sum() / counts.sum())


def normalized_mutual_information(y_true: Any, y_pred: Any, *, average: Average = "max") -> float:
    """Mutual information of classes and clusters, divided by an average of their entropies.

    Σ_ck p_ck log(p_ck / (p_c p_k)) / average(H(classes), H(clusters)) with p_ck = n_ck / n. A labelling with
    a single value carries no information and scores 0, unless both have a single value: then they agree and
    score 1, as in scikit-learn.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Classes, of any type that can be sorted.
    y_pred : array-like of shape (n_samples,)
        Clusters; their names do not matter.
    average : {"max", "sqrt", "arithmetic"}, default="max"
        max(a, b), √(a b) or (a + b) / 2. GNMF, NLCF and CNMF divide by the maximum, LLNMF by the square root
        (its Eq. 25 omits a factor n inside the logarithm).

    Returns
    -------
    nmi : float
        In [0, 1].

    Examples
    --------
    >>> from partwise.metrics import normalized_mutual_information
    >>> round(normalized_mutual_information(["a", "a", "b", "b"], [1, 1, 0, 2], average="max"), 3)
    0.667
    """
    if average not in get_args(Average):
        raise ValueError(f"average={average!r} was given; it must be 'max', 'sqrt' or 'arithmetic'.")
    counts = _count(y_true, y_pred)
    if counts.size == 1:
        return 1.0
    if 1 in counts.shape:
        return 0.0
    a, b = (float(entr(counts.sum(axis=axis) / counts.sum()).sum()) for axis in (0, 1))
    normalizer = {"max": max(a, b), "sqrt": math.sqrt(a * b), "arithmetic": (a + b) / 2}[average]
    information = float(mutual_info_score(None, None, contingency=counts))
    return min(max(information / normalizer, 0.0), 1.0)


def _count(y_true: Any, y_pred: Any) -> Array:
    """Table of counts, classes × clusters."""
    labellings = {"y_true": y_true, "y_pred": y_pred}
    for name, labels in labellings.items():
        labellings[name] = column_or_1d(labels, warn=True)
        assert_all_finite(labellings[name], input_name=name)
    check_consistent_length(*labellings.values())
    if not labellings["y_true"].size:
        raise ValueError("y_true and y_pred are empty; give the labels of at least one sample.")
    counts: Array = contingency_matrix(labellings["y_true"], labellings["y_pred"])
    return counts


def matched_counts(y_true: Any, y_pred: Any) -> tuple[Array, Array, Array]:
    """The table of counts n_ck with its clusters in the order of the classes they are matched to.

    The matching is that of :func:`clustering_accuracy`, so the accuracy is the share of the diagonal. Clusters and
    classes that have no partner come last.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Classes and clusters.

    Returns
    -------
    counts : ndarray of shape (n_classes, n_clusters)
    classes, clusters : ndarray
        What the rows and the columns stand for.

    Examples
    --------
    >>> from partwise.metrics import matched_counts
    >>> matched_counts(["a", "a", "b", "b"], [1, 1, 0, 2])[0]
    array([[2, 0, 0],
           [0, 1, 1]])
    """
    counts = _count(y_true, y_pred)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    rows = np.r_[rows, np.setdiff1d(np.arange(counts.shape[0]), rows)]
    columns = np.r_[columns, np.setdiff1d(np.arange(counts.shape[1]), columns)]
    return counts[np.ix_(rows, columns)], np.unique(y_true)[rows], np.unique(y_pred)[columns]
