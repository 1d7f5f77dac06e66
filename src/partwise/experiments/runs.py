"""One run: a method with a setting, on one draw of classes."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from .. import estimators
from ..core.interruption import fit_whole
from ..core.threads import one_thread
from ..estimators.base import BaseFactorization
from ..metrics import clustering_accuracy, normalized_mutual_information, purity, sparseness
from .paper_starts import LABELS, STARTS
from .preparation import Sample, draw_classes, draw_labels, prepare, seed
from .protocol import DataPlan, MethodPlan

SCORES = ("accuracy", "nmi_max", "nmi_sqrt", "purity", "sparseness", "accuracy_unlabelled")


@dataclass(frozen=True)
class Run:
    """What is run; equal runs have equal results.

    Attributes
    ----------
    paper : str
    data : DataPlan
    n_clusters : int
    draw : int
        Number of the draw of classes.
    method : MethodPlan
    setting : mapping
        Parameters of the estimator.
    """

    paper: str
    data: DataPlan
    n_clusters: int
    draw: int
    method: MethodPlan
    setting: Mapping[str, Any]

    @property
    def setting_text(self) -> str:
        """The parameters that vary over the grid or the figure, as text."""
        figure = self.method.figure
        varied = {*self.method.grid, *self.method.on.get(self.data.name, {}), *(figure.values if figure else ())}
        return " ".join(f"{name}={value}" for name, value in sorted(self.setting.items()) if name in varied)

    @property
    def digest(self) -> str:
        """A short name of everything that decides the result."""
        content = {
            "data": [self.data.data, *self.data.prepare, *self.method.prepare, self.data.first, self.data.every],
            "estimator": [self.method.estimator, self.method.start, self.method.labelled],
            "setting": dict(self.setting),
        }
        if self.method.labels is not None:
            content["labels"] = [self.method.labels]
        if self.method.version > 1:
            content["version"] = [self.method.version]
        text = json.dumps([*self._place, self.method.name, content], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def _place(self) -> tuple[Any, ...]:
        return self.paper, self.data.name, self.n_clusters, self.draw

    @property
    def seeds(self) -> tuple[int, int, int]:
        """Of the classes, the labels and the fit.

        Methods share classes and labels; the settings of a grid also share the start, so that the best setting is
        not the one with the luckiest start.
        """
        return seed(*self._place, "classes"), seed(*self._place, "labels"), seed(*self._place, self.method.name)


def find_estimator(name: str) -> Any:
    """The class of an estimator by name, or None if there is none."""
    return KMeans if name == "KMeans" else getattr(estimators, name, None)


def has_components(kind: Any) -> bool:
    """Whether an estimator has components in feature space, which spectral and kernel methods do not."""
    return issubclass(kind, BaseFactorization) and not issubclass(kind, estimators.KernelGraphNMF)


def is_available(method: MethodPlan) -> bool:
    """Whether there is an estimator of that name with those parameters."""
    estimator = find_estimator(method.estimator)
    return estimator is not None and set(method.parameters) <= set(estimator().get_params())


def execute(run: Run) -> dict[str, float]:
    """Fit, cluster the codes, and score the clusters, in per cent."""
    classes, labels, start = run.seeds
    sample = draw_classes(prepare(run.data, run.data.prepare + run.method.prepare), run.n_clusters, classes)
    known = draw_labels(sample.y, run.method.labelled, labels) if run.method.labelled else None
    model = build(run, sample, start)
    with warnings.catch_warnings(), one_thread():
        # Too few sweeps, or too large a strength, may be part of a paper's protocol.
        warnings.simplefilter("ignore")
        fit_whole(model, sample.X, known)
        rule = run.method.labels
        found = np.asarray(model.labels_ if rule is None else LABELS[rule](model, run.n_clusters, start))
    y = sample.y
    scores = {
        "accuracy": clustering_accuracy(y, found),
        "nmi_max": normalized_mutual_information(y, found, average="max"),
        "nmi_sqrt": normalized_mutual_information(y, found, average="sqrt"),
        "purity": purity(y, found),
    }
    if hasattr(model, "embedding_"):
        scores["sparseness"] = float(np.mean(sparseness(np.abs(model.embedding_))))
    if known is not None:
        scores["accuracy_unlabelled"] = clustering_accuracy(y[known < 0], found[known < 0])
    return {name: round(100 * value, 4) for name, value in scores.items()}


def build(run: Run, sample: Sample, state: int) -> Any:
    """The estimator with its parameters."""
    settings = dict(run.setting)
    if run.method.start is not None:
        settings["init"] = STARTS[run.method.start](sample.X, run.n_clusters, state, settings)
    return configured(find_estimator(run.method.estimator), run.n_clusters, state, sample.image_shape, settings)


def configured(
    kind: Any, n_components: int, state: int, image_shape: tuple[int, int] | None, settings: Mapping[str, Any]
) -> Any:
    """An estimator of this class, given the size, the seed and the shape of images if it has parameters for them."""
    accepted = kind().get_params()
    given = {
        "n_clusters" if "n_clusters" in accepted else "n_components": n_components,
        "random_state": state,
        "sample_shape": image_shape,
    }
    return kind(**settings, **{name: value for name, value in given.items() if name in accepted})
