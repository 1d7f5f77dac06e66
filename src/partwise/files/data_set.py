"""A data set: samples, and whatever else is known about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.types import IntArray


@dataclass(frozen=True, eq=False)
class DataSet:
    """Samples with their classes, and where they come from.

    Attributes
    ----------
    name : str
    X : ndarray or csr_array of shape (n_samples, n_features)
        Non-negative and as published: scaling is left to the user. Texts are sparse counts of terms.
    y : ndarray of int, shape (n_samples,)
        Class of every sample, an index into `class_names`; −1 if it is not known.
    class_names : tuple of str
    image_shape : tuple of (int, int), optional
        Height and width, if a sample is an image stored row by row.
    licence, citation : str
    terms : tuple of str, optional
        Names of the features, such as words.
    sample_names : tuple of str, optional
        Names of the samples, such as files.
    notes : tuple of str
        What a reader has inferred, in sentences: which column holds the classes, for instance.
    """

    name: str
    X: Any
    y: IntArray
    class_names: tuple[str, ...]
    image_shape: tuple[int, int] | None
    licence: str
    citation: str
    terms: tuple[str, ...] | None = None
    sample_names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()


def describe(data: DataSet) -> list[str]:
    """The size of the data, and what the reader has inferred."""
    n, m = data.X.shape
    unknown = int((data.y < 0).sum())
    labels = _number(len(data.class_names), "class", "classes") if unknown < n else "no labels"
    if 0 < unknown < n:
        labels += f", {_number(unknown, 'sample', 'samples')} without label"
    size = f"{_number(n, 'sample', 'samples')}, {_number(m, 'feature', 'features')}"
    return [f"{data.name}: {size}, {labels}", *(f"note: {note}" for note in (*data.notes, *empty_samples(data)))]


def empty_samples(data: DataSet) -> list[str]:
    """A sentence if samples have nothing that a component could describe."""
    X = data.X
    filled = np.diff(X.indptr) > 0 if sp.issparse(X) else X.any(axis=1)
    empty = np.flatnonzero(~filled)
    if not len(empty):
        return []
    first = data.sample_names[empty[0]] if data.sample_names else f"number {empty[0] + 1}"
    what = "words that are counted" if sp.issparse(X) and data.terms is not None else "entries but zeros"
    samples = _number(len(empty), "sample has", "samples have")
    return [f"{samples} no {what} (the first: {first}); the cluster of such a sample means nothing"]


def _number(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
