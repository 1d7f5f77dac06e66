"""Run several methods on one data set under the same conditions, and score them."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.cluster import KMeans

from .. import NMF, ConstrainedNMF, GraphNMF
from ..callbacks import Callback
from ..core.types import Array, IntArray
from ..metrics import clustering_accuracy, normalized_mutual_information, purity

RESTARTS = 20


@dataclass(frozen=True)
class Method:
    """A name and an estimator; only ConstrainedNMF among them looks at the labels."""

    name: str
    model: Any


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a method achieved.

    Attributes
    ----------
    name : str
    accuracy, unlabelled, nmi, purity : float
        `unlabelled` is the accuracy on the samples whose label no method was told.
    seconds : float
        From the data to the clusters.
    ending : str
        How the fit ended, in words.
    components, codes : ndarray
        Their product is the method's reconstruction of the data.
    labels : ndarray of int
    notes : tuple of str
        Warnings of the fit.
    """

    name: str
    accuracy: float
    unlabelled: float
    nmi: float
    purity: float
    seconds: float
    ending: str
    components: Array
    codes: Array
    labels: IntArray
    notes: tuple[str, ...] = ()


def default_methods(n_components: int, seed: int) -> list[Method]:
    """The methods that ``partwise compare`` runs, each with its defaults."""
    return [
        Method("k-means", KMeans(n_components, n_init=RESTARTS, random_state=seed)),
        Method("NMF", NMF(n_components, random_state=seed)),
        Method("GraphNMF", GraphNMF(n_components, random_state=seed)),
        Method("ConstrainedNMF", ConstrainedNMF(n_components, random_state=seed)),
    ]


def warm_up(methods: list[Method]) -> None:
    """Run every method on a handful of numbers, so that compilation is not charged to the first one timed."""
    X = np.random.RandomState(0).uniform(0.1, 1.0, size=(24, 6))
    y = np.where(np.arange(24) < 4, np.arange(24) % 2, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method in methods:
            model = clone(method.model)
            small = {"n_clusters": 2} if isinstance(model, KMeans) else {"n_components": 2}
            _fit(model.set_params(**small, max_iter=3), X, y)


def run_method(method: Method, X: Array, y: IntArray, known: IntArray, callback: Callback) -> Outcome:
    """Fit one method, read clusters off its codes, and score them.

    Parameters
    ----------
    method : Method
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of int
        The true classes, for scoring.
    known : ndarray of int
        The labels that methods may use, −1 for unknown.
    callback : Callback
        Hears of every sweep; k-means has none.
    """
    model = clone(method.model)
    if not isinstance(model, KMeans):
        model.set_params(callbacks=[callback])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clock = time.perf_counter()
        labels = _fit(model, X, known)
        seconds = time.perf_counter() - clock
    components, codes, ending = _describe(model)
    hidden = known < 0
    return Outcome(
        name=method.name,
        accuracy=clustering_accuracy(y, labels),
        unlabelled=clustering_accuracy(y[hidden], labels[hidden]),
        nmi=normalized_mutual_information(y, labels, average="max"),
        purity=purity(y, labels),
        seconds=seconds,
        ending=ending,
        components=components,
        codes=codes,
        labels=labels,
        notes=tuple(dict.fromkeys(str(warning.message) for warning in caught)),
    )


def _fit(model: Any, X: Array, known: IntArray) -> IntArray:
    """Fit and give the clusters; on Ctrl-C give up, where a fit alone would keep what it has."""
    model.fit(X, known)
    if getattr(model, "stop_reason_", "") == "interrupted":
        raise KeyboardInterrupt
    labels: IntArray = model.labels_
    return labels


def _describe(model: Any) -> tuple[Array, Array, str]:
    """Components, codes, and how the fit ended."""
    if isinstance(model, KMeans):
        centres = model.cluster_centers_
        return centres, np.eye(len(centres))[model.labels_], f"best of {model.n_init} restarts"
    endings: dict[str, Callable[[int], str]] = {
        "converged": "converged after {} sweeps".format,
        "max_iter": "stopped at the limit of {} sweeps".format,
    }
    ending = endings.get(model.stop_reason_, "stopped after {} sweeps".format)(model.n_iter_)
    return model.components_, model.embedding_, ending


def match_components(outcome: Outcome, y: IntArray) -> tuple[IntArray, IntArray]:
    """An order of the components by the class that uses each most, and these classes in that order.

    A component's share of a class is the mean of its codes over the class, so that all classes count alike.
    """
    shares = np.stack([outcome.codes[y == label].mean(axis=0) for label in np.unique(y)])
    favourite = shares.argmax(axis=0)
    order = np.lexsort((-shares.max(axis=0), favourite))
    return order, np.unique(y)[favourite[order]]
