"""Load a data set by its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from ..files.data_set import DataSet
from . import files
from .catalogue import CATALOGUE
from .remote import fetch


def load(name: str, folder: str | Path | None = None) -> DataSet:
    """Load a data set.

    It is looked for in the folder the user names, then in the cache; if it is in neither, it is downloaded, provided
    that a program can read its public source, and kept in the cache.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    folder : path, optional
        Folder of npz files; by default the one named by the variable PARTWISE_DATA.

    Returns
    -------
    data : DataSet

    Examples
    --------
    >>> from partwise.datasets import load
    >>> load("digits").X.shape
    (1797, 64)
    """
    if name in LOADERS:
        return LOADERS[name]()
    if name not in CATALOGUE:
        raise ValueError(f"There is no data set {name!r}; the known ones are: {', '.join(names())}.")
    entry = CATALOGUE[name]
    path = files.find(name, folder)
    found = files.read(path if path is not None else fetch(entry))
    if not isinstance(found.X, np.ndarray):
        found.X.sum_duplicates()
    return DataSet(
        name=name,
        X=found.X.astype(np.float64, copy=False),
        y=found.labels,
        class_names=tuple(map(str, range(int(found.labels.max()) + 1) if found.classes is None else found.classes)),
        image_shape=None if found.image_shape is None else (int(found.image_shape[0]), int(found.image_shape[1])),
        licence=entry.licence,
        citation=entry.citation,
        terms=None if found.terms is None else tuple(map(str, found.terms)),
    )


def names() -> list[str]:
    """Names of all known data sets, whether or not they are on this computer."""
    return sorted({*LOADERS, *CATALOGUE})


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
