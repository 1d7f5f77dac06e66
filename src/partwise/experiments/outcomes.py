"""What methods achieved on one data set: scores, parts, and how their fits ended."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from ..core.types import Array, IntArray
from ..metrics import clustering_accuracy, normalized_mutual_information, purity
from ..selection.criteria import link_criteria, silhouette

# The names of scores, and the attributes of an outcome that hold them.
SCORES = {"accuracy": "accuracy", "unlabelled": "unlabelled", "NMI": "nmi", "purity": "purity"}
# The same for data without labels: the criteria by which "auto" chooses.
LABEL_FREE = {name: name for name in ("connectedness", "modularity", "information", "silhouette")}


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a method achieved.

    Attributes
    ----------
    name : str
    accuracy, unlabelled, nmi, purity : float or None
        Over the samples whose class is known, None if there are none; `unlabelled` is the accuracy on those whose
        label no method was given.
    connectedness, modularity, information, silhouette : float or None
        How well the clusters fit the data (:class:`partwise.selection.Path`); None if classes are known.
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
        The estimator as an expression, with all parameters that are not defaults.
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
    connectedness: float | None = None
    modularity: float | None = None
    information: float | None = None
    silhouette: float | None = None


def shown_scores(outcomes: Sequence[Outcome]) -> dict[str, str]:
    """Names and attributes of the available scores."""
    known = SCORES | LABEL_FREE
    return {name: key for name, key in known.items() if any(getattr(o, key) is not None for o in outcomes)}


def judged(outcome: Outcome, X: Any, edges: Any) -> Outcome:
    """An outcome without classes, with its clusters judged by how well they fit the data.

    Parameters
    ----------
    outcome : Outcome
    X : array or sparse matrix
    edges : csr_array
        Links between neighbours.
    """
    labels = outcome.labels
    connectedness, modularity, information = link_criteria(edges, labels, len(outcome.components))
    links = {"connectedness": connectedness, "modularity": modularity, "information": information}
    worth: dict[str, Any] = {**links, "silhouette": silhouette(X, labels)}
    return replace(outcome, **worth)


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
        Clusters, classes, and the classes that the method was given; −1 for unknown.
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
    """A value as text; arrays, such as a start, are too long to show."""
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

    A component's share of a class is the mean of its codes over the class, so that all classes count equally.
    """
    classes = np.unique(y[y >= 0])
    shares = np.stack([outcome.codes[y == label].mean(axis=0) for label in classes])
    favourite = shares.argmax(axis=0)
    order = np.lexsort((-shares.max(axis=0), favourite))
    return order, classes[favourite[order]]
