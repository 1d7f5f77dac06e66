"""Several methods on one data set, under the same conditions."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cluster import KMeans

from ..callbacks import Callback
from ..core.door import read_data
from ..core.interruption import fit_whole
from ..core.threads import one_thread
from ..core.types import Array, IntArray
from ..estimators import NMF, ConstrainedNMF
from ..files.archive import Refused
from ..files.data_set import DataSet, describe
from ..files.labels import UNKNOWN, number_classes
from ..graphs import neighbor_graph
from ..selection.trials import JUDGING_NEIGHBORS
from .outcomes import Outcome, describe_fit, judged
from .preparation import draw_labels, tf_idf, unit_norm
from .runs import configured, find_estimator, has_components
from .score_table import plain_table

METHODS = ("k-means", "NMF", "GraphNMF", "ConstrainedNMF")
RESTARTS = 20
# Parameters of a fit whose only purpose is compilation, to 6 features.
SMALL = {"n_clusters": 2, "n_components": 2, "max_iter": 3, "sample_shape": (2, 3)}
LABELS_PER_CLASS = 5


@dataclass(frozen=True)
class Method:
    """A name and an estimator."""

    name: str
    model: Any


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several methods on one data set; ``print`` shows their scores.

    Attributes
    ----------
    data : DataSet
    X : ndarray or csr_array
        The samples as the methods saw them.
    preparation : str
        How they were prepared, in words.
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

    def __str__(self) -> str:
        return plain_table(self.outcomes)

    __repr__ = __str__

    @property
    def n_components(self) -> int:
        """Of every method."""
        return len(self.outcomes[0].components)

    @property
    def n_hidden(self) -> int:
        """Samples whose class is known but hidden from all methods."""
        return int(((self.data.y >= 0) & (self.known < 0)).sum())

    @property
    def labels(self) -> str:
        """Which labels the methods were given, in words."""
        told = self.known[self.known >= 0]
        if len(told) == 0:
            return "no labels"
        return f"labels of {len(told)} samples ({np.bincount(told).max()} per class)"


class Steps:
    """Is told about the steps of a comparison. This one prints nothing."""

    def say(self, text: str) -> None:
        """A line about the comparison."""

    def begin(self, step: str) -> Callback:
        """A step begins; the callback returned is told about its sweeps."""
        return Callback()

    def end(self, step: str, ending: str) -> None:
        """The step ends."""


def compare_methods(
    X: Any,
    y: Any = None,
    methods: Sequence[str] | Mapping[str, Any] = METHODS,
    *,
    n_components: int | Literal["auto"] | None = None,
    labels_per_class: int | None = None,
    prepare: bool = True,
    graph_strengths: Sequence[float] = (),
    seed: int = 0,
    steps: Steps | None = None,
) -> Comparison:
    """Fit several methods to the same samples with the same labels, and score their clusters.

    Each is fitted on one thread, after compilation, so that times can be compared.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features), or DataSet
        Non-negative data. A data set brings its classes.
    y : array-like of shape (n_samples,), optional
        Class of every sample, for the scores and for methods that learn from labels; −1, NaN and "" are unknown.
    methods : sequence of str, or mapping of str to estimator
        "k-means" (20 restarts) and names of estimators with components, which are run with their defaults; or
        estimators by name, with their own settings and numbers of components. ConstrainedNMF is left out if there
        are no labels to give it.
    n_components : int or "auto", optional
        Number of components and clusters of methods given by name alone; by default the number of classes. "auto" is
        the number that NMF chooses.
    labels_per_class : int, optional
        Samples of each class whose labels are given to the methods that learn from labels; by default five, or fewer
        if a class is small.
    prepare : bool, default=True
        Scale samples to unit norm, and before that weight counts in a sparse matrix by tf-idf.
    graph_strengths : sequence of float
        Further strengths with which to run GraphNMF, if it is one of the methods and there are scores.
    seed : int, default=0
        Of every random choice.
    steps : Steps, optional
        Is told how far the comparison is.

    Returns
    -------
    comparison : Comparison
        ``partwise.report.comparison_page`` makes a page of it.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from partwise.experiments import compare_methods
    >>> X, y = load_digits(return_X_y=True)
    >>> found = compare_methods(X[:200], y[:200], ["k-means", "GraphNMF"])
    >>> [outcome.name for outcome in found.outcomes]
    ['k-means', 'GraphNMF']
    """
    steps = Steps() if steps is None else steps
    data = as_data_set(X, y)
    given = isinstance(methods, Mapping)
    if not given and (isinstance(methods, str) or not all(isinstance(name, str) for name in methods)):
        raise TypeError(f"methods is {methods!r}; give a list of names, or a dict of estimators: {{'mine': NMF(10)}}.")
    k = None if given else _number_of_components(data, n_components)
    known = _told_labels(data, labels_per_class, seed)
    samples, preparation = prepared(data.X) if prepare else (data.X, "Samples as they are")
    comparison = Comparison(data, samples, preparation, known, (), seed)
    with one_thread():
        for line in [*describe(data), preparation]:
            steps.say(line)
        if k is None and not given:
            k = _chosen_number(samples, seed, steps)
        chosen = chosen_methods(methods, k, seed, data.image_shape)
        labels = comparison.labels
        if not (known >= 0).any():
            left_out = [method.name for method in chosen if isinstance(method.model, ConstrainedNMF)]
            chosen = [method for method in chosen if method.name not in left_out]
            labels += "".join(f", so {name} is left out" for name in left_out)
        steps.say(f"{'components as given' if k is None else f'{k} components'}, {labels}, seed {seed}")
        comparison = replace(comparison, outcomes=tuple(_run_all(comparison, chosen, steps)))
        graph = [method.model for method in chosen if method.name == "GraphNMF"]
        if graph and (data.y >= 0).any():
            curve = _vary_strength(comparison, graph[0], graph_strengths, steps)
            comparison = replace(comparison, strengths=tuple(curve))
    return comparison


def chosen_methods(
    methods: Sequence[str] | Mapping[str, Any],
    n_components: int | None,
    seed: int,
    image_shape: tuple[int, int] | None = None,
) -> list[Method]:
    """Estimators by name, or those that are given.

    Parameters
    ----------
    methods, n_components, seed
        As for :func:`compare_methods`.
    image_shape : tuple of (int, int), optional
        Of the samples, for methods that ask for it.
    """
    if isinstance(methods, Mapping):
        found = [Method(name, model) for name, model in methods.items()]
    elif n_components is None:
        raise ValueError("Methods given by name need n_components.")
    else:
        found = [Method(name, _by_name(name, n_components, seed, image_shape)) for name in methods]
    for method in found:
        if not isinstance(method.model, KMeans) and not has_components(type(method.model)):
            raise ValueError(f"{method.name} cannot be compared: it is neither k-means nor a method with components.")
    return found


def _by_name(name: str, n_components: int, seed: int, image_shape: tuple[int, int] | None) -> Any:
    if name == "k-means":
        return KMeans(n_components, n_init=RESTARTS, random_state=seed)
    kind = find_estimator(name)
    if kind is None:
        raise ValueError(f"There is no method {name!r}; give 'k-means' or the name of an estimator.")
    return configured(kind, n_components, seed, image_shape, {})


def prepared(X: Any) -> tuple[Any, str]:
    """The samples as methods see them, and what was done, in words."""
    if not sp.issparse(X):
        return unit_norm(X), "Samples scaled to unit norm"
    counts = sp.csr_array(X, copy=True)
    counts.eliminate_zeros()
    if (counts.data == np.round(counts.data)).all():
        return unit_norm(tf_idf(counts)), "Counts weighted by tf-idf, samples scaled to unit norm"
    return unit_norm(counts), "Samples scaled to unit norm"


def as_data_set(X: Any, y: Any = None, *, allow_nan: bool = False) -> DataSet:
    """Samples and classes as one thing; a data set stays what it is.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features), or DataSet
    y : array-like of shape (n_samples,), optional
        −1, NaN and "" are unknown.
    allow_nan : bool, default=False
        Whether entries of X may be unknown.
    """
    if isinstance(X, DataSet):
        if y is not None:
            raise ValueError("X is a data set, which has its own classes; leave y out.")
        return X
    X = read_data(X, allow_nan=allow_nan)
    n = X.shape[0]
    try:
        classes, names = number_classes(np.full(n, UNKNOWN) if y is None else y, n)
    except Refused as error:
        raise ValueError(f"y cannot be read as classes: {error}.") from None
    return DataSet("data", X, classes, names, None, "", "")


def _number_of_components(data: DataSet, asked: int | Literal["auto"] | None) -> int | None:
    """The number asked for, or the number of classes; None if the data decide."""
    if asked == "auto":
        return None
    k, most = asked or len(np.unique(data.y[data.y >= 0])), min(data.X.shape)
    if k == 0:
        raise ValueError(
            f"{data.name} has no labels, so the number of components must be given: n_components K, or auto."
        )
    if k > most:
        raise ValueError(f"n_components is {k}; {data.name} allows at most {most}.")
    return k


def _chosen_number(X: Any, seed: int, steps: Steps) -> int:
    """The number that NMF chooses."""
    step = "number of components"
    model = NMF("auto", random_state=seed, callbacks=[steps.begin(step)])
    try:
        k = len(fit_whole(model, X).components_)
    except ValueError as error:
        raise ValueError(f"n_components auto: {' '.join(str(error).split())}") from None
    steps.end(step, f"{k}, as NMF chooses it")
    return k


def _told_labels(data: DataSet, per_class: int | None, seed: int) -> IntArray:
    """The labels that methods may use: those of a few samples per class, and −1 for all others.

    Unless a number is given, classes too small for five labels get fewer, so that at least one sample stays hidden.
    """
    known = np.full(len(data.y), UNKNOWN, np.intp)
    sizes = np.bincount(data.y[data.y >= 0])
    smallest = int(sizes[sizes > 0].min()) if sizes.any() else 0
    if per_class is None:
        per_class = min(LABELS_PER_CLASS, max(smallest - 1, 0))
    elif per_class >= smallest:
        raise ValueError(
            f"labels_per_class is {per_class}; the smallest class of {data.name} has {smallest} samples, "
            "and some must stay unlabelled."
        )
    if per_class:
        scored = data.y >= 0
        known[scored] = draw_labels(data.y[scored], per_class, seed)
    return known


def _run_all(comparison: Comparison, methods: Sequence[Method], steps: Steps) -> list[Outcome]:
    preparing = "compilation"
    steps.begin(preparing)
    clock = time.perf_counter()
    warm_up(methods)
    steps.end(preparing, f"{time.perf_counter() - clock:.1f} s, charged to no method")
    outcomes = []
    for method in methods:
        outcome = _run_one(comparison, method, steps)
        score = "" if outcome.accuracy is None else f", accuracy {outcome.accuracy:.3f}"
        steps.end(method.name, f"{outcome.ending}{score}")
        for note in outcome.notes:
            steps.say(f"{method.name}: note: {note}")
        outcomes.append(outcome)
    if (comparison.data.y >= 0).any() or comparison.X.shape[0] < 3:
        return outcomes
    edges = neighbor_graph(comparison.X, min(JUDGING_NEIGHBORS, comparison.X.shape[0] - 1))
    return [judged(outcome, comparison.X, edges) for outcome in outcomes]


def _run_one(comparison: Comparison, method: Method, steps: Steps) -> Outcome:
    try:
        return run_method(method, comparison.X, comparison.data.y, comparison.known, steps.begin(method.name))
    except ValueError as error:
        # A method may be unable to handle these data, such as five neighbours among four samples.
        raise ValueError(f"{method.name}: {' '.join(str(error).split())}") from None


def _vary_strength(
    comparison: Comparison, model: Any, strengths: Sequence[float], steps: Steps
) -> list[tuple[float, Outcome]]:
    """GraphNMF with given strengths instead of the one it chooses."""
    curve = []
    for strength in strengths:
        name = f"GraphNMF, strength {strength:g}"
        outcome = _run_one(comparison, Method(name, clone(model).set_params(graph_strength=strength)), steps)
        steps.end(name, f"{outcome.ending}, accuracy {outcome.accuracy:.3f}")
        curve.append((strength, outcome))
    return curve


def warm_up(methods: Sequence[Method]) -> None:
    """Run every method on a handful of numbers, so that compilation is not charged to the first one timed.

    A method that cannot be run on them, because its start or graph has the size of the data, is charged for it.
    """
    X = np.random.RandomState(0).uniform(0.1, 1.0, size=(24, 6))
    y = np.where(np.arange(24) < 4, np.arange(24) % 2, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method in methods:
            model = clone(method.model)
            small = {name: value for name, value in SMALL.items() if name in model.get_params(deep=False)}
            with suppress(ValueError):
                fit_whole(model.set_params(**small), X, y)


def run_method(method: Method, X: Array, y: IntArray, known: IntArray, callback: Callback) -> Outcome:
    """Fit one method, cluster its codes, and score the clusters.

    Parameters
    ----------
    method : Method
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of int
        The true classes, for scoring; −1 for unknown.
    known : ndarray of int
        The labels that methods may use, −1 for unknown.
    callback : Callback
        Is told about every sweep; k-means has none.
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
