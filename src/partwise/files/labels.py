"""Classes as files write them: numbers, names, and marks for unknown classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.types import Array, IntArray
from .archive import Refused
from .cells import MISSING, number

UNKNOWN = -1
LARGEST = 2**53


def number_classes(labels: Any, n: int, classes: Any = None) -> tuple[IntArray, tuple[str, ...]]:
    """The class of every sample as an index, −1 for unknown, and the names of the classes.

    −1, NaN and what programs write for missing values (such as an empty cell) mean unknown, as numbers or as text. 1
    and 1.0 are one class.

    Parameters
    ----------
    labels : array-like
        Numbers or texts.
    n : int
        Number of samples.
    classes : sequence of str, optional
        Names of the classes, if labels are indices into them.
    """
    labels = np.ravel(labels)
    if len(labels) != n:
        raise Refused(f"it has {len(labels)} labels for {n} samples")
    if labels.dtype.kind == "S":
        labels = np.char.decode(labels, "utf-8", "replace")
    if labels.dtype.kind in "UO":
        return _of_texts([str(label) for label in labels.tolist()])
    if labels.dtype.kind not in "biuf":
        raise Refused(f"its labels are of dtype {labels.dtype}")
    if labels.dtype.kind == "f":
        labels = _whole(labels)
    known = labels != UNKNOWN if labels.dtype.kind == "i" else np.ones(n, bool)
    if classes is not None:
        return _named(labels, known, classes)
    names, found = np.unique(labels[known], return_inverse=True)
    return _placed(known, found), tuple(str(name) for name in names.tolist())


def _whole(labels: Array) -> Array:
    """Whole numbers, with −1 for NaN."""
    labels = np.where(np.isnan(labels), UNKNOWN, labels)
    if (labels != np.round(labels)).any() or not np.isfinite(labels).all():
        raise Refused("its labels are not whole numbers")
    if (np.abs(labels) > LARGEST).any():
        raise Refused("its labels are too large")
    return labels.astype(np.int64)


def _of_texts(labels: list[str]) -> tuple[IntArray, tuple[str, ...]]:
    spelled = [_spelling(label) for label in labels]
    names = sorted({name for name in spelled if name}, key=_order)
    place = {name: index for index, name in enumerate(names)}
    return np.array([place.get(name, UNKNOWN) for name in spelled], np.intp), tuple(names)


def _spelling(label: str) -> str:
    """One spelling for every whole number, and "" for unknown."""
    if label.strip().lower() in MISSING:
        return ""
    try:
        value = float(label)
    except ValueError:
        return label
    if label.isdecimal() or not np.isfinite(value) or value != np.round(value) or abs(value) > LARGEST:
        return label
    return "" if value == UNKNOWN else str(int(value))


def _order(name: str) -> tuple[bool, float, str]:
    """Numbers by their size, then names."""
    value = number(name)
    return (True, 0.0, name) if value is None or not np.isfinite(value) else (False, value, name)


def _named(labels: Array, known: Array, classes: Any) -> tuple[IntArray, tuple[str, ...]]:
    names = tuple(map(str, np.ravel(classes)))
    if known.any() and not 0 <= labels[known].min() <= labels[known].max() < len(names):
        raise Refused(f"its labels do not point into its {len(names)} classes")
    return np.where(known, labels, UNKNOWN).astype(np.intp), names


def _placed(known: Array, found: Array) -> IntArray:
    y = np.full(len(known), UNKNOWN, np.intp)
    y[known] = found.ravel()
    return y
