"""From a data set by name to the samples of one run: preprocessing, and the draw of classes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from .. import datasets
from ..core.types import IntArray
from .protocol import DataPlan


def occurrence(counts: Any) -> Any:
    """1 where a term occurs, however often."""
    return sp.csr_array((np.ones(counts.nnz), counts.indices, counts.indptr), shape=counts.shape)


def tf_idf(counts: Any) -> Any:
    """(1 + log tf) · log(n / df), over all documents: classes are drawn afterwards."""
    df = np.bincount(counts.indices, minlength=counts.shape[1])
    values = (1 + np.log(counts.data)) * np.log(counts.shape[0] / np.maximum(df, 1))[counts.indices]
    return sp.csr_array((values, counts.indices, counts.indptr), shape=counts.shape)


def unit_norm(X: Any) -> Any:
    """Every sample scaled to Euclidean norm 1."""
    return normalize(X)


def unit_maximum(X: Any) -> Any:
    """The largest entry is 1."""
    return X / X.max()


STEPS: dict[str, Callable[[Any], Any]] = {
    "occurrence": occurrence,
    "tf-idf": tf_idf,
    "unit norm": unit_norm,
    "unit maximum": unit_maximum,
}


@dataclass(frozen=True, eq=False)
class Sample:
    """The samples of one run.

    Attributes
    ----------
    X : ndarray or csr_array
    y : ndarray of int
        Classes 0, 1, ….
    image_shape : tuple of (int, int), optional
    class_names : tuple of str
    terms : tuple of str, optional
        Names of the features.
    """

    X: Any
    y: IntArray
    image_shape: tuple[int, int] | None = None
    class_names: tuple[str, ...] = ()
    terms: tuple[str, ...] | None = None


@lru_cache(maxsize=4)
def prepare(plan: DataPlan, steps: tuple[str, ...]) -> Sample:
    """A data set after its preprocessing; the last few are kept."""
    data = datasets.load(plan.data)
    X, y = data.X, data.y
    for step in steps:
        X = STEPS[step](X)
    rows = np.arange(len(y))[: plan.first]
    if plan.every > 1:
        # The views of an object come in order: evenly spaced ones are kept.
        place = np.zeros(len(y), np.intp)
        for label in np.unique(y):
            members = np.flatnonzero(y == label)
            place[members] = np.arange(len(members))
        rows = rows[place[rows] % plan.every == 0]
    present, labels = np.unique(y[rows], return_inverse=True)
    names = tuple(data.class_names[label] for label in present)
    return Sample(X[rows], labels.ravel(), data.image_shape, names, data.terms)


def seed(*identity: object) -> int:
    """A seed that depends only on what is named."""
    digest = hashlib.sha256("|".join(map(str, identity)).encode()).digest()
    return int.from_bytes(digest[:4], "little")


def draw_classes(sample: Sample, n_classes: int, state: int) -> Sample:
    """The samples of some classes, chosen at random; features that are zero in all of them are left out."""
    if n_classes > int(sample.y.max()) + 1:
        raise ValueError(f"{n_classes} classes were asked for, but there are {int(sample.y.max()) + 1}.")
    chosen = np.random.RandomState(state).choice(int(sample.y.max()) + 1, n_classes, replace=False)
    rows = np.flatnonzero(np.isin(sample.y, chosen))
    X, terms = sample.X[rows], sample.terms
    if sp.issparse(X):
        used = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]))
        X = sp.csr_array(X[:, used])
        terms = None if terms is None else tuple(terms[f] for f in used)
    present, labels = np.unique(sample.y[rows], return_inverse=True)
    names = tuple(sample.class_names[label] for label in present) if sample.class_names else ()
    return Sample(X, labels.ravel(), sample.image_shape, names, terms)


def draw_labels(y: IntArray, per_class: int, state: int) -> IntArray:
    """The classes of a few samples per class, and −1 for all others."""
    rng = np.random.RandomState(state)
    known = np.full(len(y), -1, np.intp)
    for label in np.unique(y):
        known[rng.choice(np.flatnonzero(y == label), per_class, replace=False)] = label
    return known
