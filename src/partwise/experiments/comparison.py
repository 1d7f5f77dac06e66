"""Run several methods on one data set under the same conditions, and score them."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.cluster import KMeans

from .. import NMF, ConstrainedNMF, GraphNMF
from ..callbacks import Callback
from ..core.interruption import fit_whole
from ..core.types import Array, IntArray
from ..datasets import DataSet
from ..metrics import clustering_accuracy, normalized_mutual_information, purity

RESTARTS = 20
# How scores are called, and the attributes of an outcome that hold them.
SCORES = {"accuracy": "accuracy", "unlabelled": "unlabelled", "NMI": "nmi", "purity": "purity"}


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
    accuracy, unlabelled, nmi, purity : float or None
        Over the samples whose class is known, None if there are none; `unlabelled` is the accuracy on those whose
        label no method was told.
    seconds : float
        From the data to the clusters.
    ending : str
        How the fit ended, in words.
    components, codes : ndarray
        Their product is the method's reconstruction of the data.
    labels : ndarray of int
    notes : tuple of str
        Warnings of the fit.
    history : mapping of str to sequence of float
        The objective, its terms and the time, from the start and after each sweep; empty for methods without sweeps.
    settings : str
        The estimator as it can be typed in, with all parameters that are not defaults.
    """

    name: str
    accuracy: float | None
    unlabelled: float | None
    nmi: float | None
    purity: float | None
    seconds: float
    ending: str
    components: Array
    codes: Array
    labels: IntArray
    notes: tuple[str, ...] = ()
    history: Mapping[str, Sequence[float]] = field(default_factory=dict)
    settings: str = ""


def shown_scores(outcomes: Sequence[Outcome]) -> dict[str, str]:
    """Names and attributes of the scores that there are; without labels there are none."""
    return {name: key for name, key in SCORES.items() if any(getattr(o, key) is not None for o in outcomes)}


def default_methods(n_components: int, seed: int, labelled: bool = True) -> list[Method]:
    """The methods that ``partwise compare`` runs, each with its defaults; ConstrainedNMF only if there are labels."""
    methods = [
        Method("k-means", KMeans(n_components, n_init=RESTARTS, random_state=seed)),
        Method("NMF", NMF(n_components, random_state=seed)),
        Method("GraphNMF", GraphNMF(n_components, random_state=seed)),
    ]
    return (
        [*methods, Method("ConstrainedNMF", ConstrainedNMF(n_components, random_state=seed))] if labelled else methods
    )


def warm_up(methods: list[Method]) -> None:
    """Run every method on a handful of numbers, so that compilation is not charged to the first one timed."""
    X = np.random.RandomState(0).uniform(0.1, 1.0, size=(24, 6))
    y = np.where(np.arange(24) < 4, np.arange(24) % 2, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method in methods:
            model = clone(method.model)
            small = {"n_clusters": 2} if isinstance(model, KMeans) else {"n_components": 2}
            fit_whole(model.set_params(**small, max_iter=3), X, y)


def run_method(method: Method, X: Array, y: IntArray, known: IntArray, callback: Callback) -> Outcome:
    """Fit one method, read clusters off its codes, and score them.

    Parameters
    ----------
    method : Method
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of int
        The true classes, for scoring; −1 for unknown.
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
        labels = fit_whole(model, X, known).labels_
        seconds = time.perf_counter() - clock
    return describe_fit(method.name, model, labels, y, known, seconds, caught)


def describe_fit(
    name: str,
    model: Any,
    labels: IntArray,
    y: IntArray,
    known: IntArray,
    seconds: float,
    caught: Sequence[warnings.WarningMessage] = (),
) -> Outcome:
    """Score a fitted model's clusters.

    Parameters
    ----------
    name : str
    model : estimator
    labels, y, known : ndarray of int
        Clusters, classes, and the classes that the method was told; −1 for unknown.
    seconds : float
    caught : sequence of warnings
    """
    components, codes, ending = _describe(model)
    scored, hidden = y >= 0, (y >= 0) & (known < 0)
    any_scored, any_hidden = bool(scored.any()), bool(hidden.any())
    return Outcome(
        name=name,
        accuracy=clustering_accuracy(y[scored], labels[scored]) if any_scored else None,
        unlabelled=clustering_accuracy(y[hidden], labels[hidden]) if any_hidden else None,
        nmi=normalized_mutual_information(y[scored], labels[scored], average="max") if any_scored else None,
        purity=purity(y[scored], labels[scored]) if any_scored else None,
        seconds=seconds,
        ending=ending,
        components=components,
        codes=codes,
        labels=labels,
        notes=tuple(dict.fromkeys(str(warning.message) for warning in caught)),
        history=getattr(model, "history_", {}),
        settings=_settings(model),
    )


def _settings(model: Any) -> str:
    defaults = type(model)().get_params(deep=False)
    given = {
        name: value
        for name, value in model.get_params(deep=False).items()
        if name != "callbacks" and repr(value) != repr(defaults[name])
    }
    spelled = ", ".join(f"{name}={_spelled(value)}" for name, value in given.items())
    return f"{type(model).__name__}({spelled})"


def _spelled(value: Any) -> str:
    """Arrays, such as a start, are too long to be shown."""
    return "(W, H)" if isinstance(value, tuple) else repr(value)


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
    if hasattr(model, "selection_"):
        ending += "".join(f", {name} {value:g}" for name, value in model.selection_.choice.items())
    return model.components_, model.embedding_, ending


def match_components(outcome: Outcome, y: IntArray) -> tuple[IntArray, IntArray]:
    """An order of the components by the class that uses each most, and these classes in that order.

    A component's share of a class is the mean of its codes over the class, so that all classes count alike.
    """
    classes = np.unique(y[y >= 0])
    shares = np.stack([outcome.codes[y == label].mean(axis=0) for label in classes])
    favourite = shares.argmax(axis=0)
    order = np.lexsort((-shares.max(axis=0), favourite))
    return order, classes[favourite[order]]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several methods on one data set.

    Attributes
    ----------
    data : DataSet
    X : ndarray or csr_array
        The samples as the methods saw them.
    preparation : str
        How they came about, in words.
    known : ndarray of int
        The labels that methods may use, −1 for unknown.
    outcomes : tuple of Outcome
    seed : int
    strengths : tuple of (float, Outcome)
        GraphNMF with several values of graph_strength.
    """

    data: DataSet
    X: Any
    preparation: str
    known: IntArray
    outcomes: tuple[Outcome, ...]
    seed: int
    strengths: tuple[tuple[float, Outcome], ...] = ()
