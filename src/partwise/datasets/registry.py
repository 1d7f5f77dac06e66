"""The data sets that are known, and how each is loaded. A new one is a function and a line in `LOADERS`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..core.types import Array, IntArray


@dataclass(frozen=True, eq=False)
class DataSet:
    """Samples with their classes, and where they come from.

    Attributes
    ----------
    name : str
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Non-negative and as published: scaling is left to the user.
    y : ndarray of int, shape (n_samples,)
        Class of every sample, an index into `class_names`; −1 if it is not known.
    class_names : tuple of str
    image_shape : tuple of (int, int), optional
        Height and width, if a sample is an image stored row by row.
    licence, citation : str
    terms : tuple of str, optional
        Names of the features, such as words.
    """

    name: str
    X: Array
    y: IntArray
    class_names: tuple[str, ...]
    image_shape: tuple[int, int] | None
    licence: str
    citation: str
    terms: tuple[str, ...] | None = None


def load(name: str) -> DataSet:
    """Load a data set.

    Parameters
    ----------
    name : str
        One of :func:`names`.

    Returns
    -------
    data : DataSet

    Examples
    --------
    >>> from partwise.datasets import load
    >>> load("digits").X.shape
    (1797, 64)
    """
    if name not in LOADERS:
        raise ValueError(f"There is no data set {name!r}; known are: {', '.join(names())}.")
    return LOADERS[name]()


def names() -> list[str]:
    """Names of all data sets that can be loaded."""
    return sorted(LOADERS)


def _digits() -> DataSet:
    from sklearn.datasets import load_digits

    bunch = load_digits()
    return DataSet(
        name="digits",
        X=np.asarray(bunch.data, np.float64),
        y=np.asarray(bunch.target, np.intp),
        class_names=tuple(str(label) for label in bunch.target_names),
        image_shape=(8, 8),
        licence="CC BY 4.0",
        citation="E. Alpaydin & C. Kaynak, Optical Recognition of Handwritten Digits (test part), UCI, 1998.",
    )


LOADERS: dict[str, Callable[[], DataSet]] = {"digits": _digits}
