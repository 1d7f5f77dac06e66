"""What a reader finds, and how it becomes a data set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.archive import Refused
from ..core.plain import check_lengths
from ..core.types import Array, IntArray
from ..datasets import DataSet

UNKNOWN = -1
KIND = "data"


@dataclass(frozen=True, eq=False)
class Contents:
    """The parts of a data set as a file has them.

    Attributes
    ----------
    X : ndarray or sparse matrix
        Numbers of any kind.
    labels : ndarray, optional
        Class of every sample: whole numbers, −1 for unknown, or names, "" for unknown.
    classes : sequence of str, optional
        Names of the classes, if labels are indices into them.
    image_shape : ndarray, optional
    terms : sequence of str, optional
        Names of the features.
    """

    X: Any
    labels: Any = None
    classes: Any = None
    image_shape: Any = None
    terms: Any = None


def as_data_set(name: str, contents: Contents) -> DataSet:
    """Check that the parts fit each other."""
    X = _numbers(contents.X)
    n, m = X.shape
    if n == 0 or m == 0:
        raise Refused(f"it holds no data: {n} samples of {m} features")
    y, names = _classes(contents, n)
    terms = None if contents.terms is None else tuple(map(str, np.ravel(contents.terms)))
    if terms is not None and len(terms) != m:
        raise Refused(f"it names {len(terms)} features and has {m}")
    return DataSet(
        name=name,
        X=X,
        y=y,
        class_names=names,
        image_shape=_image_shape(contents.image_shape, m),
        licence="",
        citation="",
        terms=terms,
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


def _classes(contents: Contents, n: int) -> tuple[IntArray, tuple[str, ...]]:
    """Class of every sample, −1 for unknown, and the names of the classes."""
    if contents.labels is None:
        return np.full(n, UNKNOWN, np.intp), ()
    labels = np.ravel(contents.labels)
    if len(labels) != n:
        raise Refused(f"it has {len(labels)} labels for {n} samples")
    if labels.dtype.kind == "f":
        if not np.isfinite(labels).all() or (labels != np.round(labels)).any():
            raise Refused("its labels are not whole numbers")
        if (np.abs(labels) > 2**53).any():
            raise Refused("its labels are too large")
        labels = labels.astype(np.int64)
    if labels.dtype.kind in "USO":
        texts = np.array([str(label) for label in labels.tolist()], object)
        known = texts != ""
        names, found = np.unique(texts[known].astype(str), return_inverse=True)
    elif labels.dtype.kind in "biu":
        known = labels != UNKNOWN if labels.dtype.kind == "i" else np.ones(n, bool)
        if contents.classes is not None:
            return _named(labels, known, contents.classes)
        names, found = np.unique(labels[known], return_inverse=True)
    else:
        raise Refused(f"its labels are of dtype {labels.dtype}")
    y = np.full(n, UNKNOWN, np.intp)
    y[known] = found.ravel()
    return y, tuple(str(name) for name in names.tolist())


def _named(labels: Array, known: Array, classes: Any) -> tuple[IntArray, tuple[str, ...]]:
    names = tuple(map(str, np.ravel(classes)))
    if known.any() and not 0 <= labels[known].min() <= labels[known].max() < len(names):
        raise Refused(f"its labels do not point into its {len(names)} classes")
    return np.where(known, labels, UNKNOWN).astype(np.intp), names


def _image_shape(shape: Any, m: int) -> tuple[int, int] | None:
    if shape is None:
        return None
    numbers = np.ravel(shape)
    if len(numbers) != 2 or numbers.dtype.kind not in "iu" or int(numbers[0]) * int(numbers[1]) != m:
        raise Refused(f"its image_shape does not give images of {m} pixels")
    return int(numbers[0]), int(numbers[1])
