"""Data sets as npz files: where they are looked for, and how they are laid out.

Images have the arrays `X` (samples × pixels, row by row, upright) and `image_shape`; texts have the parts of a CSR
matrix of counts, `data`, `indices`, `indptr`, `shape`, and may have `terms`. Both have `y` and may have `classes`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..core.types import Array
from ..files.archive import ReadError, read_arrays, reading, write_arrays
from ..files.arrays import contents_of
from ..files.contents import Contents

FOLDER_VARIABLE = "PARTWISE_DATA"
KIND = "a data set"


class DataSetError(Exception):
    """A data set is not available; the message says why and what to do, in a sentence or two."""


def user_folder(folder: str | Path | None = None) -> Path | None:
    """The folder the user names: the argument, or else the variable PARTWISE_DATA.

    Parameters
    ----------
    folder : str or Path, optional
    """
    named = folder if folder is not None else os.environ.get(FOLDER_VARIABLE)
    return Path(named) if named else None


def cache_folder() -> Path:
    """Where downloads are kept: `partwise` in the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "partwise"


def find(name: str, folder: str | Path | None = None) -> Path | None:
    """The file of a data set: in the user's folder, then in the cache; None if it is in neither.

    Parameters
    ----------
    name : str
    folder : path, optional
        By default the folder named by PARTWISE_DATA.
    """
    named = user_folder(folder)
    if named is not None and not named.is_dir():
        raise DataSetError(f"There is no folder {named}; it was given as the folder of the data sets.")
    for place in (named, cache_folder()):
        if place is not None and (path := place / f"{name}.npz").is_file():
            return path
    return None


def read(path: Path) -> Contents:
    """What a file holds, its labels as 0, 1, …."""
    try:
        arrays = read_arrays(path, KIND)
        with reading(path, KIND):
            found = contents_of(arrays)
    except ReadError as error:
        raise DataSetError(str(error)) from None
    if found.labels is None:
        raise DataSetError(f"{path} has no y; a data set needs X and y.")
    y = np.unique(found.labels, return_inverse=True)[1].ravel().astype(np.intp)
    if found.X.shape[0] != len(y):
        raise DataSetError(f"{path} has {found.X.shape[0]} samples in X, but {len(y)} in y.")
    return replace(found, labels=y)


def write(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write a file whole, creating its folder if need be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_arrays(path, arrays, compress=True)
    except OSError as error:
        raise DataSetError(
            f"{path} cannot be written ({error.strerror or error}); name a folder for downloads with XDG_CACHE_HOME."
        ) from None


def content_digest(X: Any, y: Array) -> str:
    """A checksum of the numbers themselves, whatever the file format: values, places of the non-zeros, classes."""
    rows, columns = X.nonzero()
    values = np.asarray(X[rows, columns], np.float32).ravel()
    digest = hashlib.sha256(np.asarray(X.shape, np.int64).tobytes())
    for part, kind in ((rows, np.int32), (columns, np.int32), (values, np.float32), (y, np.int32)):
        digest.update(np.ascontiguousarray(part, kind).tobytes())
    return digest.hexdigest()
