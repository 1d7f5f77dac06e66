"""What a reader finds, and how it becomes a data set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .archive import Refused
from .data_set import DataSet
from .labels import UNKNOWN, number_classes
from .plain import check_lengths

KIND = "data"


@dataclass(frozen=True, eq=False)
class Contents:
    """The parts of a data set as a file has them.

    Attributes
    ----------
    X : ndarray or sparse matrix
        Numbers of any kind.
    labels : ndarray, optional
        Class of every sample, as numbers or names; see :func:`~partwise.files.labels.number_classes`.
    classes : sequence of str, optional
        Names of the classes, if labels are indices into them.
    image_shape : ndarray, optional
    terms : sequence of str, optional
        Names of the features.
    sample_names : sequence of str, optional
        Names of the samples.
    notes : tuple of str
        What the reader has inferred, in sentences.
    """

    X: Any
    labels: Any = None
    classes: Any = None
    image_shape: Any = None
    terms: Any = None
    sample_names: Any = None
    notes: tuple[str, ...] = ()


def as_data_set(name: str, contents: Contents) -> DataSet:
    """Check that the parts fit together."""
    X = _numbers(contents.X)
    n, m = X.shape
    if n == 0 or m == 0:
        raise Refused(f"it holds no data: {n} samples of {m} features")
    labels = np.full(n, UNKNOWN) if contents.labels is None else contents.labels
    y, names = number_classes(labels, n, contents.classes)
    terms = None if contents.terms is None else tuple(map(str, np.ravel(contents.terms)))
    if terms is not None and len(terms) != m:
        raise Refused(f"it names {len(terms)} features but has {m}")
    return DataSet(
        name=name,
        X=X,
        y=y,
        class_names=names,
        image_shape=_image_shape(contents.image_shape, m),
        licence="",
        citation="",
        terms=terms,
        sample_names=None if contents.sample_names is None else tuple(contents.sample_names),
        notes=contents.notes,
    )


def _numbers(X: Any) -> Any:
    if X.ndim != 2:
        raise Refused(f"its X has {X.ndim} dimensions; samples × features has two")
    if X.dtype.kind not in "biuf":
        raise Refused(f"its X is of dtype {X.dtype}, not numbers")
    if sp.issparse(X):
        check_lengths(*X.shape)
        X = sp.csr_array(X)
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def _image_shape(shape: Any, m: int) -> tuple[int, int] | None:
    if shape is None:
        return None
    numbers = np.ravel(shape)
    if len(numbers) != 2 or numbers.dtype.kind not in "iu" or int(numbers[0]) * int(numbers[1]) != m:
        raise Refused(f"its image_shape does not give images of {m} pixels")
    return int(numbers[0]), int(numbers[1])
