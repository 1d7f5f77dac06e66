"""Data sets from their public sources, converted to our layout and kept in the cache."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.types import Array
from ..files.archive import check_file, reading
from ..files.matlab import matlab_matrices
from . import files
from .catalogue import Entry, Fetcher, Manual, Matlab


def fetch(entry: Entry) -> Path:
    """Download a data set into the cache; the path of its file there.

    Parameters
    ----------
    entry : Entry
    """
    source = entry.source
    if isinstance(source, Manual):
        raise files.DataSetError(_advice(entry, "it has no public source that a program can read"))
    X: Any
    try:
        X, y = _from_matlab(entry, source) if isinstance(source, Matlab) else _from_fetcher(source)
    except ImportError:
        raise files.DataSetError(
            _advice(entry, "downloading needs pooch, which is not installed: pip install 'partwise[data]'")
        ) from None
    except (OSError, ValueError) as error:
        raise files.DataSetError(_advice(entry, f"the download failed ({error})")) from None
    if X.shape != entry.shape or (entry.digest is not None and files.content_digest(X, y) != entry.digest):
        raise files.DataSetError(_advice(entry, f"{source} no longer holds the expected numbers"))
    arrays: dict[str, Any] = {"y": y}
    if sp.issparse(X):
        arrays |= {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.asarray(X.shape)}
    else:
        arrays["X"] = X
    if entry.image_shape is not None:
        arrays["image_shape"] = np.asarray(entry.image_shape)
    path = files.cache_folder() / f"{entry.name}.npz"
    files.write(path, arrays)
    return path


def _advice(entry: Entry, reason: str) -> str:
    named = files.user_folder()
    place = f"the folder {named}" if named else f"a folder that {files.FOLDER_VARIABLE} names"
    return (
        f"The data set {entry.name!r} is not here and {reason}. Put {entry.name}.npz "
        f"({entry.shape[0]} × {entry.shape[1]}, {entry.classes} classes) into {place}; its source: {entry.source}."
    )


def _from_matlab(entry: Entry, source: Matlab) -> tuple[Any, Array]:
    import pooch

    path = Path(pooch.retrieve(source.address, known_hash=None, path=files.cache_folder() / "downloads"))
    try:
        with reading(path, "a MATLAB file"):
            check_file(path)
            content = matlab_matrices(path)
    finally:
        # Only our own file is kept, once its numbers have been checked; a wrong download is not reused.
        path.unlink(missing_ok=True)
    if missing := {source.samples, source.labels} - set(content):
        raise ValueError(f"it holds no {' and no '.join(sorted(missing))}")
    X, y = content[source.samples], np.unique(content[source.labels], return_inverse=True)[1].ravel()
    if sp.issparse(X):
        X = sp.csr_array(X)
        X.sum_duplicates()
        return X, y
    X = np.asarray(X, np.float32)
    if entry.image_shape is not None:
        # Matlab stores images column by column.
        height, width = entry.image_shape
        X = X.reshape(-1, width, height).transpose(0, 2, 1).reshape(len(X), -1)
    return np.ascontiguousarray(X), y


def _from_fetcher(source: Fetcher) -> tuple[Array, Array]:
    from sklearn import datasets

    if source.function == "fetch_olivetti_faces":
        bunch = datasets.fetch_olivetti_faces()
        return np.asarray(bunch.data, np.float32), np.asarray(bunch.target)
    bunch = datasets.fetch_openml(source.name, version=1, as_frame=False, parser="liac-arff")
    rows = slice(None if source.last is None else -source.last, None)
    y = np.unique(bunch.target, return_inverse=True)[1].ravel()
    return np.asarray(bunch.data, np.float32)[rows], y[rows]
